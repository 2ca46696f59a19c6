"""Copies of the database that a replay works on: in the data directory, gone when it ends, killed or not.

<data>/copies/<name>.lock  held by who works there     <data>/copies/<name>/  the copy

Whoever can take the lock knows that its holder is gone. Forgetting deletes those in use as well: no copy
outlives what it holds.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stores.database.living_processes import is_left

_FOLDER = "copies"


@contextmanager
def working_copy(data: Path) -> Iterator[Path]:
    """An empty folder of this process alone, deleted at the end; what others left is deleted first."""
    sweep_copies(data)
    folder = data / _FOLDER / secrets.token_hex(8)
    lock = _lock_file(folder)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        _delete(folder)
        os.close(lock)
        with suppress(OSError):  # others work there
            folder.parent.rmdir()


def sweep_copies(data: Path, *, in_use: bool = False) -> None:
    """Deletes the copies that killed processes left. in_use: also others, whose replays fail."""
    place = data / _FOLDER
    for lock in sorted(place.glob("*.lock")):
        if in_use or is_left(lock):
            _delete(lock.with_suffix(""))
    for folder in sorted(place.glob("*/")):
        if not _lock_of(folder).exists():
            _delete(folder)


def _lock_file(folder: Path) -> int:
    while True:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileNotFoundError):  # another one has just ended, and taken the empty folder with it
            return os.open(_lock_of(folder), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _delete(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _lock_of(folder).unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")
