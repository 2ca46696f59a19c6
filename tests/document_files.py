"""What the tests of the library share: files written in a moment, and what is read from them."""

from __future__ import annotations

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
