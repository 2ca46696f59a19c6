"""Which processes live: whoever was killed has let go of a lock that nobody else can have had.

A process takes a lock of the system on a file that has its name, in a folder beside the database. Another
one that can take the lock knows that the first is gone. Of a process of another machine nothing is known.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock

_KEPT_SECONDS = 24 * 3600  # the file of a process that was killed; nothing it left is asked for by then


def is_left(lock: Path) -> bool:
    """Whether nobody holds the lock of a file that is there."""
    with suppress(OSError):  # it is held, or has just gone
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
        return True
    return False


class LivingProcess:
    """This process, as others can tell whether it lives; until `close`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1
        self._name = ""
        self._has_failed = False
        self._leaves_unended = False
        self._naming = Lock()

    @property
    def name(self) -> str:
        """Its name, from the first call on; empty where no lock can be had."""
        with self._naming:  # whoever asks meanwhile, on another thread, waits for the name
            if not self._name and not self._has_failed:
                self._has_failed = True
                with suppress(OSError):  # a disk that cannot be written, or keeps no locks, does not begin to
                    self._take_lock()
                    self._has_failed = False
            return self._name

    def has_died(self, name: str) -> bool:
        """Whether the process of that name lived here and is gone; False where that is not known."""
        return bool(name) and name != self._name and is_left(self._file(name))

    def leaves_unended(self) -> None:
        """Something that it began will not be written down as ended: `close` is then as being killed."""
        self._leaves_unended = True

    def close(self) -> None:
        """Ends it for others, who need not ask any more: all that it began has ended."""
        if self._descriptor >= 0:
            if not self._leaves_unended:
                with suppress(OSError):
                    self._file(self._name).unlink()
            os.close(self._descriptor)
            self._descriptor, self._name = -1, ""

    def _take_lock(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._sweep()
        name = secrets.token_hex(8)
        descriptor = os.open(self._file(name), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            self._file(name).unlink(missing_ok=True)
            raise
        self._descriptor, self._name = descriptor, name

    def _sweep(self) -> None:
        """Deletes what processes left that were killed long ago."""
        for file in self._folder.glob("*.lock"):
            with suppress(OSError):
                if file.stat().st_mtime < time.time() - _KEPT_SECONDS and self.has_died(file.stem):
                    file.unlink()

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.lock"
