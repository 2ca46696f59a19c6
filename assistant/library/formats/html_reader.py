"""The reader of HTML pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.library.formats.outlines import HEADING_CHARACTERS, Outline, Reading, Row, with_title
from assistant.library.formats.plain_text import plain_line
from assistant.library.formats.text_reader import decoded
from stores.base.errors import UnreadableDocument

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

MOST_TAGS = 500_000  # of an HTML page, some 700 bytes each

_LEFT_OUT = frozenset(
    "script style noscript template nav footer aside button select textarea iframe object canvas svg head "
    "title rp rt".split()
)

_BLOCKS = frozenset(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure form "
    "header hr html li main ol p section summary table tbody tfoot thead tr ul".split()
)

_LINES = {"li": "list", "dt": "list", "dd": "list", "tr": "table"}
_CELLS = ("td", "th")
_PARTS = ("thead", "tbody", "tfoot")  # of a table

_BREAK = "\u2028"  # stands for <br>; a line break in the source is only space

_NOT_OF_ROWS = ["table", "pre", "script", "style", "select"]  # a table with one is read as it comes,
_LISTS = ["ul", "ol"]  # and with a list, unless cells span several rows or columns
_WIDEST = 1000  # columns or rows of a cell

_END = object()


def read_html(data: bytes, source: str) -> Reading:
    """An HTML page: its text under its headings."""
    from bs4.dammit import EncodingDetector

    declared = EncodingDetector.find_declared_encoding(data[:4096], is_html=True) or ""
    if declared.lower() in {"iso-8859-1", "latin-1", "us-ascii", "ascii"}:
        declared = "cp1252"  # as browsers read it
    soup = parsed_html(decoded(data, source, declared), source)
    outline = Outline()
    main = soup.find("main")
    add_html(outline, main if main and main.get_text(strip=True) else soup)
    title = soup.title.get_text() if soup.title else ""
    return with_title(outline.sections(), plain_line(title)[:HEADING_CHARACTERS])


_UNCLOSED_TAG = re.compile(r"<[a-zA-Z/!?]")


def parsed_html(text: str, source: str) -> BeautifulSoup:
    """The page, without a comment or tag that is open at its end, which browsers do not show either.

    The parser would look for the end of each of these again from every place where one begins.
    """
    from bs4 import BeautifulSoup

    text = text.replace("<![", "<! [")  # a comment to browsers, and beyond this parser unless well-formed
    if (comment_at := text.find("<!--", text.rfind("-->") + 1)) >= 0:
        text = text[:comment_at]
    if tag := _UNCLOSED_TAG.search(text, text.rfind(">") + 1):
        text = text[: tag.start()]
    if text.count("<") > MOST_TAGS:
        raise UnreadableDocument(source, f"has more than {MOST_TAGS:,} tags; cut it into smaller files")
    return BeautifulSoup(text, "html.parser")


def add_html(outline: Outline, root: Tag) -> None:
    """Adds what a reader sees of a page. Walks without recursion: pages can be nested to any depth."""
    from bs4.element import NavigableString, Tag

    said: list[str] = []  # since the last block began or ended
    numbers: list[int | None] = []  # of each open list: its last item's number, None for bullets
    line_of = ""
    label = ""

    def end_block() -> None:
        nonlocal line_of, label
        lines = (" ".join(part.split()).strip(" |") for part in "".join(said).split(_BREAK))
        said.clear()
        if text := "\n".join(line for line in lines if line):
            outline.add(label + text, line_of=line_of)
            line_of, label = "", ""

    waiting: list[tuple[object, object]] = [(root, None)]
    while waiting:
        node, mark = waiting.pop()
        if isinstance(node, NavigableString):
            if type(node) is NavigableString:  # comments and declarations are kinds of their own
                said.append(node)
            continue
        if not isinstance(node, Tag) or node.name in _LEFT_OUT or node.has_attr("hidden"):
            continue
        name = node.name
        if mark is _END:
            end_block()
            if name in {"ul", "ol"}:
                numbers.pop()
        elif name == "br":
            said.append(_BREAK)
        elif name == "img":
            said.append(str(node.get("alt") or ""))
        elif re.fullmatch("h[1-6]", name):
            end_block()
            outline.add_heading(int(name[1]), node.get_text())
        elif name == "pre":
            end_block()
            outline.add_code(node.get_text())
        elif name == "table" and (grid := _grid(node))[0]:
            end_block()
            if node.caption:
                outline.add(node.caption.get_text(" "))
            rows, header_rows = grid
            outline.add_table(rows, header_rows=header_rows)
        else:
            if name in _BLOCKS:
                end_block()
            if name == "dt":
                outline.end_lines()
            if name in {"ul", "ol"}:
                numbers.append(0 if name == "ol" else None)
            line_of = _LINES.get(name, line_of)
            if name == "li":
                number = numbers[-1] if numbers else None
                label = "- "
                if number is not None:
                    numbers[-1] = number + 1
                    label = f"{number + 1}. "
            if name in {"td", "th"}:
                said.append(" | ")
            if name in _BLOCKS:
                waiting.append((node, _END))
            waiting += [(child, None) for child in reversed(node.contents)]
    end_block()


@dataclass(frozen=True)
class _Row:
    """A row of a table as it is written, and the part of the table in which it stands."""

    part: object
    is_in_head: bool
    cells: list[tuple[Tag, list[str]]]  # each with its words

    @property
    def names_columns(self) -> bool:
        return self.is_in_head or all(cell.name == "th" for cell, _ in self.cells)


def _grid(table: Tag) -> tuple[list[Row], int]:
    """The rows of a table of plain cells, and how many of them name its columns.

    No rows where it is otherwise, such as one that only puts a page's parts beside one another. A cell that
    spans several rows stands in each of them.
    """
    if table.find(_NOT_OF_ROWS) is not None:
        return [], 0
    rows = _rows(table)
    has_spans = any(
        _span(cell, name) != 1 for row in rows for cell, _ in row.cells for name in ("colspan", "rowspan")
    )
    if not has_spans and table.find(_LISTS) is not None:
        return [], 0
    named = next((at for at, row in enumerate(rows) if not row.names_columns), len(rows))
    if named == len(rows) or (not named and (not has_spans or _is_layout(table, rows))):
        return [], 0
    return _spanned(rows), named


def _rows(table: Tag) -> list[_Row]:
    """In the order in which they begin: the ends of rows and cells are often not written."""
    from bs4.element import NavigableString, Tag

    rows: list[_Row] = []
    part = 0
    for node in table.descendants:
        if isinstance(node, Tag):
            part += node.name in _PARTS
            if node.name == "tr":
                above = node.parent.name if node.parent is not None else ""
                rows.append(_Row((part, above in _PARTS), above == "thead", []))
            elif node.name in _CELLS and rows:
                rows[-1].cells.append((node, []))
        elif type(node) is NavigableString and rows and rows[-1].cells:
            rows[-1].cells[-1][1].append(node)
    return [row for row in rows if row.cells]


def _is_layout(table: Tag, rows: Sequence[_Row]) -> bool:
    if table.find(["h1", "h2", "h3", "h4", "h5", "h6", *_LISTS]) is not None:
        return True
    return any(sum(map(len, words)) > HEADING_CHARACTERS for row in rows for _, words in row.cells)


def _spanned(rows: Sequence[_Row]) -> list[Row]:
    """The texts of cells, each column in its place."""
    told: list[Row] = []
    below: dict[int, tuple[int, str | None]] = {}  # by column: how many rows what goes on, and it
    part: object = None
    for each in rows:
        if each.part != part:
            part, below = each.part, {}  # no cell reaches beyond its part of the table
        row: list[str | None] = []
        begun: dict[int, tuple[int, str | None]] = {}
        for cell, words in each.cells:
            while len(row) in below:
                row.append(below[len(row)][1])
            text = plain_line(" ".join(words))
            more = _span(cell, "rowspan") - 1
            for column in range(_span(cell, "colspan") or 1):
                if more:
                    repeated = text if len(text) <= HEADING_CHARACTERS else ""
                    begun[len(row)] = more, None if column else repeated
                row.append(None if column else text)
        while len(row) in below:
            row.append(below[len(row)][1])
        below = {at: (left - 1, text) for at, (left, text) in below.items() if left != 1} | begun
        told.append(row)
    return told


def _span(cell: Tag, name: str) -> int:
    """How many rows or columns a cell spans; below 1: to the end. As browsers read it."""
    written = re.match(r"\s*(\d{1,9})", str(cell.get(name) or "1"))
    return min(int(written[1]), _WIDEST) if written else 1
