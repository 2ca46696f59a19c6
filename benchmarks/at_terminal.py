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
        self.painted = ""

    def types(self, keys: str) -> float:
        """Presses keys; returns the moment."""
        os.write(self._terminal, keys.encode())
        return time.perf_counter()

    def waits_for(self, text: str, *, within: float = 120.0) -> float:
        """The moment at which a text has been painted, which was not there before; raises TimeoutError."""
        start = len(self.painted)
        ends = time.perf_counter() + within
        while text not in self.painted[start:]:
            self.read(ends - time.perf_counter())
            if time.perf_counter() > ends:
                raise TimeoutError(f"{text!r} was not painted: {self.painted[-2000:]!r}")
        return time.perf_counter()

    def read(self, seconds: float) -> bool:
        """Takes in what is painted within so many seconds; whether there was anything."""
        if not select.select([self._terminal], [], [], max(0.0, seconds))[0]:
            return False
        try:
            self.painted += os.read(self._terminal, 1 << 16).decode(errors="replace")
        except OSError:  # it has ended
            return False
        return True

    def ends(self, keys: str) -> int:
        """Presses keys that end it; returns its exit code."""
        self.types(keys)
        ends = time.perf_counter() + 60
        while self.process.poll() is None and time.perf_counter() < ends:
            self.read(0.05)
        os.close(self._terminal)
        return self.process.wait(5)
