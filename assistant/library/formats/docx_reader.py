"""The reader of Word's files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from assistant.library.formats.docx_markup import straighten
from assistant.library.formats.outlines import (
    HEADING_CHARACTERS,
    Outline,
    Reading,
    Row,
    header_rows,
    with_title,
)
from assistant.library.formats.packed_files import refuse_zip_bomb
from assistant.library.formats.plain_text import plain_line
from stores.base.errors import UnreadableDocument

if TYPE_CHECKING:
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph


def read_docx(data: bytes, source: str) -> Reading:
    """A .docx file as it stands when all changes are accepted: headings, paragraphs, lists, tables, notes."""
    from docx import Document
    from docx.text.paragraph import Paragraph
    from lxml.etree import ErrorTypes, XMLSyntaxError

    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableDocument(source, "is encrypted, or of the older kind .doc; save it as .docx")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_zip_bomb(archive, source)
    try:
        document = Document(io.BytesIO(data))
    except XMLSyntaxError as error:
        if error.code == ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise
    lost = straighten(document)
    outline = Outline()
    title = ""
    for block in document.iter_inner_content():
        if not isinstance(block, Paragraph):
            rows = list(_rows(block))
            outline.add_table(rows, header_rows=header_rows(rows) if _has_header(block) else 0)
            continue
        style = (block.style.name if block.style else "") or ""
        if style == "Title" and not title:
            title = plain_line(block.text)[:HEADING_CHARACTERS]
        elif heading := re.fullmatch(r"Heading ([1-9])", style):
            outline.add_heading(int(heading[1]), block.text)
        elif _is_list_item(block, style):
            outline.add(f"- {block.text}" if block.text.strip() else "", line_of="list")
        else:
            outline.add(block.text)
    return replace(with_title(outline.sections(), title), lost=lost)


def _is_list_item(paragraph: Paragraph, style: str) -> bool:
    properties = paragraph._p.pPr
    return style.startswith("List") or (properties is not None and properties.numPr is not None)


def _has_header(table: Table) -> bool:
    """Whether its first row is marked as one, or as drawn otherwise, and others follow."""
    marked = table._tbl.xpath("./w:tr[1]/w:trPr/w:tblHeader | ./w:tblPr/w:tblLook[@w:firstRow='1']")
    return bool(marked) and len(table.rows) > 1


def _rows(table: Table) -> Iterator[Row]:
    """The cells of each row; one that spans several rows stands in each of them."""
    for row in table.rows:
        seen = set[int]()
        cells: list[str | None] = []
        for cell in row.cells:
            cells.append(None if id(cell._tc) in seen else _cell_text(cell))
            seen.add(id(cell._tc))
        yield cells


def _cell_text(cell: _Cell) -> str:
    from docx.text.paragraph import Paragraph

    parts: list[str] = []
    for block in cell.iter_inner_content():
        if isinstance(block, Paragraph):
            parts.append(block.text)
        else:
            parts += (" | ".join(filter(None, row)) for row in _rows(block))
    return plain_line(" ".join(parts))
