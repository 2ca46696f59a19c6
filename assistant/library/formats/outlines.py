"""What a reader makes of a file: its paragraphs under their headings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.library.formats.plain_text import Section, plain, plain_line, unwrapped

NOT_TEXT = "is not text"

NO_TEXT = "holds no text"
TOO_MUCH_MEMORY = "takes more memory to read than it may; cut it into smaller files"

TOO_MUCH = "holds more than can be read, or is made to look so"

_USUAL_NAMES_CHARACTERS = 100_000  # before the cells of a table, whatever these hold
_MOST_NAMES_SHARE = 20  # times what the cells hold: tables of yes and no under long names are ordinary
HEADING_CHARACTERS = 200  # a longer heading is a paragraph: it would stand over every passage


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

    def add_table(self, rows: Iterable[Sequence[str]], *, has_header: bool) -> None:
        """Rows of cells, a line each; under a header each cell follows the name of its column.

        Where the names would be most of the text, as paragraphs in a header are, they stand once.
        """
        rows = list(rows)
        has_header = has_header and not _names_outweigh(rows)
        names: Sequence[str] = ()
        for number, row in enumerate(rows):
            if number == 0 and has_header:
                names = row
                continue
            cells = ((names[i] if i < len(names) else "", cell) for i, cell in enumerate(row))
            told = [f"{name}: {cell}" if name else cell for name, cell in cells if cell]
            self.add(" | ".join(told), line_of="table")
        if names and not self._line_of:
            self.add(" | ".join(filter(None, names)), line_of="table")

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


def _names_outweigh(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the names before all cells would be far longer than the cells."""
    names = [len(name) for name in rows[0]] if rows else []
    repeated = sum(size for row in rows[1:] for size, cell in zip(names, row, strict=False) if cell)
    held = sum(len(cell) for row in rows for cell in row)
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
