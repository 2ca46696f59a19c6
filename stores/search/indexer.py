"""Brings vectors and the shared index up to what the database says.

A change of knowledge commits with a job that names its versions. The indexer encodes what has no
vector yet, writes the shared ones to the index, takes tombstones out, and only then marks the job
done: killed at any point, it does the same again, which changes nothing. It works for one encoder
version, and marks jobs done only while that version is the live one.

A shared index that cannot be used holds up the jobs of the shared space alone: they wait, and whoever
catches up is left the reason.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import StoreUnavailable
from stores.base.passages import SHARED, searchable_text
from stores.database.database import Database
from stores.database.tables import Job, PassageVector, known_id
from stores.search.index_fills import note_missed
from stores.search.live_models import live_version
from stores.search.shared_index import SharedIndex
from stores.vectors.exact import Vectors, vector_bytes
from stores.versions.changes import ask_to_index
from stores.versions.live import without_vector

_log = logging.getLogger(__name__)
_JOBS_AT_ONCE = 16
TEXTS_AT_ONCE = 256

T = TypeVar("T")


class Indexer:
    """Applies index jobs in the order in which they were committed."""

    def __init__(
        self,
        database: Database,
        *,
        encoder_version: str,
        encode: Callable[[Sequence[str]], Vectors],
        shared_index: SharedIndex,
        at_once: int = 0,
    ) -> None:
        """encode: texts as vectors of this version. shared_index: of the same version.

        at_once: texts that are given to `encode` at most; 0: as many as one machine encodes at once.
        """
        self._database = database
        self._encoder_version = encoder_version
        self._encode = encode
        self._shared_index, self._at_once = shared_index, at_once or TEXTS_AT_ONCE
        self.hindrance: StoreUnavailable | None = None  # why the last `catch_up` left shared jobs waiting

    def waiting(self) -> int:
        """How many jobs are not done."""
        with self._database.reading() as sql:
            return sql.scalar(select(func.count()).select_from(Job).where(*_WAITING)) or 0

    def encode_everything(self, *, at_once: int | None = None, seconds: float | None = None) -> Iterator[int]:
        """Encodes every live passage that has no vector of this version; yields how many each time.

        For a version that is being built beside the live one: no job is marked done by it. seconds: what a
        step shall take about; then `at_once` are in the first, and the next by how long it took.
        """
        after, at_once = 0, at_once or self._at_once
        while True:
            began = time.monotonic()
            with self._database.reading() as sql:
                missing = without_vector(sql, self._encoder_version, after=after, limit=at_once)
            if not missing:
                return
            self._encode_missing([version_id for version_id, _ in missing])
            after = missing[-1][0]
            if seconds is not None:
                at_once = next_step(at_once, time.monotonic() - began, seconds)
            yield len(missing)

    def missing_vectors(self) -> int:
        """How many live passages have no vector and wait for none."""
        with self._database.reading() as sql:
            return sum(map(len, self._missing(sql).values()))

    def ask_for_missing_vectors(self) -> int:
        """Asks to encode live passages that have no vector and wait for none; returns how many."""
        with self._database.writing() as sql:
            missing = self._missing(sql)
            for space, ids in missing.items():
                ask_to_index(sql, space, ids)
        return sum(map(len, missing.values()))

    def _missing(self, sql: SqlSession) -> dict[str, list[int]]:
        known = {i for job in sql.scalars(select(Job).where(*_WAITING)) for i in job.payload["version_ids"]}
        missing: dict[str, list[int]] = {}
        for version_id, space in without_vector(sql, self._encoder_version):
            if version_id not in known:
                missing.setdefault(space, []).append(version_id)
        return missing

    def catch_up(self) -> int:
        """Does all jobs that can be done here and returns how many. Safe to call at any time.

        Where the shared index cannot be used, its jobs wait, and `hindrance` tells why.
        """
        self.hindrance = None
        self._try_index(self._shared_index.take_in_missed)
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
            shared = [job for job in jobs if job.space == SHARED]
            write = partial(self._shared_index.write, _versions_of(shared))
            fill_id = self._try_index(write) if shared else None
            finished = [job for job in jobs if job.space != SHARED or fill_id is not None]
            if not self._mark_done(finished, fill_id):
                return done  # another encoder went live: its processes do what is left
            done += len(finished)

    def _try_index(self, use: Callable[[], T]) -> T | None:
        """None where the shared index cannot be used, which is found out once."""
        if self.hindrance is None:
            try:
                return use()
            except StoreUnavailable as error:
                self.hindrance = error
                _log.warning("shared index not written: %s", error.message)
        return None

    def _encode_missing(self, version_ids: Sequence[int]) -> None:
        with self._database.reading() as sql:
            missing = _without_vector(sql, version_ids, self._encoder_version)
        for start in range(0, len(missing), self._at_once):
            some = missing[start : start + self._at_once]
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

    def _mark_done(self, jobs: Sequence[Job], fill_id: str | None) -> bool:
        """False, and nothing is marked, where another encoder version is live by now.

        fill_id: of the index that the shared ones among them were brought into.
        """
        shared = [known_id(job.id) for job in jobs if job.space == SHARED]
        with self._database.writing() as sql:
            if live_version(sql, "encoder") not in (None, self._encoder_version):
                return False
            sql.execute(
                update(Job)
                .where(col(Job.id).in_([job.id for job in jobs]))
                .values(done_at=now(), attempts=Job.attempts + 1)
                .execution_options(synchronize_session=False)
            )
            if shared and fill_id is not None:
                note_missed(sql, self._encoder_version, shared, fill_id=fill_id)
            return True


def next_step(texts: int, took: float, wanted: float) -> int:
    """How many texts to encode next, so that it takes about so long; at most twice as many as before.

    took, wanted: seconds.
    """
    following = 2 * texts if 2 * took <= wanted else int(texts * wanted / took)
    return max(1, min(following, TEXTS_AT_ONCE))


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
