"""The readers of tables: CSV and Excel. A row is a line, each cell behind the name of its column."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import datetime, time
from itertools import islice

from assistant.library.formats.outlines import Outline, Reading
from assistant.library.formats.packed_files import refuse_zip_bomb
from assistant.library.formats.plain_text import plain_line
from assistant.library.formats.text_reader import decoded
from stores.base.errors import UnreadableDocument

_MOST_ROWS = 200_000
_MOST_COLUMNS = 200
_TOO_WIDE = f"has more than {_MOST_COLUMNS} columns; those behind the {_MOST_COLUMNS}th were left out"
_LONGEST_CELL = 131_072  # characters


def read_csv(data: bytes, source: str) -> Reading:
    """CSV, and TSV: the first row names the columns."""
    text = decoded(data, source)
    comma = "\t" if source.lower().endswith(".tsv") else _separator(text)
    csv.field_size_limit(_LONGEST_CELL)  # of the whole process: SciPy lifts it
    rows = csv.reader(io.StringIO(text.replace("\0", "")), delimiter=comma)
    outline = Outline()
    lost = _add(outline, [list(row) for row in islice(rows, _MOST_ROWS + 1)], source)
    return Reading(outline.sections(), lost=lost)


def read_xlsx(data: bytes, source: str) -> Reading:
    """An Excel file: the values of each sheet under its name; formulas as they were last computed."""
    from openpyxl import load_workbook

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_zip_bomb(archive, source)
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    outline = Outline()
    lost: list[str] = []
    for sheet in book.worksheets:
        rows = sheet.iter_rows(max_row=_MOST_ROWS + 1, max_col=_MOST_COLUMNS + 1, values_only=True)
        if told := [cells for row in rows if any(cells := [_shown(cell) for cell in row])]:
            outline.add_heading(1, sheet.title)
            lost += (f"sheet {sheet.title!r} {reason}" for reason in _add(outline, told, source))
    return Reading(outline.sections(), lost=tuple(lost))


def _shown(cell: object) -> str:
    if isinstance(cell, datetime) and cell.time() == time():
        return str(cell.date())
    return "" if cell is None else str(cell)


def _add(outline: Outline, rows: list[list[str]], source: str) -> tuple[str, ...]:
    """Adds a table; returns what of it is left out, as a reason."""
    is_wider = any(any(map(str.strip, row[_MOST_COLUMNS:])) for row in rows)
    rows = [cells for row in rows if any(cells := [plain_line(cell) for cell in row[:_MOST_COLUMNS]])]
    if len(rows) > _MOST_ROWS:
        raise UnreadableDocument(source, f"has more than {_MOST_ROWS:,} rows; cut it into smaller files")
    outline.add_table(rows, header_rows=int(len(rows) > 1))
    return (_TOO_WIDE,) if is_wider else ()


def _separator(text: str) -> str:
    """What separates the cells of the first line: a comma, or what stands there oftener."""
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count)
