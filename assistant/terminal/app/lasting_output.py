"""What is written to a terminal that is gone is written nowhere, and nobody waits for it.

The screen library writes on a thread of its own, which a closed terminal ends; whoever writes next would
wait for ever for room in its queue, and no signal be heeded any more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread

_WRITER = "WriterThread"  # as the modules of the drivers call it


class LastingWriter(WriterThread):
    """Goes on taking what is to be written when the terminal takes nothing any more."""

    def run(self) -> None:
        """See the library's; the end is told by None."""
        try:
            super().run()
        except (OSError, ValueError):  # closed, also by us
            while self._queue.get() is not None:
                pass


@contextmanager
def lasting_output(driver: type[Driver]) -> Iterator[None]:
    """While the screens are open: what this driver writes, if it is a terminal that it writes to."""
    module = sys.modules[driver.__module__]
    if getattr(module, _WRITER, None) is not WriterThread:
        yield
        return
    setattr(module, _WRITER, LastingWriter)
    try:
        yield
    finally:
        setattr(module, _WRITER, WriterThread)
