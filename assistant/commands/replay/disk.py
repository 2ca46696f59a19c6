"""The folder of a replay, and what the system says of it."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stores.base.errors import StoreUnavailable, VouchError, WrongUsage

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NOT_TO_BE_WRITTEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO)
_AS_GOOD_AS_NOTHING = 1 << 16  # bytes
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
        if _is_full(error):
            raise _full(folder) from error
        said = f"{folder} cannot be written to: {error.strerror}"
        raise StoreUnavailable(said, hint=_NAME_ANOTHER) from error


@contextmanager
def disk_told(folder: Path, *, goes_on: bool = True) -> Iterator[None]:
    """Turns what the system says of the disk into our own error: full, not to be written, the folder gone.

    folder: of the replay. A child process whose disk is full cannot always say so: then the disk is asked.
    goes_on: the same command finds there what was played.
    """
    try:
        yield
    except OSError as error:
        if _is_full(error):
            raise _full(Path(error.filename or folder), goes_on=goes_on) from error
        if error.errno in _NOT_TO_BE_WRITTEN:
            said = f"{error.filename or folder}: {error.strerror}"
            raise StoreUnavailable(said, hint=_NAME_ANOTHER if goes_on else "") from error
        if isinstance(error, FileNotFoundError) and not folder.is_dir():
            raise _gone(folder) from error
        raise
    except VouchError as error:
        if _is_trainings(error) and not folder.is_dir():
            raise _gone(folder) from error
        if _is_trainings(error) and shutil.disk_usage(folder).free < _AS_GOOD_AS_NOTHING:
            raise _full(folder) from error
        raise


def _is_full(error: OSError) -> bool:
    """A copy of a folder tells of each file in words alone."""
    in_words = isinstance(error, shutil.Error) and any(os.strerror(number) in str(error) for number in _FULL)
    return error.errno in _FULL or in_words


def _is_trainings(error: VouchError) -> bool:
    from assistant.learning.training_process import TrainingFailed

    return isinstance(error, TrainingFailed)


def _gone(folder: Path) -> StoreUnavailable:
    return StoreUnavailable(f"{folder} was taken away meanwhile", hint="The same command begins anew.")


def _full(place: Path, *, goes_on: bool = True) -> StoreUnavailable:
    again = ", without --fresh: it goes on where it was." if goes_on else "."
    hint = f"Make room, then give the same command again{again}"
    return StoreUnavailable(f"{place}: the disk is full", hint=hint)
