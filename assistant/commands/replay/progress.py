"""How far a replay is, how quickly it goes and how long it takes: a line on a terminal, else sentences."""

from __future__ import annotations

import sys
import time

from assistant.invocation import Invocation

_SOONEST = 0.2  # seconds, after which a rate tells something
_SAID_EVERY_SECONDS = 60.0  # where standard error is no terminal


class Progress:
    """Tells whoever watches, and whoever reads a log later."""

    def __init__(self, call: Invocation) -> None:
        self._line = call.progress_line()
        self._say = None if sys.stderr.isatty() else call.tell
        self._next = time.monotonic() + _SAID_EVERY_SECONDS
        self._what, self._began, self._from = "", 0.0, 0
        self.clear = self._line.clear

    def watch(self, what: str, done: int, of: int, left: str = "") -> None:
        """Shows it. The rate is counted since `what` is done. See `run_progress.Watch`."""
        from assistant.replay.runs.run_progress import lasting

        now = time.monotonic()
        if what != self._what:
            self._what, self._began, self._from = what, now, done
        passed = now - self._began
        told = f"{what} {done} of {of}" if of else what
        if of and done > self._from and passed > _SOONEST:
            rate = (done - self._from) / passed
            told += f", {rate:.1f}/s, {left or f'about {lasting((of - done) / rate)} left'}"
        if self._say is None:
            self._line.show(told)
        elif now >= self._next:
            self._say(f"{told}.")
            self._next = now + _SAID_EVERY_SECONDS
