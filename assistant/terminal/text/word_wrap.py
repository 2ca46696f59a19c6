"""Text printed as it comes, with lines broken between words where it is read at a terminal."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence

from rich.cells import cell_len

_GOES_ON = 12  # cells: about the longest end of a word that comes in a piece of its own


def write_out(text: str) -> None:
    """Prints at once, so that a reply is seen while it is written."""
    sys.stdout.write(text)
    sys.stdout.flush()


def printer() -> Callable[[str], None]:
    """Prints, and breaks lines between words at a terminal; through a pipe lines are what they are."""
    return WordWrap(write_out).say if sys.stdout.isatty() else write_out


class WordWrap:
    """Prints what comes and breaks lines between words, at the width in cells that the terminal has then."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._column = 0
        self._held = ""  # the beginning of a word, near the end of the row

    def say(self, text: str) -> None:
        """Prints a piece. A word at its end that may go on past the row waits for the next piece."""
        width = shutil.get_terminal_size().columns
        parts = re.findall(r"\n|[^\S\n]+|\S+", self._held + text)
        self._held = ""
        if parts and self._may_go_on(parts[:-1], parts[-1], width):
            self._held = parts.pop()
        self._write("".join(self._placed(part, width) for part in parts))

    def _may_go_on(self, before: Sequence[str], last: str, width: int) -> bool:
        """Whether the last word may need the next row, as far as what stands before it tells."""
        row = "".join(before).rpartition("\n")
        column = cell_len(row[2]) + (0 if row[1] else self._column)
        return not last.isspace() and column > 0 and column % width + cell_len(last) + _GOES_ON > width

    def _placed(self, part: str, width: int) -> str:
        """A word, a space or the end of a line, as it is printed behind what was."""
        cells = cell_len(part)
        if part == "\n" or (part.isspace() and self._column + cells >= width):
            self._column = 0
            return "\n"  # a space in the last column would leave an empty line behind it
        breaks = not part.isspace() and self._column > 0 and self._column + cells > width
        self._column = cells if breaks else self._column + cells
        if self._column > width:  # the terminal has broken a word that no row holds
            self._column = (self._column - 1) % width + 1
        return f"\n{part}" if breaks else part
