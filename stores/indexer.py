"""Brings vectors and the shared index up to what the database says.

A change of knowledge commits with a job that names its versions. The indexer encodes what has no
vector yet, writes the shared ones to the index, takes tombstones out, and only then marks the job
done: killed at any point, it does the same again, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.changes import ask_to_index
from stores.database import Database
from stores.records import SHARED, Job, PassageVector, PassageVersion, now, searchable_text
from stores.spaces import stored_vectors
from stores.vectors import VectorIndex, Vectors, read_vectors, vector_bytes

_JOBS_AT_ONCE = 16
_TEXTS_AT_ONCE = 256


class Indexer:
    """Applies index jobs in the order in which they were committed."""

    def __init__(
        self,
        database: Database,
        *,
        encoder_version: str,
        dimension: int,
        encode: Callable[[Sequence[str]], Vectors],
        open_shared_index: Callable[[], VectorIndex | None],
    ) -> None:
        """open_shared_index: called when there is something to write; None while another process writes."""
        self._database = database
        self._encoder_version = encoder_version
        self._dimension = dimension
        self._encode = encode
        self._open_shared_index = open_shared_index

    def waiting(self) -> int:
        """How many jobs are not done."""
        with self._database.reading() as sql:
            return sql.scalar(select(func.count()).select_from(Job).where(*_WAITING)) or 0

    def index_everything(self) -> None:
        """Asks for every live passage to be indexed again: after a change of encoder, or a lost index."""
        with self._database.writing() as sql:
            for space in sql.scalars(select(col(PassageVersion.space)).distinct()).all():
                ids = sql.scalars(
                    select(col(PassageVersion.id))
                    .where(col(PassageVersion.space) == space, col(PassageVersion.removed_at).is_(None))
                    .order_by(col(PassageVersion.id))
                ).all()
                for start in range(0, len(ids), _TEXTS_AT_ONCE):
                    ask_to_index(
                        sql, space, [i for i in ids[start : start + _TEXTS_AT_ONCE] if i is not None]
                    )

    def index_again(self, version_ids: Sequence[int]) -> None:
        """Brings shared versions into the index that should have been there."""
        with self._database.writing() as sql:
            for start in range(0, len(version_ids), _TEXTS_AT_ONCE):
                ask_to_index(sql, SHARED, version_ids[start : start + _TEXTS_AT_ONCE])
        self.catch_up()

    def ask_for_missing_vectors(self) -> int:
        """Asks to encode live passages that have no vector and wait for none; returns how many."""
        with self._database.writing() as sql:
            known = {
                i for job in sql.scalars(select(Job).where(*_WAITING)) for i in job.payload["version_ids"]
            }
            rows = sql.execute(
                select(col(PassageVersion.space), col(PassageVersion.id))
                .outerjoin(
                    PassageVector,
                    (col(PassageVector.version_id) == col(PassageVersion.id))
                    & (col(PassageVector.encoder_version) == self._encoder_version),
                )
                .where(col(PassageVersion.removed_at).is_(None), col(PassageVector.id).is_(None))
            ).all()
            missing: dict[str, list[int]] = {}
            for space, version_id in rows:
                if version_id is not None and version_id not in known:
                    missing.setdefault(space, []).append(version_id)
            for space, ids in missing.items():
                ask_to_index(sql, space, ids)
        return sum(map(len, missing.values()))

    def catch_up(self) -> int:
        """Does all jobs that can be done here and returns how many. Safe to call at any time."""
        done, after = 0, 0
        while True:
            with self._database.reading() as sql:
                jobs = sql.scalars(
                    select(Job)
                    .where(*_WAITING, col(Job.id) > after)
                    .order_by(col(Job.id))
                    .limit(_JOBS_AT_ONCE)
                ).all()
            if not jobs:
                return done
            after = jobs[-1].id or 0
            self._encode_missing(_versions_of(jobs))
            shared = _versions_of([job for job in jobs if job.space == SHARED])
            is_indexed = not shared or self._write_shared(shared)
            finished = [job for job in jobs if job.space != SHARED or is_indexed]
            self._mark_done([job.id for job in finished if job.id is not None])
            done += len(finished)

    def _encode_missing(self, version_ids: Sequence[int]) -> None:
        with self._database.reading() as sql:
            missing = _without_vector(sql, version_ids, self._encoder_version)
        for start in range(0, len(missing), _TEXTS_AT_ONCE):
            some = missing[start : start + _TEXTS_AT_ONCE]
            vectors = self._encode([searchable_text(title, written) for _, _, title, written in some])
            with self._database.writing() as sql:
                still = {
                    row[0] for row in _without_vector(sql, [row[0] for row in some], self._encoder_version)
                }
                sql.add_all(
                    PassageVector(
                        version_id=version_id,
                        space=space,
                        encoder_version=self._encoder_version,
                        vector=vector_bytes(vector),
                    )
                    for (version_id, space, _, _), vector in zip(some, vectors, strict=True)
                    if version_id in still
                )

    def _write_shared(self, version_ids: Sequence[int]) -> bool:
        index = self._open_shared_index()
        if index is None:
            return False
        with self._database.reading() as sql:
            live = stored_vectors(sql, version_ids, (SHARED,), self._encoder_version)
        if live:
            index.upsert(list(live), read_vectors(list(live.values()), self._dimension))
        if dead := [i for i in version_ids if i not in live]:
            index.remove(dead)
        return True

    def _mark_done(self, job_ids: Sequence[int]) -> None:
        if job_ids:
            with self._database.writing() as sql:
                sql.execute(
                    update(Job)
                    .where(col(Job.id).in_(job_ids))
                    .values(done_at=now(), attempts=Job.attempts + 1)
                    .execution_options(synchronize_session=False)
                )


_WAITING = (col(Job.kind) == "index", col(Job.done_at).is_(None))


def _versions_of(jobs: Sequence[Job]) -> list[int]:
    return sorted({version_id for job in jobs for version_id in job.payload["version_ids"]})


def _without_vector(
    sql: SqlSession, version_ids: Sequence[int], encoder_version: str
) -> list[tuple[int, str, str, str]]:
    found: list[tuple[int, str, str, str]] = []
    for start in range(0, len(version_ids), 5_000):
        some = ",".join(str(int(i)) for i in version_ids[start : start + 5_000])
        rows = sql.execute(
            text(
                "SELECT v.id, v.space, v.title, v.text FROM passage_versions AS v "
                f"WHERE v.id IN ({some}) AND v.removed_at IS NULL AND NOT EXISTS "
                "(SELECT 1 FROM passage_vectors AS x "
                "WHERE x.version_id = v.id AND x.encoder_version = :encoder)"
            ),
            {"encoder": encoder_version},
        )
        found.extend((row[0], row[1], row[2], row[3]) for row in rows)
    return found
