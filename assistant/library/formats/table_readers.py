"""The readers of tables: CSV and Excel. A row is a line, each cell behind the name of its column."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from itertools import islice
from typing import IO, Any

from assistant.library.formats.number_formats import shown_number
from assistant.library.formats.outlines import HEADING_CHARACTERS, Outline, Reading, Row, header_rows
from assistant.library.formats.packed_files import refuse_zip_bomb
from assistant.library.formats.plain_text import plain_line
from assistant.library.formats.text_reader import decoded
from stores.base.errors import UnreadableDocument

_MOST_ROWS = 200_000
_MOST_COLUMNS = 200
_LAST_COLUMN = (2, "GR")  # the 200th, and how many letters it has
_TOO_WIDE = f"has more than {_MOST_COLUMNS} columns; those behind the {_MOST_COLUMNS}th were left out"
_SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?[ \t]*(?:\r\n?|\n)', re.IGNORECASE)
_LONGEST_CELL = 131_072  # characters


def read_csv(data: bytes, source: str) -> Reading:
    """CSV, and TSV: the first row names the columns. A line `sep=;` before it, as Excel writes, says how."""
    text = decoded(data, source)
    comma, begins_at = separator(text[:_LONGEST_CELL], is_tsv=source.lower().endswith(".tsv"))
    text = text[begins_at:]
    csv.field_size_limit(_LONGEST_CELL)  # of the whole process: SciPy lifts it
    rows = csv.reader(io.StringIO(text.replace("\0", "")), delimiter=comma)
    outline = Outline()
    lost = _add(outline, [list(row) for row in islice(rows, _MOST_ROWS + 1)], source)
    return Reading(outline.sections(), lost=lost)


def read_xlsx(data: bytes, source: str) -> Reading:
    """An Excel file: each sheet under its name, with its values as it shows them.

    Formulas are read as they were last computed. A cell that spans several rows stands in each of them.
    """
    from openpyxl import load_workbook

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_zip_bomb(archive, source)
        lost = _beside(archive)
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    outline = Outline()
    for sheet in book.worksheets:
        markup = _SheetMarkup(sheet._get_source())
        rows = sheet.iter_rows(max_row=_MOST_ROWS + 1, max_col=_MOST_COLUMNS + 1)
        told = list(markup.spanned([_shown(cell) for cell in row] for row in rows))
        reasons = list(_add(outline, told, source, heading=sheet.title)) if told else []
        if markup.is_wider and _TOO_WIDE not in reasons:
            reasons.append(_TOO_WIDE)
        if markup.not_computed:
            reasons.append(
                f"is read without the results of {markup.not_computed:,} formulas, which the file does "
                "not hold; open it in a spreadsheet program and save it"
            )
        lost += (f"sheet {sheet.title!r} {reason}" for reason in reasons)
    return Reading(outline.sections(), lost=tuple(lost))


def _beside(archive: zipfile.ZipFile) -> list[str]:
    """What stands beside the cells of sheets and is not read, as reasons."""
    counts = dict.fromkeys(("comments", "text boxes", "charts"), 0)
    for name in archive.namelist():
        if name.startswith("xl/comments"):
            counts["comments"] += len(re.findall(rb"<(?:\w+:)?comment[ >]", archive.read(name)))
        elif name.startswith("xl/drawings/drawing"):
            counts["text boxes"] += archive.read(name).count(b":txBody>") // 2
        elif name.startswith("xl/charts/chart"):
            counts["charts"] += 1
    return [f"is read without what stands in {kind} ({count})" for kind, count in counts.items() if count]


class _SheetMarkup:
    """What openpyxl does not tell of a sheet that is read row by row: merged cells, missing results."""

    def __init__(self, file: IO[bytes]) -> None:
        from xml.parsers.expat import ParserCreate

        self.not_computed = 0  # formulas
        self.is_wider = False  # than is read
        self._merged: dict[int, list[tuple[int, int, int]]] = {}  # by first row: last row, columns from, to
        self._is_formula = self._has_value = self._is_in_value = self._is_far = False
        parser = ParserCreate()
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._take
        with file:
            parser.ParseFile(file)

    def spanned(self, rows: Iterable[list[str]]) -> Iterator[Row]:
        """The rows that hold something, with each merged cell in all rows that it spans."""
        below: dict[int, tuple[int, str | None]] = {}  # by column: to which row what goes on
        for number, cells in enumerate(rows, start=1):
            row: list[str | None] = list(cells)
            for column in [column for column, (last, _) in below.items() if last < number]:
                del below[column]
            for column, (_, text) in below.items():
                row[column] = text
            for last, left, right in self._merged.get(number, ()):
                repeated = cells[left] if len(cells[left]) <= HEADING_CHARACTERS else ""
                for column in range(left, min(right + 1, len(row))):
                    row[column] = row[left] if column == left else None
                    if last > number:
                        below[column] = last, repeated if column == left else None
            while row and row[-1] == "":
                row.pop()
            if any(cells):
                yield row

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "c":
            self._is_formula, self._has_value = False, attributes.get("t") == "str"
            column = attributes.get("r", "").rstrip("0123456789")
            self._is_far = (len(column), column) > _LAST_COLUMN
        elif name == "f":
            self._is_formula = True
        elif name in ("v", "t"):
            self._is_in_value = True
        elif name == "mergeCell":
            from openpyxl.utils import range_boundaries

            left, top, right, bottom = range_boundaries(attributes.get("ref", ""))
            if left and top and left <= _MOST_COLUMNS:  # else whole rows or columns
                self._merged.setdefault(top, []).append((bottom, left - 1, right - 1))

    def _take(self, text: str) -> None:
        self._has_value = self._has_value or (self._is_in_value and bool(text))

    def _end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name in ("v", "t"):
            self._is_in_value = False
        elif name == "c":
            self.is_wider = self.is_wider or (self._is_far and self._has_value)
            self.not_computed += self._is_formula and not self._has_value


def _shown(cell: Any) -> str:
    """The value of a cell; days and times are told as ISO writes them, whatever the format."""
    value = cell.value
    if isinstance(value, datetime):
        value = (value + timedelta(milliseconds=500)).replace(microsecond=0)
        return str(value.date()) if value.time() == time() else f"{value.date()} {_clock(value)}"
    if isinstance(value, time):
        return _clock(value)
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        minutes = abs(seconds) // 60
        return f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}" + (
            f":{abs(seconds) % 60:02}" if seconds % 60 else ""
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return shown_number(value, cell.number_format or "General")
    return "" if value is None else str(value)


def _clock(value: time | datetime) -> str:
    return f"{value:%H:%M:%S}".removesuffix(":00") if value.second == 0 else f"{value:%H:%M:%S}"


def _add(outline: Outline, rows: Sequence[Row], source: str, *, heading: str = "") -> tuple[str, ...]:
    """Adds a table; returns what of it is left out, as a reason."""
    is_wider = any(any(cell and cell.strip() for cell in row[_MOST_COLUMNS:]) for row in rows)
    plain_rows = ([cell and plain_line(cell) for cell in row[:_MOST_COLUMNS]] for row in rows)
    kept = [row for row in plain_rows if any(row)]
    if len(kept) > _MOST_ROWS:
        raise UnreadableDocument(source, f"has more than {_MOST_ROWS:,} rows; cut it into smaller files")
    width = max((at for row in kept for at, cell in enumerate(row, start=1) if cell), default=0)
    kept = [(row + [""] * (width - len(row)))[:width] if None in row else row[:width] for row in kept]
    if heading and kept:
        outline.add_heading(1, heading)
    outline.add_table(kept, header_rows=header_rows(kept) if len(kept) > 1 else 0)
    return (_TOO_WIDE,) if is_wider else ()


def separator(text: str, *, is_tsv: bool = False) -> tuple[str, int]:
    """What separates the cells of a CSV file, and where its first row begins.

    It is what a line such as `sep=;` before the first row says, as Excel writes and reads it; else a comma,
    or what stands oftener in that row.
    """
    if said := _SEPARATOR.match(text):
        return said[1], said.end()
    return "\t" if is_tsv else max(",;\t|", key=text.partition("\n")[0].count), 0
