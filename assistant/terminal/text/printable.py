"""Text from outside, fit for a screen: nothing in it steers the terminal."""

from __future__ import annotations

import re
from pathlib import Path

from stores.base.one_line import without_controls

_TAB = " " * 4
_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>&=:])")  # what Markdown may take for something else


def printable(text: str) -> str:
    """The text with its lines, and without what a terminal would obey."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", _TAB).split("\n")
    return "\n".join(map(without_controls, lines))


def as_markdown(reply: str, *, is_quoted: bool = False) -> str:
    """A reply, or a piece of one, as it is shown.

    is_quoted: it holds the words of passages as they stand, so that "214. You said" begins no list.
    """
    if is_quoted:
        return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", printable(reply))
    return printable(reply)


def from_home(path: str) -> str:
    """A path as its owner knows it."""
    file, home = Path(path), Path.home()
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else path
