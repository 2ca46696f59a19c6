"""The shared space's vectors in ChromaDB: embedded, or in a server of its own.

ChromaDB is given vectors and ids and nothing else: no text, and no metadata but the collection's, which
says by which fill it was made; so that there is nothing to encode, to fetch or to leak.

Embedded, one process writes at a time: two that write one folder lose vectors silently; a lock file
beside it refuses the second, which can still search. Searching writes, too: ChromaDB brings its graph up
to its log at the next query, and two processes that do so at once crash on each other's half-written
files. So every use holds a second lock for as long as it takes, and who finds that another used the folder
since loads the graph again.

A server puts its uses in order itself: any number of processes write and search, without a lock.
"""

from __future__ import annotations

import base64
import logging
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
from filelock import FileLock, Timeout

from stores.base.errors import DamagedIndex, IndexWrittenElsewhere, StoreUnavailable
from stores.base.secrets import without_values
from stores.base.shortages import shortage
from stores.vectors.exact import Vector, Vectors

_BATCH = 2_000  # ChromaDB takes at most 5,461 rows at once
_PATIENCE_SECONDS = 60.0  # how long a use waits for another's to end
_FILL_ID = "fill_id"
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 60.0  # how long a server may be silent

_OPENING = Lock()  # ChromaDB keeps what it opened in one place for all threads

T = TypeVar("T")


class _CollectionVectors(ABC):
    """A `VectorIndex` in one collection of ChromaDB, wherever that is."""

    @abstractmethod
    def _ask(self, work: Callable[[Any], T]) -> T:
        """What the work makes of the collection. Raises `StoreUnavailable`."""

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        if len(version_ids) != len(vectors):
            raise ValueError(f"{len(version_ids)} ids for {len(vectors)} vectors")

        def work(collection: Any) -> None:
            for start in range(0, len(version_ids), _BATCH):
                some = slice(start, start + _BATCH)
                collection.upsert(
                    ids=[str(i) for i in version_ids[some]],
                    embeddings=np.asarray(vectors[some], dtype=np.float32),
                )

        self._ask(work)

    def remove(self, version_ids: Iterable[int]) -> None:
        names = [str(i) for i in version_ids]

        def work(collection: Any) -> None:
            for start in range(0, len(names), _BATCH):
                collection.delete(ids=names[start : start + _BATCH])

        self._ask(work)

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """See `VectorIndex`. Approximate: a hierarchical graph."""

        def work(collection: Any) -> list[tuple[int, float]]:
            wanted = min(k, collection.count())
            if wanted <= 0:
                return []
            found = collection.query(
                query_embeddings=np.asarray([vector], dtype=np.float32),
                n_results=wanted,
                include=["distances"],
            )
            names, distances = found["ids"][0], found["distances"][0]
            length = float(np.linalg.norm(vector))  # Chroma makes it 1; a query may have another
            return [(int(i), length * (1.0 - float(far))) for i, far in zip(names, distances, strict=True)]

        return sorted(self._ask(work), key=lambda hit: (-hit[1], hit[0]))

    def version_ids(self) -> set[int]:
        return self._ask(lambda collection: {int(name) for name in collection.get(include=[])["ids"]})

    def fill_id(self) -> str:
        """See `FillableIndex`. It is the collection's metadata."""
        return self._ask(lambda collection: str((collection.metadata or {}).get(_FILL_ID, "")))

    def set_fill_id(self, fill_id: str) -> None:
        self._ask(lambda collection: collection.modify(metadata={_FILL_ID: fill_id}))


