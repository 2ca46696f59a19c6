"""The index of the shared space: whether there is one, whether it is whole, and keeping it so.

A small shared space is searched exactly and has no index. Once it outgrows that, the index is filled from
the vectors in the database, and a row says so; until then search stays exact: an index is never asked
before it holds everything. Two things could make the row untrue:

* The index is lost. Each fill has a random id, which lies in the row and in the index: an index without
  the id of a row was lost or replaced, and is filled anew by the next write.
* A job is done by a process that writes another index, or none. In the transaction that marks the job done,
  the rows of all indexes that did not get its changes note so; they are not asked until these came in.
"""

from __future__ import annotations

import logging
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession

from stores.base.clock import now
from stores.base.passages import SHARED
from stores.database.database import Database
from stores.database.rows import rows
from stores.database.tables import FilledIndex
from stores.search.index_fills import done_after, fills, last_job_known, note_whole
from stores.search.live_models import live_version
from stores.vectors.exact import VectorIndex, Vectors, read_vectors
from stores.versions.live import stored_vectors, waiting_versions

_AT_ONCE = 2_000  # vectors brought over at a time
_NEIGHBOURS = 10  # among which a version is looked for by its own vector
_ROUNDING = 0.02  # of a cosine, by an index that rounds its vectors

_log = logging.getLogger(__name__)


