"""The line above the prompt: what was just learned, with the way back. It never takes the focus."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from assistant.terminal.screens.two_sided_line import TwoSidedLine

STAYS_SECONDS = 10.0  # at least
_NARROW = 60  # columns under which one way on is told
_EDGES = 3  # columns: padding, and one between the two sides


@dataclass(frozen=True)
class Notice:
    """One thing that is told."""

    words: str
    receipt_id: int | None = None  # of the write that it tells of, which can be undone
    turn_id: int | None = None
    brief: tuple[str, str, str] = ("", "", "")  # of a narrow line: the middle is cut, what is around it never


class NoticeLine(TwoSidedLine):
    """Shows one notice; the others queue behind it."""

    DEFAULT_CSS = "NoticeLine { display: none; padding: 0 1; color: $text-primary; }"
    RIGHT_STYLE = "not bold"  # dim, its colour could hardly be read

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

    @property
    def receipts(self) -> set[int]:
        """Of the writes whose undo is offered, now or later."""
        return {notice.receipt_id for notice in self._queue if notice.receipt_id is not None}

    def withdraw(self, receipt_ids: Collection[int]) -> None:
        """Takes away the notices of writes that were taken back, wherever that was done."""
        shown = self.current
        self._queue = [notice for notice in self._queue if notice.receipt_id not in receipt_ids]
        if self.current is not shown:
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

    def on_resize(self) -> None:
        """As long as there is room."""
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
            right = place + " · ".join(shown)
            self.say(_fitted(notice, self.app.size.width - _EDGES - cell_len(right)), right)


def _fitted(notice: Notice, room: int) -> str:
    """Its words in so many columns: where they do not fit, with the quoted text cut, never the way back."""
    head, quoted, tail = notice.brief
    if cell_len(notice.words) <= room or not tail:
        return notice.words
    left = max(1, room - cell_len(head) - cell_len(tail))
    return f"{head}{Content(quoted).truncate(left, ellipsis=True).plain}{tail}"
