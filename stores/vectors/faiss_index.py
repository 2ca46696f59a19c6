"""A large shared space's vectors in files: built at once, changed by a log, built again when that grows.

    FOLDER/shared-ENCODER/writer.lock
                          generation-00000007/   files of `BuiltVectors`, changes.log and fill-id

What was added since the build is searched exactly beside it; what was removed or replaced is hidden in
it. Every process reads the log, the writing one too, so that all of them and the next start see the same.
A new generation is made under another name, synced and renamed: whoever is killed, whenever, leaves the
old one or the new one, whole. The database is the truth, and a build reads all vectors from it.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from stores.base.errors import IndexWrittenElsewhere, StoreUnavailable, TryAgain
from stores.base.shortages import shortage
from stores.base.syncing import sync
from stores.vectors.build_snapshot import build_vectors, check_shape
from stores.vectors.exact import ExactVectors, Vector, Vectors
from stores.vectors.log import Ids, VectorChange, VectorLog, create_log, damaged
from stores.vectors.snapshot import BuiltVectors, open_built_vectors
from stores.vectors.snapshot_files import checksums

Batches: TypeAlias = Iterable[tuple[Sequence[int], Vectors]]

EXACT_UP_TO = 20_000  # one product then costs 2 ms, half of what encoding the query does
REBUILD_AFTER = 5_000
REBUILD_SHARE = 0.05

_GENERATION = re.compile(r"generation-(\d{8})")
_LOG, _FILL_ID = "changes.log", "fill-id"
_UNFINISHED, _OUTDATED = ".building-", ".outdated-"


class FaissVectors:
    """A `VectorIndex` in files: one writing process, any number of searching ones."""

    def __init__(
        self,
        folder: Path,
        encoder_version: str,
        dimension: int,
        *,
        writes: bool,
        all_vectors: Callable[[], Batches],
        exact_up_to: int = EXACT_UP_TO,
        rebuild_after: int = REBUILD_AFTER,
        use_gpu: bool = False,
    ) -> None:
        """Opens the folder of this encoder version, or makes an empty one.

        all_vectors: every version that the database holds now, once, with its vector. A version is there
        before it is upserted here, and gone from there before it is removed here.
        exact_up_to: vectors that are searched by a matrix product; more are searched by FAISS.
        rebuild_after: changes after which all is built again, if they are a twentieth of all.
        Raises `StoreUnavailable` when another process writes here, or when files are damaged.
        """
        self.folder = folder / f"shared-{quote(encoder_version, safe='')}"
        self._encoder_version, self._dimension = encoder_version, dimension
        self._all_vectors = all_vectors
        self._exact_up_to, self._rebuild_after = exact_up_to, rebuild_after
        self._use_gpu = use_gpu
        self._state: _Generation | None = None
        self._reading = RLock()  # for what is in memory: held shortly
        self._writing = Lock()  # for changes, one after the other: held while building
        self._lock = FileLock(self.folder / "writer.lock", thread_local=False)  # closed by any thread
        self.writes = writes
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if writes:
                self._begin_writing()
            with self._current():
                pass
        except OSError as error:
            self.close()
            raise self._unusable(error) from error
        except StoreUnavailable:
            self.close()
            raise

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        """See `VectorIndex`. What is here already, with the same vector, is no change."""
        check_shape(len(version_ids), vectors, self._dimension)
        last = sorted({version_id: row for row, version_id in enumerate(version_ids)}.values())
        self._change(np.array(version_ids, dtype=np.int64)[last], vectors[last])

    def remove(self, version_ids: Iterable[int]) -> None:
        self._change(np.array(sorted(set(version_ids)), dtype=np.int64), None)

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """See `VectorIndex`. Above `exact_up_to` approximate; cosines are then right to 0.001."""
        with self._current() as state:
            return state.nearest(vector, k)

    def version_ids(self) -> set[int]:
        with self._current() as state:
            return state.version_ids()

    def fill_id(self) -> str:
        """See `FillableIndex`. It lies in a generation, and is handed on to the next."""
        try:
            while True:
                with self._current() as state:
                    number, fill_id = state.number, self._fill_id_in(state.number)
                if fill_id or self._newest() == number:  # else a newer one took its place meanwhile
                    return fill_id
        except OSError as error:
            raise self._unusable(error) from error

    def set_fill_id(self, fill_id: str) -> None:
        self._must_write()
        with self._writing:
            file = self.folder / _name(self._newest()) / _FILL_ID
            try:
                file.write_text(fill_id, "ascii")
                sync(file)
            except OSError as error:
                raise self._unusable(error) from error

    def description(self) -> dict[str, Any]:
        """What was built last: its form and sizes, and by FAISS the lists probed and the recall measured."""
        with self._current() as state:
            return state.built.description

    def rebuild(self) -> None:
        """Builds all from the database, whatever has changed. Searching goes on meanwhile."""
        with self._writing:
            self._rebuild()

    def close(self) -> None:
        with self._reading:
            if self._state is not None:
                self._state.close()
                self._state = None
        self._lock.release()

    def _change(self, version_ids: Ids, vectors: Vectors | None) -> None:
        """Writes what is news to the log, and builds again when it is time."""
        self._must_write()
        with self._writing:
            with self._current() as state:
                state.write(version_ids, vectors)
                state.take_in_changes()
                due = state.changes > max(self._rebuild_after, REBUILD_SHARE * len(state.built))
            if due:
                self._rebuild()

    def _must_write(self) -> None:
        if not self._lock.is_locked:
            raise StoreUnavailable(
                f"{self.folder}: opened for searching only", hint="Open it for writing where it is changed."
            )

    def _begin_writing(self) -> None:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise IndexWrittenElsewhere(self.folder) from None
        if self._newest() == 0:
            self._put_in_place([], 1, fill_id="")
        self._tidy()

    def _rebuild(self) -> None:
        newest = self._newest()
        self._put_in_place(self._all_vectors(), newest + 1, fill_id=self._fill_id_in(newest))
        self._tidy()

    def _put_in_place(self, batches: Batches, number: int, *, fill_id: str) -> None:
        unfinished = self.folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
        try:
            build_vectors(
                unfinished, batches, self._encoder_version, self._dimension, exact_up_to=self._exact_up_to
            )
            create_log(unfinished / _LOG)
            if fill_id:
                (unfinished / _FILL_ID).write_text(fill_id, "ascii")
                sync(unfinished / _FILL_ID)
            sync(unfinished)
            unfinished.rename(self.folder / _name(number))
            sync(self.folder)
        except OSError as error:
            raise StoreUnavailable(
                f"{self.folder}: the index cannot be built ({error})",
                hint="Free some disk space and try again; what was built before is still searched.",
            ) from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _tidy(self) -> None:
        """Removes what is older than the newest generation, and what was never finished."""
        newest = _name(self._newest())
        for place in self.folder.iterdir():
            if _GENERATION.fullmatch(place.name) and place.name < newest:
                outdated = self.folder / f"{_OUTDATED}{secrets.token_hex(8)}"
                with suppress(OSError):  # tried again after the next build
                    place.rename(outdated)
                shutil.rmtree(outdated, ignore_errors=True)
            elif place.name.startswith((_UNFINISHED, _OUTDATED)):
                shutil.rmtree(place, ignore_errors=True)

    def _fill_id_in(self, number: int) -> str:
        try:
            return (self.folder / _name(number) / _FILL_ID).read_text("ascii", "replace")
        except FileNotFoundError:
            return ""

    def _newest(self) -> int:
        """The number of the newest generation; 0 when nothing was ever built."""
        names = (_GENERATION.fullmatch(place.name) for place in self.folder.iterdir())
        return max((int(name[1]) for name in names if name), default=0)

    @contextmanager
    def _current(self) -> Iterator[_Generation]:
        """The newest generation with all its changes so far, for one thread at a time."""
        with self._reading:
            try:
                state = self._refreshed()
            except OSError as error:
                raise self._unusable(error) from error
            yield state

    def _unusable(self, error: OSError) -> TryAgain:
        return shortage(error, {self.folder: ""}) or StoreUnavailable(
            f"{self.folder}: the index cannot be used ({error})",
            hint="Make the folder readable and writable for this user, or run `vouch doctor`.",
        )

    def _refreshed(self) -> _Generation:
        while True:
            number = self._newest()
            if self._state is None or self._state.number != number:
                try:
                    opened = self._open(number)
                except (StoreUnavailable, OSError):
                    if self._newest() != number:
                        continue  # the writer put a newer one in its place meanwhile
                    raise
                if self._state is not None:
                    self._state.close()
                self._state = opened
            self._state.take_in_changes()
            return self._state

    def _open(self, number: int) -> _Generation:
        if number == 0:
            if self.writes or self._state is not None:
                raise damaged(self.folder, "what was built is gone")
            return _Generation(0, BuiltVectors.empty(), None, self._dimension)
        folder = self.folder / _name(number)
        built = open_built_vectors(folder, self._encoder_version, self._dimension, use_gpu=self._use_gpu)
        try:
            log = VectorLog(folder / _LOG, self._dimension, writes=self.writes)
        except FileNotFoundError as error:
            raise damaged(folder / _LOG, "it is not there") from error
        return _Generation(number, built, log, self._dimension)


class _Generation:
    """What was built, and what has changed since. Not for two threads at once."""

    def __init__(self, number: int, built: BuiltVectors, log: VectorLog | None, dimension: int) -> None:
        self.number, self.built = number, built
        self.changes = 0  # versions in the log, each as often as it changed
        self._log = log
        self._added = ExactVectors(dimension)
        self._checksum_of_added: dict[int, int] = {}

    def take_in_changes(self) -> None:
        """Reads what came into the log, from this process or another."""
        for change in self._log.unread() if self._log else []:
            self.changes += len(change.version_ids)
            self.built.hide(change.version_ids)
            ids = change.version_ids.tolist()
            if change.vectors is None:
                self._added.remove(ids)
                for version_id in ids:
                    self._checksum_of_added.pop(version_id, None)
            else:
                self._added.upsert(ids, change.vectors)
                self._checksum_of_added.update(zip(ids, checksums(change.vectors).tolist(), strict=True))

    def write(self, version_ids: Ids, vectors: Vectors | None) -> None:
        """Logs what is not so already; vectors: None to remove."""
        found = self._checksums(version_ids)
        news = found >= 0 if vectors is None else found != checksums(vectors)
        if news.any() and self._log:
            self._log.append(VectorChange(version_ids[news], None if vectors is None else vectors[news]))

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        hits = self.built.nearest(vector, k) + self._added.nearest(vector, k)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[: max(k, 0)]

    def version_ids(self) -> set[int]:
        return self.built.version_ids() | self._added.version_ids()

    def close(self) -> None:
        if self._log:
            self._log.close()

    def _checksums(self, version_ids: Ids) -> npt.NDArray[np.int64]:
        """(N,): of each version's vector here; -1 where there is none."""
        built = self.built.checksums_of(version_ids)
        added = [self._checksum_of_added.get(version_id, -1) for version_id in version_ids.tolist()]
        return np.maximum(built, np.array(added, dtype=np.int64))  # it is in one of them at most


def _name(number: int) -> str:
    return f"generation-{number:08d}"
