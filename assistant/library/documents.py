"""Files, folders, records and streams read as text, cut into passages.

    paths -> files -> a title and sections of text -> short sections joined -> passages

Every reader turns its format into a title and sections, and knows nothing of passages. What cannot be
read comes out as an `UnreadableDocument` in its place, and the next document follows. The libraries
that know a format are loaded when the first such file is read.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import logging
import re
import unicodedata
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, TextIO

from agents.sentences import breaks_between, sentences
from stores.errors import UnreadableDocument

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph
    from markdown_it.token import Token

PASSAGE_WORDS = 100
RECORD_WORDS = 200  # up to here a record is a passage as it is

WHOLE_FILE_BYTES = 100_000_000  # what is read into memory at once
MARKUP_BYTES = 20_000_000  # Markdown and HTML: parsed they take many times their size
UNPACKED_BYTES = 200_000_000  # what a .docx may unpack to
RECORD_BYTES = 16_000_000

_HEADING_CHARACTERS = 200  # a longer heading is a paragraph: it would stand over every passage
_SHORT_SECTION_WORDS = 25


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
    external_id: str = ""  # the id a collection gave its record


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
                    raise UnreadableDocument(_shown(path), _UNKNOWN_KIND if real.is_file() else _NO_FILE)
                else:
                    skipped += 1
                seen.add(real)
            except UnreadableDocument as error:
                unreadable.append(error)
            except (OSError, RuntimeError, ValueError) as error:  # links in a circle, impossible names
                unreadable.append(UnreadableDocument(_shown(path), _reason(error)))
    return FoundDocuments(tuple(files), skipped, tuple(unreadable))


def read_documents(
    path: str | Path, *, passage_words: int = PASSAGE_WORDS, whole_up_to_words: int = RECORD_WORDS
) -> Iterator[PreparedDocument | UnreadableDocument]:
    """The documents of one file: its records if it is a collection, otherwise the one that it is.

    whole_up_to_words: records of up to as many words are not cut.
    """
    path = Path(path)
    source = _shown(path)
    try:
        source = _shown(path.parent.resolve() / path.name)
        suffix = _suffix(path)
        if not path.is_file():
            path.stat()
            raise UnreadableDocument(source, _NO_FILE)
        if not suffix:
            raise UnreadableDocument(source, _UNKNOWN_KIND)
        with path.open("rb") as file:
            if suffix in _COLLECTIONS:
                yield from _read_records(
                    gzip.GzipFile(fileobj=file) if suffix.endswith(".gz") else file,
                    source,
                    passage_words=passage_words,
                    whole_up_to_words=whole_up_to_words,
                )
                return
            reading = _read_whole(file, source, suffix)
        title = reading.title or one_line(_shown(path.stem))
        yield _prepared(
            source, title, reading.sections, passage_words=passage_words, is_paged=reading.is_paged
        )
        for lost in reading.lost:
            yield UnreadableDocument(source, lost)
    except UnreadableDocument as error:
        yield error
    except (OSError, EOFError, zlib.error, RuntimeError, ValueError) as error:
        yield UnreadableDocument(source, _reason(error))


def read_stream(
    stream: TextIO, name: str, *, passage_words: int = PASSAGE_WORDS
) -> Iterator[PreparedDocument | UnreadableDocument]:
    """The one document that a stream of plain text holds, under the name it is given."""
    try:
        text = stream.read(WHOLE_FILE_BYTES + 1)
        if len(text) > WHOLE_FILE_BYTES:
            raise UnreadableDocument(name, _too_large(WHOLE_FILE_BYTES))
        if "\0" in text:
            raise UnreadableDocument(name, _NOT_TEXT)
        yield _prepared(name, one_line(name), [_Section((), unwrapped(text))], passage_words=passage_words)
    except UnreadableDocument as error:
        yield error
    except UnicodeError:
        yield UnreadableDocument(name, _NOT_TEXT)
    except OSError as error:
        yield UnreadableDocument(name, _reason(error))


_NO_FILE = "is not a file"
_NOT_TEXT = "is not text"
_NO_TEXT = "holds no text"


def _too_large(limit: int) -> str:
    return f"is larger than {limit // 1_000_000} MB; cut it into smaller files"


def _shown(path: str | Path) -> str:
    """A path as it can be printed and stored, also where its name is not valid UTF-8."""
    return re.sub(r"[\n\t]", "�", _UNWANTED.sub("�", str(path)))


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not there"
    if isinstance(error, PermissionError):
        return "may not be read by you"
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return "is damaged: what follows cannot be unpacked"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return one_line(said)[:200] or type(error).__name__


# --- Text


_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\ud800-\udfff\ufeff]")
# Sorting a long run of combining marks, which NFC does, takes time that grows with its square.
_MARK = "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_TOO_MANY_MARKS = re.compile(rf"({_MARK}{{30}}){_MARK}+")


def plain(text: str) -> str:
    r"""The text without control characters, other than \n and \t, and in Unicode's composed form (NFC).

    Invisible characters that only get in the way of finding a word (soft hyphens, zero-width spaces)
    and halves of surrogate pairs go too.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
    return text if text.isascii() else unicodedata.normalize("NFC", _TOO_MANY_MARKS.sub(r"\1", text))


