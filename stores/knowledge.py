"""Passages and documents: adding, replacing, forgetting, and taking each of these back.

Every write has a receipt. A version names the receipt that added it and the one that removed it, so
undoing a receipt is: remove what it added, revive what it removed.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Literal, TypeAlias

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.changes import NewVersion, add_versions, remove_versions, revive_versions, text_hash
from stores.database import Database
from stores.errors import CannotUndo, NotFound
from stores.records import (
    SHARED,
    Document,
    DocumentVersion,
    Feedback,
    Judgement,
    Passage,
    PassageIdentity,
    PassageVersion,
    Receipt,
    Retrieval,
    RetrievedPassage,
    Turn,
    User,
    now,
    own_space,
    searchable_text,
    well_formed,
)
from stores.spaces import live_passages
from stores.vectors import Vectors

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


@dataclass(frozen=True)
class Stored:
    """What became of a document."""

    document_id: int
    change: Change
    passages: int


@dataclass(frozen=True)
class PassageLine:
    """A passage in a list."""

    passage_id: int
    kind: str
    scope: Literal["yours", "shared"]
    title: str
    text: str
    source: str
    created_at: datetime


@dataclass(frozen=True)
class History:
    """All there is to know about one passage."""

    passage: PassageLine
    is_forgotten: bool
    versions: tuple[PassageVersion, ...]  # oldest first
    receipts: tuple[Receipt, ...]
    turn: Turn | None  # in which it was said or taught
    answers: int  # how many turns put it before the model
    judged_helpful: int
    judged_useless: int


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten, and what still holds it."""

    receipt_id: int
    lines: tuple[PassageLine, ...]
    turns: tuple[int, ...]  # whose transcript shows the words


class Plan:
    """What storing some documents would change: known before anything is encoded or written."""

    def __init__(self, space: str, documents: Sequence[NewDocument], same: dict[str, int]) -> None:
        self.space = space
        self.same = same  # source of a document to the document that holds its content already
        self.changed = [document for document in documents if document.source not in same]

    def texts_to_encode(self) -> list[str]:
        """In the order in which `Knowledge.store` wants their vectors."""
        return [searchable_text(p.title, p.text) for document in self.changed for p in document.passages]


