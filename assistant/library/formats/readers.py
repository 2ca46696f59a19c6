"""Readers of whole files: bytes become a title and sections of text.

Each knows one format and nothing of passages. The libraries that know a format are loaded when the
first such file is read. A file that cannot be read is an `UnreadableDocument`, whatever is wrong with it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import IO, Protocol

from assistant.library.formats.docx_reader import read_docx
from assistant.library.formats.html_reader import read_html
from assistant.library.formats.markdown_reader import read_markdown
from assistant.library.formats.outlines import TOO_MUCH_MEMORY, Reading
from assistant.library.formats.pdf_reader import read_pdf
from assistant.library.formats.text_reader import read_text
from stores.base.errors import UnreadableDocument

WHOLE_FILE_BYTES = 100_000_000  # PDF and .docx, which are mostly pictures
TEXT_BYTES = 20_000_000  # text, Markdown and HTML: cut or parsed they take many times their size
_TOO_DEEP = "is nested too deeply to be read"


def read_whole(file: IO[bytes], source: str, suffix: str) -> Reading:
    """What the reader of files with this suffix, one of `READERS`, makes of a file."""
    limit = READERS[suffix].limit_bytes
    data = file.read(limit + 1) or b""  # None: what pretends to be a file has nothing yet
    if len(data) > limit:
        raise UnreadableDocument(source, too_large(limit))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parsers comment on what they had to guess
            return READERS[suffix].read(data, source)
    except UnreadableDocument:
        raise
    except MemoryError:
        raise UnreadableDocument(source, TOO_MUCH_MEMORY) from None
    except RecursionError:
        raise UnreadableDocument(source, _TOO_DEEP) from None
    except Exception as error:  # there is nothing that parsers do not raise on damaged files
        reason = f"is damaged, or not what its name says ({type(error).__name__})"
        raise UnreadableDocument(source, reason) from error


def too_large(limit_bytes: int) -> str:
    """Why something of more than `limit_bytes` is not read."""
    return f"is larger than {limit_bytes // 1_000_000} MB; cut it into smaller files"


class _Reader(Protocol):
    def __call__(self, data: bytes, source: str) -> Reading: ...


@dataclass(frozen=True)
class _Kind:
    """How files of one suffix are read."""

    read: _Reader
    limit_bytes: int


_TEXT = _Kind(read_text, TEXT_BYTES)

_MARKDOWN = _Kind(read_markdown, TEXT_BYTES)

_HTML = _Kind(read_html, TEXT_BYTES)

READERS = {
    ".txt": _TEXT,
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": _Kind(read_pdf, WHOLE_FILE_BYTES),
    ".docx": _Kind(read_docx, WHOLE_FILE_BYTES),
}
