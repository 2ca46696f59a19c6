"""The index of the shared space: whether there is one, whether it is whole, and keeping it so.

A small shared space is searched exactly and has no index. Once it outgrows that, the index is filled from
the vectors in the database, and a row says so; until then, and whenever the index turns out to be
empty, search stays exact: an index is never asked before it holds everything.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.changes import ask_to_index
from stores.database import Database
from stores.live_versions import stored_vectors, waiting_versions
from stores.records import SHARED, FilledIndex, Job, now
from stores.rows import rows
from stores.vectors import VectorIndex, Vectors, read_vectors

_AT_ONCE = 2_000  # vectors brought over at a time
_NEIGHBOURS = 10  # among which a version is looked for by its own vector
_ROUNDING = 0.02  # of a cosine, by an index that rounds its vectors


class SharedIndex:
    """The index of the shared space by one encoder version, behind the promise that it is whole."""

    def __init__(
        self,
        database: Database,
        *,
        name: str,
        encoder_version: str,
        dimension: int,
        exact_up_to: int,
        open_index: Callable[[bool], VectorIndex | None],
    ) -> None:
        """name: of the place where the index is kept, one word for each folder or server.

        exact_up_to: shared passages that are searched without an index.
        open_index: given whether it will be written; None where another process writes it.
        """
        self._database = database
        self.name = name
        self._encoder_version = encoder_version
        self._dimension = dimension
        self._exact_up_to = exact_up_to
        self._open_index = open_index
        self._is_checked = False  # that the index, which is said to be filled, is not empty

    def is_wanted(self, sql: SqlSession) -> bool:
        """Whether the shared space is too large to be searched exactly."""
        found = rows(sql, "SELECT passages FROM space_statistics WHERE space = ?", [SHARED])
        return bool(found) and found[0][0] > self._exact_up_to

    def is_filled(self, sql: SqlSession) -> bool:
        """Whether the index was filled, and kept up since."""
        named = [self.name, self._encoder_version]
        return bool(rows(sql, "SELECT 1 FROM filled_indexes WHERE name = ? AND encoder_version = ?", named))

    def to_search(self, sql: SqlSession) -> VectorIndex | None:
        """The index, where it is wanted and whole; None where search must be exact."""
        if not (self.is_wanted(sql) and self.is_filled(sql)):
            return None
        index = self._open_index(False)
        if index is not None and not self._is_checked:
            if not index.version_ids():  # somebody deleted it
                return None
            self._is_checked = True
        return index

    def write(self, version_ids: Sequence[int]) -> bool:
        """Brings versions into the index, or takes them out, as they are live or not.

        Does nothing while no index is wanted. False: another process writes it, who will do the same.
        """
        with self._database.reading() as sql:
            is_filled = self.is_filled(sql)
            if not is_filled and not self.is_wanted(sql):
                return True
        index = self._open_index(True)
        if index is None:
            return False
        if not is_filled:
            for _ in self.fill():
                pass
            return True
        self._bring(index, version_ids)
        return True

    def fill(self, *, known_job: int | None = None) -> Iterator[int]:
        """Makes the index hold exactly the live shared vectors; yields how many of them were looked at.

        What is written meanwhile is asked to be indexed once more. Stopped half way, it starts again.
        known_job: for a version that is not live yet, the last job before everything was encoded by it; what
        came later is asked for when it goes live.
        """
        index = self._open_index(True)
        if index is None:
            return
        with self._database.reading() as sql:
            newest_job = newest_job_id(sql)
            is_known = self.is_filled(sql)
        there = index.version_ids()
        extra = set(there)
        if not is_known:  # what lies there may be of another life of the database: all is written anew
            there = set()
        for ids, vectors in self._live():
            extra.difference_update(ids)
            new = [row for row, version_id in enumerate(ids) if version_id not in there]
            if new:
                index.upsert([ids[row] for row in new], vectors[new])
            yield len(ids)
        index.remove(sorted(extra))
        with self._database.writing() as sql:
            if known_job is None:
                _ask_again(sql, after_job=newest_job)
            filled = FilledIndex(
                name=self.name,
                encoder_version=self._encoder_version,
                filled_at=now(),
                known_job=newest_job if known_job is None else known_job,
            )
            sql.merge(filled)

    def differences(self) -> tuple[set[int], set[int]] | None:
        """What the index lacks and what it has too much, by version id; None where there is no index."""
        with self._database.reading() as sql:
            if not self.is_filled(sql):
                return None
        index = self._open_index(False)
        if index is None:
            return None
        there = index.version_ids()
        live = {i for ids, _ in self._live() for i in ids}
        return live - there, there - live

    def stale(
        self, *, sample: int | None, looked_at: Callable[[int], None] = lambda count: None
    ) -> list[int]:
        """The versions that the index does not find by the vector that the database holds of them.

        A version may come behind others only where those are as near. sample: how many are looked at, by
        chance; None for all. Raises `StoreUnavailable`.
        """
        index = self._open_index(False)
        if index is None:
            return []
        ids = sorted(index.version_ids())
        if sample is not None and sample < len(ids):
            ids = sorted(random.sample(ids, sample))
        found: list[int] = []
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            with self._database.reading() as sql:
                live = stored_vectors(sql, some, (SHARED,), self._encoder_version)
            vectors = read_vectors(list(live.values()), self._dimension)
            for version_id, vector in zip(live, vectors, strict=True):
                near = index.nearest(vector, _NEIGHBOURS)
                score = dict(near).get(version_id, min((score for _, score in near), default=0.0))
                if score < 1 - _ROUNDING:
                    found.append(version_id)
                looked_at(1)
        return found

    def fill_anew(self) -> Iterator[int]:
        """As `fill`, of an index that lost much: it is not asked before it is whole again."""
        with self._database.writing() as sql:
            filled = sql.get(FilledIndex, (self.name, self._encoder_version))
            if filled is not None:
                sql.delete(filled)
        yield from self.fill()

    def waiting_versions(self) -> set[int]:
        """The versions that a job will still bring into the index, or take out of it."""
        with self._database.reading() as sql:
            return set(waiting_versions(sql, SHARED))

    def holds_anything(self) -> bool:
        """Whether there is an index that is not empty."""
        index = self._open_index(False)
        return index is not None and bool(index.version_ids())

    def is_written_elsewhere(self) -> bool:
        """Whether another process writes the index, so that this one cannot."""
        return self._open_index(True) is None

    def _live(self) -> Iterator[tuple[list[int], Vectors]]:
        return shared_vectors(self._database, self._encoder_version, self._dimension)

    def _bring(self, index: VectorIndex, version_ids: Sequence[int]) -> None:
        for start in range(0, len(version_ids), _AT_ONCE):
            some = version_ids[start : start + _AT_ONCE]
            with self._database.reading() as sql:
                live = stored_vectors(sql, some, (SHARED,), self._encoder_version)
            if live:
                index.upsert(list(live), read_vectors(list(live.values()), self._dimension))
            if dead := [i for i in some if i not in live]:
                index.remove(dead)


def shared_vectors(
    database: Database, encoder_version: str, dimension: int
) -> Iterator[tuple[list[int], Vectors]]:
    """Every live shared version that has a vector of this encoder version, some thousand at a time, by id."""
    after = 0
    while True:
        with database.reading() as sql:
            rows = sql.execute(
                text(
                    "SELECT v.id, x.vector FROM passage_versions AS v JOIN passage_vectors AS x "
                    "ON x.version_id = v.id AND x.encoder_version = :encoder WHERE v.id > :after "
                    "AND v.removed_at IS NULL AND v.space || '' = :space ORDER BY v.id LIMIT :limit"
                ),
                {"encoder": encoder_version, "after": after, "space": SHARED, "limit": _AT_ONCE},
            ).all()
        if not rows:
            return
        yield [int(row[0]) for row in rows], read_vectors([row[1] for row in rows], dimension)
        after = int(rows[-1][0])


def before_going_live(sql: SqlSession, encoder_version: str) -> None:
    """Asks to index what a version's filled indexes have missed, in the transaction that makes it live."""
    filled = select(func.min(col(FilledIndex.known_job))).where(
        col(FilledIndex.encoder_version) == encoder_version
    )
    known_job = sql.scalar(filled)
    if known_job is not None:
        _ask_again(sql, after_job=known_job)


