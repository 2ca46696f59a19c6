"""Files of persons, opened without waiting: a pipe under a file's name would wait for somebody to write."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path


class NoFile(OSError):
    """The path leads to a folder, a pipe or a device; its `strerror` says so."""

    def __init__(self) -> None:
        super().__init__(0, "is not a file")


def open_regular(path: Path) -> io.BufferedReader:
    """The file, to be read. Raises `NoFile`, and `OSError` as opening does."""
    return os.fdopen(descriptor_of(path), "rb")


def descriptor_of(path: Path) -> int:
    """The same, as the system numbers it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NoFile
    return descriptor