class ChromaVectors(_CollectionVectors):
    """A `VectorIndex` in an embedded ChromaDB, one collection an encoder version."""

    def __init__(self, folder: Path, encoder_version: str, *, writes: bool) -> None:
        """Opens or creates the collection.

        Raises `IndexWrittenElsewhere` when another process writes here, `StoreUnavailable` when the folder
        cannot be used; so do all other calls.
        """
        self.folder, self._encoder_version = folder, encoder_version
        self._name = secrets.token_hex(8)  # of this user of the folder
        self._system: Any = None
        self._collection: Any = None  # None: not loaded
        self._use = FileLock(folder / "use.lock")
        self._lock = FileLock(folder / "writer.lock", thread_local=False)  # closed by any thread
        self.writes = writes
        try:
            with self._told_plainly():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if writes:
                    self._begin_writing()
            self._ask(lambda collection: None)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._let_go()
        self._lock.release()

    def _begin_writing(self) -> None:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise IndexWrittenElsewhere(self.folder) from None

    def _ask(self, work: Callable[[Any], T]) -> T:
        """Asks the collection as it is now, while nobody else uses it."""
        with self._told_plainly():
            try:
                self._use.acquire(timeout=_PATIENCE_SECONDS, poll_interval=0.01)
            except Timeout:
                raise StoreUnavailable(
                    f"{self.folder}: another process is using the shared index", hint="Try again in a while."
                ) from None
            try:
                self._refresh()
                return self._done(work)
            finally:
                self._use.release()

    def _refresh(self) -> None:
        """Loads the graph again where another used the folder since, or made it anew."""
        last_user = self.folder / "last-user"
        try:
            is_ours = last_user.read_text("ascii") == self._name
        except (FileNotFoundError, UnicodeDecodeError):
            is_ours = False
        if self._collection is None or not is_ours:
            self._let_go()
            client, self._system = _open_client(self.folder)
            self._collection = _open_collection(client, self.folder, self._encoder_version)
            last_user.write_text(self._name, "ascii")

    @contextmanager
    def _told_plainly(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise shortage(error, {self.folder: ""}) or StoreUnavailable(
                f"{self.folder}: the index cannot be used ({error})",
                hint="Make the folder readable and writable for this user, or run `vouch doctor`.",
            ) from error

    def _done(self, work: Callable[[Any], T]) -> T:
        try:
            return work(self._collection)
        except Exception as error:  # its files are read here, too
            raise _cannot_use(self.folder, error) from error

    def _let_go(self) -> None:
        """Frees the files and threads of a graph that is no longer true."""
        if self._system is not None:
            self._system.stop()
        self._system = self._collection = None


class ChromaServerVectors(_CollectionVectors):
    """A `VectorIndex` in a ChromaDB server, one collection an encoder version; for any number of threads.

    A request that fails for another reason than time is made once more, over a new connection: all of them
    may be made twice, and a server that was started again since is found so.
    """

    writes = True
    folder = None  # it is on the server

    def __init__(self, url: str, encoder_version: str) -> None:
        """Connects. url: http or https, a user and password in it are sent along and never shown.

        Raises `StoreUnavailable` when there is no ChromaDB server; so do all other calls, until it is back.
        """
        self._url, self._login = _without_login(url)
        self._encoder_version = encoder_version
        self._system: Any = None
        self._collection: Any = None
        try:
            self._system, self._server = _server_at(self._url, self._login)
            self._ask(lambda collection: None)
        except StoreUnavailable:
            self.close()
            raise

    def close(self) -> None:
        self._collection = None
        if self._system is not None:
            self._server._session.close()
            self._system.stop()
            self._system = None

    def fill_id(self) -> str:
        """See `FillableIndex`. The server is asked each time: it may have been started without its data."""

        def work(collection: Any) -> str:
            found = self._server.get_collection(name=collection.name)
            return str((found.metadata or {}).get(_FILL_ID, ""))

        return self._ask(work)

    def _ask(self, work: Callable[[Any], T]) -> T:
        """Asks the collection, twice if need be."""
        try:
            try:
                return work(self._collection or self._find_collection())
            except Exception as error:
                if _took_too_long(error):
                    raise
                return work(self._find_collection())
        except Exception as error:
            raise StoreUnavailable(
                f"{without_values(self._url)}: no answer as of a ChromaDB server ({_in_a_line(error)})",
                hint="Start it (`chroma run --path FOLDER`) or correct the URL; nothing is lost meanwhile: "
                "what changes waits in the database until the index can be written.",
            ) from error

    def _find_collection(self) -> Any:
        from chromadb.api.models.Collection import Collection

        settings = _collection_settings(self._encoder_version)
        model = self._server.create_collection(get_or_create=True, **settings)
        self._collection = Collection(client=self._server, model=model, embedding_function=None)
        return self._collection


def _server_at(url: str, login: str) -> tuple[Any, Any]:
    """ChromaDB's own client of a server, and the system it is part of.

    `chromadb.HttpClient` is made of the same parts, and asks the server four times before it can be told
    to wait no longer than so many seconds.
    """
    from chromadb.api.fastapi import FastAPI
    from chromadb.config import Settings, System

    _be_quiet()
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("a URL begins with http:// or https:// and names a host")
        system = System(
            Settings(
                anonymized_telemetry=False,
                chroma_server_host=url,
                chroma_server_http_port=parts.port,
                chroma_server_ssl_enabled=parts.scheme == "https",
                chroma_server_headers={"Authorization": f"Basic {login}"} if login else None,
            )
        )
        server: Any = system.instance(FastAPI)
    except Exception as error:
        raise StoreUnavailable(
            f"{without_values(url)}: not the URL of a ChromaDB server ({_in_a_line(error)})",
            hint="Write it like http://127.0.0.1:8000.",
        ) from error
    server._session.timeout = (_CONNECT_SECONDS, _ANSWER_SECONDS, _ANSWER_SECONDS, _ANSWER_SECONDS)
    return system, server


def _without_login(url: str) -> tuple[str, str]:
    """The URL as it may be shown, and user and password as HTTP's basic authentication writes them."""
    before, at, after = url.rpartition("@")
    if not at:
        return url, ""
    scheme, separator, login = before.partition("://")
    encoded = base64.b64encode(unquote(login).encode()).decode("ascii")
    return f"{scheme}{separator}{after}", encoded


def _took_too_long(error: BaseException) -> bool:
    import httpx

    return isinstance(error, httpx.TimeoutException)


def _in_a_line(error: BaseException) -> str:
    """What went wrong, without the page that a server of something else may have sent."""
    told = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {told}" if told else type(error).__name__


def _open_client(folder: Path) -> tuple[Any, Any]:
    """A client, and the system it is part of: its own, which nobody else is given or stops."""
    import chromadb  # a second to import: only a process that needs it pays
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    _be_quiet()
    with _OPENING:
        # else a graph that this process loaded before is given again, and the client that is closed first
        # takes it from the others
        SharedSystemClient.clear_system_cache()
        try:
            settings = Settings(anonymized_telemetry=False)
            client: Any = chromadb.PersistentClient(path=str(folder), settings=settings)
        except Exception as error:
            raise _cannot_use(folder, error) from error
        system = client._system
        SharedSystemClient.clear_system_cache()
    return client, system


def _open_collection(client: Any, folder: Path, encoder_version: str) -> Any:
    try:
        return client.get_or_create_collection(
            **_collection_settings(encoder_version),
            embedding_function=None,  # vectors are always passed in
        )
    except Exception as error:
        raise _cannot_use(folder, error) from error


def _collection_settings(encoder_version: str) -> dict[str, Any]:
    return {
        "name": f"shared-{encoder_version}"[:512],
        "configuration": {"hnsw": {"space": "cosine", "ef_search": 200}},
    }


def _be_quiet() -> None:
    logging.getLogger("chromadb").setLevel(logging.ERROR)


def _cannot_use(folder: Path, error: Exception) -> DamagedIndex:
    return DamagedIndex(
        f"{folder}: ChromaDB cannot use it ({_in_a_line(error)})",
        hint="The index is derived: `vouch doctor` fills it again.",
    )