def after_being_live(sql: SqlSession, encoder_version: str) -> None:
    """Notes up to where the filled indexes of a version were kept up, in the transaction that replaces it."""
    sql.execute(
        update(FilledIndex)
        .where(col(FilledIndex.encoder_version) == encoder_version)
        .values(known_job=_last_job_known(sql))
    )


def _last_job_known(sql: SqlSession) -> int:
    """The last job before the first that waits; the last of all where none waits; 0 before the first."""
    waiting = sql.scalar(
        select(func.min(col(Job.id))).where(col(Job.kind) == "index", col(Job.done_at).is_(None))
    )
    return newest_job_id(sql) if waiting is None else waiting - 1


def newest_job_id(sql: SqlSession) -> int:
    """The last job that was committed; 0 before the first."""
    return sql.scalar(select(func.max(col(Job.id)))) or 0


def _ask_again(sql: SqlSession, *, after_job: int) -> None:
    """Asks to index once more what the shared jobs after this one name, in the caller's transaction."""
    payloads = sql.scalars(
        select(col(Job.payload)).where(
            col(Job.kind) == "index", col(Job.space) == SHARED, col(Job.id) > after_job
        )
    )
    ids = sorted({int(i) for payload in payloads for i in payload["version_ids"]})
    for start in range(0, len(ids), _AT_ONCE):
        ask_to_index(sql, SHARED, ids[start : start + _AT_ONCE])
