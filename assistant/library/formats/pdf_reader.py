"""The reader of PDF files."""

from __future__ import annotations

import io
import logging
import re

from assistant.library.formats.outlines import NO_TEXT, TOO_MUCH, TOO_MUCH_MEMORY, Reading
from assistant.library.formats.plain_text import Section, plain, unwrapped
from stores.base.errors import UnreadableDocument


def read_pdf(data: bytes, source: str) -> Reading:
    """A PDF: a section for each page that holds text."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs whatever it repairs
    sections: list[Section] = []
    lost: list[str] = []
    try:
        for number, page in enumerate(PdfReader(io.BytesIO(data)).pages, start=1):
            try:
                text = page.extract_text()
            except (FileNotDecryptedError, DependencyError):
                raise
            except (LimitReachedError, MemoryError) as error:
                reason = TOO_MUCH_MEMORY if isinstance(error, MemoryError) else TOO_MUCH
                lost.append(f"page {number} {reason}")
                continue
            except Exception as error:  # noqa: BLE001 - as for whole files; the other pages can be read
                lost.append(f"page {number} is damaged ({type(error).__name__})")
                continue
            text = unwrapped(_HYPHENATED.sub("", plain(text)))
            if text:
                sections.append(Section((f"page {number}",), text))
    except (FileNotDecryptedError, DependencyError):
        raise UnreadableDocument(source, "is encrypted; save a copy without a password") from None
    except LimitReachedError:
        raise UnreadableDocument(source, TOO_MUCH) from None
    if not sections:
        reason = lost[0] if lost else f"{NO_TEXT}; it may be a scan, which only shows pictures of text"
        raise UnreadableDocument(source, reason)
    return Reading(sections, is_paged=True, lost=tuple(lost))


_HYPHENATED = re.compile(r"(?<=[a-zß-ÿ])-[ \t]*\n[ \t]*(?=[a-zß-ÿ])")
