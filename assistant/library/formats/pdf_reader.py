"""The reader of PDF: lines as they lie on the page become headings, tables and paragraphs, page by page.

    words -> lines, column by column -> without what stands on every page -> heading, table or paragraph

A heading is a line in larger type than most; a table is what has rulings, or rows whose cells stand below one
another. What stands in the same place on most pages is a running head; page numbers and tables of contents go
too. Of a page with text in several directions, each is read with the page turned so that it stands upright.
"""

from __future__ import annotations

import copy
import io
import logging
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from assistant.library.formats.outlines import (
    HEADING_CHARACTERS,
    NO_TEXT,
    TOO_MUCH,
    TOO_MUCH_MEMORY,
    Outline,
    Reading,
)
from assistant.library.formats.plain_text import Section, plain
from stores.base.errors import UnreadableDocument

if TYPE_CHECKING:
    from pdfminer.pdfpage import PDFPage
    from pdfplumber.page import Page

_SPACE = 0.15  # of the size of the type, between two words
_LARGER = 1.12  # than most of the document: a heading
_GAP = 0.9  # of the type's size, between two cells
_APART = 0.7  # of the type's size, between a heading, or a running head, and what stands beside it
_NEW_PARAGRAPH = 1.4  # times the usual distance of two lines
_LEAST_ROWS, _LEAST_CELLS = 3, 3  # of a table without rulings
_LONGEST_CELL = 40  # characters of one
_MOST_LEVELS = 4
_LEAST_PAGES = 2  # with which it shows what stands on each
_AT_EDGE = 0.1  # of the page's height, above and below, where running heads stand
_GUTTER = 12.0  # points between two columns of text
_ACROSS = 0.2  # words a line of a page in columns, at most, that stand across them
_LEAST_IN_COLUMN = 5  # lines
_MOST_PAGES = 20_000
_MOST_NAMED = 10  # pages in an error
_MOST_ASLANT = 10.0  # degrees of a letter that is read as if it stood straight, as in a scan
_HYPHENATED = re.compile(r"(?<=[a-zß-ÿ])[-\u2010\u00ad\ufffe][ \t]*\n[ \t]*(?=[a-zß-ÿ])")
_PAGE_NUMBER = re.compile(r"[-–. ]*(?:\d+|[ivxlc]+)[-–. ]*")
_LEADERS = re.compile(
    r"(?:[.·…] ?){5,}\s*(?:\d+|[ivxlc]+)?$"
)  # between an entry of a table of contents and its page
_NO_LETTER = re.compile(r"\(cid:\d+\)")  # of a font that does not say what it shows


_Word: TypeAlias = dict[str, Any]  # as pdfplumber has it: text, x0, x1, top, bottom, size


@dataclass(frozen=True)
class Line:
    """A line of a page, in points from its top left corner."""

    words: tuple[tuple[float, float, str], ...]  # from, to, text
    top: float
    bottom: float
    size: float  # of its type

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join(text for _, _, text in self.words)

    @property
    def cells(self) -> list[tuple[float, float, str]]:
        """Its words, those near each other as one; from, to, text."""
        found: list[tuple[float, float, str]] = []
        for begin, end, text in self.words:
            if found and begin - found[-1][1] < _GAP * self.size:
                found[-1] = (found[-1][0], end, f"{found[-1][2]} {text}")
            else:
                found.append((begin, end, text))
        return found


@dataclass(frozen=True)
class Ruled:
    """A table with rulings."""

    top: float
    bottom: float
    rows: list[list[str]]


@dataclass(frozen=True)
class View:
    """What stands in one direction on a page."""

    number: int  # of the page
    direction: int  # degrees by which it was turned
    is_aside: bool  # most of the page stands in another direction
    height: float
    lines: list[Line]
    tables: list[Ruled]


