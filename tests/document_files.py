"""What the tests of the library share: files written in a moment, and what is read from them."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.library.documents import PreparedDocument, read_documents
from stores.base.errors import UnreadableDocument

LONG = " ".join(f"Sentence number {n} has exactly seven words." for n in range(1, 11))  # 70 words
Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def read(path: Path, **options: int) -> PreparedDocument:
    """The one document of a file that can be read."""
    (document,) = read_documents(path, **options)
    assert isinstance(document, PreparedDocument), document
    return document


def refusal(path: Path) -> str:
    """Why a file cannot be read."""
    (error,) = read_documents(path)
    assert isinstance(error, UnreadableDocument), error
    assert error.source == str(path)
    return error.reason


def pairs(document: PreparedDocument) -> list[tuple[str, str]]:
    return [(passage.title, passage.text) for passage in document.passages]


def characters(text: str) -> str:
    return "".join(text.split())


def laid_out(pages: list[str], *, password: str = "") -> bytes:
    """A PDF whose pages have these contents, in the language of PDF."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(600, 800)
        content = DecodedStreamObject()
        content.set_data(text.encode())
        page[NameObject("/Contents")] = writer._add_object(content)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def put(x: float, y: float, text: str, *, size: int = 12, degrees: float = 0) -> str:
    """A line of text; y: from the bottom. degrees: by which it is turned to the left."""
    across, up = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return f"BT /F1 {size} Tf {across:.4f} {up:.4f} {-up:.4f} {across:.4f} {x} {y} Tm ({text}) Tj ET "
