"""A memory that was exported elsewhere, taken in: all of it in one transaction, under one receipt.

What a file tells becomes the user's own, and the shared memory's only where the user says so, as with an
ingest. It is history, not something that happens: nothing is weighed, learned or proposed because of it,
and undoing the import's receipt takes all of it away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.passages import SHARED, own_space
from stores.claims.claims import text_key
from stores.database.database import Database
from stores.database.rows import found_by
from stores.database.tables import (
    Document,
    DocumentVersion,
    PassageIdentity,
    PassageVersion,
    Receipt,
    Session,
    StatedClaim,
    StatementLink,
    Turn,
    known_id,
    new_public_id,
)
from stores.exchange.import_choice import ImportChoice, Needed
from stores.exchange.memory_lines import Memory, Record
from stores.exchange.portable_grounds import inward
from stores.memory.undone_imports import make_room_after_undone
from stores.versions.changes import NewVersion, add_history, add_versions
from stores.versions.receipts import open_receipt
from stores.versions.splitting import split_statements

_AUTHOR = "import"  # of versions that a file tells nothing of but their text


@dataclass(frozen=True)
class Imported:
    """What became of a file's passages."""

    new: int
    known: int  # passed over: the passage, or one of the same words, is there already
    receipt_id: int | None  # None where there was nothing new


