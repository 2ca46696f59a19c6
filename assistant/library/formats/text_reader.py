"""The reader of plain text, in whatever encoding."""

from __future__ import annotations

from assistant.library.formats.outlines import NOT_TEXT, Reading
from assistant.library.formats.plain_text import Section, unwrapped
from stores.base.errors import UnreadableDocument

_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32-le",  # before UTF-16, whose mark it begins with
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}

_CONTROL_BYTES = bytes({*range(32), 127} - {*b"\t\n\f\r"})

_HIGH_BYTES = bytes(range(128, 256))


def decoded(data: bytes, source: str, declared: str = "") -> str:
    """Bytes as text: by byte order mark, as declared, as UTF-8, or else as the old Western encoding.

    The last is only believed where few bytes are accented letters and next to none control characters.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise UnreadableDocument(source, NOT_TEXT) from None
    if b"\0" in data:
        raise UnreadableDocument(source, NOT_TEXT)
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    controls = len(data) - len(data.translate(None, _CONTROL_BYTES))
    if controls > len(data) // 100:
        raise UnreadableDocument(source, NOT_TEXT)
    accented = len(data) - len(data.translate(None, _HIGH_BYTES))
    if accented > len(data) * 0.3:
        raise UnreadableDocument(source, "is in an unknown encoding; save it as UTF-8")
    return data.decode("cp1252", errors="replace")


def read_text(data: bytes, source: str) -> Reading:
    """Text: one section without a heading."""
    return Reading([Section((), unwrapped(decoded(data, source)))])