def read_pdf(data: bytes, source: str) -> Reading:
    """A PDF: sections by page and heading."""
    import pdfplumber
    from pdfminer.pdfdocument import PDFEncryptionError, PDFPasswordIncorrect
    from pdfminer.pdfpage import PDFPage
    from pdfplumber.page import Page
    from pdfplumber.utils.exceptions import PdfminerException

    for name in ("pdfminer", "pdfplumber"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # it logs whatever it repairs
    views: list[View] = []
    lost: list[str] = []
    unread = _Unread()
    try:
        with pdfplumber.open(io.BytesIO(data)) as opened:
            for number, found in enumerate(PDFPage.create_pages(opened.doc), start=1):
                if number > _MOST_PAGES:
                    raise UnreadableDocument(source, TOO_MUCH)
                page = Page(opened, found, page_number=number)
                try:
                    directions = unread.count(page)
                    for direction, _ in directions.most_common():
                        is_aside = direction != directions.most_common(1)[0][0]
                        turned = page if not direction else Page(opened, _turned(found, direction), number)
                        views.append(_view(turned, number, direction, is_aside, len(directions) > 1))
                        turned.close()
                except MemoryError:
                    lost.append(f"page {number} {TOO_MUCH_MEMORY}")
                except Exception as error:  # noqa: BLE001 - as for whole files; the other pages can be read
                    lost.append(f"page {number} is damaged ({type(error).__name__})")
                page.close()
    except PdfminerException as error:
        if error.args and isinstance(error.args[0], PDFPasswordIncorrect | PDFEncryptionError):
            raise UnreadableDocument(source, "is encrypted; save a copy without a password") from None
        raise
    sections = _sections(views)
    if not sections:
        reason = lost[0] if lost else f"{NO_TEXT}; it may be a scan, which only shows pictures of text"
        raise UnreadableDocument(source, reason)
    return Reading(sections, is_paged=True, lost=(*lost, *unread.told()))


def _view(page: Page, number: int, direction: int, is_aside: bool, is_one_of_several: bool) -> View:
    if is_one_of_several:
        page = page.filter(lambda each: each["object_type"] != "char" or _direction(each) == 0)
    tables = _tables(page)
    return View(number, direction, is_aside, float(page.height), _lines(page, tables), tables)


def _direction(char: dict[str, Any]) -> int | None:
    """The degrees by which a letter must be turned clockwise to stand upright; None where it is aslant."""
    across, up = char["matrix"][:2]
    if not up and across > 0:
        return 0
    degrees = math.degrees(math.atan2(up, across))
    nearest = round(degrees / 90) * 90
    return nearest % 360 if abs(degrees - nearest) <= _MOST_ASLANT else None


def _turned(page: PDFPage, degrees: int) -> PDFPage:
    turned = copy.copy(page)
    turned.rotate = (page.rotate + degrees) % 360
    turned.attrs = {**page.attrs, "Rotate": turned.rotate}
    return turned


class _Unread:
    """What of the pages cannot be read, and on which pages it stands."""

    def __init__(self) -> None:
        self._aslant: Counter[int] = Counter()  # letters by page
        self._unnamed: Counter[int] = Counter()
        self._pictures: Counter[int] = Counter()

    def count(self, page: Page) -> Counter[int]:
        """How many letters stand in each direction that can be read."""
        found: Counter[int | None] = Counter()
        for char in page.chars:
            if char["text"].isspace():
                continue
            found[_direction(char)] += 1
            self._unnamed[page.page_number] += bool(_NO_LETTER.search(char["text"]))
        self._aslant[page.page_number] += found.pop(None, 0)
        if not found:
            seen = sum(image["width"] * image["height"] for image in page.images)
            self._pictures[page.page_number] += seen >= page.width * page.height / 2
        return Counter({direction: count for direction, count in found.items() if direction is not None})

    def told(self) -> list[str]:
        """One reason for each kind."""
        kinds = {
            "holds pictures instead of text, which are not read, on {}": self._pictures,
            "is read without {:,} letters that stand aslant, on {}": self._aslant,
            "is read without {:,} letters of a font that does not say what they are, on {}": self._unnamed,
        }
        told = []
        for kind, counts in kinds.items():
            pages = sorted(+counts)
            if pages:
                told.append(kind.format(*([counts.total()] if "{:,}" in kind else []), _named(pages)))
        return told


def _named(pages: Sequence[int]) -> str:
    """Pages by number, those in a row as one: pages 1, 3 to 7."""
    rows: list[list[int]] = []
    for page in pages:
        if rows and page == rows[-1][-1] + 1:
            rows[-1][1:] = [page]
        else:
            rows.append([page])
    listed = ", ".join(" to ".join(map(str, row)) for row in rows[:_MOST_NAMED])
    more = " and more" if len(rows) > _MOST_NAMED else ""
    return f"page{'s' if len(pages) > 1 else ''} {listed}{more}"


def _tables(page: Page) -> list[Ruled]:
    found = []
    for table in page.find_tables():
        rows = [[_cell(cell) for cell in row] for row in table.extract()]
        rows = [row for row in rows if any(row)]
        if len(rows) > 1 and max(map(len, rows)) > 1:
            found.append(Ruled(table.bbox[1], table.bbox[3], rows))
    return found


def _cell(text: str | None) -> str:
    return " ".join(_written(text or "").split())


def _written(text: str) -> str:
    """Ligatures as letters (NFKC)."""
    text = _NO_LETTER.sub("", text)
    return text if text.isascii() else unicodedata.normalize("NFKC", plain(text))


def _lines(page: Page, tables: Sequence[Ruled]) -> list[Line]:
    """Those outside of tables with rulings; of a page in two columns, the left column first."""
    words: list[_Word] = [
        word
        for word in page.extract_words(extra_attrs=["size"], x_tolerance_ratio=_SPACE)
        if not any(table.top <= _middle(word) <= table.bottom for table in tables)
    ]
    middle = _gutter(words, float(page.width))
    if not middle:
        return _as_lines(words)
    across = [line for line in _as_lines(words) if any(x0 < middle < x1 for x0, x1, _ in line.words)]
    found: list[Line] = []
    above = 0.0
    for edge in [*across, None]:
        band = [word for word in words if above <= _middle(word) < (edge.top if edge else float("inf"))]
        found += _as_lines([word for word in band if word["x1"] <= middle])
        found += _as_lines([word for word in band if word["x0"] >= middle])
        if edge:
            found.append(edge)
            above = edge.bottom
    return found


def _middle(word: _Word) -> float:
    return float(word["top"] + word["bottom"]) / 2


def _as_lines(words: Sequence[_Word]) -> list[Line]:
    """From top to bottom."""
    rows: list[list[_Word]] = []
    for word in sorted(words, key=_middle):
        if rows and _middle(word) < rows[-1][0]["bottom"] and word["bottom"] > _middle(rows[-1][0]):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [_line(row) for row in rows]


def _line(words: list[_Word]) -> Line:
    words.sort(key=lambda word: float(word["x0"]))
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[round(word["size"], 1)] += len(word["text"])
    return Line(
        tuple((float(word["x0"]), float(word["x1"]), _written(word["text"])) for word in words),
        min(float(word["top"]) for word in words),
        max(float(word["bottom"]) for word in words),
        sizes.most_common(1)[0][0],
    )


def _gutter(words: Sequence[_Word], width: float) -> float:
    """Where two columns of running text part, from the left; 0 where there is one."""
    fewest, at = _ACROSS * len(_as_lines(words)), 0.0
    for middle in (width * share / 100 for share in range(40, 61)):
        across = sum(
            word["x0"] < middle + _GUTTER / 2 and word["x1"] > middle - _GUTTER / 2 for word in words
        )
        if across < fewest:
            fewest, at = across, middle
    sides = [word for word in words if word["x1"] <= at], [word for word in words if word["x0"] >= at]
    for side in sides if at else ():
        lengths = sorted(len(line.text) for line in _as_lines(side))
        if len(lengths) < _LEAST_IN_COLUMN or lengths[len(lengths) // 2] < _LONGEST_CELL / 2:
            return 0.0
    return at


def _sections(views: Sequence[View]) -> list[Section]:
    sizes: Counter[float] = Counter()
    for view in views:
        for line in view.lines if not view.is_aside else ():
            sizes[line.size] += len(line.text)
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    larger = sorted((size for size in sizes if size >= _LARGER * usual), reverse=True)
    levels = {size: min(level, _MOST_LEVELS) for level, size in enumerate(larger, start=1)}
    apart = [[line for line in _apart(each.lines, each.height) if line.size not in levels] for each in views]
    running = {
        direction: _running([a for a, v in zip(apart, views, strict=True) if v.direction == direction])
        for direction in {view.direction for view in views}
    }
    distance = _usual_distance([view.lines for view in views], usual)
    outline = Outline()
    sections: list[Section] = []
    for view, at_edges in zip(views, apart, strict=True):
        edges = set(at_edges)
        kept = [
            line
            for line in view.lines
            if not (
                _LEADERS.search(line.text) or (line in edges and _is_running(line, running[view.direction]))
            )
        ]
        for block in _blocks(kept, view.tables, {} if view.is_aside else levels, distance):
            if isinstance(block, Ruled):
                outline.add_table(block.rows, header_rows=1)
                outline.end_lines()
            elif isinstance(block, tuple):
                outline.add_heading(*block)
            else:
                outline.add_paragraphs(block)
        sections += [
            Section((f"page {view.number}", *section.path), section.text)
            for section in outline.take()
            if section.text
        ]
    return sections


def _blocks(
    lines: Sequence[Line], tables: Sequence[Ruled], levels: dict[float, int], distance: float
) -> Iterator[Ruled | tuple[int, str] | str]:
    """Tables, headings with their levels, and text whose paragraphs stand between empty lines."""
    waiting = sorted(tables, key=lambda table: table.top)
    text: list[str] = []
    at, before = 0, None
    while at < len(lines):
        line = lines[at]
        blocks: list[Ruled | tuple[int, str]] = []
        while waiting and waiting[0].top <= line.top:
            blocks.append(waiting.pop(0))
        rows = _aligned(islice(lines, at, None))
        if rows:
            blocks.append(Ruled(line.top, line.bottom, rows))
            at += len(rows)
        elif line.size in levels and len(line.text) <= HEADING_CHARACTERS:
            heading = [line.text]
            while at + 1 < len(lines) and _goes_on(lines[at], lines[at + 1]):
                at += 1
                heading.append(lines[at].text)
            blocks.append((levels[line.size], " ".join(heading)))
            at += 1
        if blocks and text:
            yield _HYPHENATED.sub("", "\n".join(text))
            text, before = [], None
        yield from blocks
        if (not rows and line.size not in levels) or len(line.text) > HEADING_CHARACTERS:
            if before is not None and not 0 < line.top - before.top < _NEW_PARAGRAPH * distance:
                text.append("")
            text.append(line.text)
            before = line
            at += 1
    if text:
        yield _HYPHENATED.sub("", "\n".join(text))
    yield from waiting


def _usual_distance(pages: Sequence[Sequence[Line]], size: float) -> float:
    """From the top of a line of text to that of the next, in points."""
    found = sorted(
        below.top - line.top
        for lines in pages
        for line, below in pairwise(lines)
        if line.size == below.size == size and below.top > line.top
    )
    return found[len(found) // 4] if found else 2 * size  # a quarter: between paragraphs it is larger


def _goes_on(line: Line, below: Line) -> bool:
    """Whether a heading's next line is a line of it."""
    return below.size == line.size and 0 <= below.top - line.bottom < _APART * line.size


def _aligned(lines: Iterable[Line]) -> list[list[str]]:
    """The rows of a table without rulings that begins here; none where none does."""
    rows: list[list[tuple[float, float, str]]] = []
    for line in lines:
        cells = line.cells
        if len(cells) < _LEAST_CELLS or max(len(text) for *_, text in cells) > _LONGEST_CELL:
            break
        if rows and not (len(cells) == len(rows[0]) and all(map(_below, rows[0], cells))):
            break
        rows.append(cells)
    return [[text for *_, text in row] for row in rows] if len(rows) >= _LEAST_ROWS else []


def _below(above: tuple[float, float, str], cell: tuple[float, float, str]) -> bool:
    return cell[0] < above[1] and above[0] < cell[1]


def _apart(lines: Sequence[Line], height: float) -> list[Line]:
    """Those at the edges of a page that stand apart from its text."""
    found = [line for line in lines if line.bottom < _AT_EDGE * height or line.top > (1 - _AT_EDGE) * height]
    tops = sorted((line.top, line.bottom) for line in lines)
    return [
        line
        for line in found
        if not any(
            0 <= top - line.bottom < _APART * line.size or 0 <= line.top - bottom < _APART * line.size
            for top, bottom in tops
        )
    ]


def _running(pages: Sequence[Sequence[Line]]) -> set[int]:
    """The places in which something stands on half of the pages."""
    counts = Counter(place for lines in pages for place in {_place(line) for line in lines})
    least = max(_LEAST_PAGES, len(pages) / 2)
    return {place for place, count in counts.items() if count >= least}


def _place(line: Line) -> int:
    return round(line.top / 2)


def _is_running(line: Line, running: set[int]) -> bool:
    return bool(_PAGE_NUMBER.fullmatch(line.text)) or _place(line) in running
