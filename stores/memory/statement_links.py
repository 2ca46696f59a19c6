"""What a user's statements do to each other, shown to that user, and what they say of it themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.errors import NotFound, WrongUsage
from stores.base.passages import STATEMENTS, Passage, own_space
from stores.base.statement_links import BY_USER, Link, LinkKind, NewLink, replaced_by
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.tables import PassageVersion, known_id
from stores.versions.changes import NewVersion, add_versions
from stores.versions.links import links_of, write_links
from stores.versions.live import live_of, live_passages
from stores.versions.passage_lines import not_visible
from stores.versions.receipts import open_receipt, shortened


@dataclass(frozen=True)
class Linked:
    """Another statement, and what is said of the pair."""

    passage: Passage
    link: Link
    counts: bool  # false: a person said something else of the pair since

    @property
    def is_newer(self) -> bool:
        """Whether the other was told later."""
        return self.passage.passage_id == self.link.newer


class StatementLinks:
    """The links of all users. Every method names the user whose statements it touches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, user_id: int, passage_id: int) -> list[Linked]:
        """The links of a statement, the newest statement first."""
        with self._database.reading() as sql:
            return linked_of(sql, user_id, passage_id)

    def say(self, user_id: int, one_id: int, other_id: int, kind: LinkKind) -> int:
        """Keeps what a person says the later of two statements does to the earlier; returns the receipt.

        Raises `NotFound` for what is no live statement of theirs, `WrongUsage` for one beside itself.
        """
        if one_id == other_id:
            raise WrongUsage("a link is between two statements", hint="Name two different ones.")
        with self._database.writing() as sql:
            ends = [_statement(sql, user_id, i) for i in (one_id, other_id)]
            older, newer = sorted(ends, key=lambda each: (each.created_at, each.passage_id))
            over = f"{older.passage_id} is over"
            what = {"unrelated": "both hold", "ends": over}.get(kind, kind)
            summary = f"{newer.passage_id} and {older.passage_id}: {what}"
            receipt_id = open_receipt(sql, user_id, "modify", own_space(user_id), summary)
            link = NewLink(older.passage_id, False, kind, 1.0, BY_USER)
            write_links(sql, own_space(user_id), newer.passage_id, [link], receipt_id=receipt_id)
        return receipt_id

    def instead(self, user_id: int, older_id: int, written: str) -> tuple[int, int]:
        """Has what a person writes take the place of a statement; returns its passage id and the receipt.

        A statement in these words that was told since is taken for it; else they are kept as a note.
        Raises `NotFound` for what is no live statement of theirs, `WrongUsage` where nothing is written.
        """
        written, space = well_formed(written).strip(), own_space(user_id)
        if not written:
            raise WrongUsage("nothing is written", hint="Write what holds instead.")
        with self._database.writing() as sql:
            older = _statement(sql, user_id, older_id)
            known = _told_since(sql, older, written)
            # the receipt of a note goes with it; another one copies no text of a statement
            summary = shortened(written) if known is None else f"{known} in the place of {older_id}"
            receipt_id = open_receipt(sql, user_id, "modify", space, summary)
            newer_id = _noted(sql, space, written, receipt_id) if known is None else known
            link = NewLink(older_id, False, "replaces", 1.0, BY_USER)
            write_links(sql, space, newer_id, [link], receipt_id=receipt_id)
        return newer_id, receipt_id

    def keep_both(self, user_id: int, passage_id: int) -> tuple[int, list[Passage]]:
        """Says that a statement and those that it replaced, or that replaced it, all hold.

        Returns the receipt and the others. Raises `NotFound` where there is no such pair.
        """
        space = own_space(user_id)
        with self._database.writing() as sql:
            statement = _statement(sql, user_id, passage_id)
            pairs = [
                (older, newer.passage_id)
                for older, by in replaced_by(links_of(sql, [passage_id], (space,))).items()
                for newer in by
                if passage_id in (older, newer.passage_id)
            ]
            if not pairs:
                raise NotFound(
                    f"{statement.passage_id} takes the place of nothing, and nothing takes its place",
                    hint="`vouch memory show` tells what it is linked with.",
                )
            others = [older if newer == passage_id else newer for older, newer in pairs]
            summary = f"{passage_id} and {', '.join(map(str, others))}: both hold"
            receipt_id = open_receipt(sql, user_id, "modify", space, summary)
            links = [
                NewLink(other, older == passage_id, "unrelated", 1.0, BY_USER)
                for other, (older, _) in zip(others, pairs, strict=True)
            ]
            write_links(sql, space, passage_id, links, receipt_id=receipt_id)
            return receipt_id, list(live_of(sql, others, (space,)).values())


def linked_of(sql: SqlSession, user_id: int, passage_id: int) -> list[Linked]:
    """See `StatementLinks.of`."""
    space = own_space(user_id)
    links = links_of(sql, [passage_id], (space,))
    others = {link.older if link.newer == passage_id else link.newer for link in links}
    found = {p.passage_id: p for p in live_of(sql, others, (space,)).values()}
    linked = [
        Linked(found[other], link, _counts(link, links))
        for link in links
        if (other := link.older if link.newer == passage_id else link.newer) in found
    ]
    return sorted(linked, key=lambda one: (one.passage.created_at, one.link.id), reverse=True)


def _counts(link: Link, links: Sequence[Link]) -> bool:
    pair = {link.newer, link.older}
    told = [one.id for one in links if one.is_by_user and {one.newer, one.older} == pair]
    return not told or link.id == max(told)


def _told_since(sql: SqlSession, older: Passage, written: str) -> int | None:
    """The statement of the same space in these words, told after another one."""
    same = col(PassageVersion.text) == written, col(PassageVersion.space) == older.space
    ids = sql.scalars(select(col(PassageVersion.id)).where(*same, col(PassageVersion.removed_at).is_(None)))
    found = [
        passage.passage_id
        for passage in live_passages(sql, map(known_id, ids), (older.space,)).values()
        if passage.kind in STATEMENTS and passage.passage_id != older.passage_id
        if passage.created_at >= older.created_at
    ]
    return max(found, default=None)


def _noted(sql: SqlSession, space: str, written: str, receipt_id: int) -> int:
    note = NewVersion(text=written, kind="note")
    [version_id] = add_versions(sql, space, [note], author="user", receipt_id=receipt_id)
    return sql.get_one(PassageVersion, version_id).passage_id


def _statement(sql: SqlSession, user_id: int, passage_id: int) -> Passage:
    for passage in live_of(sql, [passage_id], (own_space(user_id),)).values():
        if passage.kind in STATEMENTS:
            return passage
    raise not_visible(passage_id)
