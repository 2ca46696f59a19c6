"""Indexes with the truth behind them, as tests of several files use them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession

from stores.base.clock import now
from stores.database.database import Database
from stores.database.tables import PassageIdentity, PassageVersion
from stores.vectors.exact import StoredVectors, Vector, Vectors, vector_bytes
from stores.vectors.faiss_index import FaissVectors
from stores.versions.changes import remove_versions

SPACE = "user:1"


class TrueVectors:
    """What a database would hold: changed before the index is, and read by its builds."""

    def __init__(self) -> None:
        self.held: dict[int, Vector] = {}

    def put(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        self.held.update(zip(version_ids, vectors, strict=True))

    def drop(self, version_ids: Iterable[int]) -> None:
        for version_id in version_ids:
            self.held.pop(version_id, None)

    def all(self) -> Iterator[tuple[list[int], Vectors]]:
        if self.held:
            yield list(self.held), np.array(list(self.held.values()), dtype=np.float32)


class TrueFaiss:
    """A `VectorIndex`: `FaissVectors` over `TrueVectors`, which outlive its closing."""

    def __init__(self, folder: Path, dimension: int, **settings: Any) -> None:
        """settings: of `FaissVectors`, other than these."""
        self.truth = TrueVectors()
        self._open = lambda **more: FaissVectors(
            folder, "fake", dimension, all_vectors=self.truth.all, **{"writes": True, **settings, **more}
        )
        self.index = self._open()

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        if len(version_ids) == len(vectors):
            self.truth.put(version_ids, vectors)
        self.index.upsert(version_ids, vectors)

    def remove(self, version_ids: Iterable[int]) -> None:
        ids = list(version_ids)
        self.truth.drop(ids)
        self.index.remove(ids)

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        return self.index.nearest(vector, k)

    def version_ids(self) -> set[int]:
        return self.index.version_ids()

    def reader(self) -> FaissVectors:
        """As another process would open it to search."""
        return self._open(writes=False)

    def reopen(self) -> None:
        self.index.close()
        self.index = self._open()

    def close(self) -> None:
        self.index.close()


class DatabaseVectors:
    """`StoredVectors` as a `VectorIndex`: what is upserted is a passage, what is removed a tombstone."""

    def __init__(self, database: Database, dimension: int) -> None:
        self._database, self._dimension = database, dimension
        self._stored = StoredVectors(SPACE, "fake", dimension)

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        if len(version_ids) != len(vectors):
            raise ValueError("not one vector an id")
        with self._database.writing() as sql:
            for version_id, vector in zip(version_ids, vectors, strict=True):
                sql.execute(text("DELETE FROM passage_vectors WHERE version_id = :id"), {"id": version_id})
                self._make_live(sql, version_id)
                sql.execute(
                    text(
                        "INSERT INTO passage_vectors(version_id, space, encoder_version, vector) "
                        "VALUES (:id, :space, 'fake', :vector)"
                    ),
                    {"id": version_id, "space": SPACE, "vector": vector_bytes(vector)},
                )

    def remove(self, version_ids: Iterable[int]) -> None:
        ids = list(version_ids)
        with self._database.writing() as sql:
            remove_versions(sql, ids, receipt_id=None)
        self._stored.remove(ids)

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        with self._database.reading() as sql:
            self._stored.refresh(sql)
        return self._stored.nearest(vector, k)

    def version_ids(self) -> set[int]:
        return {
            version_id
            for version_id, _ in self.nearest(np.zeros(self._dimension, dtype=np.float32), 1_000_000)
        }

    def _make_live(self, sql: SqlSession, version_id: int) -> None:
        version = sql.get(PassageVersion, version_id)
        if version is not None:
            version.removed_at = None
            return
        passage = PassageIdentity(space=SPACE, kind="note", created_at=now())
        sql.add(passage)
        sql.flush()
        assert passage.id is not None
        sql.add(
            PassageVersion(
                id=version_id,
                passage_id=passage.id,
                space=SPACE,
                number=1,
                title="",
                text="",
                text_hash="",
                author="test",
                created_at=now(),
            )
        )
        sql.flush()


class TruthFile:
    """The truth of a process that is killed: SQLite, each change durable before it returns."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._connection.execute("CREATE TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY, vector TEXT)")

    def put(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        rows = [(i, json.dumps(v.tolist())) for i, v in zip(version_ids, vectors, strict=True)]
        with self._whole():
            self._connection.executemany("INSERT OR REPLACE INTO held VALUES (?, ?)", rows)

    def drop(self, version_ids: Iterable[int]) -> None:
        with self._whole():
            self._connection.executemany("DELETE FROM held WHERE id = ?", [(i,) for i in version_ids])

    def all(self) -> Iterator[tuple[list[int], Vectors]]:
        rows = self._connection.execute("SELECT id, vector FROM held").fetchall()
        if rows:
            yield [row[0] for row in rows], np.array([json.loads(row[1]) for row in rows], dtype=np.float32)

    def held(self) -> dict[int, Vector]:
        return {i: vector for ids, vectors in self.all() for i, vector in zip(ids, vectors, strict=True)}

    def close(self) -> None:
        self._connection.close()

    def _whole(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection


def clusters(count: int, dimension: int, *, seed: int = 7) -> Vectors:
    """(N, D): unit vectors around a tenth as many centres."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(max(1, count // 10), dimension))
    vectors = centres[chance.integers(0, len(centres), count)] + 0.5 * chance.normal(size=(count, dimension))
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit
