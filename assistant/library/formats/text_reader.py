"""The reader of plain text, in whatever encoding, and of manuals as `man` and `--help` print them.

text -> lines -> blocks: paragraphs, and heads with all that is indented below them -> sections

An entry of a manual is an option or a term with what it does, below it or beside it in a second column. A
head above entries, or one that is not indented, is a heading. Only how lines are indented tells so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.base.sentences import is_list_item
from assistant.library.formats.outlines import NOT_TEXT, Reading
from assistant.library.formats.plain_text import Section, plain, unwrapped
from stores.base.errors import UnreadableDocument

_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32-le",  # before UTF-16, whose mark it begins with
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}

_CONTROL_BYTES = bytes({*range(32), 127} - {*b"\t\n\f\r"})

_HIGH_BYTES = bytes(range(128, 256))

_LEAST_OPTIONS, _LEAST_TERMS = 3, 5  # below headings: either makes a text a manual
_LEAST_INDENT = 2  # of what stands below a head, more than the head
_BESIDE_SHORT = 4  # characters of "-a, ", below which a long option without a short one is written
_ENTRY_WORDS = 120  # of an entry's part: a longer one is told in parts, each below its term
_MOST_ALIASES = 6  # options with one text below them all
_DEEPEST = 8  # heads within heads
_LONGEST_HEADING = 80  # characters
_OPTION = re.compile(r"\s*-{1,2}[^\W_]")
_SHORT_AND_LONG = re.compile(r"(\s*)-\w, --\w")
_NEIGHBOURS = 6  # lines looked through for one with the same columns
_LONGEST_TERM = 40  # characters, of a term that is no option, with its text beside it
_IN_COLUMNS = re.compile(r"(\s*\S(?:.*?\S)?) {2,}(\S.*)")
_IN_A_LINE = re.compile(r"(\s*(?:-\S+ )+(?:<[^>]+>\S* )?)(?=[A-Z][a-z])(.+)")  # --help Print this text
_WIDE_GAP = re.compile(r"\S {3,}\S")
_HYPHENATED = re.compile(r"(?<=\w)\u2010\n\s*(?=\w)")  # by man, at the end of a line


def text_sections(text: str) -> list[Section]:
    """The sections of a plain text: those of a manual, where it is laid out as one, else the text as one."""
    return manual_sections(text) or [Section((), unwrapped(text))]


def decoded(data: bytes, source: str, declared: str = "") -> str:
    """Bytes as text: by byte order mark, as declared, as UTF-8, or else as the old Western encoding.

    The last is only believed where few bytes are accented letters and next to none control characters.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise UnreadableDocument(source, NOT_TEXT) from None
    if b"\0" in data:
        raise UnreadableDocument(source, NOT_TEXT)
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    controls = len(data) - len(data.translate(None, _CONTROL_BYTES))
    if controls > len(data) // 100:
        raise UnreadableDocument(source, NOT_TEXT)
    accented = len(data) - len(data.translate(None, _HIGH_BYTES))
    if accented > len(data) * 0.3:
        raise UnreadableDocument(source, "is in an unknown encoding; save it as UTF-8")
    return data.decode("cp1252", errors="replace")


def read_text(data: bytes, source: str) -> Reading:
    """Text: one section without a heading, or the entries of a manual under their headings."""
    return Reading(text_sections(decoded(data, source)))


@dataclass(frozen=True)
class _Line:
    indent: int
    text: str  # without the spaces around it; empty for an empty line
    beside: str = ""  # what stands in a second column
    begins: bool = False  # an entry

    @property
    def is_option(self) -> bool:
        return _OPTION.match(self.text) is not None


@dataclass(frozen=True)
class _Block:
    """A paragraph, or a head with all that is indented below it."""

    head: list[_Line]
    below: list[_Line]

    @property
    def is_entry(self) -> bool:
        return self.head[0].begins

    @property
    def term(self) -> str:
        told = [" ".join(line.text.split()) for line in self.head]
        return (", " if len(told) > 1 and self.head[0].is_option else " ").join(told)


def manual_sections(text: str, *, by_terms: bool = True) -> list[Section]:
    """The sections of a manual; empty for a text that is not laid out as one.

    by_terms: terms that are no options make a manual as well.
    """
    raw = [line.rstrip().expandtabs() for line in _HYPHENATED.sub("", plain(text)).split("\n")]
    found = list(_sections(_lines(raw), ()))
    entries = [section for section in found if section.is_entry]
    options = [section for section in entries if _OPTION.match(section.text) and "\n" in section.text]
    terms = [section for section in entries if section.path and by_terms]
    return found if len(options) >= _LEAST_OPTIONS or len(terms) >= _LEAST_TERMS else []


def _lines(raw: Sequence[str]) -> list[_Line]:
    """The lines; a long option stands below a short one, whether it has a short form itself or not."""
    shorts = {len(found[1]) for line in raw if (found := _SHORT_AND_LONG.match(line))}
    lines: list[_Line] = []
    for at, line in enumerate(raw):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        before = raw[at - 1] if at else ""
        goes_on = bool(before) and _indent(before) == indent and not _OPTION.match(before)
        is_option = _OPTION.match(line) is not None and not goes_on
        columns = _IN_COLUMNS.fullmatch(line) or (_IN_A_LINE.fullmatch(line) if is_option else None)
        if is_option and text.startswith("--") and indent - _BESIDE_SHORT in shorts:
            indent -= _BESIDE_SHORT
        if columns and (is_option or _is_row(raw, at)):
            lines.append(_Line(indent, columns[1].strip(), columns[2], True))
        else:
            lines.append(_Line(indent, text, begins=is_option))
    return lines


