"""Which of its numbered sources a reply cites. The reply itself stays as its model wrote it.

    reply -> what is prose: no code, no maths, no address -> numbers in it that stand for sources

In prose `[1]`, `[1, 2]`, `[1-3]` and `[Source 1]` cite. `SIZES[6]`, `$x_{[1]}$` and `![1](a.png)` do not, nor
does a list of numbers none of which is a source's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from agents.base.chat_interfaces import CitingText, Source

_WORD = re.compile(r"\[[^\[\]\n]{1,40}\]|\w+")  # a bracketed reference is one word
_LOOKED_BACK = 400  # characters of a reply before a number: the words in them are compared
_COPIED_WORDS = 4  # before the number of a source, that make it a copied one; fewer are the same by chance
_LARGEST = 999  # number of a source
_MOST_INVENTED = 99  # a larger number, such as a year, is meant for no source
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_NUMBERS = r"\d{1,4}(?:\s?(?:[,;–-]|and)\s?\d{1,4}){0,9}"
_PART = re.compile(r"(\d+)(?:\s?[–-]\s?(\d+))?")
_INVENTED = re.compile(r" ?\[\d{1,2}\?\]")  # how such a number was once marked in the answers that are kept
_LONGEST_RANGE = 20  # numbers that one citation may stand for
_CITATION = re.compile(rf"\[(?P<is_named>sources?\s)?(?P<cited>{_NUMBERS})\](?!\()", re.IGNORECASE)
_NO_PROSE = re.compile(
    r"(?:^|(?<=\n)) {0,3}(?P<fence>`{3,9}|~{3,9}).*?(?:\n {0,3}(?P=fence)[`~]*(?=\s|$)|\Z)"
    r"|(?<!`)(?P<ticks>`{1,3})(?!`)[^\n]{0,500}?(?<!`)(?P=ticks)(?!`)"
    r"|\$\$.{0,1000}?\$\$|\\\[.{0,1000}?\\\]|\\\(.{0,500}?\\\)"  # bounded: a reply may open without end
    r"|\$(?=\S)[^$\n]{0,300}?(?<=\S)\$(?!\d)"
    r"|!?\[[^\[\]\n]{0,300}\]\([^()\s]{0,500}\)",
    re.DOTALL,
)


def _prose(text: str) -> str:
    """The text with blanks for what is code, maths or an address: each sign keeps its place."""
    return _NO_PROSE.sub(lambda found: " " * len(found.group()), text)


def _citations(text: str) -> Iterator[re.Match[str]]:
    """What may cite, in the order of the text."""
    return _CITATION.finditer(_prose(text))


class Citations:
    """Which of the numbered sources a reply cites; it is read when that is asked.

    A number that is copied with the words before it is a source's own reference, and cites nothing.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        """sources: all that the model saw, also those of earlier messages."""
        self._sources = tuple(sources)
        self._known = {source.number for source in sources}
        self._shown: dict[int, int] = {}  # of a reply that counts its sources: by number, the one shown
        self._copied = CopiedNumbers([source.passage.text for source in sources])
        self._written = ""  # of the reply, by a model that does not say itself what it cites
        self._named: list[int] = []  # what a model that quotes says it cites
        self._read: tuple[str, list[int], list[int]] = ("", [], [])  # what was read, and what it cites
        self.is_generated = False  # the dialogue generator wrote some of it
        self.command = ""  # of the chat, that it offers first

    def feed(self, piece: str) -> str:
        """The piece as it is shown and kept: without what would steer a terminal."""
        clean = _CONTROL.sub("", piece.replace("\r\n", "\n"))
        if not isinstance(piece, CitingText):
            self._written += clean
            return clean
        self.is_generated |= piece.is_generated
        self.command = self.command or piece.command
        self._named += piece.cites
        return self._counted(clean, piece.cites) if piece.counts else clean

    def begin_anew(self) -> None:
        """What came so far was no answer."""
        self._written, self._shown, self._named = "", {}, []

    @property
    def cited(self) -> list[int]:
        """Numbers of sources, in the order of their first use."""
        return list(dict.fromkeys([*self._named, *self._found()[0]]))

    @property
    def invented(self) -> list[int]:
        """Numbers that stand for no source, as often as they were given; none where no source was sent."""
        return self._found()[1]

    @property
    def numbered(self) -> tuple[Source, ...]:
        """The sources as the reply numbers them; where it counts them, the cited ones first."""
        if not self._shown:
            return self._sources
        order = sorted(self._sources, key=lambda s: self._shown.get(s.number, len(self._shown) + s.number))
        return tuple(replace(source, number=number) for number, source in enumerate(order, start=1))

    @property
    def cited_as_shown(self) -> list[int]:
        """What is cited, under the numbers that the reply gives."""
        return [self._shown.get(number, number) for number in self.cited]

    def _counted(self, text: str, cites: Sequence[int]) -> str:
        """A text that ends with the number of a source, which is shown by the order of first citations."""
        for number in cites:
            shown = self._shown.setdefault(number, len(self._shown) + 1)
            text = f"{text.removesuffix(f'[{number}]')}[{shown}]"
        return text

    def _found(self) -> tuple[list[int], list[int]]:
        """What is cited and what was invented, of all that was written so far."""
        text, cited, invented = self._read
        if text != self._written:
            cited, invented = [], []
            for citation in _citations(self._written):
                numbers, unknown = self._checked(citation)
                cited += numbers
                invented += unknown
            self._read = (self._written, cited, invented)
        return cited, invented

    def _checked(self, citation: re.Match[str]) -> tuple[list[int], list[int]]:
        """The numbers of one that stand for sources, and those that stand for none."""
        before = self._written[max(0, citation.start() - _LOOKED_BACK) : citation.start()]
        numbers = _numbers(citation["cited"])
        known = [number for number in numbers if number in self._known]
        unknown = [number for number in numbers if number not in self._known]
        if before.rstrip().endswith("=") or self._is_copied(before, citation.group(), bool(unknown)):
            return [], []
        is_index = before[-1:].isalnum() or before.endswith(("_", ")"))
        is_list = len(numbers) > 1 and not known and not citation["is_named"]
        if unknown and (is_index or is_list or max(unknown) > _MOST_INVENTED or not self._known):
            return [], []
        return known, unknown

    def _is_copied(self, before: str, number: str, has_unknown: bool) -> bool:
        return self._copied.has(before, number, words=1 if has_unknown else _COPIED_WORDS)


def _numbers(cited: str) -> list[int]:
    """The numbers of one citation: "1-3, 5" is four."""
    found: list[int] = []
    for part in _PART.finditer(cited):
        first, last = int(part[1]), int(part[2] or part[1])
        is_range = first <= last < first + _LONGEST_RANGE
        found += range(first, last + 1) if is_range else (first, last)
    return found


def numbers_in(answer: str) -> list[int]:
    """The numbers by which an answer may cite; larger ones, such as years, are none."""
    found = (number for citation in _citations(answer) for number in _numbers(citation["cited"]))
    return [number for number in found if number <= _LARGEST]


def without_citations(answer: str) -> str:
    """An answer without its numbers, for who reads its words alone."""
    text = _INVENTED.sub("", answer)
    kept, at = "", 0
    for citation in _citations(text):
        kept += text[at : citation.start()].rstrip(" ")
        at = citation.end()
    return kept + text[at:]


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
