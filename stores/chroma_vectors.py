"""The shared space's vectors in ChromaDB: embedded, with one writing process at a time.

ChromaDB is given vectors and ids and nothing else: no text, no metadata, so that there is nothing
to encode, to fetch or to leak. Two processes that write one embedded database lose vectors silently;
a lock file beside it refuses the second, which can still search.

Searching writes, too: ChromaDB brings its graph up to its log at the next query, and two processes that
do so at once crash on each other's half-written files. So every use holds a second lock for as long as
it takes, and who finds that another used the folder since loads the graph again.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from stores.errors import StoreUnavailable
from stores.vectors import Vector, Vectors

_BATCH = 2_000  # ChromaDB takes at most 5,461 rows at once
_PATIENCE_SECONDS = 60.0  # how long a use waits for another's to end


class ChromaVectors:
    """A `VectorIndex` in an embedded ChromaDB, one collection an encoder version."""

    def __init__(self, folder: Path, encoder_version: str, *, writes: bool) -> None:
        """Opens or creates the collection. Raises `StoreUnavailable` when another process writes here."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder, self._encoder_version = folder, encoder_version
        self._name = secrets.token_hex(8)  # of this user of the folder
        self._client: Any = None
        self._collection: Any = None  # None: not loaded
        self._use = FileLock(folder / "use.lock")
        self._lock = FileLock(folder / "writer.lock", thread_local=False)  # closed by any thread
        self.writes = writes
        if writes:
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                raise StoreUnavailable(
                    f"{folder}: another process is writing the shared index",
                    hint="Its changes are searched all the same; end it to write from here.",
                ) from None
        try:
            with self._in_use():
                pass
        except StoreUnavailable:
            self.close()
            raise

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        """See `VectorIndex`."""
        with self._in_use() as collection:
            for start in range(0, len(version_ids), _BATCH):
                some = slice(start, start + _BATCH)
                collection.upsert(
                    ids=[str(i) for i in version_ids[some]],
                    embeddings=np.asarray(vectors[some], dtype=np.float32),
                )

    def remove(self, version_ids: Iterable[int]) -> None:
        """See `VectorIndex`."""
        names = [str(i) for i in version_ids]
        with self._in_use() as collection:
            for start in range(0, len(names), _BATCH):
                collection.delete(ids=names[start : start + _BATCH])

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """See `VectorIndex`. Approximate: a hierarchical graph."""
        with self._in_use() as collection:
            k = min(k, collection.count())
            if k <= 0:
                return []
            found = collection.query(
                query_embeddings=np.asarray([vector], dtype=np.float32), n_results=k, include=["distances"]
            )
        hits = [
            (int(name), 1.0 - float(distance))
            for name, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def version_ids(self) -> set[int]:
        """See `VectorIndex`."""
        with self._in_use() as collection:
            return {int(name) for name in collection.get(include=[])["ids"]}

    def close(self) -> None:
        """Lets another process write."""
        self._lock.release()

    @contextmanager
    def _in_use(self) -> Iterator[Any]:
        """The collection as it is now, for as long as nobody else uses it."""
        last_user = self._folder / "last-user"
        try:
            self._use.acquire(timeout=_PATIENCE_SECONDS, poll_interval=0.01)
        except Timeout:
            raise StoreUnavailable(
                f"{self._folder}: another process is using the shared index", hint="Try again in a while."
            ) from None
        try:
            if self._collection is None or last_user.read_text("ascii") != self._name:
                self._let_go()
                self._client = _open_client(self._folder)
                self._collection = _open_collection(self._client, self._folder, self._encoder_version)
                last_user.write_text(self._name, "ascii")
            yield self._collection
        finally:
            self._use.release()

    def _let_go(self) -> None:
        """Frees the files and threads of a graph that is no longer true."""
        if self._client is not None:
            self._client.close()
        self._client = self._collection = None


def _open_client(folder: Path) -> Any:
    import chromadb  # a second to import: only a process that needs it pays
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    logging.getLogger("chromadb").setLevel(logging.ERROR)
    SharedSystemClient.clear_system_cache()  # else a graph that this process loaded before is given again
    try:
        return chromadb.PersistentClient(path=str(folder), settings=Settings(anonymized_telemetry=False))
    except Exception as error:
        raise _cannot_open(folder, error) from error


def _open_collection(client: Any, folder: Path, encoder_version: str) -> Any:
    try:
        return client.get_or_create_collection(
            f"shared-{encoder_version}"[:512],
            embedding_function=None,  # vectors are always passed in
            configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
        )
    except Exception as error:
        raise _cannot_open(folder, error) from error


def _cannot_open(folder: Path, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"{folder}: ChromaDB cannot open it ({error})",
        hint="The index is derived: delete the folder and run `vouch doctor` to rebuild it.",
    )
