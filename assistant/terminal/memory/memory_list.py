"""The rows of memories as columns that fit the width."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import set_cell_size
from textual.content import Content
from textual.message import Message
from textual.widgets.option_list import Option

from assistant.terminal.facts.memory_page import MemoryRow
from assistant.terminal.widgets.marked_list import MarkedList

_NARROW = 60  # columns under which only number and text are told
_NAME, _KIND, _ORIGIN, _USED = 8, 12, 12, 5
_TEXT_AT_MOST = 90  # columns: the eye finds the rest of the row behind a short text
_EDGES = 3  # columns beside the rows: padding and scroll bar
_NEAR = 20  # rows from the end at which more are fetched


class MemoryList(MarkedList):
    """The rows; more of them are wanted when somebody comes near the end."""

    DEFAULT_CSS = """
    MemoryList { height: 1fr; border: none; padding: 0 1 0 0; background: transparent; }
    MemoryList { text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1; }
    MemoryList:focus { border: none; background-tint: $foreground 0%; }
    """

    class WantsMore(Message):
        """The end is near."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolled, by a key or the wheel."""
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value and self.max_scroll_y - new_value < _NEAR:
            self.post_message(self.WantsMore())

    def fill(self, rows: Sequence[MemoryRow], marked: int) -> None:
        """Shows these rows instead, with this one marked."""
        self.clear_options()
        self.append(rows)
        self.highlighted = min(marked, len(rows) - 1) if rows else None

    def append(self, rows: Sequence[MemoryRow]) -> None:
        """Shows these too."""
        width = self.app.size.width - _EDGES
        self.add_options([Option(row_line(row, width)) for row in rows])


def column_line(width: int) -> str:
    """The names of the columns, for a screen of this width."""
    return _line(" id", "kind", "text", "from", "used", width - _EDGES)


def row_line(row: MemoryRow, width: int) -> Content:
    """One row in `width` columns."""
    mark = "?" if row.is_waiting else ""
    return Content(_line(f"{row.name:>5} {mark}", row.kind, row.text, row.origin, f"{row.used:>4}", width))


def _line(name: str, kind: str, text: str, origin: str, used: str, width: int) -> str:
    if width + _EDGES < _NARROW:
        return set_cell_size(name, _NAME) + _cut(text, width - _NAME)
    room = min(_TEXT_AT_MOST, max(10, width - _NAME - _KIND - _ORIGIN - _USED))
    return "".join(
        (
            set_cell_size(name, _NAME),
            set_cell_size(kind, _KIND),
            _cut(text, room - 2) + "  ",
            _cut(origin, _ORIGIN - 1) + " ",
            set_cell_size(used, _USED),
        )
    )


def _cut(text: str, width: int) -> str:
    """The text in just so many columns; a longer one ends in …."""
    whole = Content(text)
    return set_cell_size(
        text if whole.cell_length <= width else whole.truncate(width, ellipsis=True).plain, width
    )
