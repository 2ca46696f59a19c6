"""Readers of whole files: bytes become a title and sections of text.

Each knows one format and nothing of passages. The libraries that know a format are loaded when the
first such file is read. A file that cannot be read is an `UnreadableDocument`, whatever is wrong with it.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Protocol

from assistant.library.plain_text import Section, one_line, plain, unwrapped
from stores.errors import UnreadableDocument

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph
    from markdown_it.token import Token

WHOLE_FILE_BYTES = 100_000_000  # PDF and .docx, which are mostly pictures
TEXT_BYTES = 20_000_000  # text, Markdown and HTML: cut or parsed they take many times their size
UNPACKED_BYTES = 200_000_000  # what a .docx may unpack to
UNPACKED_XML_BYTES = 40_000_000  # what one part of its text may: parsed it takes many times its size
MOST_TAGS = 500_000  # of an HTML page, some 700 bytes each

NOT_TEXT = "is not text"
NO_TEXT = "holds no text"
TOO_MUCH_MEMORY = "takes more memory to read than it may; cut it into smaller files"
_TOO_DEEP = "is nested too deeply to be read"
_TOO_MUCH = "holds more than can be read, or is made to look so"

_HEADING_CHARACTERS = 200  # a longer heading is a paragraph: it would stand over every passage


@dataclass(frozen=True)
class Reading:
    """What a reader made of a file."""

    sections: list[Section]
    title: str = ""  # empty: the file's name is its title
    is_paged: bool = False  # the sections are pages, which stay apart so that each can be named
    lost: tuple[str, ...] = ()  # parts that could not be read, each a reason


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


class _Outline:
    """Collects a document's paragraphs under its headings."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []  # those above what comes next: (level, words)
        self._blocks: list[str] = []
        self._line_of = ""  # what the last block is a line of
        self._sections: list[Section] = []

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

    def sections(self) -> list[Section]:
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
            self._sections.append(Section(path, "".join(self._blocks)))
            self._blocks = []


def _with_title(sections: list[Section], title: str = "") -> Reading:
    """Takes a heading that stands first and above everything for the document's title.

    Where the document states its title elsewhere, such a heading is left out if the title has it.
    """
    above = {section.path[:1] for section in sections}
    if len(above) != 1 or above == {()}:
        return Reading(sections, title)
    (heading,) = above.pop()
    if title and heading not in title:
        return Reading(sections, title)
    return Reading([Section(section.path[1:], section.text) for section in sections], title or heading)


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


def _read_text(data: bytes, source: str) -> Reading:
    return Reading([Section((), unwrapped(_decoded(data, source)))])


# Markdown

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=[\w-]+[ \t]*:).*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def _read_markdown(data: bytes, source: str) -> Reading:
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
                _add_html(outline, _parsed_html(token.content, source))
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


def _read_html(data: bytes, source: str) -> Reading:
    from bs4.dammit import EncodingDetector

    declared = EncodingDetector.find_declared_encoding(data[:4096], is_html=True) or ""
    if declared.lower() in {"iso-8859-1", "latin-1", "us-ascii", "ascii"}:
        declared = "cp1252"  # as browsers read it
    soup = _parsed_html(_decoded(data, source, declared), source)
    outline = _Outline()
    main = soup.find("main")
    _add_html(outline, main if main and main.get_text(strip=True) else soup)
    title = soup.title.get_text() if soup.title else ""
    return _with_title(outline.sections(), one_line(title)[:_HEADING_CHARACTERS])


_UNCLOSED_TAG = re.compile(r"<[a-zA-Z/!?]")


def _parsed_html(text: str, source: str) -> BeautifulSoup:
    """The page, without a comment or tag that is open at its end, which browsers do not show either.

    The parser would look for the end of each of these again from every place where one begins.
    """
    from bs4 import BeautifulSoup

    text = text.replace("<![", "<! [")  # a comment to browsers, and beyond this parser unless well-formed
    if (comment_at := text.find("<!--", text.rfind("-->") + 1)) >= 0:
        text = text[:comment_at]
    if tag := _UNCLOSED_TAG.search(text, text.rfind(">") + 1):
        text = text[: tag.start()]
    if text.count("<") > MOST_TAGS:
        raise UnreadableDocument(source, f"has more than {MOST_TAGS:,} tags; cut it into smaller files")
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


def _read_pdf(data: bytes, source: str) -> Reading:
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
                reason = TOO_MUCH_MEMORY if isinstance(error, MemoryError) else _TOO_MUCH
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
        raise UnreadableDocument(source, _TOO_MUCH) from None
    if not sections:
        reason = lost[0] if lost else f"{NO_TEXT}; it may be a scan, which only shows pictures of text"
        raise UnreadableDocument(source, reason)
    return Reading(sections, is_paged=True, lost=tuple(lost))


_HYPHENATED = re.compile(r"(?<=[a-zß-ÿ])-[ \t]*\n[ \t]*(?=[a-zß-ÿ])")


# DOCX


def _read_docx(data: bytes, source: str) -> Reading:
    from docx import Document
    from docx.text.paragraph import Paragraph
    from lxml.etree import ErrorTypes, XMLSyntaxError

    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableDocument(source, "is encrypted, or of the older kind .doc; save it as .docx")
    _refuse_zip_bomb(data, source)
    try:
        document = Document(io.BytesIO(data))
    except XMLSyntaxError as error:
        if error.code == ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise
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
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > UNPACKED_BYTES:
            raise UnreadableDocument(source, f"unpacks to more than {UNPACKED_BYTES // 1_000_000} MB")
        parts = (m.file_size for m in archive.infolist() if not m.filename.lower().endswith(_PICTURES))
        if max(parts, default=0) > UNPACKED_XML_BYTES:
            too_much = f"holds text that unpacks to more than {UNPACKED_XML_BYTES // 1_000_000} MB"
            raise UnreadableDocument(source, too_much)
        # Reading in pieces stops at the size that the directory states, and then fails if that was a lie.
        for member in archive.infolist():
            with archive.open(member) as file:
                while file.read(1 << 16):
                    pass


_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg", ".bin", ".mp4")


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


# Which reader reads what


class _Reader(Protocol):
    def __call__(self, data: bytes, source: str) -> Reading: ...


@dataclass(frozen=True)
class _Kind:
    """How files of one suffix are read."""

    read: _Reader
    limit_bytes: int


_TEXT = _Kind(_read_text, TEXT_BYTES)
_MARKDOWN = _Kind(_read_markdown, TEXT_BYTES)
_HTML = _Kind(_read_html, TEXT_BYTES)
READERS = {
    ".txt": _TEXT,
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": _Kind(_read_pdf, WHOLE_FILE_BYTES),
    ".docx": _Kind(_read_docx, WHOLE_FILE_BYTES),
}