class Knowledge:
    """What is known, and every change of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Documents

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
            return _receipt(sql, user_id, "add", space, summary)

    def store(
        self, plan: Plan, vectors: Vectors, *, encoder_version: str, receipt_id: int
    ) -> dict[str, Stored]:
        """Makes a plan's documents findable, in one transaction. vectors: of `texts_to_encode`, in order.

        Returns what became of each changed document, by source.
        """
        outcome: dict[str, Stored] = {}
        next_vector = iter(vectors)
        with self._database.writing() as sql:
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
        remove_versions(sql, [_id(version.id) for version in live], receipt_id=receipt_id)
        retired = sql.execute(
            update(DocumentVersion)
            .where(col(DocumentVersion.document_id) == document_id, col(DocumentVersion.removed_at).is_(None))
            .values(removed_at=now(), removed_by=receipt_id)
        )
        return _Replaced(number or 0, bool(retired.rowcount), live)  # type: ignore[attr-defined]

    # A user's own memory

    def remember(
        self, user_id: int, written: str, *, kind: str = "note", turn_id: int | None = None
    ) -> tuple[int, int]:
        """Keeps a note in the user's own memory; returns its passage id and the receipt's."""
        written = well_formed(written)
        with self._database.writing() as sql:
            space = own_space(user_id)
            receipt_id = _receipt(sql, user_id, "add", space, _shortened(written), turn_id=turn_id)
            version_ids = add_versions(
                sql,
                space,
                [NewVersion(text=written, kind=kind, turn_id=turn_id)],
                author="user",
                receipt_id=receipt_id,
            )
            version = sql.get_one(PassageVersion, version_ids[0])
            return version.passage_id, receipt_id

    def forget(self, user_id: int, passage_ids: Sequence[int]) -> Forgotten:
        """Takes passages out of every answer from now on; all of them or none.

        A shared passage can be forgotten by the user who added it.
        """
        lines = [self.line(user_id, passage_id) for passage_id in passage_ids]
        with self._database.writing() as sql:
            versions: list[int] = []
            for line in lines:
                if line.scope == "shared":
                    _must_have_added(sql, user_id, line.passage_id)
                versions.extend(_live_versions(sql, line.passage_id))
            spaces = {SHARED if line.scope == "shared" else own_space(user_id) for line in lines}
            summary = _shortened("; ".join(line.text for line in lines))
            space = spaces.pop() if len(spaces) == 1 else own_space(user_id)
            receipt_id = _receipt(sql, user_id, "delete", space, summary)
            remove_versions(sql, versions, receipt_id=receipt_id)
            turns = sql.scalars(
                select(col(PassageIdentity.turn_id))
                .where(
                    col(PassageIdentity.id).in_(list(passage_ids)), col(PassageIdentity.turn_id).is_not(None)
                )
                .distinct()
            ).all()
        return Forgotten(receipt_id, tuple(lines), tuple(sorted(t for t in turns if t is not None)))

    def own_passages(self, user_id: int) -> list[int]:
        """Every live passage of the user's own space."""
        return [line.passage_id for line in self.lines(user_id, scope="yours")]

    # Receipts and undo

    def receipts(self, user_id: int, *, limit: int = 20) -> list[Receipt]:
        """What this user's writes did and can be undone, newest first."""
        with self._database.reading() as sql:
            return list(
                sql.scalars(
                    select(Receipt)
                    .where(col(Receipt.user_id) == user_id, col(Receipt.undone_at).is_(None))
                    .order_by(col(Receipt.id).desc())
                    .limit(limit)
                )
            )

    def undo(self, user_id: int, receipt_id: int | None = None) -> tuple[Receipt, list[PassageLine]]:
        """Takes a write back, the latest when none is named; returns its receipt and what came back."""
        with self._database.writing() as sql:
            receipt = _receipt_to_undo(sql, user_id, receipt_id)
            added = _added_by(sql, _id(receipt.id))
            removed = _removed_by(sql, _id(receipt.id))
            _must_be_newest(sql, added, _id(receipt.id))
            _must_have_kept_its_document(sql, removed, _id(receipt.id))
            remove_versions(sql, added, receipt_id=_id(receipt.id))
            revived = revive_versions(sql, [i for i in removed if i not in set(added)])
            moment = now()
            sql.execute(
                update(DocumentVersion)
                .where(
                    col(DocumentVersion.removed_by) == receipt.id,
                    col(DocumentVersion.added_by).is_distinct_from(receipt.id),
                )
                .values(removed_at=None, removed_by=None)
            )
            sql.execute(
                update(DocumentVersion)
                .where(col(DocumentVersion.added_by) == receipt.id, col(DocumentVersion.removed_at).is_(None))
                .values(removed_at=moment, removed_by=receipt.id)
            )
            receipt.undone_at = moment
            sql.execute(  # what was taught is taken back with the correction that it became
                update(Feedback)
                .where(
                    col(Feedback.turn_id) == receipt.turn_id,
                    col(Feedback.user_id) == user_id,
                    col(Feedback.rating) == "taught",
                    col(Feedback.withdrawn_at).is_(None),
                )
                .values(withdrawn_at=moment)
            )
            back = list(live_passages(sql, revived, (SHARED, own_space(user_id))).values())
        return receipt, [_line(passage) for passage in back]

    # Looking

    def lines(
        self,
        user_id: int,
        *,
        scope: Literal["yours", "shared", "all"] = "all",
        kind: str | None = None,
        query: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> list[PassageLine]:
        """Live passages that this user may see, newest first. query: words that all stand in the text."""
        spaces = {
            "yours": (own_space(user_id),),
            "shared": (SHARED,),
            "all": (SHARED, own_space(user_id)),
        }[scope]
        statement = (
            select(col(PassageVersion.id))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(col(PassageVersion.space).in_(spaces), col(PassageVersion.removed_at).is_(None))
            .order_by(col(PassageIdentity.id).desc())
        )
        if kind:
            statement = statement.where(col(PassageIdentity.kind) == kind)
        if since:
            statement = statement.where(col(PassageIdentity.created_at) >= since)
        for word in (query or "").split():
            statement = statement.where(col(PassageVersion.text).icontains(word, autoescape=True))
        if limit is not None:
            statement = statement.limit(limit)
        with self._database.reading() as sql:
            ids = [_id(i) for i in sql.scalars(statement)]
            found = live_passages(sql, ids, spaces)
        return [_line(found[i]) for i in ids if i in found]

    def line(self, user_id: int, passage_id: int) -> PassageLine:
        """One live passage that this user may see."""
        with self._database.reading() as sql:
            found = live_passages(sql, _live_versions(sql, passage_id), (SHARED, own_space(user_id)))
        if not found:
            raise NotFound(
                f"there is no passage {passage_id}, or it is not yours to see",
                hint="`vouch memory list` shows what there is.",
            )
        return _line(next(iter(found.values())))

    def history(self, user_id: int, passage_id: int) -> History:
        """One passage with its versions, receipts and uses; also when it was forgotten."""
        allowed = (SHARED, own_space(user_id))
        with self._database.reading() as sql:
            identity = sql.get(PassageIdentity, passage_id)
            if identity is None or identity.space not in allowed:
                raise NotFound(
                    f"there is no passage {passage_id}, or it is not yours to see",
                    hint="`vouch memory list` shows what there is.",
                )
            versions = sql.scalars(
                select(PassageVersion)
                .where(col(PassageVersion.passage_id) == passage_id)
                .order_by(col(PassageVersion.number))
            ).all()
            newest = next((v for v in versions if v.removed_at is None), versions[-1])
            document = sql.get(Document, newest.document_id) if newest.document_id else None
            ids = [_id(version.id) for version in versions]
            named = {r for v in versions for r in (v.added_by, v.removed_by) if r is not None}
            receipts = sql.scalars(select(Receipt).where(col(Receipt.id).in_(named))).all()
            return History(
                PassageLine(
                    passage_id,
                    identity.kind,
                    "shared" if identity.space == SHARED else "yours",
                    newest.title,
                    newest.text,
                    document.source if document else "",
                    identity.created_at,
                ),
                newest.removed_at is not None,
                tuple(versions),
                tuple(r for r in receipts if r.user_id == user_id),
                sql.get(Turn, identity.turn_id) if identity.turn_id else None,
                _answers_with(sql, user_id, ids),
                _judged(sql, user_id, ids, ("answer", "relevant")),
                _judged(sql, user_id, ids, ("irrelevant",)),
            )

    def passages_of(self, user_id: int, version_ids: Iterable[int]) -> dict[int, tuple[Passage, bool]]:
        """Versions that this user may see, live or not, by id; with whether each is still live."""
        allowed = (SHARED, own_space(user_id))
        found: dict[int, tuple[Passage, bool]] = {}
        with self._database.reading() as sql:
            rows = sql.execute(
                select(PassageVersion, PassageIdentity, col(Document.source))
                .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                .outerjoin(Document, col(Document.id) == col(PassageVersion.document_id))
                .where(col(PassageVersion.id).in_(list(version_ids)), col(PassageVersion.space).in_(allowed))
            )
            for version, identity, source in rows:
                passage = Passage(
                    _id(version.id),
                    version.passage_id,
                    version.space,
                    identity.kind,
                    version.title,
                    version.text,
                    version.document_id,
                    version.position,
                    source or "",
                    identity.external_id,
                    identity.created_at,
                )
                found[_id(version.id)] = (passage, version.removed_at is None)
        return found

    def counts(self, user_id: int) -> tuple[int, int]:
        """How many live passages are this user's own, and how many are shared."""
        with self._database.reading() as sql:
            yours, shared = (
                sql.scalar(
                    select(func.count())
                    .select_from(PassageVersion)
                    .where(col(PassageVersion.space) == space, col(PassageVersion.removed_at).is_(None))
                )
                or 0
                for space in (own_space(user_id), SHARED)
            )
        return yours, shared

    # Export and import

    def export(
        self, user_id: int, *, scope: Literal["yours", "shared", "all"] = "yours"
    ) -> Iterator[dict[str, Any]]:
        """Live passages as plain values, in the order of their ids."""
        for line in sorted(self.lines(user_id, scope=scope), key=lambda line: line.passage_id):
            yield {
                "schema": 1,
                "id": line.passage_id,
                "kind": line.kind,
                "scope": line.scope,
                "title": line.title,
                "text": line.text,
                "source": line.source,
                "created_at": line.created_at.isoformat(),
            }

    def import_own(self, user_id: int, entries: Sequence[tuple[str, str, str]]) -> tuple[int, int]:
        """Keeps (kind, title, text) entries in the user's own memory; returns how many were new and known."""
        space = own_space(user_id)
        with self._database.writing() as sql:
            hashes = [text_hash(title, written) for _, title, written in entries]
            known = set(
                sql.scalars(
                    select(col(PassageVersion.text_hash)).where(
                        col(PassageVersion.space) == space, col(PassageVersion.removed_at).is_(None)
                    )
                )
            )
            fresh: dict[str, NewVersion] = {}
            for entry_hash, (kind, title, written) in zip(hashes, entries, strict=True):
                if entry_hash not in known:
                    fresh.setdefault(entry_hash, NewVersion(text=written, title=title, kind=kind))
            if fresh:
                receipt_id = _receipt(sql, user_id, "add", space, f"imported {len(fresh)} passages")
                add_versions(
                    sql,
                    space,
                    list(fresh.values()),
                    author="import",
                    receipt_id=receipt_id,
                )
        return len(fresh), len(entries) - len(fresh)


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
    rows = sql.execute(
        select(col(DocumentVersion.content_hash), col(DocumentVersion.document_id)).where(
            col(DocumentVersion.space) == space,
            col(DocumentVersion.content_hash).in_(hashes),
            col(DocumentVersion.removed_at).is_(None),
        )
    )
    return {row[0]: row[1] for row in rows}


def _documents_from(sql: SqlSession, space: str, sources: Sequence[str]) -> dict[str, int]:
    rows = sql.execute(
        select(col(Document.source), col(Document.id)).where(
            col(Document.space) == space, col(Document.source).in_(sources)
        )
    )
    return {row[0]: _id(row[1]) for row in rows}


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
    return _id(document.id)


def _receipt(
    sql: SqlSession, user_id: int, action: str, space: str, summary: str, *, turn_id: int | None = None
) -> int:
    receipt = Receipt(
        user_id=user_id,
        turn_id=turn_id,
        action=action,
        space=space,
        summary=well_formed(summary),
        created_at=now(),
    )
    sql.add(receipt)
    sql.flush()
    return _id(receipt.id)


def _receipt_to_undo(sql: SqlSession, user_id: int, receipt_id: int | None) -> Receipt:
    statement = select(Receipt).where(col(Receipt.user_id) == user_id)
    if receipt_id is None:
        statement = statement.where(col(Receipt.undone_at).is_(None)).order_by(col(Receipt.id).desc())
    else:
        statement = statement.where(col(Receipt.id) == receipt_id)
    receipt = sql.scalars(statement.limit(1)).one_or_none()
    if receipt is None and receipt_id is None:
        raise NotFound("there is nothing to undo")
    if receipt is None:
        raise NotFound(
            f"there is no receipt {receipt_id} of yours", hint="`vouch memory undo --list` shows them."
        )
    if receipt.undone_at is not None:
        raise CannotUndo(f"receipt {receipt_id} was undone already")
    return receipt


def _added_by(sql: SqlSession, receipt_id: int) -> list[int]:
    statement = select(col(PassageVersion.id)).where(col(PassageVersion.added_by) == receipt_id)
    return [_id(i) for i in sql.scalars(statement)]


def _removed_by(sql: SqlSession, receipt_id: int) -> list[int]:
    """What a receipt removed, without what came by a write that was itself taken back since."""
    statement = (
        select(col(PassageVersion.id))
        .outerjoin(Receipt, col(Receipt.id) == col(PassageVersion.added_by))
        .where(col(PassageVersion.removed_by) == receipt_id, col(Receipt.undone_at).is_(None))
    )
    return [_id(i) for i in sql.scalars(statement)]


def _must_be_newest(sql: SqlSession, added: Sequence[int], receipt_id: int) -> None:
    """A version that a later write replaced cannot be taken back before that write is."""
    for start in range(0, len(added), 5_000):
        later = sql.scalar(
            select(col(PassageVersion.removed_by))
            .join(Receipt, col(Receipt.id) == col(PassageVersion.removed_by))
            .where(
                col(PassageVersion.id).in_(added[start : start + 5_000]),
                col(PassageVersion.removed_by) != receipt_id,
                col(Receipt.action) != "delete",
            )
            .limit(1)
        )
        if later is not None:
            raise _changed_since(receipt_id, later)


def _must_have_kept_its_document(sql: SqlSession, removed: Sequence[int], receipt_id: int) -> None:
    """A passage cannot come back into a document whose content was replaced since."""
    for start in range(0, len(removed), 5_000):
        later = sql.scalar(
            select(col(DocumentVersion.added_by))
            .join(PassageVersion, col(PassageVersion.document_id) == col(DocumentVersion.document_id))
            .where(
                col(PassageVersion.id).in_(removed[start : start + 5_000]),
                col(DocumentVersion.removed_at).is_(None),
                col(DocumentVersion.created_at) > col(PassageVersion.removed_at),
                col(DocumentVersion.added_by) != receipt_id,
            )
            .limit(1)
        )
        if later is not None:
            raise _changed_since(receipt_id, later)


def _changed_since(receipt_id: int, later: int) -> CannotUndo:
    return CannotUndo(
        f"what receipt {receipt_id} wrote was changed since by receipt {later}",
        hint=f"Undo that first: vouch memory undo {later}",
    )


def _must_have_added(sql: SqlSession, user_id: int, passage_id: int) -> None:
    adder = sql.scalar(
        select(col(Receipt.user_id))
        .join(PassageVersion, col(PassageVersion.added_by) == col(Receipt.id))
        .where(col(PassageVersion.passage_id) == passage_id, col(PassageVersion.removed_at).is_(None))
    )
    if adder != user_id:
        name = sql.scalar(select(col(User.name)).where(col(User.id) == adder)) if adder else None
        raise NotFound(
            f"passage {passage_id} is shared and was added by {name or 'somebody else'}",
            hint="Who added a shared passage can forget it.",
        )


def _live_versions(sql: SqlSession, passage_id: int) -> list[int]:
    return [
        _id(i)
        for i in sql.scalars(
            select(col(PassageVersion.id)).where(
                col(PassageVersion.passage_id) == passage_id, col(PassageVersion.removed_at).is_(None)
            )
        )
    ]


def _answers_with(sql: SqlSession, user_id: int, version_ids: Sequence[int]) -> int:
    return (
        sql.scalar(
            select(func.count(col(Retrieval.turn_id).distinct()))
            .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
            .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
            .where(
                col(RetrievedPassage.version_id).in_(version_ids),
                col(RetrievedPassage.citation).is_not(None),
                col(Turn.user_id) == user_id,
            )
        )
        or 0
    )


def _judged(sql: SqlSession, user_id: int, version_ids: Sequence[int], labels: Sequence[str]) -> int:
    return (
        sql.scalar(
            select(func.count())
            .select_from(Judgement)
            .join(Turn, col(Turn.id) == col(Judgement.turn_id))
            .where(
                col(Judgement.version_id).in_(version_ids),
                col(Judgement.label).in_(labels),
                col(Turn.user_id) == user_id,
            )
        )
        or 0
    )


def _line(passage: Passage) -> PassageLine:
    return PassageLine(
        passage.passage_id,
        passage.kind,
        passage.scope,
        passage.title,
        passage.text,
        passage.source,
        passage.created_at,
    )


def _shortened(written: str) -> str:
    words = " ".join(written.split())
    return words if len(words) <= 120 else words[:119] + "…"


def _id(value: int | None) -> int:
    assert value is not None, "a stored row has an id"
    return value
