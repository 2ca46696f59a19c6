"""Keeps what a model thinks before it answers apart from its answer, while both are being written.

    "<think>Peru ...</think>Lima." -> Thought("Peru ..."), "Lima."

Servers that part the two themselves send thoughts as `reasoning_content`; others leave the marks in the
text, and some only the closing one, since the opening one stands in the prompt.
"""

from __future__ import annotations

import re

from agents.base.chat_interfaces import Thought

_OPENING = ("<think>", "<thinking>")
_CLOSING = ("</think>", "</thinking>")
_BLOCK = re.compile(r"\A(?:.*</think(?:ing)?>|\s*<think(?:ing)?>.*\Z)", re.DOTALL)


class ThinkMarks:
    """Parts one reply."""

    def __init__(self) -> None:
        self._held = ""  # what may be part of a mark
        self._thinks = False
        self._may_open = True  # nothing but blanks came
        self._may_close = True  # no closing mark came
        self._is_blank = False  # only blanks came since

    def feed(self, text: str) -> list[str | Thought]:
        """What is certain of the reply so far, in order."""
        self._held += text
        found: list[str | Thought] = []
        if self._may_open:
            begun = self._held.lstrip()
            opening = next((mark for mark in _OPENING if begun.startswith(mark)), "")
            if not opening and any(mark.startswith(begun) for mark in _OPENING):
                return []
            self._may_open = False
            if opening:
                self._thinks, self._held = True, begun.removeprefix(opening)
        if self._may_close:
            closing = next((mark for mark in _CLOSING if mark in self._held), "")
            if closing:
                thought, _, self._held = self._held.partition(closing)
                found.append(Thought(thought, is_all=not self._thinks))
                self._thinks = self._may_close = False
                self._is_blank = True
        if self._is_blank:
            self._held = self._held.lstrip()
            self._is_blank = not self._held
        certain = len(self._held) - (_begun_mark(self._held) if self._may_close else 0)
        if piece := self._held[:certain]:
            found.append(Thought(piece) if self._thinks else piece)
        self._held = self._held[certain:]
        return found

    def rest(self) -> list[str | Thought]:
        """What was held back, once the reply has ended."""
        held, self._held = self._held, ""
        return [Thought(held) if self._thinks else held] if held else []


def _begun_mark(text: str) -> int:
    """How many characters at the end may begin a closing mark."""
    longest = max(map(len, _CLOSING)) - 1
    return next(
        (n for n in range(min(longest, len(text)), 0, -1) if any(m.startswith(text[-n:]) for m in _CLOSING)),
        0,
    )


def without_thoughts(reply: str) -> str:
    """A whole reply without what was thought before it."""
    return _BLOCK.sub("", reply).lstrip()
