"""Text printed at once, with lines broken between words."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable

from rich.cells import cell_len


def write_out(text: str) -> None:
    """Prints at once, so that a reply is seen while it is written."""
    sys.stdout.write(text)
    sys.stdout.flush()


class WordWrap:
    """Prints at once and breaks lines between words, at the width the terminal has then."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._column = 0

    def say(self, text: str) -> None:
        """Prints a piece; a word that comes in two pieces may still be broken between them."""
        width = shutil.get_terminal_size().columns
        shown: list[str] = []
        for part in re.findall(r"\n|[^\S\n]+|\S+", text):
            cells = cell_len(part)
            if part == "\n":
                self._column = 0
            elif part.isspace() and self._column + cells >= width:
                part = "\n"  # a space in the last column would leave an empty line behind it
                self._column = 0
            elif not part.isspace() and self._column > 0 and self._column + cells > width:
                shown.append("\n")
                self._column = 0
            shown.append(part)
            if part != "\n":
                self._column += cells
        self._write("".join(shown))
