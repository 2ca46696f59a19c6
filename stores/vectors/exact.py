"""Meaning: vectors found by their inner product, behind one protocol.

Keys are the ids of passage versions: a changed passage has a new key, so an index never holds a
stale vector under a live one. `ExactVectors` is the specification that runs; `StoredVectors` is the same
over what the database holds of one space, and reads only what was added since it last looked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session as SqlSession

from stores.database.rows import rows

Vector: TypeAlias = npt.NDArray[np.float32]  # (D,), unit length
Vectors: TypeAlias = npt.NDArray[np.float32]  # (N, D), rows of unit length
_AT_ONCE = 2_000  # vectors read at a time


class VectorIndex(Protocol):
    """Passage versions found by meaning, in one space, by vectors of one encoder version."""

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        """Makes versions findable. vectors: (N, D), unit length. A known id is replaced."""

    def remove(self, version_ids: Iterable[int]) -> None:
        """Makes versions unfindable. An unknown id is passed over."""

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """The k most similar versions with their cosine, best first; all when there are fewer."""

    def version_ids(self) -> set[int]:
        """Every version in the index."""


class ExactVectors:
    """Exact search in memory: one matrix product."""

    def __init__(self, dimension: int) -> None:
        self._matrix = np.empty((0, dimension), dtype=np.float32)
        self._ids: list[int] = []
        self._row_of: dict[int, int] = {}

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        if len(version_ids) != len(vectors):
            raise ValueError(f"{len(version_ids)} ids for {len(vectors)} vectors")
        self.make_room(len(version_ids))
        for version_id, vector in zip(version_ids, vectors, strict=True):
            row = self._row_of.setdefault(version_id, len(self._ids))
            if row == len(self._ids):
                self._ids.append(version_id)
            self._matrix[row] = vector

    def remove(self, version_ids: Iterable[int]) -> None:
        for version_id in version_ids:
            row = self._row_of.pop(version_id, None)
            if row is None:
                continue
            last = self._ids.pop()
            if last != version_id:  # the last row moves into the gap
                self._ids[row] = last
                self._row_of[last] = row
                self._matrix[row] = self._matrix[len(self._ids)]

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        count = len(self._ids)
        if count == 0 or k <= 0:
            return []
        scores = self._matrix[:count] @ np.asarray(vector, dtype=np.float32)
        first = count - min(k, count)
        least = np.partition(scores, first)[first]
        best = np.flatnonzero(scores >= least)  # more than k when some are equal: the ids decide
        hits = zip((self._ids[row] for row in best.tolist()), scores[best].tolist(), strict=True)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]

    def similarities(self, vector: Vector, version_ids: Iterable[int]) -> dict[int, float]:
        """Cosine of each of these versions that is known."""
        known = [version_id for version_id in version_ids if version_id in self._row_of]
        if not known:
            return {}
        scores = self._matrix[[self._row_of[version_id] for version_id in known]] @ vector
        return dict(zip(known, scores.tolist(), strict=True))

    def version_ids(self) -> set[int]:
        return set(self._ids)

    def make_room(self, more: int) -> None:
        """Has room for so many more: told of many at once, it copies what there is only once."""
        count = len(self._ids)
        rows = count + more
        if rows > len(self._matrix):
            # a quarter to spare: rows that were never written take no memory
            roomy = np.empty((max(rows + rows // 4, 64), self._matrix.shape[1]), dtype=np.float32)
            roomy[:count] = self._matrix[:count]
            self._matrix = roomy


class StoredVectors:
    """Exact search over the vectors that the database holds of one space and encoder version."""

    def __init__(self, space: str, encoder_version: str, dimension: int) -> None:
        self.space = space
        self.encoder_version = encoder_version
        self._dimension = dimension
        self._exact = ExactVectors(dimension)
        self._read_up_to = 0

    def refresh(self, sql: SqlSession) -> None:
        """Takes in what was added since the last time. What was removed is told by `remove`."""
        new = self._read_next(sql)
        if len(new) == _AT_ONCE:
            self._exact.make_room(self._left(sql))
        while new:
            self._exact.upsert(
                [row[1] for row in new], read_vectors([row[2] for row in new], self._dimension)
            )
            self._read_up_to = new[-1][0]
            new = self._read_next(sql) if len(new) == _AT_ONCE else []

    def _read_next(self, sql: SqlSession) -> list[tuple[Any, ...]]:
        return rows(
            sql,
            "SELECT vectors.id, vectors.version_id, vectors.vector FROM passage_vectors AS vectors "
            "JOIN passage_versions AS versions ON versions.id = vectors.version_id "
            "WHERE vectors.space = ? AND vectors.encoder_version = ? "
            "AND vectors.id > ? AND versions.removed_at IS NULL ORDER BY vectors.id LIMIT ?",
            [self.space, self.encoder_version, self._read_up_to, _AT_ONCE],
        )

    def _left(self, sql: SqlSession) -> int:
        """How many there are to read, tombstones included."""
        found = rows(
            sql,
            "SELECT count(*) FROM passage_vectors WHERE space = ? AND encoder_version = ? AND id > ?",
            [self.space, self.encoder_version, self._read_up_to],
        )
        return int(found[0][0])

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """As `VectorIndex.nearest`, over what was last read."""
        return self._exact.nearest(vector, k)

    def similarities(self, vector: Vector, version_ids: Iterable[int]) -> dict[int, float]:
        """Cosine of each of these versions that was read."""
        return self._exact.similarities(vector, version_ids)

    def remove(self, version_ids: Iterable[int]) -> None:
        """Drops versions that are no longer live."""
        self._exact.remove(version_ids)


def vector_bytes(vector: Vector) -> bytes:
    """A vector as the database keeps it."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def read_vectors(stored: Sequence[bytes], dimension: int) -> Vectors:
    """(N, D): vectors as the database keeps them."""
    read = np.frombuffer(b"".join(stored), dtype="<f4").reshape(len(stored), dimension)
    return read.astype(np.float32, copy=False)
