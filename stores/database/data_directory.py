"""Who uses a data directory: many processes at once, or one that replaces what lies in it.

Whoever opens the database holds a shared lock of the system on a file beside it, and a restore an exclusive
one, so neither meets the other. The system lets go of the lock of a process that was killed.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType

from stores.base.errors import StoreUnavailable

LOCK_FILE = "in-use.lock"


class DirectoryLock:
    """Held from its making until it is closed; `with` closes it."""

    def __init__(self, folder: Path, *, is_exclusive: bool = False) -> None:
        """Raises `StoreUnavailable` at once where it cannot be had: nobody is waited for.

        A directory that cannot be written can be used without a lock: nothing in it can be replaced either.
        """
        self._descriptor = -1
        try:
            self._descriptor = _opened(folder / LOCK_FILE)
            wanted = fcntl.LOCK_EX if is_exclusive else fcntl.LOCK_SH
            fcntl.flock(self._descriptor, wanted | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise _in_use(folder, is_exclusive=is_exclusive) from None
        except OSError as error:
            self.close()
            if is_exclusive:
                raise StoreUnavailable(
                    f"{folder} cannot be locked ({error.strerror})",
                    hint="Give yourself write permission to the data directory.",
                ) from error

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> DirectoryLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _opened(file: Path) -> int:
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EROFS):
            raise
        return os.open(file, os.O_RDONLY)  # enough to be locked


def _in_use(folder: Path, *, is_exclusive: bool) -> StoreUnavailable:
    if is_exclusive:
        return StoreUnavailable(
            f"{folder} is in use by another Vouch process",
            hint="End it (a chat that is open, an ingest that runs), then try again.",
        )
    return StoreUnavailable(f"{folder}: a backup is being restored here", hint="Try again in a while.")
