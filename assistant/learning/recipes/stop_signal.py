"""The signals that ask a training to stop: SIGTERM quickly, SIGINT once what it has reached is written."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(Exception):
    """The run was asked to stop."""


class StopSignal:
    """SIGTERM and SIGINT: noted while a step is taken, and obeyed at once where nothing can be lost."""

    def __init__(self) -> None:
        self.came = False
        self.is_urgent = True
        self._at_once = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Handles the signal."""
        self.came = True
        self.is_urgent = signum != signal.SIGINT
        if self._at_once:
            raise Stopped

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Within it, the signal raises Stopped wherever the run is."""
        self._at_once = True
        try:
            if self.came:
                raise Stopped
            yield
        finally:
            self._at_once = False
