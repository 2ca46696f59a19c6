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
from assistant.library.formats.man_reader import read_man
from assistant.library.formats.markdown_reader import read_markdown
from assistant.library.formats.outlines import TOO_MUCH, TOO_MUCH_MEMORY, Reading
from assistant.library.formats.packed_files import read_epub, read_pptx
from assistant.library.formats.pdf_reader import read_pdf
from assistant.library.formats.table_readers import read_csv, read_xlsx
from assistant.library.formats.text_kinds import read_code, read_eml, read_notebook, read_org, read_rst
from assistant.library.formats.text_reader import read_text
from stores.base.errors import UnreadableDocument

WHOLE_FILE_BYTES = 100_000_000  # PDF and .docx, which are mostly pictures
TEXT_BYTES = 20_000_000  # text, Markdown and HTML: cut or parsed they take many times their size
_ALWAYS_CHARACTERS = 5_000_000  # of text that any file may hold, and so many more for each of its bytes:
_CHARACTERS_OF_A_BYTE = 20  # what is packed or said once for many places comes out longer
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
            reading = READERS[suffix].read(data, source)
    except UnreadableDocument:
        raise
    except MemoryError:
        raise UnreadableDocument(source, TOO_MUCH_MEMORY) from None
    except RecursionError:
        raise UnreadableDocument(source, _TOO_DEEP) from None
    except Exception as error:  # there is nothing that parsers do not raise on damaged files
        reason = f"is damaged, or not what its name says ({type(error).__name__})"
        raise UnreadableDocument(source, reason) from error
    told = sum(len(section.text) + sum(map(len, section.path)) for section in reading.sections)
    if told > _ALWAYS_CHARACTERS + _CHARACTERS_OF_A_BYTE * len(data):
        raise UnreadableDocument(source, TOO_MUCH)
    return reading


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


_CODE = (
    ".py .js .ts .jsx .tsx .go .rs .c .h .cc .cpp .hpp .java .kt .swift .rb .php .pl .lua .sh .bash .sql .r "
    ".css .toml .yaml .yml .ini .cfg .json .xml"
).split()

_MANUAL = [f".{section}{packed}" for section in (*range(1, 10), "man", "mdoc") for packed in ("", ".gz")]

READERS = {
    **dict.fromkeys((".txt", ".log", ".text"), _Kind(read_text, TEXT_BYTES)),
    **dict.fromkeys((".md", ".markdown"), _Kind(read_markdown, TEXT_BYTES)),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _Kind(read_html, TEXT_BYTES)),
    **dict.fromkeys((".csv", ".tsv"), _Kind(read_csv, TEXT_BYTES)),
    **dict.fromkeys(_MANUAL, _Kind(read_man, TEXT_BYTES)),
    ".rst": _Kind(read_rst, TEXT_BYTES),
    ".org": _Kind(read_org, TEXT_BYTES),
    ".eml": _Kind(read_eml, TEXT_BYTES),
    ".ipynb": _Kind(read_notebook, TEXT_BYTES),
    ".pdf": _Kind(read_pdf, WHOLE_FILE_BYTES),
    ".docx": _Kind(read_docx, WHOLE_FILE_BYTES),
    ".pptx": _Kind(read_pptx, WHOLE_FILE_BYTES),
    ".xlsx": _Kind(read_xlsx, WHOLE_FILE_BYTES),
    ".epub": _Kind(read_epub, WHOLE_FILE_BYTES),
    **dict.fromkeys(_CODE, _Kind(read_code, TEXT_BYTES)),
}
