"""The readers of files that are archives of pages: PowerPoint and EPUB."""

from __future__ import annotations

import io
import posixpath
import zipfile
from urllib.parse import unquote

from assistant.library.formats.html_reader import add_html, parsed_html
from assistant.library.formats.outlines import HEADING_CHARACTERS, Outline, Reading, with_title
from assistant.library.formats.plain_text import plain_line
from assistant.library.formats.text_reader import decoded
from stores.base.errors import UnreadableDocument

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

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        refuse_zip_bomb(archive, source)
    outline = Outline()
    for number, slide in enumerate(Presentation(io.BytesIO(data)).slides, start=1):
        title = slide.shapes.title
        named = plain_line(title.text_frame.text) if title is not None else ""
        outline.add_heading(1, f"slide {number}" + (f": {named}" if named else ""))
        for shape in slide.shapes:
            if shape.has_text_frame and shape != title:
                for paragraph in shape.text_frame.paragraphs:
                    outline.add(plain_line(paragraph.text), line_of="list")
            elif getattr(shape, "has_table", False):
                rows = [[plain_line(cell.text) for cell in row.cells] for row in shape.table.rows]
                outline.add_table(rows, header_rows=int(shape.table.first_row and len(rows) > 1))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            outline.add(slide.notes_slide.notes_text_frame.text)
    return Reading(outline.sections())


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
