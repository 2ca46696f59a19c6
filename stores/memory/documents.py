"""Documents: which are new or changed, and storing those in place of what they held before.

plan (what is new?) -> the caller encodes -> store (one transaction)
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from sqlalchemy import exists, func, or_, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import CannotUndo, NotFound
from stores.base.passages import searchable_text
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.tables import Document, DocumentVersion, PassageVersion, Receipt, known_id
from stores.vectors.exact import Vectors
from stores.versions.changes import NewVersion, add_versions, remove_versions, text_hash
from stores.versions.receipts import open_receipt

_ASKED_AT_ONCE = 500  # sources in one statement
Change: TypeAlias = Literal["new", "same", "replaced"]


@dataclass(frozen=True)
class NewPassage:
    """A passage of a document that is to be stored."""

    title: str
    text: str


@dataclass(frozen=True)
class NewDocument:
    """A document that is to be stored."""

    source: str
    title: str
    content_hash: str
    passages: tuple[NewPassage, ...]
    external_id: str = ""
    kind: str = "document"

    def __post_init__(self) -> None:
        """Name and title are kept as the text is: what is forgotten is looked for in all of them."""
        object.__setattr__(self, "source", well_formed(self.source))
        object.__setattr__(self, "title", well_formed(self.title))


@dataclass(frozen=True)
class Stored:
    """What became of a document."""

    document_id: int
    change: Change
    passages: int


class Plan:
    """What storing some documents would change: known before anything is encoded or written."""

    def __init__(self, space: str, documents: Sequence[NewDocument], same: dict[str, int]) -> None:
        self.space = space
        self.same = same  # source of a document to the document that holds its content already
        self.changed = [document for document in documents if document.source not in same]

    def texts_to_encode(self) -> list[str]:
        """In the order in which `StoredDocuments.store` wants their vectors."""
        return [searchable_text(p.title, p.text) for document in self.changed for p in document.passages]


class StoredDocuments:
    """The documents of every space, each with the passages it was cut into."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def plan(self, space: str, documents: Sequence[NewDocument]) -> Plan:
        """Which of these are new or changed. The same content twice is one document."""
        with self._database.reading() as sql:
            holding = _documents_holding(sql, space, [d.content_hash for d in documents])
            live = _live_contents(sql, space, [d.source for d in documents])
        same: dict[str, int] = {}
        seen: dict[str, str] = {}
        for document in documents:
            if live.get(document.source, document.content_hash) != document.content_hash:
                pass  # its old content must go, also when another document holds the new one
            elif document.content_hash in holding:
                same[document.source] = holding[document.content_hash]
            elif document.content_hash in seen:
                same[document.source] = 0  # comes earlier in this very list
            seen.setdefault(document.content_hash, document.source)
        return Plan(space, documents, same)

    def open_receipt(self, user_id: int, space: str, summary: str) -> int:
        """A receipt under which several batches of documents will be stored."""
        with self._database.writing() as sql:
            return open_receipt(sql, user_id, "add", space, summary)

    def store(
        self, plan: Plan, vectors: Vectors, *, encoder_version: str, receipt_id: int
    ) -> dict[str, Stored]:
        """Makes a plan's documents findable, in one transaction. vectors: of `texts_to_encode`, in order.

        Returns what became of each changed document, by source.
        """
        outcome: dict[str, Stored] = {}
        next_vector = iter(vectors)
        with self._database.writing() as sql:
            if sql.get_one(Receipt, receipt_id).undone_at is not None:
                raise CannotUndo("this ingest was undone while it ran", hint="Run it again to take it up.")
            # another process may have stored some of them since they were planned
            holding = _documents_holding(sql, plan.space, [d.content_hash for d in plan.changed])
            sources = _documents_from(sql, plan.space, [d.source for d in plan.changed])
            new: list[NewVersion] = []
            for document in plan.changed:
                own_vectors = list(islice(next_vector, len(document.passages)))
                known = sources.get(document.source)
                holder = holding.get(document.content_hash)
                if holder is not None:
                    if known is not None and known != holder:
                        self._retire(sql, known, receipt_id)
                    outcome[document.source] = Stored(holder, "same", len(document.passages))
                    continue
                document_id = known if known is not None else _add_document(sql, plan.space, document.source)
                replaced = self._retire(sql, document_id, receipt_id) if known is not None else None
                sql.add(
                    DocumentVersion(
                        document_id=document_id,
                        space=plan.space,
                        number=1 if replaced is None else replaced.number + 1,
                        title=document.title,
                        content_hash=document.content_hash,
                        passage_count=len(document.passages),
                        created_at=now(),
                        added_by=receipt_id,
                    )
                )
                identities = replaced.identities(document.passages) if replaced else None
                for position, passage in enumerate(document.passages):
                    new.append(
                        NewVersion(
                            text=passage.text,
                            title=passage.title,
                            kind=document.kind,
                            passage_id=identities[position] if identities else None,
                            document_id=document_id,
                            position=position,
                            external_id=document.external_id,
                            vector=own_vectors[position],
                        )
                    )
                holding[document.content_hash] = document_id
                change: Change = "replaced" if replaced and replaced.was_live else "new"
                outcome[document.source] = Stored(document_id, change, len(document.passages))
            add_versions(
                sql,
                plan.space,
                new,
                author="ingest",
                receipt_id=receipt_id,
                encoder_version=encoder_version,
            )
        return outcome

    def remove(self, user_id: int, space: str, sources: Sequence[str], *, of_space: str, summary: str) -> int:
        """Takes documents out, until that is undone; returns the receipt. of_space: whose the receipt is.

        Raises `NotFound` where nothing of any of them is left.
        """
        with self._database.writing() as sql:
            receipt_id = open_receipt(sql, user_id, "delete", of_space, summary)
            found = [
                document
                for start in range(0, len(sources), _ASKED_AT_ONCE)
                for document in _documents_from(sql, space, sources[start : start + _ASKED_AT_ONCE]).values()
            ]
            was_live = [self._retire(sql, document, receipt_id).was_live for document in found]
            if not any(was_live):
                raise NotFound(f"nothing of {sources[0]} is left")
        return receipt_id

    def _retire(self, sql: SqlSession, document_id: int, receipt_id: int) -> _Replaced:
        """Turns what a document holds into tombstones that remember their places."""
        number = sql.scalar(
            select(func.max(DocumentVersion.number)).where(col(DocumentVersion.document_id) == document_id)
        )
        live = sql.scalars(
            select(PassageVersion)
            .where(col(PassageVersion.document_id) == document_id, col(PassageVersion.removed_at).is_(None))
            .order_by(col(PassageVersion.position))
        ).all()
        remove_versions(sql, [known_id(version.id) for version in live], receipt_id=receipt_id)
        retired = sql.execute(
            update(DocumentVersion)
            .where(col(DocumentVersion.document_id) == document_id, col(DocumentVersion.removed_at).is_(None))
            .values(removed_at=now(), removed_by=receipt_id)
        )
        return _Replaced(number or 0, bool(retired.rowcount), live)  # type: ignore[attr-defined]


