"""The one clock of all that is stored: the present, or in a replay a time of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

FURTHEST_AHEAD = timedelta(hours=2)  # no time that something waits for is set so far ahead

_real_time: Callable[[], datetime] = partial(datetime.now, UTC)
_clock = _real_time


def now() -> datetime:
    """The present moment, in UTC, to the second's millionth."""
    return _clock()


def has_come(due: datetime, moment: datetime) -> bool:
    """Whether a stored time that something waits for has come.

    One further ahead than any is set was set by a clock that was ahead: it is not waited for.
    """
    return not moment < due <= moment + FURTHEST_AHEAD


def local(moment: datetime) -> datetime:
    """A moment by the clocks here; as it is where they cannot tell it, such as the first hours of year 1."""
    try:
        return moment.astimezone()
    except (OverflowError, ValueError, OSError):
        return moment


def stamp(moment: datetime) -> str:
    """A moment as programs read it: ISO 8601, in UTC, to the second, as in `2026-11-21T09:30:00+00:00`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


@contextmanager
def time_by(clock: Callable[[], datetime]) -> Iterator[None]:
    """Has `now` ask this clock meanwhile, in the whole process: a replay has a time of its own."""
    global _clock
    before, _clock = _clock, clock
    try:
        yield
    finally:
        _clock = before