def one_line(text: str) -> str:
    """The text, plain, with every run of white space as one space."""
    return " ".join(plain(text).split())


def unwrapped(text: str) -> str:
    """The text, plain, each paragraph on one line; an empty line stands between paragraphs.

    Lines that seem to have been ended on purpose, such as list items, stay lines of their own.
    """
    pieces: list[str] = []
    before = ""
    for line in plain(text).split("\n"):
        line = " ".join(line.split())
        if line and pieces:
            pieces.append("\n\n" if not before else "\n" if breaks_between(before, line) else " ")
        if line:
            pieces.append(line)
        before = line
    return "".join(pieces)


# --- Passages


@dataclass(frozen=True)
class _Piece:
    """A sentence, or a part of one that is too long, as `cut` weighs it."""

    start: int
    end: int
    words: int
    ends_paragraph: bool


# Scripts that put no spaces between words count by the character, and a run without spaces that is
# longer than any word counts as several.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_COUNTED_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]{{1,100}}")


def count_words(text: str) -> int:
    """How many words a text has, as the length of passages is measured."""
    return sum(1 for _ in _COUNTED_WORD.finditer(text))


def cut(text: str, *, passage_words: int = PASSAGE_WORDS, whole_up_to_words: int | None = None) -> list[str]:
    """A text as passages of about `passage_words` words each, cut where sentences end.

    The passages are alike in length, rather than all full but the last, and a cut moves by up to a
    third of a passage to fall between paragraphs. A text of up to `whole_up_to_words` (by default one
    and a half passages) stays whole; a sentence of more than two passages is cut between words. All
    characters but space survive, in order. A text that is cut has passages of a quarter to 2.5 times
    `passage_words` words, and of much nearer to it where its sentences are not long.
    """
    whole_words = passage_words * 3 // 2 if whole_up_to_words is None else whole_up_to_words
    left = count_words(text)
    if left <= whole_words:
        return [text.strip()] if left else []
    passages: list[str] = []
    pieces = _pieces(text, passage_words)
    first = 0
    wanted = max(1, round(left / passage_words))
    while first < len(pieces):
        if not 0.6 * passage_words <= left / wanted <= 1.5 * passage_words:
            wanted = max(1, round(left / passage_words))
        last, words = _passage_end(pieces, first, left=left, wanted=wanted, fewest=passage_words / 4)
        passages.append(text[pieces[first].start : pieces[last].end])
        left -= words
        wanted = max(1, wanted - 1)
        first = last + 1
    return passages


