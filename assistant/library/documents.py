"""Documents found and made ready to store: files, folders, records and streams.

    paths -> files -> a title and sections of text -> short sections joined -> passages

What cannot be read comes out as an `UnreadableDocument` in its place, and the next document follows.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeAlias

from assistant.library.cutting import PASSAGE_WORDS, cut, join_sections
from assistant.library.formats.outlines import NO_TEXT, NOT_TEXT, TOO_MUCH_MEMORY, Reading
from assistant.library.formats.plain_text import Section, plain_line, unwrapped
from assistant.library.formats.readers import (
    READERS,
    TEXT_BYTES,
    read_whole,
    too_large,
)
from assistant.library.formats.text_reader import text_sections
from stores.base.errors import UnreadableDocument
from stores.base.file_names import shown_path
from stores.base.file_states import FileState, WatchedFile
from stores.base.passages import HEADING_OF

RECORD_WORDS = 200  # up to here a record is a passage as it is
RECORD_BYTES = 16_000_000
PASSED_OVER_BYTES = 256_000_000  # of a line that is too long, to find the next one
MOST_BAD_RECORDS = 100  # in a file with fewer good ones: it is something else

_RECORDS = (".jsonl", ".jsonl.gz")
SUFFIXES = (*READERS, *_RECORDS)

_NO_FILE = "is not a file"
CHANGED_MEANWHILE = "was written to while it was read; `vouch docs refresh` reads it again"
_MOST_READINGS = 3  # of a file that is written to meanwhile
_UNKNOWN_KIND = "is of a kind that cannot be read; `vouch ingest --help` lists those that can"


@dataclass(frozen=True)
class PreparedPassage:
    """A piece of a document, ready to be encoded and stored."""

    title: str  # the document's title and the headings above the text
    text: str


@dataclass(frozen=True)
class PreparedDocument:
    """A document cleaned and cut into passages, in reading order."""

    source: str  # absolute path, the name given to a stream, or path#id of a record
    title: str
    content_hash: str  # SHA-256 of title and text, however they are cut
    passages: tuple[PreparedPassage, ...]
    external_id: str = ""  # the id that a record has in its file
    kind: str = "document"  # or entity: a knowledge base, each passage of which is one


@dataclass(frozen=True)
class ReadFile:
    """A file, behind what was read of it: so far it was read."""

    source: str  # of the document, or what comes before the # of its records
    state: FileState
    holds_records: bool

    def holds(self, source: str) -> bool:
        """Whether a document of this source was read from it."""
        return source == self.source or (self.holds_records and source.startswith(f"{self.source}#"))


Readable: TypeAlias = PreparedDocument | UnreadableDocument | ReadFile


@dataclass(frozen=True)
class FoundDocuments:
    """What a person's paths lead to."""

    files: tuple[Path, ...]  # absolute, each once; sorted within a folder
    skipped: int  # inside folders: hidden, or of a kind that cannot be read
    unreadable: tuple[UnreadableDocument, ...]


def find_documents(paths: Iterable[str | Path]) -> FoundDocuments:
    """The files that these paths name or hold. Links are followed, and no folder is entered twice."""
    files: list[Path] = []
    unreadable: list[UnreadableDocument] = []
    skipped = 0
    seen: set[Path] = set()
    for named in map(Path, paths):
        waiting = [named]
        while waiting:
            path = waiting.pop()
            is_named = path is named
            if not is_named and path.name.startswith("."):
                skipped += 1
                continue
            try:
                real = path.resolve(strict=True)
                if real.is_dir():
                    if real not in seen:
                        waiting += sorted(path.iterdir(), reverse=True)  # popped from the end
                elif real.is_file() and _suffix(path):
                    if real not in seen:
                        files.append(path.parent.resolve() / path.name)
                elif is_named:
                    raise UnreadableDocument(shown_path(path), _UNKNOWN_KIND if real.is_file() else _NO_FILE)
                else:
                    skipped += 1
                seen.add(real)
            except UnreadableDocument as error:
                unreadable.append(error)
            except (OSError, RuntimeError, ValueError) as error:  # links in a circle, impossible names
                unreadable.append(UnreadableDocument(shown_path(path), _reason(error)))
    return FoundDocuments(tuple(files), skipped, tuple(unreadable))