def _is_row(raw: Sequence[str], at: int) -> bool:
    """Whether a line stands in two columns with one near it, as the commands of a program do."""
    row = _IN_COLUMNS.fullmatch(raw[at])
    if not row or not _indent(raw[at]) or len(row[1]) > _LONGEST_TERM or _WIDE_GAP.search(row[2]):
        return False
    if is_list_item(raw[at].strip()):
        return False
    near = [*raw[max(0, at - _NEIGHBOURS) : at], *raw[at + 1 : at + 1 + _NEIGHBOURS]]
    others = [other for line in near if (other := _IN_COLUMNS.fullmatch(line))]
    beside = [o for o in others if o.start(2) == row.start(2) and _indent(o[1]) == _indent(row[1])]
    return any(row.start(2) - one.end(1) > _LEAST_INDENT for one in (row, *beside)) and bool(beside)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _blocks(lines: Sequence[_Line]) -> Iterator[_Block]:
    at = 0
    while at < len(lines):
        if not lines[at].text:
            at += 1
            continue
        first = lines[at]
        end = at + 1
        while end < len(lines) and lines[end].text and _goes_on(lines, at, end):
            end += 1
        if first.begins and not _is_below(lines, end, first):
            end = at + 1
        below = end
        is_head = _is_below(lines, end, first)
        if first.begins or is_head or (first.indent == 0 and end == at + 1 and _may_be_heading(first.text)):
            while below < len(lines) and (not lines[below].text or lines[below].indent > first.indent):
                below += 1
        under = list(lines[end:below])
        yield _Block(list(lines[at:end]), under if any(line.text for line in under) else [])
        at = below


def _is_below(lines: Sequence[_Line], at: int, head: _Line) -> bool:
    return at < len(lines) and bool(lines[at].text) and lines[at].indent >= head.indent + _LEAST_INDENT


def _goes_on(lines: Sequence[_Line], at: int, end: int) -> bool:
    """Whether a line belongs to the same paragraph or head as the first, and not below it."""
    first, line = lines[at], lines[end]
    if is_list_item(first.text):
        return not line.begins
    if first.begins:  # several options with the same text below the last
        is_alone = not lines[end - 1].beside and not line.beside
        return is_alone and line.begins and line.indent == first.indent and end - at < _MOST_ALIASES
    return not line.begins and line.indent <= first.indent


def _sections(lines: Sequence[_Line], path: tuple[str, ...]) -> Iterator[Section]:
    paragraphs: list[str] = []
    for block in _blocks(lines):
        is_heading = not block.is_entry and bool(block.below) and _is_above_entries(block, len(path))
        if not block.is_entry and not block.below:
            paragraphs += _paragraphs(block.head)
            continue
        if paragraphs:
            yield Section(path, "\n\n".join(paragraphs))
            paragraphs = []
        if is_heading:
            yield from _sections(block.below, (*path, block.term.strip(":")))
        else:
            yield from _entry(block, path)
    if paragraphs:
        yield Section(path, "\n\n".join(paragraphs))


def _is_above_entries(block: _Block, depth: int) -> bool:
    if depth >= _DEEPEST or len(block.head) > 1 or not _may_be_heading(block.term):
        return False
    return block.head[0].indent == 0 or any(each.is_entry or each.below for each in _blocks(block.below))


def _may_be_heading(text: str) -> bool:
    return len(text) <= _LONGEST_HEADING and text[-1] not in ".!?;,"


def _entry(block: _Block, path: tuple[str, ...]) -> Iterator[Section]:
    """A term above what it does; in parts where that is long."""
    beside = block.head[-1].beside
    part: list[str] = []
    for paragraph in _paragraphs([*([_Line(_least(block.below), beside)] if beside else []), *block.below]):
        if part and len(" ".join([*part, paragraph]).split()) > _ENTRY_WORDS:
            yield Section(path, "\n".join([block.term, *part]), is_entry=True)
            part = []
        part.append(paragraph)
    yield Section(path, "\n".join([block.term, *part]), is_entry=True)


def _paragraphs(lines: Sequence[_Line]) -> list[str]:
    """Each on one line, but for the items of lists and what is indented further, as examples are."""
    least = _least(lines)
    told: list[list[str]] = [[]]
    before, is_item = _Line(0, ""), False
    for line in lines:
        text = " ".join(f"{line.text} {line.beside}".split())
        if not text:
            told.append([])
        elif told[-1]:
            begins_item = is_list_item(line.text)
            is_further = max(line.indent, before.indent) > least and not is_item
            told[-1] += "\n" if begins_item or is_further else " ", text
            is_item = begins_item or (is_item and not is_further)
        else:
            told[-1].append(text)
            is_item = is_list_item(line.text)
        before = line
    return ["".join(pieces) for pieces in told if pieces]


def _least(lines: Sequence[_Line]) -> int:
    return min((line.indent for line in lines if line.text), default=0)
