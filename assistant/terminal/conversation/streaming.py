"""How often an answer is painted while it is written."""

from __future__ import annotations

_LEAST_SECONDS = 0.1  # ten times a second
_MOST_SECONDS = 0.4  # further behind, nobody would say that it is being written
_SHARE = 1 / 3  # of the time is for painting at most; the rest is for keys


class Pace:
    """Falls where painting takes long, so that keys find the screen free."""

    def __init__(self) -> None:
        self.wait_seconds = _LEAST_SECONDS  # from the end of one painting to the next

    def painted(self, seconds: float) -> None:
        """A painting took so long."""
        free = seconds * (1 - _SHARE) / _SHARE
        self.wait_seconds = min(_MOST_SECONDS, max(_LEAST_SECONDS, free))