def record_files(files: Iterable[Path]) -> list[str]:
    """Those files that hold records, as the sources of these begin: path#id."""
    return [shown_path(file) for file in files if _suffix(file) in _RECORDS]


def read_documents(
    path: str | Path, *, passage_words: int = PASSAGE_WORDS, whole_up_to_words: int = RECORD_WORDS
) -> Iterator[PreparedDocument | UnreadableDocument]:
    """The documents of one file: its records if it holds some, otherwise the one that it is.

    whole_up_to_words: records of up to as many words are not cut.
    """
    read = read_file(path, passage_words=passage_words, whole_up_to_words=whole_up_to_words)
    return (each for each in read if not isinstance(each, ReadFile))


def read_file(
    path: str | Path, *, passage_words: int = PASSAGE_WORDS, whole_up_to_words: int = RECORD_WORDS
) -> Iterator[Readable]:
    """The same, and behind the documents what the file was like when it was read."""
    path = Path(path)
    source = shown_path(path)
    try:
        source = shown_path(path.parent.resolve() / path.name)
        suffix = _suffix(path)
        if not path.is_file():
            path.stat()
            raise UnreadableDocument(source, _NO_FILE)
        if not suffix:
            raise UnreadableDocument(source, _UNKNOWN_KIND)
        if suffix in _RECORDS:
            with WatchedFile(path) as watched, io.BufferedReader(watched) as file:
                try:
                    yield from _read_records(
                        gzip.GzipFile(fileobj=file) if suffix.endswith(".gz") else file,
                        source,
                        passage_words=passage_words,
                        whole_up_to_words=whole_up_to_words,
                    )
                except UnreadableDocument as error:
                    yield error
                    watched.read_on()
                read, has_changed = ReadFile(source, watched.state(), True), watched.has_changed
        else:
            reading, state, has_changed = _read_whole(path, source, suffix)
            title = reading.title or plain_line(shown_path(path.stem))
            yield _prepared(
                source, title, reading.sections, passage_words=passage_words, is_paged=reading.is_paged
            )
            for lost in reading.lost:
                yield UnreadableDocument(source, lost)
            read = ReadFile(source, state, False)
        if has_changed:
            yield UnreadableDocument(source, CHANGED_MEANWHILE)
        yield read
    except UnreadableDocument as error:
        yield error
    except (OSError, EOFError, zlib.error, RuntimeError, ValueError, MemoryError) as error:
        yield UnreadableDocument(source, _reason(error))


def read_stream(
    stream: TextIO, name: str, *, passage_words: int = PASSAGE_WORDS
) -> Iterator[PreparedDocument | UnreadableDocument]:
    """The one document that a stream of plain text holds, under the name it is given."""
    try:
        text = stream.read(TEXT_BYTES + 1)
        if len(text) > TEXT_BYTES:
            raise UnreadableDocument(name, too_large(TEXT_BYTES))
        if "\0" in text:
            raise UnreadableDocument(name, NOT_TEXT)
        yield _prepared(name, plain_line(name), text_sections(text), passage_words=passage_words)
    except UnreadableDocument as error:
        yield error
    except UnicodeError:
        yield UnreadableDocument(name, NOT_TEXT)
    except (OSError, MemoryError) as error:
        yield UnreadableDocument(name, _reason(error))


def _read_whole(path: Path, source: str, suffix: str) -> tuple[Reading, FileState, bool]:
    """What a file holds, what it was like, and whether it has changed meanwhile: then it is read again."""
    for left in reversed(range(_MOST_READINGS)):
        with WatchedFile(path) as watched, io.BufferedReader(watched) as file:
            try:
                reading = read_whole(file, source, suffix)
            except UnreadableDocument:
                if not (left and watched.has_changed):
                    raise
            else:
                if not (left and watched.has_changed):
                    return reading, watched.state(), watched.has_changed
    raise AssertionError("the last reading counts")


