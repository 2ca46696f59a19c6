"""Where the shared space's index is kept, as the settings say: nowhere, in a folder, or on a server."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from filelock import FileLock, Timeout

from agents.base.interfaces import Encoder
from assistant.settings.config import Settings
from stores.base.errors import IndexWrittenElsewhere, InvalidSetting, StoreUnavailable
from stores.base.secrets import without_secrets
from stores.database.database import Database
from stores.search.shared_index import shared_vectors

if TYPE_CHECKING:
    from stores.vectors.chroma_index import ChromaServerVectors, ChromaVectors
    from stores.vectors.faiss_index import FaissVectors

    OpenedIndex: TypeAlias = ChromaVectors | ChromaServerVectors | FaissVectors

_log = logging.getLogger(__name__)
_NEVER = 2**62  # more passages than any space has


class SharedIndexes:
    """Opens the index of each encoder version, once, and again where it is to be written."""

    def __init__(self, settings: Settings, data: Path, database: Database) -> None:
        """Raises `InvalidSetting` for an index that the database's other machines would not see."""
        self._data = data
        self._database = database
        self._url = settings.index.url
        kind = settings.index.kind
        if kind == "auto":
            kind = "exact" if database.is_postgresql and not self._url else "chroma"
        if database.is_postgresql and kind != "exact" and not self._url:
            raise InvalidSetting("index.kind", kind, "exact, or chroma with index.url, beside PostgreSQL")
        self._kind = kind
        self.name = without_secrets(self._url) if self._url else kind
        self.exact_up_to = _NEVER if kind == "exact" else settings.retrieval.exact_up_to
        self._opened: dict[str, _Opened] = {}  # by encoder version

    def open(self, encoder: Encoder, writes: bool) -> OpenedIndex | None:
        """The index of this encoder's version; None where it is to be written and another process does.

        Raises `StoreUnavailable` where it cannot be reached, read or written.
        """
        version = encoder.version
        known = self._opened.get(version)
        if known is not None and (known.index.writes or not writes) and known.is_there():
            return known.index
        if known is not None and not known.is_there():
            self._close(version)
        try:
            index = self._made(version, encoder.dimension, writes=writes)
        except IndexWrittenElsewhere as error:
            _log.info("shared index not written: %s", error.message)
            return None
        self._close(version)
        self._opened[version] = _Opened(index)
        return index

    def discard(self, version: str) -> Path | None:
        """Deletes the folder of an encoder version's index, which is derived; None where there is none.

        Raises `StoreUnavailable` when another process is writing it.
        """
        if self._kind == "exact" or self._url:
            return None
        self._close(version)
        folder = self._data / self._kind / version
        with ExitStack() as locks:
            for file in sorted(folder.rglob("writer.lock")):
                try:
                    locks.enter_context(FileLock(file, timeout=0))
                except Timeout:
                    raise StoreUnavailable(
                        f"{folder}: another process is writing the shared index",
                        hint="End it, then run `vouch doctor` again.",
                    ) from None
            discarded = folder.with_name(f".discarded-{secrets.token_hex(8)}")
            if folder.exists():
                folder.rename(discarded)  # at once: a kill leaves no half of it to be opened
        shutil.rmtree(discarded, ignore_errors=True)
        return folder

    def close(self) -> None:
        for version in list(self._opened):
            self._close(version)

    def _close(self, version: str) -> None:
        opened = self._opened.pop(version, None)
        if opened is not None:
            opened.close()

    def _made(self, version: str, dimension: int, *, writes: bool) -> OpenedIndex:
        if self._url:
            from stores.vectors.chroma_index import ChromaServerVectors

            return ChromaServerVectors(self._url, version)
        if self._kind == "faiss":
            from stores.vectors.faiss_index import FaissVectors

            return FaissVectors(
                self._data / "faiss" / version,
                version,
                dimension,
                writes=writes,
                all_vectors=partial(shared_vectors, self._database, version, dimension),
            )
        from stores.vectors.chroma_index import ChromaVectors

        return ChromaVectors(self._data / "chroma" / version, version, writes=writes)


class _Opened:
    """An open index, and which folder it is in: one that is deleted and made again is another."""

    def __init__(self, index: OpenedIndex) -> None:
        self.index = index
        self._folder: int | None = None
        if index.folder is not None:
            with suppress(OSError):  # held open, so that no other folder is given its number
                self._folder = os.open(index.folder, os.O_RDONLY)

    def is_there(self) -> bool:
        """Whether the folder is still in its place. A server is asked at each use."""
        if self._folder is None or self.index.folder is None:
            return True
        try:
            return os.path.samestat(os.fstat(self._folder), self.index.folder.stat())
        except OSError:
            return False

    def close(self) -> None:
        self.index.close()
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None
