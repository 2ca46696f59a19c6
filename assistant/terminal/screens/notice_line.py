"""The line above the prompt: what was just learned, with the way back. It never takes the focus."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from assistant.terminal.screens.two_sided_line import TwoSidedLine

STAYS_SECONDS = 10.0  # at least
_NARROW = 60  # columns under which one way on is told


@dataclass(frozen=True)
class Notice:
    """One thing that is told."""

    words: str
    receipt_id: int | None = None  # of the write that it tells of, which can be undone
    turn_id: int | None = None


class NoticeLine(TwoSidedLine):
    """Shows one notice; the others queue behind it."""

    DEFAULT_CSS = "NoticeLine { display: none; padding: 0 1; color: $text-accent; }"

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._queue: list[Notice] = []
        self._told = 0  # of those that came together
        self._since = 0.0
        self._is_spent = False  # it goes as soon as it has stayed long enough

    @property
    def current(self) -> Notice | None:
        """The notice that is shown."""
        return self._queue[0] if self._queue else None

    def put(self, notice: Notice) -> None:
        """Shows a notice, or has it wait for those before it."""
        self._queue.append(notice)
        if len(self._queue) == 1:
            self._begin()
        self._show()

    def message_sent(self) -> None:
        """The person has gone on: the notice goes, once it has stayed long enough."""
        self._is_spent = bool(self._queue)
        self.look()

    def look(self) -> None:
        """Takes away what has stayed long enough; asked now and then."""
        if self._is_spent and self.clock() - self._since >= STAYS_SECONDS:
            self.done()

    def done(self) -> None:
        """Takes the shown notice away, as after it was undone; the next one follows."""
        if self._queue:
            self._queue.pop(0)
            self._told += 1
            self._begin()
        self._show()

    def _begin(self) -> None:
        self._since, self._is_spent = self.clock(), False
        if not self._queue:
            self._told = 0

    def _show(self) -> None:
        self.display = bool(self._queue)
        if notice := self.current:
            whole = self._told + len(self._queue)
            place = f"{self._told + 1} of {whole} · " if whole > 1 else ""
            doors = (["^G u undo"] if notice.receipt_id is not None else []) + ["^G w why"]
            shown = doors[:1] if self.app.size.width < _NARROW else doors
            self.say(notice.words, place + " · ".join(shown))
