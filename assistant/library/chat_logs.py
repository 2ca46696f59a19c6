"""Exports of other chat programs, read one conversation at a time: files of ChatGPT, Claude and `llm`.

Which program a file is of is told by what it holds, not by its name. Files are untrusted: there are limits
on what is read, unpacked and held at once, and whatever is wrong with a file is one `UnreadableDocument`.
"""

from __future__ import annotations

import codecs
import io
import json
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from assistant.library.chat_log_formats import chatgpt_session, claude_session, llm_session, llm_sessions
from stores.errors import UnreadableDocument
from stores.session_import import ToldSession

MOST_BYTES = 500_000_000  # of a file, and of what is unpacked from one
_MOST_OF_ONE = 64_000_000  # characters of one conversation
_PIECE = 1 << 20
_LONGEST_VALUE = 20_000_000  # bytes of one value in a database
_RESPONSES = (
    "SELECT r.id, r.conversation_id, r.model, r.prompt, r.response, r.datetime_utc, {name} "
    "FROM responses AS r {join} ORDER BY coalesce(r.conversation_id, r.id), r.datetime_utc, r.id"
)


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
                yield from _of_database(path)
            elif beginning.startswith(b"PK"):
                yield from _of_archive(path, file)
            else:
                yield from _of_json(path, file)
    except OSError as error:
        raise UnreadableDocument(path, error.strerror or type(error).__name__) from error


# Archives


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
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
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
    rows: list[Mapping[str, Any]] = []  # of llm, whose conversations are spread over them
    is_known = False
    for record in _records(path, file):
        if isinstance(record.get("mapping"), dict):
            is_known, session = True, chatgpt_session(record)
        elif isinstance(record.get("chat_messages"), list):
            is_known, session = True, claude_session(record)
        elif "prompt" in record and "response" in record:
            is_known, session = True, None
            rows.append(record)
        else:
            session = None
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
        raise UnreadableDocument(path, "it is no JSON list of conversations")
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
        self._unread = ""
        self._is_whole = False
        self._json = json.JSONDecoder()

    def next_character(self) -> str:
        """The next one that is no blank, not taken yet; empty at the end."""
        while True:
            self._unread = self._unread.lstrip(" \t\r\n")
            if self._unread or self._is_whole:
                return self._unread[:1]
            self._read_more(_PIECE)

    def skip(self) -> None:
        """Takes one character."""
        self._unread = self._unread[1:]

    def take_object(self) -> Mapping[str, Any]:
        """Takes the object that comes next. What is read is doubled until it is whole."""
        while True:
            try:
                found, end = self._json.raw_decode(self._unread)
            except RecursionError as error:
                raise UnreadableDocument(self._path, "a conversation in it is nested too deeply") from error
            except ValueError as error:
                if self._is_whole:
                    raise UnreadableDocument(self._path, _wrong(error)) from error
            else:
                self._unread = self._unread[end:]
                assert isinstance(found, dict), "it begins with a brace"
                return found
            if len(self._unread) > _MOST_OF_ONE:
                most = f"{_MOST_OF_ONE / 1e6:,.0f} million characters"
                raise UnreadableDocument(self._path, f"a conversation in it has more than {most}, or no end")
            self._read_more(max(_PIECE, len(self._unread)))

    def _read_more(self, size: int) -> None:
        read = bytearray()
        while len(read) < size:
            piece = self._file.read(size - len(read))
            if not piece:
                self._is_whole = True
                break
            read += piece
        try:
            self._unread += self._decode.decode(bytes(read), final=self._is_whole)
        except UnicodeDecodeError as error:
            raise UnreadableDocument(self._path, "it is no text in UTF-8") from error


def _wrong(error: ValueError) -> str:
    return f"it is damaged or torn: {error}"


# Databases of llm


def _of_database(path: Path) -> Iterator[ToldSession]:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
            connection.execute("PRAGMA trusted_schema = OFF")
            tables = {
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            if "responses" not in tables:
                raise UnreadableDocument(path, "it is no log of llm: it has no table of responses")
            has_names = "conversations" in tables
            join = "LEFT JOIN conversations AS c ON c.id = r.conversation_id" if has_names else ""
            statement = _RESPONSES.format(name="c.name" if has_names else "''", join=join)
            rows = (_row(values) for values in connection.execute(statement))
            for key, of_one in groupby(rows, key=lambda row: row["conversation_id"] or row["id"]):
                session = llm_session(key if isinstance(key, str) else "", list(of_one))
                if session is not None:
                    yield session
    except sqlite3.Error as error:
        raise UnreadableDocument(path, f"SQLite says: {error}") from error


def _row(values: tuple[Any, ...]) -> Mapping[str, Any]:
    names = ("id", "conversation_id", "model", "prompt", "response", "datetime_utc", "conversation_name")
    return dict(zip(names, values, strict=True))