class FillableIndex(VectorIndex, Protocol):
    """A `VectorIndex` that knows by which fill it was made."""

    def fill_id(self) -> str:
        """As it was set last in what is there now; empty where it never was."""

    def set_fill_id(self, fill_id: str) -> None:
        """Keeps it for as long as the vectors are kept, and no longer."""


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
        open_index: Callable[[bool], FillableIndex | None],
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

    def is_wanted(self, sql: SqlSession) -> bool:
        """Whether the shared space is too large to be searched exactly."""
        found = rows(sql, "SELECT passages FROM space_statistics WHERE space = ?", [SHARED])
        return bool(found) and found[0][0] > self._exact_up_to

    def is_filled(self, sql: SqlSession) -> bool:
        """Whether the index was once filled. That it is still there, and whole, is asked when it is used."""
        return sql.get(FilledIndex, (self.name, self._encoder_version)) is not None

    def is_due(self) -> bool:
        """Whether it is wanted and was never filled: the next write does that."""
        with self._database.reading() as sql:
            if not self.is_wanted(sql):
                return False
        return not self._was_filled()

    def to_search(self, sql: SqlSession) -> VectorIndex | None:
        """The index, where it is wanted and whole; None where search must be exact."""
        whole = {fill_id for fill_id, missed_after in self._fills(sql).items() if missed_after is None}
        if not whole or not self.is_wanted(sql):
            return None
        index = self._open_index(False)
        return index if index is not None and index.fill_id() in whole else None

    def write(self, version_ids: Sequence[int]) -> str | None:
        """Brings versions into the index, or takes them out, as they are live or not.

        Returns the id of the fill that they are in now; an empty one where no index is wanted; None where
        they wait: another process writes the index, who will do the same. Raises `StoreUnavailable`.
        """
        with self._database.reading() as sql:
            if not self._is_live(sql):
                return None
            if not self.is_filled(sql) and not self.is_wanted(sql):
                return ""
        index = self._open_index(True)
        if index is None:
            return None
        fill_id = index.fill_id()  # before it is written: what replaces it meanwhile has not all of this
        if not self._is_known(fill_id):
            for _ in self.fill():
                pass
            fill_id = index.fill_id()
            if not self._is_known(fill_id):
                return None
        self._bring(index, version_ids)
        return fill_id

    def take_in_missed(self) -> None:
        """Brings in what was done elsewhere while this index was not written. Raises `StoreUnavailable`."""
        with self._database.reading() as sql:
            has_missed = any(after is not None for after in self._fills(sql).values())
            if not (has_missed and self._is_live(sql) and (self.is_filled(sql) or self.is_wanted(sql))):
                return
        index = self._open_index(True)
        if index is not None:
            self._take_in_missed(index)

    def fill(self, *, known_job: int | None = None, is_anew: bool = False) -> Iterator[int]:
        """Makes the index hold exactly the live shared vectors; yields how many of them were looked at.

        Stopped half way, it starts again. What is done elsewhere meanwhile is brought in at the end.
        known_job: for a version that is not live yet, the last job before everything was encoded by it; what
        came later is asked for when it goes live.
        is_anew: what lies there is not relied on.
        """
        index = self._open_index(True)
        if index is None:
            return
        with self._database.reading() as sql:
            missed_after = last_job_known(sql) if known_job is None else known_job
        fill_id = index.fill_id()
        is_known = not is_anew and self._is_known(fill_id)
        if not is_known:
            fill_id = secrets.token_hex(16)
            index.set_fill_id(fill_id)  # from now on it is not asked
        extra = index.version_ids()
        there = set(extra) if is_known else set()  # else it may be of another life of the database
        for ids, vectors in shared_vectors(self._database, self._encoder_version, self._dimension):
            extra.difference_update(ids)
            new = [row for row, version_id in enumerate(ids) if version_id not in there]
            if new:
                index.upsert([ids[row] for row in new], vectors[new])
            yield len(ids)
        self._bring(index, sorted(extra))
        if not is_known and not self._note_filled(index, fill_id, missed_after):
            return
        if known_job is None:
            self._take_in_missed(index)

    def fill_anew(self) -> Iterator[int]:
        """As `fill`, of an index that lost much: it is not asked before it is whole again."""
        self.forget()
        yield from self.fill(is_anew=True)

    def forget(self) -> None:
        """Lets the index not be asked any more; to be called before its files are deleted."""
        with self._database.writing() as sql:
            filled = sql.get(FilledIndex, (self.name, self._encoder_version))
            if filled is not None:
                sql.delete(filled)

    def is_lost(self) -> bool:
        """Whether the index that was filled is not there any more, or another one is in its place."""
        with self._database.reading() as sql:
            if not self.is_filled(sql):
                return False
        index = self._open_index(False)
        return index is not None and not self._is_known(index.fill_id())

    def differences(self) -> tuple[set[int], set[int]] | None:
        """What the index lacks and what it has too much, by version id; None where there is no index."""
        index = self._open_index(False) if self._was_filled() else None
        if index is None:
            return None
        there = index.version_ids()
        batches = shared_vectors(self._database, self._encoder_version, self._dimension)
        live = {i for ids, _ in batches for i in ids}
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

    def _fills(self, sql: SqlSession) -> dict[str, int | None]:
        return fills(sql, self._encoder_version)

    def _was_filled(self) -> bool:
        """Whether a row tells of it, under its name or, as a server has several, under another."""
        with self._database.reading() as sql:
            if self.is_filled(sql):
                return True
            if not (self._fills(sql) and self.is_wanted(sql)):
                return False
        index = self._open_index(False)
        return index is not None and self._is_known(index.fill_id())

    def _is_known(self, fill_id: str) -> bool:
        """Whether a row tells of this fill, under whichever name."""
        with self._database.reading() as sql:
            return fill_id in self._fills(sql)

    def _is_live(self, sql: SqlSession) -> bool:
        """Whether this encoder version is live; so is any before the first. Else jobs are not done for it."""
        return live_version(sql, "encoder") in (None, self._encoder_version)

    def _note_filled(self, index: FillableIndex, fill_id: str, missed_after: int) -> bool:
        """False, and nothing is noted, where it was lost meanwhile or another process began to fill it."""
        if index.fill_id() != fill_id:
            _log.info("shared index not filled: it was replaced meanwhile")
            return False
        with self._database.writing() as sql:
            sql.merge(
                FilledIndex(
                    name=self.name,
                    encoder_version=self._encoder_version,
                    fill_id=fill_id,
                    filled_at=now(),
                    missed_after=missed_after,
                )
            )
        return True

    def _take_in_missed(self, index: FillableIndex) -> None:
        fill_id, seen = index.fill_id(), set[int]()
        while True:
            with self._database.reading() as sql:
                missed_after = self._fills(sql).get(fill_id)
                if missed_after is None or not self._is_live(sql):
                    return
                missed = done_after(sql, missed_after)
            self._bring(index, sorted({i for job in missed.keys() - seen for i in missed[job]}))
            seen |= missed.keys()
            with self._database.writing() as sql:
                missed_after = self._fills(sql).get(fill_id)
                if missed_after is None or not self._is_live(sql):
                    return
                if done_after(sql, missed_after).keys() <= seen:
                    note_whole(sql, fill_id)
                    return

    def _bring(self, index: VectorIndex, version_ids: Sequence[int]) -> None:
        for start in range(0, len(version_ids), _AT_ONCE):
            some = version_ids[start : start + _AT_ONCE]
            with self._database.reading() as sql:
                live = stored_vectors(sql, some, (SHARED,), self._encoder_version)
            if live:
                index.upsert(list(live), read_vectors(list(live.values()), self._dimension))
            if dead := [i for i in some if i not in live]:
                index.remove(dead)
                with self._database.reading() as sql:  # what another process revived and brought meanwhile
                    back = stored_vectors(sql, dead, (SHARED,), self._encoder_version)
                if back:
                    index.upsert(list(back), read_vectors(list(back.values()), self._dimension))


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
