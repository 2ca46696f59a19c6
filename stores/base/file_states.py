"""What a file was like when it was read: by what is told whether it has changed since."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stores.base.regular_files import descriptor_of

SETTLED_NS = 2_000_000_000  # no file system's times are coarser
_PART = 1 << 20


@dataclass(frozen=True)
class FileState:
    """A file as it was read.

    is_settled: it had not been written for a while then, so that whatever is written later has other times.
    """

    size_bytes: int
    written_ns: int
    changed_ns: int  # which no program can set, as the time before
    inode: int
    is_settled: bool
    sha256: str

    @classmethod
    def of_text(cls, text: str) -> FileState:
        """The one that `text` tells."""
        return cls(**json.loads(text))

    @property
    def text(self) -> str:
        """It as one line, for the database."""
        return json.dumps(asdict(self))

    def holds(self, path: Path) -> bool:
        """Whether the file has the same content still. Raises `OSError` where it is not there.

        Any other times lead to its being read, also older ones, as of a copy or of what a backup gave back.
        Of a file that another user alone can read the times decide.
        """
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != self.size_bytes:
            return False
        times = (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        has_these_times = times == (self.written_ns, self.changed_ns, self.inode)
        if self.is_settled and has_these_times:
            return True
        try:
            with WatchedFile(path) as file:
                file.read_on()
                return file.state().sha256 == self.sha256
        except PermissionError:
            return has_these_times


class WatchedFile(io.FileIO):
    """A file that is read once, from its beginning, and that can be told from what it becomes later."""

    def __init__(self, path: Path) -> None:
        """Raises `NoFile` for a pipe, which is not waited for, and other `OSError`."""
        self._digest = hashlib.sha256()
        self._read_bytes = 0
        self._opened_ns = time.time_ns()
        super().__init__(descriptor_of(path), "rb")
        self._at_first = os.fstat(self.fileno())

    @property
    def has_changed(self) -> bool:
        """Whether somebody has written to it since it was opened."""
        return _times(os.fstat(self.fileno())) != _times(self._at_first)

    def readinto(self, buffer: Any) -> int | None:
        """As ever."""
        if count := super().readinto(buffer):
            self._digest.update(memoryview(buffer)[:count])
            self._read_bytes += count
        return count

    def read_on(self) -> None:
        """Reads what is left, to the end."""
        rest = bytearray(_PART)
        while self.readinto(rest):
            pass

    def state(self) -> FileState:
        """As it was read until now: of what was written since the end was reached, nothing."""
        _, written, changed, inode = _times(self._at_first)
        return FileState(
            self._read_bytes,
            written,
            changed,
            inode,
            max(written, changed) < self._opened_ns - SETTLED_NS,
            self._digest.hexdigest(),
        )


def _times(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
