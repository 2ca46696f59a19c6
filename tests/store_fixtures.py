"""What the tests of the stores share: an empty database in a moment, an encoder with fixed answers,
and all that can be found, to compare before and after.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import func, select, text
from sqlmodel import col

from stores.base.passages import SHARED, own_space, searchable_text
from stores.conversation.journal import Journal
from stores.database.database import Database
from stores.database.tables import Document, PassageIdentity, PassageVersion
from stores.exchange.memory_export import MemoryExport, Scope
from stores.exchange.memory_import import Imported, MemoryImport
from stores.exchange.memory_lines import read_memory
from stores.memory.catalogue import Catalogue
from stores.memory.documents import NewDocument, NewPassage, Stored, StoredDocuments
from stores.memory.edits import Knowledge
from stores.search.indexer import Indexer
from stores.search.shared_index import SharedIndex
from stores.search.spaces import Spaces
from stores.vectors.exact import VectorIndex, Vectors
from stores.words.lexical import searched

V = TypeVar("V", bound=VectorIndex)

DIMENSION = 16
ENCODER = "fake-1"


def fake_encode(texts: Sequence[str]) -> Vectors:
    """(N, 16): ±1/4 by the first bits of a hash. Of unit length, and every cosine is exact: n/8."""
    vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
    for row, written in enumerate(texts):
        first = int.from_bytes(hashlib.sha256(written.encode()).digest()[:2], "big")
        vectors[row] = [0.25 if first >> bit & 1 else -0.25 for bit in range(DIMENSION)]
    return vectors


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        Database.at(Path(folder)).close()
        return (Path(folder) / "vouch.db").read_bytes()


def fresh_database(folder: Path) -> Database:
    """A migrated, empty database, without waiting for the migration again."""
    (folder / "vouch.db").write_bytes(_empty_database())
    return Database.at(folder)


@dataclass
class Stores:
    """The stores over one database."""

    database: Database
    journal: Journal
    stored_documents: StoredDocuments
    catalogue: Catalogue
    knowledge: Knowledge

    @classmethod
    def over(cls, database: Database) -> Stores:
        return cls(
            database,
            Journal(database),
            StoredDocuments(database),
            Catalogue(database),
            Knowledge(database),
        )

    @classmethod
    def fresh(cls, folder: Path) -> Stores:
        return cls.over(fresh_database(folder))

    def shared_index(
        self,
        index: VectorIndex | None,
        *,
        encoder_version: str = ENCODER,
        exact_up_to: int = 0,
        name: str = "tests",
    ) -> SharedIndex:
        return SharedIndex(
            self.database,
            name=name,
            encoder_version=encoder_version,
            dimension=DIMENSION,
            exact_up_to=exact_up_to,
            open_index=lambda _writes: Fillable(index) if index is not None else None,
        )

    def indexer(
        self,
        index: VectorIndex | None = None,
        *,
        encode: Callable[[Sequence[str]], Vectors] = fake_encode,
        encoder_version: str = ENCODER,
        exact_up_to: int = 0,
        name: str = "tests",
    ) -> Indexer:
        """exact_up_to: 0 wants the index from the first shared passage on."""
        return Indexer(
            self.database,
            encoder_version=encoder_version,
            encode=encode,
            shared_index=self.shared_index(
                index, encoder_version=encoder_version, exact_up_to=exact_up_to, name=name
            ),
        )

    def spaces(
        self, index: VectorIndex | None = None, *, exact_up_to: int = 10_000, encoder_version: str = ENCODER
    ) -> Spaces:
        return Spaces(
            self.database,
            encoder_version=encoder_version,
            dimension=DIMENSION,
            shared_index=self.shared_index(index, encoder_version=encoder_version, exact_up_to=exact_up_to),
        )

    def add(self, user: int, *documents: NewDocument, space: str = SHARED) -> tuple[int, dict[str, Stored]]:
        """Stores documents as an ingest does; returns the receipt's id and what became of them."""
        plan = self.stored_documents.plan(space, documents)
        receipt = self.stored_documents.open_receipt(user, space, "added")
        vectors = fake_encode(plan.texts_to_encode())
        return receipt, self.stored_documents.store(
            plan, vectors, encoder_version=ENCODER, receipt_id=receipt
        )

    def say(self, user: int, *parts: str) -> tuple[int, ...]:
        """A message in a new session; returns the versions that hold its parts."""
        session = self.journal.open_session(user)
        return self.journal.accept(user, session, " ".join(parts), parts=parts).version_ids

    def exported(self, user: int, scope: Scope = "yours") -> list[str]:
        """The lines of an export."""
        lines = MemoryExport(self.database).lines(user, scope=scope)
        return [json.dumps(line, ensure_ascii=False) for line in lines]

    def import_lines(self, user: int, lines: Sequence[str], *, shared: bool = False) -> Imported:
        """Takes in exported lines, or texts alone."""
        return MemoryImport(self.database).take_in(user, read_memory(lines, "file"), shared=shared)

    def import_notes(self, user: int, *notes: str) -> Imported:
        return self.import_lines(user, [json.dumps({"text": note}) for note in notes])

    def texts(self, space: str = SHARED) -> dict[int, str]:
        """The live texts of a space by version id."""
        return {
            row["version"]: row["text"] for row in findable(self.database)["texts"] if row["space"] == space
        }

    def own_texts(self, user: int) -> set[str]:
        return set(self.texts(own_space(user)).values())