class _Replaced:
    """The passages of a document before its content changed."""

    def __init__(self, number: int, was_live: bool, versions: Sequence[PassageVersion]) -> None:
        self.number = number
        self.was_live = was_live
        self._versions = versions

    def identities(self, passages: Sequence[NewPassage]) -> list[int | None]:
        """For each new passage, which it is a version of: that of the same text, else the next left."""
        by_hash: dict[str, deque[int]] = defaultdict(deque)
        for version in self._versions:
            by_hash[version.text_hash].append(version.passage_id)
        chosen: list[int | None] = []
        for passage in passages:
            same = by_hash.get(text_hash(passage.title, passage.text))
            chosen.append(same.popleft() if same else None)
        taken = set(chosen)
        left_over = deque(v.passage_id for v in self._versions if v.passage_id not in taken)
        return [c if c is not None else (left_over.popleft() if left_over else None) for c in chosen]


def _documents_holding(sql: SqlSession, space: str, hashes: Sequence[str]) -> dict[str, int]:
    """Which documents hold these contents; one of which every passage was forgotten holds nothing."""
    has_live_passage = exists().where(
        col(PassageVersion.document_id) == col(DocumentVersion.document_id),
        col(PassageVersion.removed_at).is_(None),
    )
    rows = sql.execute(
        select(col(DocumentVersion.content_hash), col(DocumentVersion.document_id)).where(
            col(DocumentVersion.space) == space,
            col(DocumentVersion.content_hash).in_(hashes),
            col(DocumentVersion.removed_at).is_(None),
            or_(has_live_passage, col(DocumentVersion.passage_count) == 0),
        )
    )
    return {row[0]: row[1] for row in rows}


def _documents_from(sql: SqlSession, space: str, sources: Sequence[str]) -> dict[str, int]:
    rows = sql.execute(
        select(col(Document.source), col(Document.id)).where(
            col(Document.space) == space, col(Document.source).in_(sources)
        )
    )
    return {row[0]: known_id(row[1]) for row in rows}


def _live_contents(sql: SqlSession, space: str, sources: Sequence[str]) -> dict[str, str]:
    """What these documents hold now, by source."""
    rows = sql.execute(
        select(col(Document.source), col(DocumentVersion.content_hash))
        .join(DocumentVersion, col(DocumentVersion.document_id) == col(Document.id))
        .where(
            col(Document.space) == space,
            col(Document.source).in_(sources),
            col(DocumentVersion.removed_at).is_(None),
        )
    )
    return {row[0]: row[1] for row in rows}


def _add_document(sql: SqlSession, space: str, source: str) -> int:
    document = Document(space=space, source=source, created_at=now())
    sql.add(document)
    sql.flush()
    return known_id(document.id)