def _passage_end(
    pieces: Sequence[_Piece], first: int, *, left: int, wanted: int, fewest: float
) -> tuple[int, int]:
    """The last piece of the passage that begins with `first`, and the passage's words.

    Chooses the end nearest to an even share of what is left, so that neither this passage nor the rest
    has fewer than `fewest` words.
    """
    share = left / wanted
    words = 0
    best = (float("inf"), len(pieces) - 1, left)
    for index in range(first, len(pieces)):
        words += pieces[index].words
        if words > 1.4 * share and best[0] < float("inf"):
            break
        if words < fewest or 0 < left - words < fewest:
            continue
        distance = abs(words - share) - (share / 3 if pieces[index].ends_paragraph else 0)
        best = min(best, (distance, index, words))
    return best[1], best[2]


def _pieces(text: str, passage_words: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    found = sentences(text)
    for index, sentence in enumerate(found):
        following = found[index + 1].start if index + 1 < len(found) else len(text)
        ends_paragraph = "\n" in text[sentence.end : following]
        words = count_words(sentence.text)
        if words <= 2 * passage_words:
            pieces.append(_Piece(sentence.start, sentence.end, words, ends_paragraph))
            continue
        parts = round(words / passage_words)
        spans = [match.span() for match in _COUNTED_WORD.finditer(text, sentence.start, sentence.end)]
        for part in range(parts):
            own = spans[part * words // parts : (part + 1) * words // parts]
            is_last = part == parts - 1
            pieces.append(_Piece(own[0][0], own[-1][1], len(own), ends_paragraph and is_last))
    return pieces


@dataclass(frozen=True)
class _Section:
    """Text under one heading."""

    path: tuple[str, ...]  # the headings above it, from the outermost
    text: str


def _prepared(
    source: str,
    title: str,
    sections: Sequence[_Section],
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
        PreparedPassage(" › ".join((title, *section.path)), text)
        for section in (sections if is_paged else _joined(sections, most_words=passage_words * 3 // 2))
        for text in cut(section.text, passage_words=passage_words, whole_up_to_words=whole_up_to_words)
    )
    if not passages:
        raise UnreadableDocument(source, _NO_TEXT)
    return PreparedDocument(source, title, digest.hexdigest(), passages, external_id)


def _joined(sections: Iterable[_Section], *, most_words: int) -> list[_Section]:
    """The sections, without those too short to be a passage of their own.

    A heading without text stands before the next text, unless it is above it anyway. A short section is
    joined with the one after it if that has the same parent and both together have at most `most_words`;
    they then stand under the parent, their headings in the text.
    """
    joined: list[_Section] = []
    bare: list[tuple[str, ...]] = []  # headings without text since the last text
    for section in sections:
        if not section.text:
            bare += [section.path] if section.path else []
            continue
        headings = [path[-1] for path in bare if section.path[: len(path)] != path]
        bare.clear()
        section = _Section(section.path, "\n\n".join([*headings, section.text]))
        before = joined[-1] if joined else None
        if before and section.path and _are_joined(before, section, most_words):
            parent = section.path[:-1]
            earlier = before.text if before.path == parent else f"{before.path[-1]}\n\n{before.text}"
            joined[-1] = _Section(parent, f"{earlier}\n\n{section.path[-1]}\n\n{section.text}")
        else:
            joined.append(section)
    if bare:
        closing = "\n\n".join(path[-1] for path in bare)
        last = joined.pop() if joined else _Section((), "")
        joined.append(_Section(last.path, f"{last.text}\n\n{closing}".strip()))
    return joined


def _are_joined(before: _Section, section: _Section, most_words: int) -> bool:
    parent = section.path[:-1]
    if parent != before.path and (not before.path or parent != before.path[:-1]):
        return False
    words = count_words(before.text)
    return words < _SHORT_SECTION_WORDS and words + count_words(section.text) <= most_words


# --- Records


def _read_records(
    file: io.BufferedIOBase, source: str, *, passage_words: int, whole_up_to_words: int
) -> Iterator[PreparedDocument | UnreadableDocument]:
    """The records of a collection, one JSON object a line with id, title and text."""
    number = 0
    while line := file.readline(RECORD_BYTES + 1):
        number += 1
        is_too_long = len(line) > RECORD_BYTES
        while len(line) > RECORD_BYTES and not line.endswith(b"\n"):
            line = file.readline(RECORD_BYTES + 1)  # to the end of the line
        if not is_too_long and not line.strip():
            continue
        try:
            if is_too_long:
                raise ValueError(f"is longer than {RECORD_BYTES // 1_000_000} MB")
            external_id, title, text = _record(line)
            document = _prepared(
                f"{source}#{external_id}",
                title or external_id,
                [_Section((), text)],
                passage_words=passage_words,
                whole_up_to_words=whole_up_to_words,
                external_id=external_id,
            )
        except UnreadableDocument as error:
            yield UnreadableDocument(source, f"line {number} {error.reason}")
        except ValueError as error:
            yield UnreadableDocument(source, f"line {number} {error}")
        else:
            yield document


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
    if isinstance(given_id, bool) or not isinstance(given_id, str | int) or not one_line(str(given_id)):
        raise ValueError("has no id")
    if not isinstance(text, str):
        raise ValueError("has no text")
    if title is not None and not isinstance(title, str):
        raise ValueError("has a title that is not text")
    return one_line(str(given_id)), one_line(title or ""), unwrapped(text)


# --- Readers of whole files: bytes become a title and sections


@dataclass(frozen=True)
class _Reading:
    """What a reader made of a file."""

    sections: list[_Section]
    title: str = ""  # empty: the file's name is its title
    is_paged: bool = False  # the sections are pages, which stay apart so that each can be named
    lost: tuple[str, ...] = ()  # parts that could not be read, each a reason


class _Outline:
    """Collects a document's paragraphs under its headings."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []  # those above what comes next: (level, words)
        self._blocks: list[str] = []
        self._line_of = ""  # what the last block is a line of
        self._sections: list[_Section] = []

    def add_heading(self, level: int, text: str) -> None:
        """A heading; level 1 is the outermost."""
        text = one_line(text)
        if not text or len(text) > _HEADING_CHARACTERS:
            self.add(text)
            return
        self._close_section()
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, text))

    def add(self, text: str, *, line_of: str = "") -> None:
        """A paragraph, or a line of something ("list", "table"), which follows the one before directly."""
        lines = (" ".join(line.split()) for line in plain(text).split("\n"))
        self._append("\n".join(line for line in lines if line), line_of=line_of)

    def add_code(self, text: str) -> None:
        """Text whose spaces and lines carry meaning."""
        self._append("\n".join(line.rstrip() for line in plain(text).split("\n")).strip("\n"))

    def sections(self) -> list[_Section]:
        """All that was added, in order."""
        self._close_section()
        return self._sections

    def _append(self, text: str, *, line_of: str = "") -> None:
        if text:
            if self._blocks:
                self._blocks.append("\n" if line_of and line_of == self._line_of else "\n\n")
            self._blocks.append(text)
            self._line_of = line_of

    def _close_section(self) -> None:
        if self._headings or self._blocks:
            path = tuple(text for _, text in self._headings)
            self._sections.append(_Section(path, "".join(self._blocks)))
            self._blocks = []


def _with_title(sections: list[_Section], title: str = "") -> _Reading:
    """Takes a heading that stands first and above everything for the document's title.

    Where the document states its title elsewhere, such a heading is left out if the title has it.
    """
    above = {section.path[:1] for section in sections}
    if len(above) != 1 or above == {()}:
        return _Reading(sections, title)
    (heading,) = above.pop()
    if title and heading not in title:
        return _Reading(sections, title)
    return _Reading([_Section(section.path[1:], section.text) for section in sections], title or heading)


def _read_whole(file: IO[bytes], source: str, suffix: str) -> _Reading:
    limit = _READERS[suffix].limit_bytes
    data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableDocument(source, _too_large(limit))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parsers comment on what they had to guess
            return _READERS[suffix].read(data, source)
    except UnreadableDocument:
        raise
    except Exception as error:  # there is nothing that parsers do not raise on damaged files
        reason = f"is damaged, or not what its name says ({type(error).__name__})"
        raise UnreadableDocument(source, reason) from error


# Text

_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32-le",  # before UTF-16, whose mark it begins with
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
_CONTROL_BYTES = bytes({*range(32), 127} - {*b"\t\n\f\r"})
_HIGH_BYTES = bytes(range(128, 256))


def _decoded(data: bytes, source: str, declared: str = "") -> str:
    """Bytes as text: by byte order mark, as declared, as UTF-8, or else as the old Western encoding.

    The last is only believed where few bytes are accented letters and next to none control characters.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise UnreadableDocument(source, _NOT_TEXT) from None
    if b"\0" in data:
        raise UnreadableDocument(source, _NOT_TEXT)
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    controls = len(data) - len(data.translate(None, _CONTROL_BYTES))
    if controls > len(data) // 100:
        raise UnreadableDocument(source, _NOT_TEXT)
    accented = len(data) - len(data.translate(None, _HIGH_BYTES))
    if accented > len(data) * 0.3:
        raise UnreadableDocument(source, "is in an unknown encoding; save it as UTF-8")
    return data.decode("cp1252", errors="replace")


def _read_text(data: bytes, source: str) -> _Reading:
    return _Reading([_Section((), unwrapped(_decoded(data, source)))])


# Markdown

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=[\w-]+[ \t]*:).*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def _read_markdown(data: bytes, source: str) -> _Reading:
    from markdown_it import MarkdownIt

    text = plain(_decoded(data, source)).lstrip("\n")
    if front_matter := _FRONT_MATTER.match(text):
        text = text[front_matter.end() :]
    outline = _Outline()
    heading_level = 0
    label = ""  # of the list item that begins
    cells: list[str] | None = None  # of the table row that is open
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        match token.type:
            case "heading_open" if token.level == 0:
                heading_level = int(token.tag[1])
            case "list_item_open":
                label = f"{token.info}{token.markup} " if token.info else "- "
            case "list_item_close":
                label = ""
            case "tr_open":
                cells = []
            case "tr_close":
                outline.add(" | ".join(cells or []), line_of="table")
                cells = None
            case "inline":
                said = "".join(map(_markdown_text, token.children or []))
                if heading_level:
                    outline.add_heading(heading_level, said)
                elif cells is not None:
                    cells.append(said)
                else:
                    outline.add(label + said, line_of="list" if label else "")
                heading_level, label = 0, ""
            case "fence" | "code_block":
                outline.add_code(token.content)
            case "html_block":
                _add_html(outline, _parsed_html(token.content))
    return _with_title(outline.sections())


def _markdown_text(token: Token) -> str:
    """What a reader sees of a part of a line; a link's words are parts of their own."""
    match token.type:
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "html_inline":
            return "\n" if token.content.lower().startswith("<br") else ""
        case _:
            return token.content  # of an image: what it is said to show


# HTML

_LEFT_OUT = frozenset(
    "script style noscript template nav footer aside button select textarea iframe object canvas svg head "
    "title rp rt".split()
)
_BLOCKS = frozenset(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure form "
    "header hr html li main ol p section summary table tbody tfoot thead tr ul".split()
)
_LINES = {"li": "list", "dt": "list", "dd": "list", "tr": "table"}
_BREAK = "\u2028"  # stands for <br>; a line break in the source is only space
_END = object()


def _read_html(data: bytes, source: str) -> _Reading:
    from bs4.dammit import EncodingDetector

    declared = EncodingDetector.find_declared_encoding(data[:4096], is_html=True) or ""
    if declared.lower() in {"iso-8859-1", "latin-1", "us-ascii", "ascii"}:
        declared = "cp1252"  # as browsers read it
    soup = _parsed_html(_decoded(data, source, declared))
    outline = _Outline()
    main = soup.find("main")
    _add_html(outline, main if main and main.get_text(strip=True) else soup)
    title = soup.title.get_text() if soup.title else ""
    return _with_title(outline.sections(), one_line(title)[:_HEADING_CHARACTERS])


_UNCLOSED_TAG = re.compile(r"<[a-zA-Z/!?]")


def _parsed_html(text: str) -> BeautifulSoup:
    """The page, without a comment or tag that is open at its end, which browsers do not show either.

    The parser would look for the end of each of these again from every place where one begins.
    """
    from bs4 import BeautifulSoup

    if (comment_at := text.find("<!--", text.rfind("-->") + 1)) >= 0:
        text = text[:comment_at]
    if tag := _UNCLOSED_TAG.search(text, text.rfind(">") + 1):
        text = text[: tag.start()]
    return BeautifulSoup(text, "html.parser")


def _add_html(outline: _Outline, root: Tag) -> None:
    """Adds what a reader sees of a page. Walks without recursion: pages can be nested to any depth."""
    from bs4.element import NavigableString, Tag

    said: list[str] = []  # since the last block began or ended
    numbers: list[int | None] = []  # of each open list: its last item's number, None for bullets
    line_of = ""
    label = ""

    def end_block() -> None:
        nonlocal line_of, label
        lines = (" ".join(part.split()).strip(" |") for part in "".join(said).split(_BREAK))
        said.clear()
        if text := "\n".join(line for line in lines if line):
            outline.add(label + text, line_of=line_of)
            line_of, label = "", ""

    waiting: list[tuple[object, object]] = [(root, None)]
    while waiting:
        node, mark = waiting.pop()
        if isinstance(node, NavigableString):
            if type(node) is NavigableString:  # comments and declarations are kinds of their own
                said.append(node)
            continue
        if not isinstance(node, Tag) or node.name in _LEFT_OUT or node.has_attr("hidden"):
            continue
        name = node.name
        if mark is _END:
            end_block()
            if name in {"ul", "ol"}:
                numbers.pop()
        elif name == "br":
            said.append(_BREAK)
        elif name == "img":
            said.append(str(node.get("alt") or ""))
        elif re.fullmatch("h[1-6]", name):
            end_block()
            outline.add_heading(int(name[1]), node.get_text())
        elif name == "pre":
            end_block()
            outline.add_code(node.get_text())
        else:
            if name in _BLOCKS:
                end_block()
            if name in {"ul", "ol"}:
                numbers.append(0 if name == "ol" else None)
            line_of = _LINES.get(name, line_of)
            if name == "li":
                number = numbers[-1] if numbers else None
                label = "- "
                if number is not None:
                    numbers[-1] = number + 1
                    label = f"{number + 1}. "
            if name in {"td", "th"}:
                said.append(" | ")
            if name in _BLOCKS:
                waiting.append((node, _END))
            waiting += [(child, None) for child in reversed(node.contents)]
    end_block()


# PDF


def _read_pdf(data: bytes, source: str) -> _Reading:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs whatever it repairs
    sections: list[_Section] = []
    lost: list[str] = []
    try:
        for number, page in enumerate(PdfReader(io.BytesIO(data)).pages, start=1):
            try:
                text = page.extract_text()
            except (FileNotDecryptedError, DependencyError):
                raise
            except Exception as error:  # noqa: BLE001 - as for whole files; the other pages can be read
                lost.append(f"page {number} is damaged ({type(error).__name__})")
                continue
            text = unwrapped(_HYPHENATED.sub("", plain(text)))
            if text:
                sections.append(_Section((f"page {number}",), text))
    except (FileNotDecryptedError, DependencyError):
        raise UnreadableDocument(source, "is encrypted; save a copy without a password") from None
    if not sections:
        reason = lost[0] if lost else f"{_NO_TEXT}; it may be a scan, which only shows pictures of text"
        raise UnreadableDocument(source, reason)
    return _Reading(sections, is_paged=True, lost=tuple(lost))


_HYPHENATED = re.compile(r"(?<=[a-zß-ÿ])-[ \t]*\n[ \t]*(?=[a-zß-ÿ])")


# DOCX


def _read_docx(data: bytes, source: str) -> _Reading:
    from docx import Document
    from docx.text.paragraph import Paragraph

    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableDocument(source, "is encrypted, or of the older kind .doc; save it as .docx")
    _refuse_zip_bomb(data, source)
    document = Document(io.BytesIO(data))
    outline = _Outline()
    title = ""
    for block in document.iter_inner_content():
        if not isinstance(block, Paragraph):
            for line in _table_lines(block):
                outline.add(line, line_of="table")
            continue
        style = (block.style.name if block.style else "") or ""
        if style == "Title" and not title:
            title = one_line(block.text)[:_HEADING_CHARACTERS]
        elif heading := re.fullmatch(r"Heading ([1-9])", style):
            outline.add_heading(int(heading[1]), block.text)
        elif _is_list_item(block, style):
            outline.add(f"- {block.text}" if block.text.strip() else "", line_of="list")
        else:
            outline.add(block.text)
    return _with_title(outline.sections(), title)


def _refuse_zip_bomb(data: bytes, source: str) -> None:
    """Raises for an archive that unpacks to too much, whether or not its directory says so."""
    too_much = f"unpacks to more than {UNPACKED_BYTES // 1_000_000} MB"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > UNPACKED_BYTES:
            raise UnreadableDocument(source, too_much)
        # Reading in pieces stops at the size that the directory states, and then fails if that was a lie.
        for member in archive.infolist():
            with archive.open(member) as file:
                while file.read(1 << 16):
                    pass


def _is_list_item(paragraph: Paragraph, style: str) -> bool:
    properties = paragraph._p.pPr
    return style.startswith("List") or (properties is not None and properties.numPr is not None)


def _table_lines(table: Table) -> Iterator[str]:
    """Each row as a line; a cell that spans several columns is said once."""
    for row in table.rows:
        cells = {id(cell._tc): cell for cell in row.cells}
        yield " | ".join(filter(None, map(_cell_text, cells.values())))


def _cell_text(cell: _Cell) -> str:
    from docx.text.paragraph import Paragraph

    parts: list[str] = []
    for block in cell.iter_inner_content():
        parts += [block.text] if isinstance(block, Paragraph) else _table_lines(block)
    return one_line(" ".join(parts))


# --- Which reader reads what


class _Reader(Protocol):
    def __call__(self, data: bytes, source: str) -> _Reading: ...


@dataclass(frozen=True)
class _Kind:
    """How files of one suffix are read."""

    read: _Reader
    limit_bytes: int


_TEXT = _Kind(_read_text, WHOLE_FILE_BYTES)
_MARKDOWN = _Kind(_read_markdown, MARKUP_BYTES)
_HTML = _Kind(_read_html, MARKUP_BYTES)
_READERS = {
    ".txt": _TEXT,
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": _Kind(_read_pdf, WHOLE_FILE_BYTES),
    ".docx": _Kind(_read_docx, WHOLE_FILE_BYTES),
}
_COLLECTIONS = (".jsonl", ".jsonl.gz")
SUFFIXES = (*_READERS, *_COLLECTIONS)
_UNKNOWN_KIND = f"is of a kind that cannot be read; these can: {', '.join(SUFFIXES)}"


def _suffix(path: Path) -> str:
    """The suffix by which a file is read; empty where there is none."""
    name = path.name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix) and name != suffix), "")
