"""Tables of questions and passages, in the layouts that the `datasets` library reads and writes.

    file, or the files of a folder that are of a split -> rows -> questions, passages

JSON lines, a JSON array, CSV, Parquet, and the Arrow files of `save_to_disk`; the last two need pyarrow.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from assistant.replay.datasets import DEFAULT_USER, Record, ReplayPassage, ReplayQuestion
from stores.errors import UnreadableDocument, WrongUsage

_ABOUT_TABLES = ("dataset_dict.json", "dataset_info.json", "dataset_infos.json", "state.json")
_LONGEST_CELL = 10_000_000  # characters of CSV
_ZIPPED = ".gz"
_ARROW_FILE = b"ARROW1"  # how one begins that is no stream


@dataclass(frozen=True, kw_only=True)
class QuestionColumns:
    """In which columns a table of questions has what; "" where it has none. "a.b" is b within a."""

    text: str = "question"
    answers: str = "answers"  # a text, or a list of texts, any of which is right
    id: str = ""  # else the number of the row
    gold: str = ""  # ids of the passages that answer, one or a list
    context: str = ""  # the text of the passage that answers
    user: str = ""
    topic: str = ""


@dataclass(frozen=True, kw_only=True)
class PassageColumns:
    """In which columns a table of passages has what; "" where it has none."""

    text: str = "text"
    id: str = ""  # else made from the text, as for `QuestionColumns.context`
    title: str = ""


def read_table(path: Path, split: str = "") -> Iterator[Record]:
    """The rows of a file, or of those files of a folder that are of a split, by file name.

    A file is of a split when its name begins with it (train.jsonl, train-00000-of-00002.parquet) or its
    folder has that name. A file that is named and has none of the endings is read as JSON lines. Raises
    `WrongUsage` where there is none, or for Parquet and Arrow without pyarrow; `UnreadableDocument` for one
    that is not what it is called, and for a row that is no object.
    """
    for file in [path] if path.is_file() else _files_of(path, split):
        try:
            yield from _ROWS[_kind(file) or ".jsonl"](file)
        except (ValueError, EOFError, csv.Error, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableDocument(file, str(error)) from error


def table_questions(
    rows: Iterable[Record], columns: QuestionColumns, *, domain: str
) -> Iterator[ReplayQuestion]:
    """The questions of a table. Raises `WrongUsage` where a row lacks a column."""
    for number, row in enumerate(rows):
        gold = set(_texts(row, columns.gold)) | {text_id(text) for text in _texts(row, columns.context)}
        yield ReplayQuestion(
            _text(row, columns.id) if columns.id else f"{domain}/{number}",
            _text(row, columns.text),
            _texts(row, columns.answers),
            frozenset(gold) if columns.gold or columns.context else None,
            _text(row, columns.user) or DEFAULT_USER,
            domain,
            _text(row, columns.topic),
        )


def table_passages(rows: Iterable[Record], columns: PassageColumns) -> Iterator[ReplayPassage]:
    """The passages of a table, each id once. Raises `WrongUsage` where a row lacks a column."""
    known: set[str] = set()
    for row in rows:
        text = _text(row, columns.text)
        name = _text(row, columns.id) if columns.id else text_id(text)
        if name not in known:
            known.add(name)
            yield ReplayPassage(name, _text(row, columns.title), text)


def text_id(text: str) -> str:
    """The id of a passage that has none: the same for the same text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _files_of(folder: Path, split: str) -> list[Path]:
    tables = [file for file in sorted(folder.rglob("*")) if _kind(file) and file.is_file()]
    begins = re.compile(rf"{re.escape(split)}(?![A-Za-z0-9])")
    found = [file for file in tables if begins.match(file.name) or file.parent.name == split or not split]
    if not found:
        names = ", ".join(file.name for file in tables[:5]) or "none"
        raise WrongUsage(f"{folder} has no table of split {split!r}; tables there: {names}")
    return found


def _kind(file: Path) -> str:
    """One of `_ROWS`; empty for what is no table."""
    ending = Path(file.name.removesuffix(_ZIPPED)).suffix
    is_zipped = file.name.endswith(_ZIPPED)
    known = ending in _ROWS and file.name not in _ABOUT_TABLES and not (is_zipped and ending in _BINARY)
    return ending if known else ""


def _opened(file: Path) -> IO[str]:
    opener: Callable[..., IO[str]] = gzip.open if file.name.endswith(_ZIPPED) else open
    return opener(file, "rt", encoding="utf-8-sig", newline="")


def _line_rows(file: Path) -> Iterator[Record]:
    with _opened(file) as lines:
        yield from _of_lines(file, lines)


def _json_rows(file: Path) -> Iterator[Record]:
    """Of one array, or of lines."""
    with _opened(file) as content:
        text = content.read()
    if not text.lstrip().startswith("["):
        yield from _of_lines(file, text.split("\n"))
        return
    for number, row in enumerate(json.loads(text), start=1):
        yield _object(file, f"row {number}", row)


def _of_lines(file: Path, lines: Iterable[str]) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UnreadableDocument(file, f"line {number} is not JSON: {error}") from error
        yield _object(file, f"line {number}", row)


def _object(file: Path, where: str, row: Any) -> Record:
    if not isinstance(row, dict):
        raise UnreadableDocument(file, f"{where} is not a JSON object")
    return row


def _csv_rows(file: Path) -> Iterator[Record]:
    """The first line names the columns; an empty cell is an empty text."""
    csv.field_size_limit(_LONGEST_CELL)
    with _opened(file) as lines:
        reader = csv.DictReader(lines, strict=True)
        for row in reader:
            if None in row:  # where DictReader puts what is too much
                raise UnreadableDocument(file, f"line {reader.line_num} has more cells than the first")
            yield row


def _parquet_rows(file: Path) -> Iterator[Record]:
    parquet = _pyarrow(file, "parquet")
    with parquet.ParquetFile(file) as opened:
        for batch in opened.iter_batches():
            yield from batch.to_pylist()


def _arrow_rows(file: Path) -> Iterator[Record]:
    ipc = _pyarrow(file, "ipc")
    with file.open("rb") as content:
        is_file = content.read(len(_ARROW_FILE)) == _ARROW_FILE
        content.seek(0)
        if is_file:
            opened = ipc.open_file(content)
            batches = map(opened.get_batch, range(opened.num_record_batches))
        else:
            batches = iter(ipc.open_stream(content))
        for batch in batches:
            yield from batch.to_pylist()


def _pyarrow(file: Path, part: str) -> Any:
    try:
        return importlib.import_module(f"pyarrow.{part}")
    except ModuleNotFoundError as error:
        kind = "Parquet" if part == "parquet" else "Arrow"
        raise WrongUsage(f"{file} is {kind}, which needs pyarrow", hint="pip install pyarrow") from error


_ROWS: Mapping[str, Callable[[Path], Iterator[Record]]] = {
    ".jsonl": _line_rows,
    ".json": _json_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
    ".arrow": _arrow_rows,
}
_BINARY = (".parquet", ".arrow")


def _value(row: Record, column: str) -> Any:
    value: Any = row
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise WrongUsage(f"a row has no column {column!r}; its columns: {', '.join(row)}")
        value = value[part]
    return value


def _texts(row: Record, column: str) -> tuple[str, ...]:
    """One text or several as texts; none without a column, and none for null."""
    value = _value(row, column) if column else None
    several = value if isinstance(value, list | tuple) else [value]
    return tuple(str(one) for one in several if one is not None)


def _text(row: Record, column: str) -> str:
    return next(iter(_texts(row, column)), "")
