"""The readers of files that are archives of pages: PowerPoint and EPUB."""

from __future__ import annotations

import io
import posixpath
import zipfile
from typing import TYPE_CHECKING
from urllib.parse import unquote

from assistant.library.formats.html_reader import add_html, parsed_html
from assistant.library.formats.outlines import (
    HEADING_CHARACTERS,
    Outline,
    Reading,
    Row,
    header_rows,
    with_title,
)
from assistant.library.formats.plain_text import plain_line
from assistant.library.formats.text_reader import decoded
from stores.base.errors import UnreadableDocument

if TYPE_CHECKING:
    from pptx.table import Table

UNPACKED_BYTES = 200_000_000  # what an archive may unpack to
UNPACKED_XML_BYTES = 40_000_000  # what one part of its text may: parsed it takes many times its size
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg", ".bin", ".mp4")


def refuse_zip_bomb(archive: zipfile.ZipFile, source: str) -> None:
    """Raises for an archive that unpacks to too much, whether or not its directory says so."""
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


def read_pptx(data: bytes, source: str) -> Reading:
    """A PowerPoint file: a section for each slide that holds text, under its number and title."""
    from pptx import Presentation
    from pptx.shapes.graphfrm import GraphicFrame

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_zip_bomb(archive, source)
    outline, not_read = Outline(), 0
    for number, slide in enumerate(Presentation(io.BytesIO(data)).slides, start=1):
        title = slide.shapes.title
        named = plain_line(title.text_frame.text) if title is not None else ""
        outline.add_heading(1, f"slide {number}" + (f": {named}" if named else ""))
        waiting = list(reversed(slide.shapes))
        while waiting:
            shape = waiting.pop()
            if hasattr(shape, "shapes"):  # a group
                waiting += reversed(shape.shapes)
            elif shape.has_text_frame and shape != title:
                for paragraph in shape.text_frame.paragraphs:
                    outline.add(plain_line(paragraph.text), line_of="list")
            elif getattr(shape, "has_table", False):
                rows = _spanned(shape.table)
                outline.add_table(rows, header_rows=header_rows(rows) if shape.table.first_row else 0)
            elif isinstance(shape, GraphicFrame):
                not_read += 1
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            outline.add(slide.notes_slide.notes_text_frame.text)
    lost = (f"is read without what stands in charts or diagrams ({not_read})",) if not_read else ()
    return Reading(outline.sections(), lost=lost)


def _spanned(table: Table) -> list[Row]:
    """The rows of a table of a slide, with a cell that spans several rows in each of them."""
    rows = [list(row.cells) for row in table.rows]
    told: list[list[str | None]] = [[plain_line(cell.text) for cell in row] for row in rows]
    for top, row in enumerate(rows):
        for left, cell in enumerate(row):
            if cell.is_merge_origin:
                for below in told[top : top + cell.span_height]:
                    width = len(below[left : left + cell.span_width])
                    below[left : left + width] = [told[top][left], *[None] * (width - 1)]
    return list(told)


def read_epub(data: bytes, source: str) -> Reading:
    """An EPUB book: its pages in the order in which they are read."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_zip_bomb(archive, source)
        container = parsed_html(decoded(archive.read("META-INF/container.xml"), source), source)
        (root,) = container.find_all("rootfile", limit=1)
        package_name = str(root["full-path"])
        package = parsed_html(decoded(archive.read(package_name), source), source)
        files = {str(item.get("id")): str(item.get("href")) for item in package.find_all("item")}
        outline = Outline()
        for page in package.find_all("itemref"):
            if name := files.get(str(page.get("idref"))):
                name = posixpath.normpath(posixpath.join(posixpath.dirname(package_name), unquote(name)))
                text = decoded(archive.read(name), source)
                add_html(outline, parsed_html(text, source))
        title = package.find("dc:title")
    return with_title(outline.sections(), plain_line(title.get_text())[:HEADING_CHARACTERS] if title else "")
