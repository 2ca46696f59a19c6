"""What is painted where NO_COLOR is set: no colour at all, not even greys.

What only a colour would tell is reversed: `REVERSED`, and `MarkedList`. Of a list's rows the library
drops that, so those of the palette are underlined.
"""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

REVERSED = """
    CommandList:nocolor > .option-list--option-highlighted { text-style: bold underline; }
    Input:nocolor > .input--selection, TextArea:nocolor .text-area--selection { text-style: reverse; }
    Input:nocolor > .input--cursor, TextArea:nocolor .text-area--cursor { text-style: reverse; }
    Screen:nocolor > .screen--selection { text-style: reverse; }
"""


class WithoutColour(LineFilter):
    """Takes the colours out of what is painted; bold, dim, reverse, links and what a click does stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in the terminal's own two colours."""
        return [
            Segment(text, None if style is None else _bare(style), control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _bare(style: Style) -> Style:
    bare = style.without_color
    return bare + Style.from_meta(style.meta) if style.meta else bare
