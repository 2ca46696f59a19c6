"""A process at a pseudo-terminal, timed by what appears there."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

_LOOKS_SECONDS = 0.05
_ENDS_SECONDS = 5.0  # in which a program that was killed, or has closed its terminal, is gone
_LONGEST_SELECT = 60.0


class EndedEarly(Exception):
    """The program ended before it had painted what was waited for."""


class AtTerminal:
    """Starts a command as a terminal does, and waits for what it paints."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], *, columns: int, rows: int
    ) -> None:
        self.began = time.perf_counter()
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            command, env=dict(environment), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self._terminal = ours
        self._is_closed = False
        self.painted = ""

    def types(self, keys: str) -> float:
        """Presses keys; returns the moment. Nothing where the program has ended."""
        with suppress(OSError):
            os.write(self._terminal, keys.encode())
        return time.perf_counter()

    def waits_for(self, text: str, *, within: float = 120.0) -> float:
        """The moment at which a text has been painted, which was not there before.

        Raises `TimeoutError`, and `EndedEarly` where the program ends first.
        """
        start = len(self.painted)
        ends = time.perf_counter() + within
        while text not in self.painted[start:]:
            if self._is_closed:
                code = self.process.wait(_ENDS_SECONDS)
                raise EndedEarly(f"it ended with {code} before {text!r} was painted: {self._last_words}")
            self.read(min(_LONGEST_SELECT, ends - time.perf_counter()))
            if time.perf_counter() > ends:
                raise TimeoutError(f"{text!r} was not painted: {self._last_words}")
        return time.perf_counter()

    def read(self, seconds: float) -> bool:
        """Takes in what is painted within so many seconds; whether there was anything."""
        if not select.select([self._terminal], [], [], max(0.0, seconds))[0]:
            return False
        try:
            self.painted += os.read(self._terminal, 1 << 16).decode(errors="replace")
        except OSError:  # nobody can paint there any more
            self._is_closed = True
            return False
        return True

    def ends(self, keys: str, *, within: float = 60.0) -> int:
        """Presses keys that end it; returns its exit code, which is negative where it had to be killed."""
        self.types(keys)
        ends = time.perf_counter() + within
        while self.process.poll() is None and time.perf_counter() < ends:
            if self._is_closed or not self.read(_LOOKS_SECONDS):
                time.sleep(_LOOKS_SECONDS if self._is_closed else 0.0)
        os.close(self._terminal)
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait(_ENDS_SECONDS)

    @property
    def _last_words(self) -> str:
        return repr(self.painted[-2000:])
