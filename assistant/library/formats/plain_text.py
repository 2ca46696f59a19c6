"""Plain text, as everything that is read becomes: without what only gets in the way, and in sections."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agents.base.sentences import breaks_between, is_list_item


@dataclass(frozen=True)
class Section:
    """Text under one heading."""

    path: tuple[str, ...]  # the headings above it, from the outermost
    text: str
    is_entry: bool = False  # of a manual: a passage of its own, however short


_BETWEEN_PARAGRAPHS = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)*")
_INDENTED = 2  # more than the term above it
_LONGEST_TERM = 100  # characters
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\ud800-\udfff\ufeff]")
# Sorting a long run of combining marks, which NFC does, takes time that grows with its square.
_MARK = "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_TOO_MANY_MARKS = re.compile(rf"({_MARK}{{30}}){_MARK}+")


def plain(text: str) -> str:
    r"""The text without control characters, other than \n and \t, and in Unicode's composed form (NFC).

    Invisible characters that only get in the way of finding a word (soft hyphens, zero-width spaces)
    and halves of surrogate pairs go too.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
    return text if text.isascii() else unicodedata.normalize("NFC", _TOO_MANY_MARKS.sub(r"\1", text))


def plain_line(text: str) -> str:
    """The text, plain, with every run of white space as one space."""
    return " ".join(plain(text).split())


def unwrapped(text: str) -> str:
    """The text, plain, each paragraph on one line; an empty line stands between paragraphs.

    Lines that seem to have been ended on purpose, such as list items, stay lines of their own. An option or
    term above its indented text becomes a paragraph of two lines.
    """
    paragraphs = _BETWEEN_PARAGRAPHS.split(plain(text).strip("\n"))
    return "\n\n".join(filter(None, map(_unwrapped_paragraph, paragraphs)))


def entries(lines: Sequence[str]) -> list[tuple[str, str]]:
    """The terms of a paragraph, each with the text indented below it; empty where it is no such list."""
    lines = [line.expandtabs() for line in lines]
    indents = [len(line) - len(line.lstrip()) for line in lines]
    if len(lines) < 2 or min(indents) < indents[0] or indents[1] < indents[0] + _INDENTED:
        return []
    found: list[tuple[str, list[str]]] = []
    for line, indent in zip(lines, indents, strict=True):
        if indent < indents[0] + _INDENTED:
            found.append((" ".join(line.split()), []))
        else:
            found[-1][1].append(" ".join(line.split()))
    if not all(body and len(term) <= _LONGEST_TERM and not is_list_item(term) for term, body in found):
        return []
    return [(term, _joined(body)) for term, body in found]


def _unwrapped_paragraph(paragraph: str) -> str:
    lines = [line for line in paragraph.split("\n") if line.strip()]
    if found := entries(lines):
        return "\n\n".join(f"{term}\n{body}" for term, body in found)
    return _joined([" ".join(line.split()) for line in lines])


def _joined(lines: Sequence[str]) -> str:
    pieces: list[str] = []
    for before, line in pairwise(["", *lines]):
        pieces += [("\n" if breaks_between(before, line) else " ") if pieces else "", line]
    return "".join(pieces)
