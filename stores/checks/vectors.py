"""Whether the vectors in the database can be used, and are those of their texts.

A vector is derived: one that is wrong is deleted, and a job, committed with that, has it encoded again
and brought into the indexes. Vectors of tombstones are kept on purpose: undo needs them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import searchable_text
from stores.database.database import Database
from stores.database.tables import ModelVersion, PassageVector
from stores.vectors.exact import Vectors, read_vectors
from stores.versions.changes import ask_to_index
from stores.versions.live import in_parts

LENGTH_TOLERANCE = 1e-3  # of a unit vector; encoders err by some 1e-7
STALE_UNDER = 1 - 1e-3  # cosine of a stored vector and its text's; another batch moves it by some 1e-6

_ROWS_AT_ONCE = 2_000
_TEXTS_AT_ONCE = 128


def malformed_vectors(
    database: Database,
    *,
    dimensions: dict[str, int],
    looked_at: Callable[[int], None] = lambda count: None,
) -> list[int]:
    """The ids of vectors that no search can use, of all encoder versions.

    They have the wrong length, hold what is no number, are not of unit length, or do not stand in the
    space of their passage. dimensions: of encoder versions, beside those that the database knows.
    """
    found: list[int] = []
    with database.reading() as sql:
        dimensions = _known_dimensions(sql) | dimensions
        after = 0
        while rows := sql.execute(text(_VECTORS), {"after": after, "limit": _ROWS_AT_ONCE}).all():
            after = rows[-1][0]
            fitting: dict[int, list[tuple[int, bytes]]] = {}  # by length in bytes
            for vector_id, encoder_version, vector, space, own_space in rows:
                is_whole = isinstance(vector, bytes) and len(vector) % 4 == 0 and len(vector) > 0
                expected = 4 * dimensions.get(encoder_version, len(vector) // 4 if is_whole else 0)
                if is_whole and len(vector) == expected and space == own_space:
                    fitting.setdefault(len(vector), []).append((vector_id, vector))
                else:
                    found.append(vector_id)
            for length, some in fitting.items():
                vectors = read_vectors([vector for _, vector in some], length // 4)
                with np.errstate(all="ignore"):  # what is no number is what is looked for
                    off = np.abs(np.linalg.norm(vectors.astype(np.float64), axis=1) - 1)
                found += [some[row][0] for row in np.flatnonzero(~(off <= LENGTH_TOLERANCE))]
            looked_at(len(rows))
    return sorted(found)


def stale_vectors(
    database: Database,
    encoder_version: str,
    encode: Callable[[Sequence[str]], Vectors],
    *,
    sample: int | None,
    looked_at: Callable[[int], None] = lambda count: None,
) -> list[int]:
    """The ids of live passages' vectors that are not those of their texts, encoded once more.

    sample: how many are looked at, by chance; None for all. All have to be well formed.
    """
    with database.reading() as sql:
        ids = [row[0] for row in sql.execute(text(_LIVE_VECTORS), {"encoder": encoder_version})]
    if sample is not None and sample < len(ids):
        ids = sorted(random.sample(ids, sample))
    stale: list[int] = []
    for start in range(0, len(ids), _TEXTS_AT_ONCE):
        some = ids[start : start + _TEXTS_AT_ONCE]
        with database.reading() as sql:
            rows = list(_texts_and_vectors(sql, some))
        if rows:
            true = encode([searchable_text(title, written) for _, title, written, _ in rows])  # (N, D)
            stored = read_vectors([vector for *_, vector in rows], true.shape[1])  # (N, D)
            cosines = np.einsum("nd,nd->n", true, stored)
            stale += [row[0] for row, cosine in zip(rows, cosines, strict=True) if cosine < STALE_UNDER]
        looked_at(len(some))
    return stale


def drop_vectors(database: Database, vector_ids: Sequence[int]) -> int:
    """Deletes vectors and asks to encode the passages again; returns how many there still were."""
    dropped = 0
    with database.writing() as sql:
        for some in in_parts(vector_ids):
            rows = sql.execute(
                text(
                    "SELECT x.id, v.id, v.space FROM passage_vectors AS x LEFT JOIN passage_versions AS v "
                    f"ON v.id = x.version_id AND v.removed_at IS NULL WHERE x.id IN ({some})"
                )
            ).all()
            by_space: dict[str, list[int]] = {}
            for _, version_id, space in rows:
                if version_id is not None:
                    by_space.setdefault(space, []).append(version_id)
            sql.execute(
                delete(PassageVector)
                .where(col(PassageVector.id).in_([row[0] for row in rows]))
                .execution_options(synchronize_session=False)
            )
            for space, ids in sorted(by_space.items()):
                ask_to_index(sql, space, sorted(ids))
            dropped += len(rows)
    return dropped


def _known_dimensions(sql: SqlSession) -> dict[str, int]:
    models = sql.scalars(select(ModelVersion).where(col(ModelVersion.role) == "encoder"))
    return {m.version: int(m.details["dimension"]) for m in models if m.details.get("dimension")}


def _texts_and_vectors(sql: SqlSession, vector_ids: Sequence[int]) -> Iterator[tuple[int, str, str, bytes]]:
    for some in in_parts(vector_ids):
        rows = sql.execute(
            text(
                "SELECT x.id, v.title, v.text, x.vector FROM passage_vectors AS x JOIN passage_versions AS v "
                f"ON v.id = x.version_id WHERE x.id IN ({some}) ORDER BY x.id"
            )
        )
        yield from ((row[0], row[1], row[2], row[3]) for row in rows)


_VECTORS = (
    "SELECT x.id, x.encoder_version, x.vector, x.space, v.space FROM passage_vectors AS x "
    "LEFT JOIN passage_versions AS v ON v.id = x.version_id WHERE x.id > :after ORDER BY x.id LIMIT :limit"
)
_LIVE_VECTORS = (
    "SELECT x.id FROM passage_vectors AS x JOIN passage_versions AS v ON v.id = x.version_id "
    "WHERE x.encoder_version = :encoder AND v.removed_at IS NULL ORDER BY x.id"
)
