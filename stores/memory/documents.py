"""Documents: which are new or changed, and storing those in place of what they held before.

plan (what is new?) -> the caller encodes -> store (one transaction)

What somebody shared is replaced and removed by them and by curators alone, whatever command asks for it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Literal, TypeAlias

from sqlalchemy import exists, func, or_, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import CannotUndo, NotFound, WrongUsage
from stores.base.one_line import one_line
from stores.base.passages import own_space, searchable_text
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.rows import in_parts
from stores.database.tables import Document, DocumentVersion, PassageVersion, Receipt, User, known_id
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


class OthersDocument(WrongUsage):
    """A document that somebody else shared, which only they and curators can replace or remove."""

    def __init__(self, source: str, owner: str) -> None:
        self.problem = f"was shared by {one_line(owner) or 'somebody else'}, who can change it"
        super().__init__(
            f"{one_line(source)} {self.problem}", hint="So can a curator: [memory] curators in settings.toml."
        )


class Plan:
    """What storing some documents would change: known before anything is encoded or written."""

    def __init__(
        self, space: str, documents: Sequence[NewDocument], same: dict[str, int], others: dict[str, str]
    ) -> None:
        self.space = space
        self.same = same  # source of a document to the document that holds its content already
        self.others = {  # by source of what would replace it: who shared a document, and may alone
            source: owner for source, owner in others.items() if source not in same
        }
        self.changed = [d for d in documents if d.source not in same and d.source not in others]

    def texts_to_encode(self) -> list[str]:
        """In the order in which `StoredDocuments.store` wants their vectors."""
        return [searchable_text(p.title, p.text) for document in self.changed for p in document.passages]


class StoredDocuments:
    """The documents of every space, each with the passages it was cut into."""

    def __init__(self, database: Database, *, curators: Collection[str] = ()) -> None:
        """curators: names of users who may change what others shared."""
        self._database = database
        self._curators = curators

    def plan(self, space: str, documents: Sequence[NewDocument], *, user_id: int | None = None) -> Plan:
        """Which of these are new or changed. The same content twice is one document.

        user_id: who is to store them, so that what others shared is left out; `store` refuses it.
        """
        with self._database.reading() as sql:
            holding = _documents_holding(sql, space, [d.content_hash for d in documents])
            live = _live_contents(sql, space, [d.source for d in documents])
            sources = [d.source for d in documents]
            others = {} if user_id is None else self._of_others(sql, user_id, space, sources)
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
        return Plan(space, documents, same, others)

    def of_others(self, user_id: int, space: str, sources: Sequence[str]) -> dict[str, str]:
        """By source: who shared it, of the documents that this user may not replace or remove."""
        with self._database.reading() as sql:
            return self._of_others(sql, user_id, space, sources)

    def live_sources(self, space: str, sources: Sequence[str]) -> set[str]:
        """Those of these sources under which a document stands."""
        with self._database.reading() as sql:
            return set(_live_contents(sql, space, sources))

    def sources(self, document_ids: Collection[int]) -> dict[int, str]:
        """Under which source each of these documents stands."""
        with self._database.reading() as sql:
            rows = sql.execute(
                select(col(Document.id), col(Document.source)).where(col(Document.id).in_(document_ids))
            )
            return {known_id(row[0]): row[1] for row in rows}

    def file_states(self, space: str) -> dict[str, str]:
        """What the files of the documents of a space were like, by source; see `note_files`."""
        with self._database.reading() as sql:
            rows = sql.execute(
                select(col(Document.source), col(DocumentVersion.file_state))
                .join(DocumentVersion, col(DocumentVersion.document_id) == col(Document.id))
                .where(
                    col(Document.space) == space,
                    col(DocumentVersion.removed_at).is_(None),
                    func.coalesce(DocumentVersion.file_state, "") != "",
                )
            )
            return {row[0]: row[1] or "" for row in rows}

    def live_texts(self, space: str, source: str) -> list[str]:
        """What a document holds now."""
        with self._database.reading() as sql:
            return list(
                sql.scalars(
                    select(col(PassageVersion.text))
                    .join(Document, col(Document.id) == col(PassageVersion.document_id))
                    .where(
                        col(Document.space) == space,
                        col(Document.source) == source,
                        col(PassageVersion.removed_at).is_(None),
                    )
                )
            )

    def rename(self, space: str, sources: Mapping[str, str]) -> None:
        """Gives documents new sources, by their old ones; another that had the new source takes the old."""
        with self._database.writing() as sql:
            for before, now_called in sources.items():
                ids = _documents_from(sql, space, [before, now_called])
                named = update(Document).execution_options(synchronize_session=False)
                for document_id, source in (
                    (ids.get(now_called), f"{now_called}\n"),  # for a moment: a source is there once
                    (ids.get(before), now_called),
                    (ids.get(now_called), before),
                ):
                    if document_id is not None:
                        sql.execute(named.where(col(Document.id) == document_id).values(source=source))

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
            receipt = sql.get_one(Receipt, receipt_id)
            if receipt.undone_at is not None:
                raise CannotUndo("this ingest was undone while it ran", hint="Run it again to take it up.")
            self._require_theirs(sql, receipt.user_id, plan.space, [d.source for d in plan.changed])
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
                        file_state="",
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

    def note_files(
        self, space: str, states: Mapping[str, str], *, of_records: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Keeps what files were like as they were read to their end, by source; see `FileState`.

        of_records: the same of files whose records have sources of their own.
        """
        of_documents = [(col(Document.source) == source, state) for source, state in states.items()]
        of_documents += [
            (func.substr(Document.source, 1, len(source) + 1) == f"{source}#", state)
            for source, state in of_records.items()
        ]
        if not of_documents:
            return
        with self._database.writing() as sql:
            for which, state in of_documents:
                ids = select(col(Document.id)).where(col(Document.space) == space, which)
                sql.execute(
                    update(DocumentVersion)
                    .where(
                        col(DocumentVersion.document_id).in_(ids),
                        col(DocumentVersion.removed_at).is_(None),
                        func.coalesce(DocumentVersion.file_state, "") != state,
                    )
                    .values(file_state=state)
                    .execution_options(synchronize_session=False)
                )

    def place(self, user_id: int, space: str, names: Mapping[str, str], *, even_placed: bool) -> None:
        """Puts documents into collections: by source, the name of each; an empty one takes it out.

        even_placed: also those that stand in one. Raises `OthersDocument`.
        """
        with self._database.writing() as sql:
            self._require_theirs(sql, user_id, space, list(names))
            for name in sorted(set(names.values())):
                sources = [source for source, its in names.items() if its == name]
                for some in in_parts(sources):
                    sql.execute(
                        update(Document)
                        .where(
                            col(Document.space) == space,
                            col(Document.source).in_(some),
                            *(() if even_placed else (col(Document.collection) == "",)),
                        )
                        .values(collection=name)
                        .execution_options(synchronize_session=False)
                    )

    def remove(self, user_id: int, space: str, sources: Sequence[str], *, of_space: str, summary: str) -> int:
        """Takes documents out, until that is undone; returns the receipt. of_space: whose the receipt is.

        Raises `NotFound` where nothing of any of them is left, and `OthersDocument`.
        """
        with self._database.writing() as sql:
            self._require_theirs(sql, user_id, space, sources)
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

    def _require_theirs(self, sql: SqlSession, user_id: int, space: str, sources: Sequence[str]) -> None:
        for source, owner in self._of_others(sql, user_id, space, sources).items():
            raise OthersDocument(source, owner)

    def _of_others(self, sql: SqlSession, user_id: int, space: str, sources: Sequence[str]) -> dict[str, str]:
        if space == own_space(user_id) or sql.get_one(User, user_id).name in self._curators:
            return {}
        return {
            source: name or ""
            for start in range(0, len(sources), _ASKED_AT_ONCE)
            for source, owner, name in sql.execute(
                select(col(Document.source), col(Receipt.user_id), col(User.name))
                .join(DocumentVersion, col(DocumentVersion.document_id) == col(Document.id))
                .outerjoin(Receipt, col(Receipt.id) == col(DocumentVersion.added_by))
                .outerjoin(User, col(User.id) == col(Receipt.user_id))
                .where(
                    col(Document.space) == space,
                    col(Document.source).in_(sources[start : start + _ASKED_AT_ONCE]),
                    col(DocumentVersion.removed_at).is_(None),
                )
            )
            if owner != user_id
        }

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
