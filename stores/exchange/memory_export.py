"""A memory as lines of plain values: all that is needed to have the same memory elsewhere.

    sessions -> turns -> documents -> receipts -> passages, each with all its versions and claims -> links

Lines name one another by public ids, which are the same in every database, never by numbers of this one.
So what was exported, taken in elsewhere (`stores.exchange.memory_import`) and exported again is the same,
byte for byte. No text that was forgotten, and nothing another user said, is in it: of what others wrote into
the shared memory only the passages are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias

from sqlalchemy import Select, exists, or_, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED, own_space
from stores.database.database import Database
from stores.database.rows import found_by
from stores.database.tables import (
    REMOVAL,
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
)
from stores.exchange.portable_grounds import outward

SCHEMA = 3  # of the lines; fields are added to it, never renamed
Scope: TypeAlias = Literal["yours", "shared", "all"]
_CONVERSATION = re.compile(r"session (\d+)")  # the source of a document that holds a session's messages
_PASSAGES_AT_ONCE = 1_000
_KNOWN_STATES = ("stored", "confirmed", "rejected", "withdrawn")  # of claims; neither waiting nor forgotten


class MemoryExport:
    """Reads what a user may take along: their own memory, the shared one, or both."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lines(self, user_id: int, *, scope: Scope = "yours") -> Iterator[dict[str, Any]]:
        """As of one moment, each thing after those that it names, and otherwise in the order of the ids."""
        with self._database.reading() as sql:
            yield from _Exported(sql, user_id, scope).lines()


