"""How whoever leads a round makes it wait, go on, or leave off; from any thread.

person waits, or an answer is being written -> the child process is halted, the comparison waits
left -> the child ends, and the round is gone on with at another time
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition

ANSWERING = "answering"  # why it waits: an answer is being written on the same processor
ASKED = "asked"  # somebody wants it to


class Steering:
    """Whether a round may go on. A process group that is steered is halted and woken by signals."""

    def __init__(self) -> None:
        self.is_left = False
        self._reasons: set[str] = set()
        self._group: int | None = None
        self._leaves_processor = False  # the group computes on another device
        self._changed = Condition()

    @property
    def is_paused(self) -> bool:
        """Whether it is to wait."""
        return bool(self._in_force())

    def pause(self, reason: str) -> None:
        """Makes it wait for as long as this reason holds."""
        with self._changed:
            self._reasons.add(reason)
            self._signal()

    def go_on(self, reason: str) -> None:
        """The reason holds no more."""
        with self._changed:
            self._reasons.discard(reason)
            self._signal()

    def leave(self) -> None:
        """Ends it for now."""
        with self._changed:
            self.is_left = True
            self._signal()
            if self._group is not None:  # it may write down what it has reached, if that is quick
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._group, signal.SIGTERM)

    def computes_on(self, device: str) -> None:
        """Where the group computes: off the processor it is in no answer's way."""
        with self._changed:
            self._leaves_processor = device != "cpu"
            self._signal()

    @contextmanager
    def steered(self, group: int) -> Iterator[None]:
        """Within it, this process group is halted while it is to wait. The caller ends the group first."""
        with self._changed:
            self._group = group
            self._signal()
        try:
            yield
        finally:
            with self._changed:
                self._group, self._leaves_processor = None, False

    def hold(self, meanwhile: Callable[[], None], *, at_once: float = 0.2) -> None:
        """Returns when it may go on or is left; calls `meanwhile` now and then. at_once: seconds between."""
        while self.is_paused and not self.is_left:
            meanwhile()
            with self._changed:
                self._changed.wait(at_once)

    def _in_force(self) -> set[str]:
        return self._reasons - {ANSWERING} if self._leaves_processor else self._reasons

    def _signal(self) -> None:
        """With the lock held."""
        self._changed.notify_all()
        if self._group is not None:
            halted = bool(self._in_force()) and not self.is_left
            with suppress(ProcessLookupError, PermissionError):  # it has just ended
                os.killpg(self._group, signal.SIGSTOP if halted else signal.SIGCONT)


class Budget:
    """Time for something, which does not pass while it waits."""

    def __init__(self, seconds: float | None, steering: Steering) -> None:
        self._left = seconds
        self._steering = steering
        self._last = time.monotonic()

    def is_over(self) -> bool:
        """Whether none is left; to be asked often."""
        now = time.monotonic()
        if self._left is not None and not self._steering.is_paused:
            self._left -= now - self._last
        self._last = now
        return self._left is not None and self._left < 0
