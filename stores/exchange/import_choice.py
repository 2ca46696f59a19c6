"""What of an exported file is new here, and what of the rest that names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import exists, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.tables import PassageIdentity, PassageVersion, new_public_id
from stores.exchange.memory_export import kept_passages
from stores.exchange.memory_lines import Memory, Record
from stores.versions.changes import text_hash

_OTHER = {"yours": "shared", "shared": "yours"}


@dataclass
class Needed:
    """What the new passages name, by public ids: the rest of the file is left alone."""

    sessions: set[str] = field(default_factory=set)
    conversations: set[str] = field(default_factory=set)  # of the sessions, those whose messages are there
    turns: set[str] = field(default_factory=set)
    receipts: set[tuple[str, str]] = field(default_factory=set)  # by scope in the file and id
    documents: set[tuple[str, str]] = field(default_factory=set)  # by scope in the file and source


class ImportChoice:
    """Which passages of a file are to be taken in. space_of: where each scope of the file goes."""

    def __init__(self, sql: SqlSession, memory: Memory, space_of: Mapping[str, str]) -> None:
        self._sql = sql
        self._memory = memory
        self._space_of = space_of
        self._receipts = {(told["scope"], told["id"]) for told in memory.receipts}
        self.passages = self._new_passages()
        self.texts = self._new_texts()
        self.needed = self._named()

    @property
    def count(self) -> int:
        """How many passages will be new."""
        return len(self.passages) + len(self.texts)

    @property
    def known(self) -> int:
        """How many are passed over: the passage, or one that says the same, is here already."""
        return len(self._memory.passages) + len(self._memory.texts) - self.count

    def receipt_key(self, public_id: str | None, scope: str) -> tuple[str, str] | None:
        """Which receipt of the file is meant: one of the same scope, where both have one of this id."""
        if public_id is None:
            return None
        return (scope if (scope, public_id) in self._receipts else _OTHER[scope], public_id)

    def _new_passages(self) -> list[Record]:
        """Those that are not here. One that is here, but withdrawn, comes back as another passage."""
        spaces = set(self._space_of.values())
        here = {space: self._ids(space, is_live=False) for space in spaces}
        live = {space: self._ids(space, is_live=True) for space in spaces}
        words = {space: self._live_words(space) for space in spaces}
        new: list[Record] = []
        for passage in self._memory.passages:
            space = self._space_of[passage["scope"]]
            is_live = any(version["removed_at"] is None for version in passage["versions"])
            if is_live and text_hash(passage["title"], passage["text"]) in words[space]:
                continue
            if passage["id"] in (live if is_live else here)[space]:
                continue
            named = passage | {"named": passage["id"]}  # as links of the file do
            new.append(named | {"id": new_public_id()} if passage["id"] in here[space] else named)
            here[space].add(passage["id"])
            live[space].add(passage["id"])
        return new

    def _new_texts(self) -> list[Record]:
        """Texts alone are known by their words, also by those of the passages before them."""
        space = self._space_of["yours"]
        words = self._live_words(space)
        words |= {
            text_hash(passage["title"], passage["text"])
            for passage in self.passages
            if self._space_of[passage["scope"]] == space
        }
        new: list[Record] = []
        for told in self._memory.texts:
            key = text_hash(told["title"], told["text"])
            if key not in words:
                words.add(key)
                new.append(told)
        return new

    def _ids(self, space: str, *, is_live: bool) -> set[str]:
        statement = select(col(PassageIdentity.public_id)).where(
            col(PassageIdentity.id).in_(kept_passages([space]))
        )
        if is_live:
            statement = statement.where(
                exists().where(
                    col(PassageVersion.passage_id) == col(PassageIdentity.id),
                    col(PassageVersion.removed_at).is_(None),
                )
            )
        return set(self._sql.scalars(statement))

    def _live_words(self, space: str) -> set[str]:
        statement = select(col(PassageVersion.text_hash)).where(
            col(PassageVersion.space) == space, col(PassageVersion.removed_at).is_(None)
        )
        return set(self._sql.scalars(statement))

    def _named(self) -> Needed:
        needed = Needed()
        for passage in self.passages:
            self._add_named_by(passage, needed)
        new = {passage["named"] for passage in self.passages}
        self.links = [link for link in self._memory.links if {link["newer"], link["older"]} <= new]
        needed.receipts |= {key for link in self.links if (key := self.receipt_key(link["receipt"], "yours"))}
        for document in self._memory.documents:
            if (document["scope"], document["source"]) in needed.documents:
                for version in document["versions"]:
                    self._add_receipts(needed, version, document["scope"])
        for receipt in self._memory.receipts:
            if (receipt["scope"], receipt["id"]) in needed.receipts and receipt["turn"] is not None:
                needed.turns.add(receipt["turn"])
        session_of = {turn["id"]: turn["session"] for turn in self._memory.turns}
        needed.sessions = {session_of[turn] for turn in needed.turns} | needed.conversations
        return needed

    def _add_named_by(self, passage: Record, needed: Needed) -> None:
        scope = passage["scope"]
        told: Sequence[Record] = (passage, *passage["claims"])
        needed.turns |= {each["turn"] for each in told if each["turn"] is not None}
        for claim in passage["claims"]:
            if key := self.receipt_key(claim["receipt"], scope):
                needed.receipts.add(key)
        for version in passage["versions"]:
            self._add_receipts(needed, version, scope)
            if version["session"] is not None:
                needed.conversations.add(version["session"])
            if version["document"] is not None:
                needed.documents.add((scope, version["document"]))

    def _add_receipts(self, needed: Needed, version: Record, scope: str) -> None:
        keys = (self.receipt_key(version[name], scope) for name in ("added_by", "removed_by"))
        needed.receipts |= {key for key in keys if key is not None}
