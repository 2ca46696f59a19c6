"""The reader of Word's files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assistant.library.formats.outlines import HEADING_CHARACTERS, Outline, Reading, with_title
from assistant.library.formats.plain_text import plain_line
from stores.base.errors import UnreadableDocument

if TYPE_CHECKING:
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph

UNPACKED_BYTES = 200_000_000  # what a .docx may unpack to

UNPACKED_XML_BYTES = 40_000_000  # what one part of its text may: parsed it takes many times its size


def read_docx(data: bytes, source: str) -> Reading:
    """A .docx file: its headings, paragraphs, lists and tables."""
    from docx import Document
    from docx.text.paragraph import Paragraph
    from lxml.etree import ErrorTypes, XMLSyntaxError

    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableDocument(source, "is encrypted, or of the older kind .doc; save it as .docx")
    _refuse_zip_bomb(data, source)
    try:
        document = Document(io.BytesIO(data))
    except XMLSyntaxError as error:
        if error.code == ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise
    outline = Outline()
    title = ""
    for block in document.iter_inner_content():
        if not isinstance(block, Paragraph):
            for line in _table_lines(block):
                outline.add(line, line_of="table")
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
    return with_title(outline.sections(), title)


def _refuse_zip_bomb(data: bytes, source: str) -> None:
    """Raises for an archive that unpacks to too much, whether or not its directory says so."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > UNPACKED_BYTES:
            raise UnreadableDocument(source, f"unpacks to more than {UNPACKED_BYTES // 1_000_000} MB")
        parts = (m.file_size for m in archive.infolist() if not m.filename.lower().endswith(_PICTURES))
        if max(parts, default=0) > UNPACKED_XML_BYTES:
            too_much = f"holds text that unpacks to more than {UNPACKED_XML_BYTES // 1_000_000} MB"
            raise UnreadableDocument(source, too_much)
        # Reading in pieces stops at the size that the directory states, and then fails if that was a lie.
        for member in archive.infolist():
            with archive.open(member) as file:
                while file.read(1 << 16):
                    pass


_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg", ".bin", ".mp4")


def _is_list_item(paragraph: Paragraph, style: str) -> bool:
    properties = paragraph._p.pPr
    return style.startswith("List") or (properties is not None and properties.numPr is not None)


def _table_lines(table: Table) -> Iterator[str]:
    """Each row as a line; a cell that spans several columns is said once."""
    for row in table.rows:
        cells = {id(cell._tc): cell for cell in row.cells}
        yield " | ".join(filter(None, map(_cell_text, cells.values())))


def _cell_text(cell: _Cell) -> str:
    from docx.text.paragraph import Paragraph

    parts: list[str] = []
    for block in cell.iter_inner_content():
        parts += [block.text] if isinstance(block, Paragraph) else _table_lines(block)
    return plain_line(" ".join(parts))
