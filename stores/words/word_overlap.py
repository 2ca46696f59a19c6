"""The words that are forgotten, looked for in other texts, and the mark that stands in their place there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from stores.words.lexical import tokens

FORGOTTEN = "[forgotten]"  # stands where a text was
_UNSPACED_FROM = "\u2e80"  # scripts from here on put no space between words


class Pieces:
    """Texts that are looked for word for word, whatever their case, spaces and outer punctuation."""

    def __init__(self, texts: Iterable[str]) -> None:
        wanted = {re.sub(r"^\W+|\W+$", "", " ".join(written.split())) for written in texts}
        # one without a word of its own, such as "it is", would be found everywhere; the longest go first
        kept = sorted((piece for piece in wanted if tokens(piece)), key=len, reverse=True)
        self._pieces = [(max(piece.casefold().split(), key=len), _pattern(piece)) for piece in kept]

    def cut(self, written: str) -> str:
        """The text with a mark in place of each."""
        folded = written.casefold()
        for word, pattern in self._pieces:
            if word in folded:
                written = pattern.sub(FORGOTTEN, written)
        return written

    def cut_all(self, value: Any) -> Any:
        """The same for every text within plain values."""
        if isinstance(value, str):
            return self.cut(value)
        if isinstance(value, dict):
            return {key: self.cut_all(each) for key, each in value.items()}
        return [self.cut_all(each) for each in value] if isinstance(value, list) else value


def _pattern(piece: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in piece.split())
    before = r"(?<!\w)" if piece[0] < _UNSPACED_FROM else ""
    behind = r"(?!\w)" if piece[-1] < _UNSPACED_FROM else ""
    return re.compile(before + words + behind, re.IGNORECASE)


def stands_in(words: str, written: str) -> bool:
    """Whether the words stand in it as one piece, whatever the spaces."""
    return " ".join(words.split()) in " ".join(written.split())


def overlap(one: str, other: str) -> bool:
    """Whether one of two texts stands in the other."""
    return stands_in(one, other) or stands_in(other, one)
