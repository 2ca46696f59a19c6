"""Where a long answer can be divided while it is written, each part reading as it would in the whole."""

from __future__ import annotations

import re

_PLAIN_LINE = re.compile(r"[^\W_]|[“\"'(*`\[]|#{1,6} ")
_LIST_ITEM = re.compile(r"[*+-] |\d{1,9}[.)] ")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def cut_behind_blocks(text: str, least: int) -> int | None:
    """The first place from `least` characters on, where a blank line ends one block and a new one begins.

    No place within a fence, and none before a line that may go on with a list, a quote or a table. None
    where there is no such place yet.
    """
    if len(text) <= least:
        return None
    position, fence, was_blank = 0, "", False
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            return None  # it may go on
        starts_anew = was_blank and not fence and _PLAIN_LINE.match(line) and not _LIST_ITEM.match(line)
        if starts_anew and position >= least:
            return position
        fence = _fence_behind(line, fence)
        was_blank = not line.strip()
        position += len(line)
    return None


def _fence_behind(line: str, fence: str) -> str:
    """The fence that is open behind a line; empty when there is none."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    marks, rest = found.groups()
    if not fence:
        return "" if marks[0] == "`" and "`" in rest else marks
    return "" if marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip() else fence
