"""Exports of other chat programs, read one conversation at a time: files of ChatGPT, Claude and `llm`.

Which program a file is of is told by what it holds, not by its name. Files are untrusted: there are limits
on what is read, unpacked and held at once, and whatever is wrong with a file is one `UnreadableDocument`.
"""

from __future__ import annotations

import codecs
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from assistant.library.chat_logs.formats import LlmRow, chatgpt_session, claude_session, llm_row, llm_sessions
from assistant.library.chat_logs.llm_database import sessions_of_database
from stores.base.errors import UnreadableDocument
from stores.conversation.imported_sessions import ToldSession

MOST_BYTES = 500_000_000  # of a file, and of what is unpacked from one
_MOST_OF_ONE = 64_000_000  # characters of one conversation
_MOST_HELD, _MOST_ROWS = 100_000_000, 500_000  # characters and rows of llm in JSON: all are held at once
_PIECE = 1 << 20
_BLANKS = re.compile(r"[ \t\r\n]*")


def read_chat_log(path: Path) -> Iterator[ToldSession]:
    """The sessions of a file, in its order. Raises `UnreadableDocument`, also in the midst of it."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size > MOST_BYTES:
                raise UnreadableDocument(
                    path, f"it has {size / 1e6:,.0f} MB; {MOST_BYTES / 1e6:,.0f} MB can be read"
                )
            beginning = file.read(16)
            file.seek(0)
            if beginning.startswith(b"SQLite format 3\0"):
                yield from sessions_of_database(path)
            elif beginning.startswith(b"PK"):
                yield from _of_archive(path, file)
            else:
                yield from _of_json(path, file)
    except OSError as error:
        raise UnreadableDocument(path, error.strerror or type(error).__name__) from error


# Archives

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    UnicodeError,  # in the name of a file
    NotImplementedError,
    RuntimeError,  # it wants a password
)


def _of_archive(path: Path, file: BinaryIO) -> Iterator[ToldSession]:
    try:
        with zipfile.ZipFile(file) as archive:
            names = [n for n in archive.namelist() if _is_conversations(n)]
            if not names:
                raise UnreadableDocument(path, "there is no conversations.json in it")
            left = MOST_BYTES
            for name in sorted(names):
                with archive.open(name) as packed:
                    unpacked = _Limited(packed, left, path)
                    yield from _of_json(path, unpacked)
                    left = unpacked.left
    except _DAMAGED as error:
        raise UnreadableDocument(path, f"it cannot be unpacked: {error}") from error


def _is_conversations(name: str) -> bool:
    """conversations.json, or conversations-003.json where there are several."""
    last = name.rpartition("/")[2]
    return last.startswith("conversations") and last.endswith(".json")


class _Limited(io.RawIOBase):
    """Reads so many bytes and no more: what is packed may be made up to be endless."""

    def __init__(self, packed: Any, left: int, path: Path) -> None:
        self._packed, self.left, self._path = packed, left, path

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece: bytes = self._packed.read(min(size, _PIECE) if size > 0 else _PIECE)
        self.left -= len(piece)
        if self.left < 0:
            raise UnreadableDocument(self._path, f"more than {MOST_BYTES / 1e6:,.0f} MB are packed into it")
        return piece


# JSON


def _of_json(path: Path, file: Any) -> Iterator[ToldSession]:
    rows: list[LlmRow] = []  # whose conversations are spread over them
    held = 0
    is_known = False
    for record in _records(path, file):
        session = None
        if isinstance(record.get("mapping"), dict):
            is_known, session = True, chatgpt_session(record)
        elif isinstance(record.get("chat_messages"), list):
            is_known, session = True, claude_session(record)
        elif "prompt" in record and "response" in record:
            is_known = True
            rows.append(llm_row(record))
            held += rows[-1].characters
            if held > _MOST_HELD or len(rows) > _MOST_ROWS:
                raise UnreadableDocument(path, "it is too long; import the database of llm (logs.db) instead")
        if session is not None:
            yield session
    if not is_known:
        raise UnreadableDocument(path, "it holds no conversation of ChatGPT, Claude or llm")
    yield from llm_sessions(rows)


def _records(path: Path, file: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSON list, or the one object there is, without holding more than one of them."""
    text = _Text(path, file)
    first = text.next_character()
    if first == "{":
        yield text.take_object()
        return
    if first != "[":
        raise UnreadableDocument(path, "expected a JSON list of conversations")
    text.skip()
    while (character := text.next_character()) != "]":
        if character == ",":
            text.skip()
        elif character == "{":
            yield text.take_object()
        else:
            raise UnreadableDocument(path, "it is damaged: an object was to come" if character else _TORN)


_TORN = "it ends in the midst of a conversation"


class _Text:
    """JSON as it is read, from where it was read to."""

    def __init__(self, path: Path, file: Any) -> None:
        self._path, self._file = path, file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0  # what is before it was taken: it goes when more is read, and not with each object
        self._is_whole = False
        self._json = json.JSONDecoder()

    def next_character(self) -> str:
        """The next one that is no blank, not taken yet; empty at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            assert blanks is not None, "none is enough"
            self._at = blanks.end()
            if self._at < len(self._text) or self._is_whole:
                return self._text[self._at : self._at + 1]
            self._read_more(_PIECE)

    def skip(self) -> None:
        """Takes one character."""
        self._at += 1

    def take_object(self) -> Mapping[str, Any]:
        """Takes the object that comes next. What is read is doubled until it is whole."""
        while True:
            try:
                found, end = self._json.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise UnreadableDocument(self._path, "a conversation in it is nested too deeply") from error
            except ValueError as error:
                if self._is_whole:
                    raise UnreadableDocument(self._path, _wrong(error)) from error
            else:
                self._at = end
                assert isinstance(found, dict), "it begins with a brace"
                return found
            waiting = len(self._text) - self._at
            if waiting > _MOST_OF_ONE:
                most = f"{_MOST_OF_ONE / 1e6:,.0f} million characters"
                raise UnreadableDocument(self._path, f"a conversation in it has more than {most}, or no end")
            self._read_more(max(_PIECE, waiting))

    def _read_more(self, size: int) -> None:
        read = bytearray()
        while len(read) < size:
            piece = self._file.read(size - len(read))
            if not piece:
                self._is_whole = True
                break
            read += piece
        try:
            more = self._decode.decode(bytes(read), final=self._is_whole)
        except UnicodeDecodeError as error:
            raise UnreadableDocument(self._path, "it is no text in UTF-8") from error
        self._text, self._at = self._text[self._at :] + more, 0


def _wrong(error: ValueError) -> str:
    return f"it is damaged or torn: {error}"
