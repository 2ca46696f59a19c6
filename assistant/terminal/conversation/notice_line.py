"""The line above the prompt: what was just learned, with the way back. It never takes the focus."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from rich.cells import cell_len
from textual.content import Content

from assistant.terminal.widgets.two_sided_line import WrappedLine, broken
from stores.base.clock import local, now

STAYS_SECONDS = 10.0  # at least
_NARROW = 60  # columns under which one way on is told
_EDGES = 3  # columns: padding, and one between the two sides
_KEPT = 200  # sentences


@dataclass(frozen=True)
class Notice:
    """One thing that is told."""

    words: str
    receipt_id: int | None = None  # of the write that it tells of, which can be undone
    turn_id: int | None = None
    brief: tuple[str, str, str] = ("", "", "")  # of a narrow line: the middle is cut, what is around it never

    @property
    def undoes(self) -> str:
        """What its undo takes back, in a few words; empty without one."""
        return (self.brief[1] or self.words) if self.receipt_id is not None else ""


@dataclass
class _Queued:
    """A notice that is shown or waits."""

    notice: Notice
    is_spent: bool = False  # the person has gone on since: it goes as soon as it has stayed long enough


class NoticeLine(WrappedLine):
    """Shows the newest notice, then those that wait behind it. All that was told can be read whole."""

    DEFAULT_CSS = "NoticeLine { display: none; padding: 0 1; color: $text-primary; }"
    RIGHT_STYLE = "not bold"  # dim, its colour could hardly be read

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._queue: list[_Queued] = []  # the newest first: it is shown, the others wait
        self._history: deque[tuple[datetime, str]] = deque(maxlen=_KEPT)
        self._told = 0  # of those that are counted, how many were done with
        self._since = 0.0
        self._gives_way = False

    @property
    def has_several_rows(self) -> bool:
        """Not while a question is open above the conversation."""
        return super().has_several_rows and not self._gives_way

    def give_way(self, gives_way: bool) -> None:
        """Takes one row, as while a question is open, or again as many as it needs."""
        if gives_way != self._gives_way:
            self._gives_way = gives_way
            self._show()
            self.refresh(layout=True)

    @property
    def current(self) -> Notice | None:
        """The notice that is shown."""
        return self._queue[0].notice if self._queue else None

    def put(self, notice: Notice) -> None:
        """Shows a notice; the one that was shown waits behind it. The count begins anew with it."""
        self._queue.insert(0, _Queued(notice))
        self.note(notice.words)
        self._told = 0
        self._begin()
        self._show()

    def note(self, words: str) -> None:
        """Keeps a sentence that was told, here or elsewhere; the same one again is told once."""
        if not self._history or self._history[-1][1] != words:
            self._history.append((now(), words))

    @property
    def history(self) -> str:
        """All that was told, the newest first, each with its time."""
        return "\n\n".join(f"{local(at):%H:%M:%S}  {words}" for at, words in reversed(self._history))

    @property
    def receipts(self) -> set[int]:
        """Of the writes whose undo is offered, now or later."""
        return {it.notice.receipt_id for it in self._queue if it.notice.receipt_id is not None}

    def done_with(self, receipt_id: int) -> None:
        """Takes a notice away that was acted on, whether or not it is still the one that is shown."""
        if self.current is not None and self.current.receipt_id == receipt_id:
            self.done()
        else:
            self.withdraw([receipt_id])

    def withdraw(self, receipt_ids: Collection[int]) -> None:
        """Takes away the notices of writes that were taken back, wherever that was done."""
        shown = self.current
        self._queue = [it for it in self._queue if it.notice.receipt_id not in receipt_ids]
        if self.current is not shown:
            self._begin()
        self._show()

    def message_sent(self) -> None:
        """The person has gone on: the notice goes, once it has stayed long enough; so does what waits."""
        for each in self._queue:
            each.is_spent = True
        self.look()

    def look(self) -> None:
        """Takes away what has stayed long enough; asked now and then."""
        if self._queue and self._queue[0].is_spent and self.clock() - self._since >= STAYS_SECONDS:
            self.done()

    def done(self) -> None:
        """Takes the shown notice away, as after it was undone; the next one follows."""
        if self._queue:
            self._queue.pop(0)
            self._told += 1
            self._begin()
        self._show()

    def on_resize(self) -> None:
        self._show()

    def _begin(self) -> None:
        self._since = self.clock()
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
            self.say(self._fitted(notice, self.app.size.width - _EDGES, right), right)

    def _fitted(self, notice: Notice, width: int, right: str) -> str:
        """Its words in such rows: where they do not fit, with the quoted text cut, never the way back."""
        head, quoted, tail = notice.brief
        rows = self.MOST_ROWS if self.has_several_rows else 1
        room = width - cell_len(right)
        if cell_len(notice.words) <= room or not tail or len(broken(notice.words, width)) < rows:
            return notice.words
        left = max(1, room - cell_len(head) - cell_len(tail))
        return f"{head}{Content(quoted).truncate(left, ellipsis=True).plain}{tail}"
