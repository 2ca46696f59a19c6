"""Which bracketed numbers of a reply are copied from its sources: their own references, no citations.

source: "... inhibits the uptake of iron [31]."      reply: "It inhibits the uptake of iron [31] [2]."

A number is copied where the words before it stand before the same number in a source, in whatever case and
with whatever marks between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

_WORD = re.compile(r"\[[^\[\]\n]{1,40}\]|\w+")  # a bracketed reference is one word
_LOOKED_BACK = 400  # characters of a reply before a number: the words in them are compared


class CopiedNumbers:
    """The reference numbers in the texts of sources."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._given = texts

    @cached_property
    def _texts(self) -> list[str]:
        return [_spaced(_words(text)) for text in self._given if "[" in text]

    def has(self, before: str, number: str, *, words: int) -> bool:
        """Whether a number is copied. before: the reply up to it. number: as it stands, like "[31]".

        words: how many words before it have to be the same, at least; fewer at the beginning of a quotation.
        """
        if not self._texts:
            return False
        quoted = _since_quotation(before)
        known = _words((before if quoted is None else quoted)[-_LOOKED_BACK:])[-words:] if words else []
        if len(known) < words and not (quoted is not None and known):
            return False
        return any(_spaced([*known, number]) in text for text in self._texts)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _since_quotation(text: str) -> str | None:
    """What stands behind the last quotation mark that is still open; None where none is."""
    opened = text.rfind("“")
    if opened > text.rfind("”"):
        return text[opened + 1 :]
    return text[text.rfind('"') + 1 :] if text.count('"') % 2 else None