class MemoryImport:
    """Takes in what `MemoryExport` wrote, on this machine or another."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take_in(self, user_id: int, memory: Memory, *, shared: bool = False) -> Imported:
        """All of it or nothing. shared: what the file calls shared becomes shared, the rest the user's own.

        A passage that is live here stays as it is, whatever the file says of it.
        """
        with self._database.writing() as sql:
            return _Import(sql, user_id, memory, shared).run()


class _Import:
    """One import, in the transaction of its caller."""

    def __init__(self, sql: SqlSession, user_id: int, memory: Memory, shared: bool) -> None:
        self._sql = sql
        self._user_id = user_id
        self._memory = memory
        self._space_of = {"yours": own_space(user_id), "shared": SHARED if shared else own_space(user_id)}
        self._spaces = sorted(set(self._space_of.values()))
        self._choice = ImportChoice(sql, memory, self._space_of)
        self._sessions: dict[str, int] = {}  # ids here, by public id
        self._turns: dict[str, int] = {}
        self._receipts: dict[tuple[str, str], Receipt] = {}  # by scope in the file and public id
        self._documents: dict[tuple[str, str], int] = {}  # by scope in the file and source
        self._conversations: dict[str, int] = {}  # the document of a session's messages, by the session
        self._fresh: list[Receipt] = []  # of the receipts, those that were not here
        self._claims: list[StatedClaim] = []
        self._passages: dict[str, int] = {}  # those that are new, by public id in the file

    def run(self) -> Imported:
        choice = self._choice
        if not choice.count:
            return Imported(0, choice.known, None)
        make_room_after_undone(self._sql, self._user_id)
        self._put_sessions_and_turns(choice.needed)
        self._put_receipts(choice.needed)
        is_shared = any(self._space(passage) == SHARED for passage in choice.passages)
        space = SHARED if is_shared else own_space(self._user_id)
        summary = f"imported {choice.count} passage{'s' if choice.count > 1 else ''}"
        receipt_id = open_receipt(self._sql, self._user_id, "add", space, summary)
        for receipt in self._fresh:
            receipt.imported_by = receipt_id
        self._put_documents(choice.needed)
        self._put_passages(choice.passages, receipt_id)
        self._put_texts(choice.texts, receipt_id)
        self._put_links(receipt_id)
        self._put_grounds()
        return Imported(choice.count, choice.known, receipt_id)

    def _space(self, record: Record) -> str:
        return self._space_of[record["scope"]]

    # Each row after those that it names

    def _put_sessions_and_turns(self, needed: Needed) -> None:
        sessions, turns = needed.sessions, needed.turns
        self._sessions = self._known(Session, sessions)
        for told in self._memory.sessions:
            if told["id"] in sessions and told["id"] not in self._sessions:
                row = Session(
                    public_id=told["id"],
                    user_id=self._user_id,
                    title=told["title"],
                    created_at=told["created_at"],
                )
                self._sessions[told["id"]] = self._put(row)
        self._turns = self._known(Turn, turns)
        for told in self._memory.turns:
            if told["id"] in turns and told["id"] not in self._turns:
                turn = Turn(
                    public_id=told["id"],
                    session_id=self._sessions[told["session"]],
                    user_id=self._user_id,
                    message=told["message"],
                    state="imported",
                    accepted_at=told["accepted_at"],
                )
                self._turns[told["id"]] = self._put(turn)

    def _known(self, table: type[Session] | type[Turn], public_ids: Iterable[str]) -> dict[str, int]:
        """Those of this user that are here already."""
        found = found_by(
            self._sql, table, col(table.public_id), public_ids, col(table.user_id) == self._user_id
        )
        return {row.public_id: known_id(row.id) for row in found}

    def _put_receipts(self, needed: Needed) -> None:
        """A write that is here already is the same; one that was undone here meanwhile is told anew."""
        ids = {public_id for _, public_id in needed.receipts}
        mine = col(Receipt.user_id) == self._user_id
        undone = select(col(Receipt.id)).where(mine, col(Receipt.undone_at).is_not(None))
        stands = col(Receipt.imported_by).is_(None) | col(Receipt.imported_by).not_in(undone)
        found = found_by(self._sql, Receipt, col(Receipt.public_id), ids, mine, stands)
        here = {(row.space, row.public_id, row.undone_at): row for row in found}
        taken = {(row.space, row.public_id) for row in found if row.imported_by is None}
        for told in self._memory.receipts:
            key = (told["scope"], told["id"])
            if key not in needed.receipts:
                continue
            space = self._space(told)
            row = here.get((space, told["id"], told["undone_at"]))
            if row is None:
                row = Receipt(
                    public_id=new_public_id() if (space, told["id"]) in taken else told["id"],
                    user_id=self._user_id,
                    turn_id=self._turns.get(told["turn"]),
                    action=told["action"],
                    space=space,
                    summary=told["summary"],
                    grounds=told["grounds"],
                    created_at=told["created_at"],
                    undone_at=told["undone_at"],
                )
                self._put(row)
                self._fresh.append(row)
            self._receipts[key] = row

    def _put_documents(self, needed: Needed) -> None:
        for told in self._memory.documents:
            key = (told["scope"], told["source"])
            if key not in needed.documents:
                continue
            space = self._space(told)
            document_id = self._free_document(space, told)
            self._documents[key] = document_id
            self._sql.add_all(
                DocumentVersion(
                    document_id=document_id,
                    space=space,
                    number=version["number"],
                    title=version["title"],
                    content_hash=version["content_hash"],
                    passage_count=version["passages"],
                    **self._life(version, told["scope"]),
                )
                for version in told["versions"]
            )
        for public_id in sorted(needed.conversations):
            space = own_space(self._user_id)
            source = f"session {self._sessions[public_id]}"
            known = self._document(space, source)
            self._conversations[public_id] = known or self._put(
                Document(space=space, source=source, created_at=now())
            )
        self._sql.flush()

    def _free_document(self, space: str, told: Record) -> int:
        """A document for what the file tells; one of the same name that holds something stays as it is."""
        source, number = told["source"], 1
        if re.fullmatch(r"\s*session \d+\s*", source):  # what a conversation is called
            source = f"{source} (imported)"
        while (known := self._document(space, source)) is not None:
            is_live = exists().where(
                col(PassageVersion.document_id) == known, col(PassageVersion.removed_at).is_(None)
            )
            if known not in self._documents.values() and not self._sql.scalar(select(is_live)):
                return known
            number += 1
            source = f"{told['source']} (imported{f' {number - 1}' if number > 2 else ''})"
        made = Document(
            space=space, source=source, collection=told["collection"], created_at=told["created_at"]
        )
        return self._put(made)

    def _document(self, space: str, source: str) -> int | None:
        statement = select(col(Document.id)).where(
            col(Document.space) == space, col(Document.source) == source
        )
        return self._sql.scalar(statement)

    def _put_passages(self, passages: Sequence[Record], receipt_id: int) -> None:
        rows = [
            PassageIdentity(
                public_id=told["id"],
                space=self._space(told),
                kind=told["kind"],
                turn_id=self._turns.get(told["turn"]),
                external_id=told["external_id"],
                created_at=told["created_at"],
                imported_by=receipt_id,
            )
            for told in passages
        ]
        self._sql.add_all(rows)
        self._sql.flush()
        versions: dict[str, list[PassageVersion]] = {space: [] for space in self._spaces}
        claims: list[StatedClaim] = []
        for row, told in zip(rows, passages, strict=True):
            versions[row.space] += [
                self._version(row, version, told["scope"]) for version in told["versions"]
            ]
            claims += [self._claim(row, claim, told["scope"], receipt_id) for claim in told["claims"]]
        for space in self._spaces:
            add_history(self._sql, space, versions[space])
        self._number(claims)
        self._sql.add_all(claims)
        self._claims = claims
        self._sql.flush()
        self._passages = {told["named"]: known_id(row.id) for row, told in zip(rows, passages, strict=True)}
        split_statements(self._sql, sorted(self._passages.values()))  # of a file of an earlier release
        self._sql.expire_all()

    def _version(self, passage: PassageIdentity, told: Record, scope: str) -> PassageVersion:
        document_id = self._conversations.get(told["session"])
        if told["document"] is not None:
            document_id = self._documents[scope, told["document"]]
        return PassageVersion(
            passage_id=known_id(passage.id),
            document_id=document_id,
            position=told["position"],
            space=passage.space,
            number=told["number"],
            title=told["title"],
            text=told["text"],
            text_hash="",
            author=told["author"],
            erased_at=told["forgotten_at"],
            **self._life(told, scope),
        )

    def _claim(self, passage: PassageIdentity, told: Record, scope: str, receipt_id: int) -> StatedClaim:
        receipt = self._receipt(told["receipt"], scope)
        return StatedClaim(
            user_id=self._user_id,
            turn_id=self._turns.get(told["turn"]),
            origin=told["origin"],
            number=told["number"],
            text=told["text"],
            text_key=text_key(told["text"]),
            quote=told["quote"],
            kind=told["kind"],
            about=told["about"],
            is_hearsay=told["hearsay"],
            state=told["state"],
            status=told["status"],
            confidence=told["confidence"],
            scope=told["scope"],
            action=told["action"],
            passage_id=known_id(passage.id),
            receipt_id=receipt.id if receipt else None,
            grounds=told["grounds"],
            created_at=told["created_at"],
            decided_at=told["decided_at"],
            imported_by=receipt_id,
        )

    def _number(self, claims: Iterable[StatedClaim]) -> None:
        """Gives a claim another place in its turn where that is taken, as by one that was forgotten."""
        taken: dict[tuple[int, str], set[int]] = {}
        for claim in claims:
            if claim.turn_id is None:
                continue
            place = (claim.turn_id, claim.origin)
            if place not in taken:
                of_turn = select(col(StatedClaim.number)).where(
                    col(StatedClaim.turn_id) == claim.turn_id, col(StatedClaim.origin) == claim.origin
                )
                taken[place] = set(self._sql.scalars(of_turn))
            if claim.number in taken[place]:
                claim.number = max(taken[place]) + 1
            taken[place].add(claim.number)

    def _put_texts(self, texts: Sequence[Record], receipt_id: int) -> None:
        new = [NewVersion(text=t["text"], title=t["title"], kind=t["kind"]) for t in texts]
        add_versions(self._sql, own_space(self._user_id), new, author=_AUTHOR, receipt_id=receipt_id)

    def _put_links(self, receipt_id: int) -> None:
        for told in self._choice.links:
            receipt = self._receipt(told["receipt"], "yours")
            self._sql.add(
                StatementLink(
                    space=own_space(self._user_id),
                    newer=self._passages[told["newer"]],
                    older=self._passages[told["older"]],
                    kind=told["kind"],
                    probability=told["probability"],
                    author=told["by"],
                    receipt_id=receipt_id if receipt is None else receipt.id,
                )
            )
        self._sql.flush()

    def _put_grounds(self) -> None:
        """Now that the passages are here, what is named in grounds is found."""
        rows: list[Receipt | StatedClaim] = [*self._fresh, *self._claims]
        spaces = (own_space(self._user_id), SHARED)
        for row, grounds in zip(rows, inward(self._sql, [r.grounds for r in rows], spaces), strict=True):
            row.grounds = grounds
        self._sql.flush()

    def _life(self, told: Record, scope: str) -> dict[str, Any]:
        added, removed = (self._receipt(told[name], scope) for name in ("added_by", "removed_by"))
        return {
            "created_at": told["created_at"],
            "added_by": added.id if added else None,
            "removed_at": told["removed_at"],
            "removed_by": removed.id if removed else None,
        }

    def _receipt(self, public_id: str | None, scope: str) -> Receipt | None:
        key = self._choice.receipt_key(public_id, scope)
        return None if key is None else self._receipts[key]

    def _put(self, row: Any) -> int:
        self._sql.add(row)
        self._sql.flush()
        return known_id(row.id)
