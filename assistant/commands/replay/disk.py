"""The folder of a replay, and what the system says of it."""

from __future__ import annotations

import errno
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stores.base.errors import StoreUnavailable, VouchError, WrongUsage
from stores.base.shortages import AS_GOOD_AS_NOTHING, disk_full, room, shortage, temporary_folder

_NOT_TO_BE_WRITTEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO)
_GOES_ON = " The same command, without --fresh, goes on where it was."
_NAME_ANOTHER = "Name another folder with --out."


def make_folder(folder: Path) -> None:
    """Makes it where it is not there, and sees that it can be written to.

    Raises `WrongUsage` where a file is in the way, `StoreUnavailable` where it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError) as error:
        file = next(each for each in (folder, *folder.parents) if each.exists())
        raise WrongUsage(f"{folder} cannot be a folder: {file} is a file", hint=_NAME_ANOTHER) from error
    except OSError as error:
        if lacking := shortage(error, {folder: ""}):
            raise lacking from error
        said = f"{folder} cannot be written to: {error.strerror}"
        raise StoreUnavailable(said, hint=_NAME_ANOTHER) from error


@contextmanager
def disk_told(folder: Path, *, goes_on: bool = True) -> Iterator[None]:
    """Turns what the system says of the disk into our own error: full, not to be written, the folder gone.

    folder: what is written to. A child process whose disk is full cannot always say so: then it is asked.
    goes_on: the same command finds in the folder what was played.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if lacking := shortage(error, {folder: "", temporary_folder(): ""}):
            lacking.hint += _GOES_ON if goes_on else ""
            raise lacking from error
        if not isinstance(error, OSError):
            raise
        if error.errno in _NOT_TO_BE_WRITTEN:
            said = f"{error.filename or folder}: {error.strerror}"
            raise StoreUnavailable(said, hint=_NAME_ANOTHER if goes_on else "") from error
        if isinstance(error, FileNotFoundError) and not folder.is_dir():
            raise _gone(folder) from error
        raise
    except VouchError as error:
        if _is_trainings(error) and not folder.is_dir():
            raise _gone(folder) from error
        if _is_trainings(error) and room(folder) < AS_GOOD_AS_NOTHING:
            lacking = disk_full(error, {folder: ""})
            lacking.hint += _GOES_ON
            raise lacking from error
        raise


def _is_trainings(error: VouchError) -> bool:
    from assistant.learning.training_process import TrainingFailed

    return isinstance(error, TrainingFailed)


def _gone(folder: Path) -> StoreUnavailable:
    return StoreUnavailable(f"{folder} was taken away meanwhile", hint="The same command begins anew.")
