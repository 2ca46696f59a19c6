"""What a reader makes of a file: its paragraphs under their headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assistant.library.formats.plain_text import Section, plain, plain_line, unwrapped

NOT_TEXT = "is not text"

NO_TEXT = "holds no text"
TOO_MUCH_MEMORY = "takes more memory to read than it may; cut it into smaller files"

TOO_MUCH = "holds more than can be read, or is made to look so"

_USUAL_NAMES_CHARACTERS = 100_000  # before the cells of a table, whatever these hold
_MOST_NAMES_SHARE = 20  # times what the cells hold: tables of yes and no under long names are ordinary
_NUMBER = re.compile(r"[-+(]?\d[\d.,]*")
HEADING_CHARACTERS = 200  # a longer heading is a paragraph: it would stand over every passage


Row: TypeAlias = Sequence[str | None]  # of a table; None: the cell before it spans this column as well


@dataclass(frozen=True)
class Reading:
    """What a reader made of a file."""

    sections: list[Section]
    title: str = ""  # empty: the file's name is its title
    is_paged: bool = False  # the sections are pages, which stay apart so that each can be named
    lost: tuple[str, ...] = ()  # parts that could not be read, each a reason


class Outline:
    """Collects a document's paragraphs under its headings."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []  # those above what comes next: (level, words)
        self._blocks: list[str] = []
        self._line_of = ""  # what the last block is a line of
        self._sections: list[Section] = []

    def add_heading(self, level: int, text: str) -> None:
        """A heading; level 1 is the outermost."""
        text = plain_line(text)
        if not text or len(text) > HEADING_CHARACTERS:
            self.add(text)
            return
        self._close_section()
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, text))

    def add(self, text: str, *, line_of: str = "") -> None:
        """A paragraph, or a line of something ("list", "table"), which follows the one before directly."""
        lines = (" ".join(line.split()) for line in plain(text).split("\n"))
        self._append("\n".join(line for line in lines if line), line_of=line_of)

    def add_paragraphs(self, text: str) -> None:
        """Lines of text, with an empty one between paragraphs."""
        for paragraph in unwrapped(text).split("\n\n"):
            self._append(paragraph)
            self.end_lines()

    def add_table(self, rows: Iterable[Row], *, header_rows: int) -> None:
        """Rows of cells, a line each; each cell follows the names of its columns, which the header rows tell.

        A row that is one cell all across is a line of its own. Where the names would be most of the text, as
        paragraphs in a header are, they stand once.
        """
        rows = list(rows)
        while rows and header_rows and is_across(rows[0]):
            self.add(rows.pop(0)[0] or "")
            header_rows -= 1
        names = _column_names(rows[:header_rows])
        if names and _names_outweigh(names, rows[header_rows:]):
            names, header_rows = [], 0
        for row in rows[header_rows:]:
            told = [row[0] or ""] if is_across(row) else _told(row, names)
            self.add(" | ".join(filter(None, told)), line_of="table")
        if names and not self._line_of:
            self.add(" | ".join(dict.fromkeys(filter(None, names))), line_of="table")

    def end_lines(self) -> None:
        """What comes next begins a paragraph, also where it is a line of the same."""
        self._line_of = ""

    def add_code(self, text: str) -> None:
        """Text whose spaces and lines carry meaning."""
        self._append("\n".join(line.rstrip() for line in plain(text).split("\n")).strip("\n"))

    def sections(self) -> list[Section]:
        """All that was added, in order."""
        self._close_section()
        return self._sections

    def take(self) -> list[Section]:
        """What was added since it was taken last; the headings stay above what comes next."""
        taken, self._sections = self.sections(), []
        return taken

    def _append(self, text: str, *, line_of: str = "") -> None:
        if text:
            if self._blocks:
                self._blocks.append("\n" if line_of and line_of == self._line_of else "\n\n")
            self._blocks.append(text)
            self._line_of = line_of

    def _close_section(self) -> None:
        if self._headings or self._blocks:
            path = tuple(text for _, text in self._headings)
            self._sections.append(Section(path, "".join(self._blocks)))
            self._blocks = []


def is_across(row: Row) -> bool:
    """Whether one cell spans all columns."""
    return len(row) > 1 and bool(row[0]) and all(cell is None for cell in row[1:])


def header_rows(rows: Sequence[Row]) -> int:
    """How many rows of a table that has a header name its columns, with the titles across it above them.

    Two do where a cell of the first spans columns that the second names one by one.
    """
    above = next((number for number, row in enumerate(rows) if not is_across(row)), len(rows))
    if len(rows) <= above + 1:
        return above
    return above + (2 if len(rows) > above + 2 and _is_named_below(*rows[above : above + 2]) else 1)


def _is_named_below(first: Row, second: Row) -> bool:
    """Whether the second row names what the first has put together, and has nothing below its other cells."""
    is_split = False
    for at, (cell, below) in enumerate(zip(first, second, strict=False)):
        goes_on = cell is None or (at + 1 < len(first) and first[at + 1] is None)
        is_split = is_split or (goes_on and below is not None)
        if goes_on and _NUMBER.match(below or ""):
            return False
        if not goes_on and below not in ("", cell):
            return False
    return is_split


def _column_names(rows: Sequence[Row]) -> list[str]:
    """What stands above each column, from the top, each once."""
    above: list[dict[str, None]] = [{} for _ in range(max(map(len, rows), default=0))]
    for row in rows:
        goes_on = ""
        for at, cell in enumerate(row):
            goes_on = goes_on if cell is None else cell
            above[at][goes_on] = None
    return [" ".join(filter(None, names)) for names in above]


def _told(row: Row, names: Sequence[str]) -> list[str]:
    """The cells of a row, each behind the names of its columns."""
    told: list[tuple[list[str], str]] = []
    for at, cell in enumerate(row):
        name = names[at] if at < len(names) else ""
        if cell is not None or not told:
            told.append(([], cell or ""))
        if name and name not in told[-1][0]:
            told[-1][0].append(name)
    return [f"{', '.join(above)}: {cell}" if above else cell for above, cell in told if cell]


def _names_outweigh(names: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether the names before all cells would be far longer than the cells."""
    sizes = list(map(len, names))
    repeated = sum(size for row in rows for size, cell in zip(sizes, row, strict=False) if cell != "")
    held = sum(sizes) + sum(len(cell) for row in rows for cell in row if cell)
    return repeated > _USUAL_NAMES_CHARACTERS + _MOST_NAMES_SHARE * held


def with_title(sections: list[Section], title: str = "") -> Reading:
    """Takes a heading that stands first and above everything for the document's title.

    Where the document states its title elsewhere, such a heading is left out if the title has it.
    """
    above = {section.path[:1] for section in sections}
    if len(above) != 1 or above == {()}:
        return Reading(sections, title)
    (heading,) = above.pop()
    if title and heading not in title:
        return Reading(sections, title)
    return Reading([Section(section.path[1:], section.text) for section in sections], title or heading)
