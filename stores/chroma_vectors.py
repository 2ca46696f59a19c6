"""The shared space's vectors in ChromaDB: embedded, with one writing process at a time.

ChromaDB is given vectors and ids and nothing else: no text, no metadata, so that there is nothing
to encode, to fetch or to leak. Two processes that write one embedded database lose vectors silently;
a lock file beside it refuses the second, which can still search. ChromaDB answers from the graph that
it loaded and does not see what another process adds to it, so a writer leaves a mark after each change
and a reader that finds a new mark loads the graph again.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from stores.errors import StoreUnavailable
from stores.vectors import Vector, Vectors

_BATCH = 2_000  # ChromaDB takes at most 5,461 rows at once


class ChromaVectors:
    """A `VectorIndex` in an embedded ChromaDB, one collection an encoder version."""

    def __init__(self, folder: Path, encoder_version: str, *, writes: bool) -> None:
        """Opens or creates the collection. Raises `StoreUnavailable` when another process writes here."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder, self._encoder_version = folder, encoder_version
        self._lock = FileLock(folder / "writer.lock")
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
            self._load()
        except StoreUnavailable:
            self.close()
            raise

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        """See `VectorIndex`."""
        for start in range(0, len(version_ids), _BATCH):
            some = slice(start, start + _BATCH)
            self._collection.upsert(
                ids=[str(i) for i in version_ids[some]],
                embeddings=np.asarray(vectors[some], dtype=np.float32),
            )
        self._leave_mark()

    def remove(self, version_ids: Iterable[int]) -> None:
        """See `VectorIndex`."""
        names = [str(i) for i in version_ids]
        for start in range(0, len(names), _BATCH):
            self._collection.delete(ids=names[start : start + _BATCH])
        self._leave_mark()

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """See `VectorIndex`. Approximate: a hierarchical graph."""
        if self._mark() != self._loaded_mark:
            self._load()
        k = min(k, self._collection.count())
        if k <= 0:
            return []
        found = self._collection.query(
            query_embeddings=np.asarray([vector], dtype=np.float32), n_results=k, include=["distances"]
        )
        hits = [
            (int(name), 1.0 - float(distance))
            for name, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def version_ids(self) -> set[int]:
        """See `VectorIndex`."""
        return {int(name) for name in self._collection.get(include=[])["ids"]}

    def close(self) -> None:
        """Lets another process write."""
        self._lock.release()

    def _load(self) -> None:
        self._loaded_mark = self._mark()  # first: a change while it loads is then seen at the next search
        try:
            self._collection = _open_collection(self._folder, self._encoder_version)
        except Exception as error:
            raise StoreUnavailable(
                f"{self._folder}: ChromaDB cannot open it ({error})",
                hint="The index is derived: delete the folder and run `vouch doctor` to rebuild it.",
            ) from error

    def _mark(self) -> str:
        try:
            return (self._folder / "last-change").read_text("ascii")
        except FileNotFoundError:
            return ""

    def _leave_mark(self) -> None:
        self._loaded_mark = secrets.token_hex(8)  # this one has seen its own change
        (self._folder / "last-change").write_text(self._loaded_mark, "ascii")


def _open_collection(folder: Path, encoder_version: str) -> Any:
    import chromadb  # a second to import: only a process that needs it pays
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    logging.getLogger("chromadb").setLevel(logging.ERROR)
    SharedSystemClient.clear_system_cache()  # else a graph that this process loaded before is given again
    client = chromadb.PersistentClient(path=str(folder), settings=Settings(anonymized_telemetry=False))
    return client.get_or_create_collection(
        f"shared-{encoder_version}"[:512],
        embedding_function=None,  # vectors are always passed in
        configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
    )
