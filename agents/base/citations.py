"""Which of its numbered sources a reply cites, read while it is being written.

    pieces -> code and prose -> numbers in the prose that stand for sources -> cited, or marked as invented

In prose `[1]`, `[1, 2]`, `[1-3]` and `[Source 1]` cite. In code spans and fences nothing does: `SIZES[6]`
stays as it was written.
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
_MOST_INVENTED = 99  # a larger number, such as a year, is meant for no source
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_NUMBERS = r"\d{1,4}(?:\s?(?:[,;–-]|and)\s?\d{1,4}){0,9}"
_PART = re.compile(r"(\d+)(?:\s?[–-]\s?(\d+))?")
_INVENTED = re.compile(r" ?\[\d{1,2}\?\]")
_LONGEST_RANGE = 20  # numbers that one citation may stand for
_TOKEN = re.compile(
    rf"(?P<ticks>`+|~{{3,}})|(?P<line>\n)|\[(?:sources?\s)?(?P<cited>{_NUMBERS})\]", re.IGNORECASE
)
_UNFINISHED = re.compile(
    r"(?:\[[\dSOURCEAND ,;–-]{0,48}|[`~]+)$", re.IGNORECASE
)  # may go on in the next piece


class _Code:
    """Where in a text of Markdown code stands, mark by mark."""

    def __init__(self) -> None:
        self._fence = ""  # that is open
        self._span = 0  # ticks that opened a code span; 0: none is open
        self._line = ""  # what stands before, on this line

    @property
    def is_open(self) -> bool:
        return bool(self._fence or self._span)

    def passes(self, text: str) -> None:
        """Text without marks."""
        self._line += text

    def line_ends(self) -> None:
        self._line, self._span = "", 0

    def marks(self, ticks: str) -> None:
        """Backticks, or three tildes and more."""
        begins_line = not self._line.strip() and len(self._line) <= 3
        self._line += ticks
        if self._fence:
            if begins_line and ticks[0] == self._fence[0] and len(ticks) >= len(self._fence):
                self._fence = ""
        elif begins_line and len(ticks) >= 3:
            self._fence = ticks
        elif ticks[0] == "`":
            self._span = {0: len(ticks), len(ticks): 0}.get(self._span, self._span)


def _parts(text: str, code: _Code) -> Iterator[tuple[str, re.Match[str] | None]]:
    """A text piece by piece, each with its match where it is a citation that stands in no code."""
    at = 0
    for token in _TOKEN.finditer(text):
        if before := text[at : token.start()]:
            code.passes(before)
            yield before, None
        at = token.end()
        if token["line"]:
            code.line_ends()
        elif token["ticks"]:
            code.marks(token["ticks"])
        else:
            code.passes(token.group())
        yield token.group(), None if token["line"] or token["ticks"] or code.is_open else token
    if rest := text[at:]:
        code.passes(rest)
        yield rest, None


class Citations:
    """Which of the numbered sources a reply cites, found while it is being written.

    A number that is copied with the words before it is a source's own reference, and cites nothing.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._known = {source.number for source in sources}
        self._shown: dict[int, int] = {}  # of a reply that counts its sources: by number, the one shown
        self._copied = CopiedNumbers([source.passage.text for source in sources])
        self._code = _Code()
        self._written = ""  # of the reply, as its model wrote it
        self._held = ""
        self.cited: list[int] = []  # in the order of their first use
        self.invented: list[int] = []  # numbers that stand for no source
        self.is_generated = False  # the dialogue generator wrote some of it
        self.command = ""  # of the chat, that it offers first

    def feed(self, piece: str) -> str:
        """What can be shown of the reply so far; an invented [9] is shown as [9?]."""
        clean = _CONTROL.sub("", piece.replace("\r\n", "\n"))
        if isinstance(piece, CitingText):
            self.is_generated |= piece.is_generated
            self.command = self.command or piece.command
            for number in piece.cites:
                self._cite(number)
            return self.rest() + (self._counted(clean, piece.cites) if piece.counts else clean)
        written = self._held + clean
        unfinished = _UNFINISHED.search(written)
        cut = unfinished.start() if unfinished else len(written)
        self._held = written[cut:]
        return self._read(written[:cut])

    def begin_anew(self) -> None:
        """What came so far was no answer."""
        self._code, self._written, self._held, self._shown = _Code(), "", "", {}
        self.cited.clear()
        self.invented.clear()

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

    def rest(self) -> str:
        """What was held back, once the reply has ended."""
        held, self._held = self._held, ""
        return held

    def _read(self, text: str) -> str:
        shown = []
        for piece, citation in _parts(text, self._code):
            shown.append(self._checked(citation) if citation else piece)
            self._written += piece
        return "".join(shown)

    def _checked(self, citation: re.Match[str]) -> str:
        whole, numbers = citation.group(), _numbers(citation["cited"])
        unknown = [number for number in numbers if number not in self._known]
        if self._copied.has(self._written, whole, words=1 if unknown else _COPIED_WORDS):
            return whole
        is_index = self._written[-1:].isalnum() or self._written.endswith(("_", ")"))
        if unknown and (is_index or max(unknown) > _MOST_INVENTED):
            return whole
        for number in numbers:
            if number in self._known:
                self._cite(number)
        self.invented += unknown
        return re.sub(r"\d+", lambda one: f"{one[0]}?" if int(one[0]) in unknown else one[0], whole)

    def _cite(self, number: int) -> None:
        if number not in self.cited:
            self.cited.append(number)


def _numbers(cited: str) -> list[int]:
    """The numbers of one citation: "1-3, 5" is four."""
    found: list[int] = []
    for part in _PART.finditer(cited):
        first, last = int(part[1]), int(part[2] or part[1])
        is_range = first <= last < first + _LONGEST_RANGE
        found += range(first, last + 1) if is_range else (first, last)
    return found


def without_citations(answer: str) -> str:
    """An earlier answer as a model sees it again: its numbers stood for other sources."""
    kept = [""]
    for piece, citation in _parts(_INVENTED.sub("", answer), _Code()):
        kept[-1] = kept[-1].rstrip(" ") if citation else kept[-1]
        kept.append("" if citation else piece)
    return "".join(kept)


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