def _suffix(path: Path) -> str:
    """The suffix by which a file is read; empty where there is none."""
    name = path.name.lower()
    if ".so." in name:
        return ""  # libc.so.6 is no manual page of section 6
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix) and name != suffix), "")


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not there"
    if isinstance(error, PermissionError):
        return "may not be read by you"
    if isinstance(error, MemoryError):
        return TOO_MUCH_MEMORY
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return "is damaged: what follows cannot be unpacked"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return plain_line(said)[:200] or type(error).__name__


def _prepared(
    source: str,
    title: str,
    sections: Sequence[Section],
    *,
    passage_words: int,
    whole_up_to_words: int | None = None,
    external_id: str = "",
    is_paged: bool = False,
) -> PreparedDocument:
    digest = hashlib.sha256(title.encode())
    for section in sections:
        digest.update("\0".join(["", *section.path, "", section.text]).encode())
    passages = tuple(
        PreparedPassage(HEADING_OF.join((title, *section.path)), text)
        for section in (sections if is_paged else join_sections(sections, most_words=passage_words * 3 // 2))
        for text in cut(section.text, passage_words=passage_words, whole_up_to_words=whole_up_to_words)
    )
    if not passages:
        raise UnreadableDocument(source, NO_TEXT)
    return PreparedDocument(source, title, digest.hexdigest(), passages, external_id)


# Records


def _read_records(
    file: io.BufferedIOBase, source: str, *, passage_words: int, whole_up_to_words: int
) -> Iterator[PreparedDocument | UnreadableDocument]:
    """The records of a file, one JSON object a line with id, title and text."""
    number = read = bad = blank_bytes = 0
    while line := file.readline(RECORD_BYTES + 1):
        number += 1
        is_too_long = len(line) > RECORD_BYTES
        passed_over = 0
        while len(line) > RECORD_BYTES and not line.endswith(b"\n"):
            line = file.readline(RECORD_BYTES + 1)  # to the end of the line
            passed_over += len(line)
            if passed_over > PASSED_OVER_BYTES:
                raise UnreadableDocument(source, f"line {number} does not end; nothing after it was read")
        if not is_too_long and not line.strip():
            blank_bytes += len(line)
            if blank_bytes > RECORD_BYTES:
                raise UnreadableDocument(source, f"is mostly empty; nothing after line {number} was read")
            continue
        try:
            if is_too_long:
                raise ValueError(f"is longer than {RECORD_BYTES // 1_000_000} MB")
            external_id, title, text = _record(line)
            document = _prepared(
                f"{source}#{external_id}",
                title or external_id,
                [Section((), text)],
                passage_words=passage_words,
                whole_up_to_words=whole_up_to_words,
                external_id=external_id,
            )
        except (UnreadableDocument, ValueError) as error:
            reason = error.reason if isinstance(error, UnreadableDocument) else error
            yield UnreadableDocument(source, f"line {number} {reason}")
            bad += 1
            if bad >= MOST_BAD_RECORDS and bad > read:
                too_many = f"has more bad lines than good ones; nothing after line {number} was read"
                raise UnreadableDocument(source, too_many) from None
        else:
            yield document
            read += 1
    if not read and not bad:
        raise UnreadableDocument(source, "holds no records")


def _record(line: bytes) -> tuple[str, str, str]:
    """The id, title and text of a record; the title may be missing. Raises `ValueError` with the reason."""
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("is not valid JSON") from None
    if not isinstance(record, dict):
        raise ValueError("is not an object with id, title and text")
    given_id, title, text = record.get("id"), record.get("title"), record.get("text")
    if isinstance(given_id, bool) or not isinstance(given_id, str | int) or not plain_line(str(given_id)):
        raise ValueError("has no id; a record needs id and text, and may have a title")
    if not isinstance(text, str):
        raise ValueError("has no text")
    if title is not None and not isinstance(title, str):
        raise ValueError("has a title that is not text")
    return plain_line(str(given_id)), plain_line(title or ""), unwrapped(text)
