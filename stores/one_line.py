"""Text from outside, fit for one line of a terminal."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text without breaks, and without what a terminal would obey."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else "" for c in text).split())


def short(text: str, width: int = 72) -> str:
    """One line of at most `width` characters; a longer one ends in …."""
    line = one_line(text)
    return line if len(line) <= width else line[: width - 1] + "…"
