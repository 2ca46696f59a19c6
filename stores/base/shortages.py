"""What a machine has run out of, as an error that says what to do: memory, open files, room on a disk.

Libraries tell of it in errors and words of their own, often behind another error that it led to.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

from stores.base.errors import StoreUnavailable, TryAgain

_MEMORY_WORDS = (
    "allocate memory",  # of torch, ONNX Runtime and the system
    "bad_alloc",
    "bad allocation",
    "not enough memory",
    "error return without exception set",  # of Python, where none was left to say so
    "failed to map segment",  # of a library that is loaded
    "out of memory",
)
_FILES = (errno.EMFILE, errno.ENFILE)
_FILES_WORDS = ("too many open files",)
_DISK = (errno.ENOSPC, errno.EDQUOT)
_DISK_WORDS = (
    "no space left on device",
    "disk is full",
    "disk quota exceeded",
    "no usable temporary directory",
)
AS_GOOD_AS_NOTHING = 1 << 22  # bytes
_FILES_OF_A_DATABASE = 4  # open at once: the file, its log, what is shared of it, and the folder


def shortage(error: BaseException, places: Mapping[Path, str] | None = None) -> TryAgain | None:
    """What an error comes from where that is a shortage; else None.

    places: folders that may have been written to, and how each is named otherwise ("Name another ...").
    """
    for each in _that_led_to(error):
        number, words = getattr(each, "errno", None), _words(each)
        if isinstance(each, MemoryError) or number == errno.ENOMEM or _has(words, _MEMORY_WORDS):
            return TryAgain(
                "there is not enough memory",
                hint="Close other programs, or raise what limits it (`ulimit -v`); then try again.",
            )
        if number in _FILES or _has(words, _FILES_WORDS):
            return too_many_files()
        if number in _DISK or _has(words, _DISK_WORDS):
            return disk_full(each, places or {})
    return None


def too_many_files() -> StoreUnavailable:
    """A process has as many files open as it may have."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return StoreUnavailable(
        f"too many files are open: this process may have {most}",
        hint="Raise the limit, as in `ulimit -n 1024`, or end other programs; then try again.",
    )


def disk_full(error: BaseException, places: Mapping[Path, str]) -> StoreUnavailable:
    """Names what the system names, else the first of the places whose disk has no room; see `shortage`."""
    named = getattr(error, "filename2", None) or getattr(error, "filename", None)
    if isinstance(named, str | bytes):
        candidates = [Path(os.fsdecode(named))]
    else:  # what was written may be gone again, and its room back: then it can have been any
        of_disks: dict[int, Path] = {}
        for each in places:
            of_disks.setdefault(_there(each).stat().st_dev, each)
        candidates = list(of_disks.values())
        candidates = [place for place in candidates if room(place) < AS_GOOD_AS_NOTHING][:1] or candidates
    if not candidates:
        return StoreUnavailable("a disk is full", hint="Make room, then try again.")
    place, *others = candidates
    where = " or ".join(["there", *(f"on the disk of {other}" for other in others)])
    how = next((places[each] for each in (place, *place.parents) if each in places), "")
    return StoreUnavailable(
        f"{place}: the disk is full", hint=f"Make room {where}, then try again. {how}".strip()
    )


def room(place: Path) -> int:
    """The bytes left on a place's disk, also where it is not there yet; 0 where no file can be made."""
    told = os.statvfs(_there(place))
    return 0 if told.f_files and not told.f_favail else told.f_bavail * told.f_frsize


def _there(place: Path) -> Path:
    """The place, or the nearest folder above it that is there."""
    return next(each for each in (place, *place.absolute().parents) if each.exists())


def temporary_folder(*variables: str) -> Path:
    """The first folder that a variable names, TMPDIR at last; else the system's own."""
    named = (os.environ.get(variable, "") for variable in (*variables, "TMPDIR"))
    return next((Path(name) for name in named if name), Path("/tmp"))


def lacks_files() -> bool:
    """Whether so few files may still be opened that a database cannot be."""
    opened: list[int] = []
    try:
        for _ in range(_FILES_OF_A_DATABASE):
            opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in _FILES
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return False


def ended_by(number: int) -> str:
    """A signal that ended a process, and what it is mostly sent for."""
    return f"signal {number}" + (", as when memory runs out" if number == signal.SIGKILL else "")


def _that_led_to(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that it came from."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _words(error: BaseException) -> str:
    """The first line: a database's driver adds the values that it was given."""
    try:
        return str(getattr(error, "orig", error)).partition("\n")[0].lower()
    except Exception:  # noqa: BLE001 - one that cannot be printed says nothing
        return ""


def _has(words: str, some: tuple[str, ...]) -> bool:
    return any(each in words for each in some)