def document(source: str, *passages: str, title: str = "") -> NewDocument:
    """A document whose passages are these texts."""
    content = hashlib.sha256("\0".join((title, *passages)).encode()).hexdigest()
    return NewDocument(source, title, content, tuple(NewPassage(title, passage) for passage in passages))


def findable(database: Database) -> dict[str, Any]:
    """All that a search could see: live texts, their words, the statistics, their vectors."""
    with database.reading() as sql:
        if database.is_postgresql:
            words = _rows(sql, "SELECT version_id, space, words FROM passage_words ORDER BY version_id")
            shared = [(row[0], row[2]) for row in words if row[1] == SHARED]
            own = [(row[0], row[1].replace(":", ""), row[2]) for row in words if row[1] != SHARED]
        else:
            shared = _rows(sql, "SELECT rowid, words FROM shared_words ORDER BY rowid")
            own = _rows(sql, "SELECT rowid, space, words FROM own_words ORDER BY rowid")
        return {
            "texts": [dict(row) for row in sql.execute(text(_TEXTS)).mappings()],
            "shared words": shared,
            "own words": own,
            "statistics": sorted(
                _rows(sql, "SELECT space, passages, words FROM space_statistics WHERE passages > 0")
            ),
            "counts": sorted(_rows(sql, "SELECT space, token, passages FROM word_counts")),
            "vectors": _rows(sql, _VECTORS),
            "documents": _rows(
                sql,
                "SELECT document_id, number, content_hash FROM document_versions "
                "WHERE removed_at IS NULL ORDER BY id",
            ),
        }


def seen(stores: Stores, user: int) -> dict[str, Any]:
    """All that can be found, and what searches by words and by meaning answer."""
    space = stores.spaces().of(user)
    query = fake_encode(["cat"])[0]
    found = findable(stores.database)
    vectors = sorted(row[:1] + row[1:] for row in found.pop("vectors"))
    return found | {
        "vectors": vectors,
        "nearest": space.nearest(query, 100),
        "matching": space.matching("cat dog owl elk", 100),
        "scores": space.word_scores("cat dog owl elk", list(range(1, 30))),
    }


def passages_by_text(stores: Stores) -> dict[str, int]:
    return {row["text"]: row["passage"] for row in findable(stores.database)["texts"]}


def assert_words_are_exact(database: Database) -> None:
    """The words and statistics kept are those of the live texts, counted anew."""
    found = findable(database)
    words = {
        row["version"]: (row["space"], searched(searchable_text(row["title"], row["text"])))
        for row in found["texts"]
    }
    kept = {row[0]: (SHARED, row[1].split()) for row in found["shared words"]}
    kept |= {row[0]: (re.sub(r"(?=\d)", ":", row[1], count=1), row[2].split()) for row in found["own words"]}
    assert kept == words
    counted: dict[str, tuple[int, int]] = {}
    holding: Counter[tuple[str, str]] = Counter()
    for space, found_words in words.values():
        passages, total = counted.get(space, (0, 0))
        counted[space] = (passages + 1, total + len(found_words))
        holding.update((space, token) for token in set(found_words))
    assert {row[:2]: row[2] for row in found["counts"]} == holding
    assert {row[0]: (row[1], row[2]) for row in found["statistics"]} == counted


def _rows(sql: Any, statement: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in sql.execute(text(statement))]


_TEXTS = (
    "SELECT id AS version, passage_id AS passage, document_id AS document, position, space, title, text "
    "FROM passage_versions WHERE removed_at IS NULL ORDER BY id"
)
_VECTORS = (
    "SELECT v.id, x.space, x.encoder_version, x.vector FROM passage_vectors AS x "
    "JOIN passage_versions AS v ON v.id = x.version_id WHERE v.removed_at IS NULL ORDER BY v.id, 3"
)


class Fillable:
    """Any index, with the id of its fill, which lasts as long as that object does."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self.upsert, self.remove = index.upsert, index.remove
        self.nearest, self.version_ids = index.nearest, index.version_ids

    def fill_id(self) -> str:
        return str(vars(self._index).get("fill_id", ""))

    def set_fill_id(self, fill_id: str) -> None:
        vars(self._index)["fill_id"] = fill_id


def forget_fill(index: VectorIndex) -> None:
    """As an index that was made anew."""
    vars(index).pop("fill_id", None)


def taken_for(filled: VectorIndex, index: V) -> V:
    """An index that claims to be the one that was filled."""
    vars(index)["fill_id"] = vars(filled)["fill_id"]
    return index


def state_hash(database: Database, user_id: int | None = None) -> str:
    """SHA-256 over all live passages that this user may see, of everybody's without one; 64 hex digits.

    Over space, kind, title, text, source and position of each, in the order of their ids: equal for
    equal knowledge. Vectors and words, which are derived, are not in it.
    """
    statement = (
        select(
            col(PassageVersion.space),
            col(PassageIdentity.kind),
            col(PassageVersion.title),
            col(PassageVersion.text),
            func.coalesce(col(Document.source), ""),
            col(PassageVersion.position),
        )
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .outerjoin(Document, col(Document.id) == col(PassageVersion.document_id))
        .where(col(PassageVersion.removed_at).is_(None))
        .order_by(col(PassageVersion.passage_id), col(PassageVersion.id))
    )
    if user_id is not None:
        statement = statement.where(col(PassageVersion.space).in_((SHARED, own_space(user_id))))
    with database.reading() as sql:
        rows = [list(row) for row in sql.execute(statement)]
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()