class _Exported:
    """One export, in the reading transaction of its caller."""

    def __init__(self, sql: SqlSession, user_id: int, scope: Scope) -> None:
        self._sql = sql
        self._user_id = user_id
        own = own_space(user_id)
        self._spaces = {"yours": (own,), "shared": (SHARED,), "all": (SHARED, own)}[scope]
        self._sessions: dict[int, str] = {}  # public id, by id; and so on
        self._turns: dict[int, str] = {}
        self._receipts: dict[int, str] = {}
        self._documents: dict[int, Document] = {}

    def lines(self) -> Iterator[dict[str, Any]]:
        kept = kept_passages(self._spaces)
        versions = col(PassageVersion.passage_id).in_(kept)
        claims = self._claims_among(kept)
        receipts = self._ids(select(col(PassageVersion.added_by)).where(versions))
        receipts |= self._ids(select(col(PassageVersion.removed_by)).where(versions))
        receipts |= {claim.receipt_id for claim in claims if claim.receipt_id is not None}
        documents = self._ids(select(col(PassageVersion.document_id)).where(versions))
        self._documents = {d: row for row in self._by_id(Document, documents) if (d := known_id(row.id))}
        contents = self._contents(self._documents)
        receipts |= {r for row in contents for r in (row.added_by, row.removed_by) if r is not None}
        links = self._links_among(kept)
        receipts |= {link.receipt_id for link in links if link.receipt_id is not None}
        written = self._by_id(Receipt, receipts)
        self._receipts = {known_id(row.id): row.public_id for row in written}
        turns = self._ids(
            select(col(PassageIdentity.turn_id)).where(
                col(PassageIdentity.space).in_(self._spaces), col(PassageIdentity.id).in_(kept)
            )
        )
        turns |= {claim.turn_id for claim in claims if claim.turn_id is not None}
        turns |= {row.turn_id for row in written if row.turn_id is not None}

        yield from self._told(turns)
        yield from self._documents_told(contents)
        yield from map(self._receipt, written)
        yield from self._passages(kept)
        yield from self._linked(links)

    def _told(self, turn_ids: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The sessions and turns in which it was told; of another user's nothing."""
        turns = [turn for turn in self._by_id(Turn, turn_ids) if turn.user_id == self._user_id]
        conversations = (_CONVERSATION.fullmatch(d.source) for d in self._documents.values())
        ids = {turn.session_id for turn in turns} | {int(c[1]) for c in conversations if c}
        sessions = [row for row in self._by_id(Session, ids) if row.user_id == self._user_id]
        self._sessions = {known_id(row.id): row.public_id for row in sessions}
        private = {row.id for row in sessions if row.is_private}
        for session in sessions:
            yield _line(
                "session",
                id=session.public_id,
                title="" if session.id in private else session.title,
                created_at=_time(session.created_at),
            )
        for turn in turns:
            self._turns[known_id(turn.id)] = turn.public_id
            yield _line(
                "turn",
                id=turn.public_id,
                session=self._sessions[turn.session_id],
                message="" if turn.session_id in private else turn.message,
                accepted_at=_time(turn.accepted_at),
            )

    def _documents_told(self, contents: Sequence[DocumentVersion]) -> Iterator[dict[str, Any]]:
        by_document: dict[int, list[DocumentVersion]] = {}
        for version in contents:
            by_document.setdefault(version.document_id, []).append(version)
        for document_id, document in self._documents.items():
            if self._session_of(document) is not None:
                continue
            yield _line(
                "document",
                scope=_scope(document.space),
                source=document.source,
                collection=document.collection,
                created_at=_time(document.created_at),
                versions=[
                    {
                        "number": version.number,
                        "title": version.title,
                        "content_hash": version.content_hash,
                        "passages": version.passage_count,
                        **self._life(version),
                    }
                    for version in by_document.get(document_id, ())
                ],
            )

    def _receipt(self, receipt: Receipt) -> dict[str, Any]:
        is_own = receipt.user_id == self._user_id
        [grounds] = outward(self._sql, [receipt.grounds if is_own else {}])
        return _line(
            "receipt",
            id=receipt.public_id,
            scope=_scope(receipt.space),
            action=receipt.action,
            summary=receipt.summary if is_own else "",
            grounds=grounds,
            turn=self._turns.get(receipt.turn_id or 0) if is_own else None,
            created_at=_time(receipt.created_at),
            undone_at=_time(receipt.undone_at),
        )

    def _passages(self, kept: Select[Any]) -> Iterator[dict[str, Any]]:
        ids = sorted(self._ids(kept))
        for start in range(0, len(ids), _PASSAGES_AT_ONCE):
            some = ids[start : start + _PASSAGES_AT_ONCE]
            versions: dict[int, list[PassageVersion]] = {}
            for version in self._sql.scalars(
                select(PassageVersion)
                .where(col(PassageVersion.passage_id).in_(some))
                .order_by(col(PassageVersion.number))
            ):
                versions.setdefault(version.passage_id, []).append(version)
            claims: dict[int, list[dict[str, Any]]] = {}
            found = [c for c in self._claims_among(some) if c.passage_id is not None]
            for claim, grounds in zip(found, outward(self._sql, [c.grounds for c in found]), strict=True):
                claims.setdefault(claim.passage_id or 0, []).append(self._claim(claim, grounds))
            for identity in self._by_id(PassageIdentity, some):
                passage_id = known_id(identity.id)
                yield self._passage(identity, versions[passage_id], claims.get(passage_id, []))
            self._sql.expunge_all()

    def _passage(
        self, identity: PassageIdentity, versions: Sequence[PassageVersion], claims: list[dict[str, Any]]
    ) -> dict[str, Any]:
        newest = shown_version(versions)
        document = self._documents.get(newest.document_id or 0)
        is_conversation = document is not None and self._session_of(document) is not None
        return _line(
            "passage",
            id=identity.public_id,
            kind=identity.kind,
            scope=_scope(identity.space),
            title=newest.title,
            text=newest.text,
            source=document.source if document is not None and not is_conversation else "",
            live=newest.removed_at is None,
            external_id=identity.external_id,
            turn=self._turns.get(identity.turn_id or 0),
            created_at=_time(identity.created_at),
            versions=[self._version(version) for version in versions],
            claims=claims,
        )

    def _version(self, version: PassageVersion) -> dict[str, Any]:
        document = self._documents.get(version.document_id or 0)
        session = self._session_of(document) if document is not None else None
        return {
            "number": version.number,
            "title": version.title,
            "text": version.text,
            "author": version.author,
            **self._life(version),
            "forgotten_at": _time(version.erased_at),
            "document": document.source if document is not None and session is None else None,
            "session": session,
            "position": version.position,
        }

    def _claim(self, claim: StatedClaim, grounds: dict[str, Any]) -> dict[str, Any]:
        return {
            "text": claim.text,
            "quote": claim.quote,
            "kind": claim.kind,
            "about": claim.about,
            "hearsay": claim.is_hearsay,
            "origin": claim.origin,
            "number": claim.number,
            "turn": self._turns.get(claim.turn_id or 0),
            "state": claim.state,
            "status": claim.status,
            "confidence": claim.confidence,
            "scope": claim.scope,
            "action": claim.action,
            "receipt": self._receipts.get(claim.receipt_id or 0),
            "grounds": grounds,
            "created_at": _time(claim.created_at),
            "decided_at": _time(claim.decided_at),
        }

    def _life(self, row: PassageVersion | DocumentVersion) -> dict[str, Any]:
        """From when until when it was valid, and by which writes."""
        return {
            "created_at": _time(row.created_at),
            "added_by": self._receipts.get(row.added_by or 0),
            "removed_at": _time(row.removed_at),
            "removed_by": self._receipts.get(row.removed_by or 0),
        }

    def _session_of(self, document: Document) -> str | None:
        """The session whose messages a document holds; None for one that was ingested."""
        found = _CONVERSATION.fullmatch(document.source)
        return self._sessions.get(int(found[1])) if found else None

    def _claims_among(self, passages: Select[Any] | Sequence[int]) -> list[StatedClaim]:
        """What this user stated that these passages hold, or said already."""
        statement = select(StatedClaim).where(
            col(StatedClaim.user_id) == self._user_id,
            col(StatedClaim.passage_id).in_(passages),
            col(StatedClaim.state).in_(_KNOWN_STATES),
            col(StatedClaim.origin) != REMOVAL,
        )
        return list(self._sql.scalars(statement.order_by(col(StatedClaim.id))))

    def _links_among(self, passages: Select[Any]) -> list[StatementLink]:
        """What statements that are kept do to each other."""
        ends = col(StatementLink.newer).in_(passages), col(StatementLink.older).in_(passages)
        return list(self._sql.scalars(select(StatementLink).where(*ends).order_by(col(StatementLink.id))))

    def _linked(self, links: Sequence[StatementLink]) -> Iterator[dict[str, Any]]:
        ends = {end for link in links for end in (link.newer, link.older)}
        named = {known_id(row.id): row.public_id for row in self._by_id(PassageIdentity, ends)}
        for link in links:
            yield _line(
                "link",
                newer=named[link.newer],
                older=named[link.older],
                kind=link.kind,
                probability=link.probability,
                by=link.author,
                receipt=self._receipts.get(link.receipt_id or 0),
            )

    def _contents(self, document_ids: Iterable[int]) -> list[DocumentVersion]:
        rows = found_by(self._sql, DocumentVersion, col(DocumentVersion.document_id), document_ids)
        return sorted(rows, key=lambda row: known_id(row.id))

    def _by_id(self, table: Any, ids: Iterable[int]) -> list[Any]:
        return sorted(found_by(self._sql, table, col(table.id), ids), key=lambda row: known_id(row.id))

    def _ids(self, statement: Select[Any]) -> set[int]:
        return {int(i) for i in self._sql.scalars(statement.distinct()) if i is not None}


def kept_passages(spaces: Sequence[str]) -> Select[Any]:
    """The ids of passages of these spaces that are not forgotten, nor came by an import that was undone."""
    came_by = select(col(Receipt.undone_at)).where(col(Receipt.id) == col(PassageIdentity.imported_by))
    return select(col(PassageIdentity.id)).where(
        col(PassageIdentity.space).in_(spaces),
        exists().where(
            col(PassageVersion.passage_id) == col(PassageIdentity.id), col(PassageVersion.erased_at).is_(None)
        ),
        or_(col(PassageIdentity.imported_by).is_(None), came_by.scalar_subquery().is_(None)),
    )


def shown_version(versions: Sequence[PassageVersion]) -> PassageVersion:
    """The live version, or else the last that is not forgotten. versions: of a kept passage, by number."""
    live = [version for version in versions if version.removed_at is None]
    return (live or [version for version in versions if version.erased_at is None])[-1]


def _line(record: str, **values: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, "record": record, **values}


def _scope(space: str) -> str:
    return "shared" if space == SHARED else "yours"


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
