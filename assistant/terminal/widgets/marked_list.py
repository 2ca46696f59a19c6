"""A list whose marked row can be found without colour: it begins with a sign."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widgets import OptionList

MARK = ">"  # one column, before each row; the first row of what takes several
_REVERSED = Style(reverse=True)


class MarkedList(OptionList):
    """The library's list, with a column for the mark."""

    def _get_left_gutter_width(self) -> int:
        """Columns that a row leaves free; the library asks for it."""
        return len(MARK)

    def render_line(self, y: int) -> Strip:
        """A row with its mark; without colour, the marked one is reversed too."""
        row, strip = self.scroll_offset.y + y, super().render_line(y)
        if row >= len(self._lines):
            return strip
        option, of_option = self._lines[row]
        is_marked = option == self.highlighted
        style = next((segment.style for segment in strip), None)
        sign = MARK if is_marked and of_option == 0 else " "
        strip = Strip([Segment(sign, style), *strip], strip.cell_length + len(MARK))
        return strip.apply_style(_REVERSED) if is_marked and self.app.no_color else strip
