"""What one text must not change when it repeats another: names, numbers and negations."""

from __future__ import annotations

import re

_I = re.IGNORECASE
_NAME_WORD = re.compile(r"(?<![\w'])[A-Z][\w']*(?:[.-]\w+)*")
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|hardly)\b|n't\b", _I
)


def is_negated(text: str) -> bool:
    """Whether it says that something is not so."""
    return _NEGATION.search(text) is not None


def names_and_numbers(text: str, *, opening: bool = False) -> set[str]:
    """Capitalised words and numbers, folded. The first word, capital anyway, counts with `opening`."""
    names = [m for m in _NAME_WORD.finditer(text) if m[0] not in {"I", "I'm", "I've", "I'd", "I'll"}]
    named = {_folded(m[0]) for m in names if opening or m.start() > 0}
    return named | {number.replace(",", "") for number in _NUMBER.findall(text)}


def _folded(name: str) -> str:
    return name.casefold().removesuffix("'s").rstrip("'.")
