"""The rows of tables, in the layouts that the `datasets` library reads and writes, each with its place.

    file, or the files of a folder that are of a split -> rows

JSON lines, a JSON array, CSV, Parquet, and the Arrow files of `save_to_disk`; the last two need pyarrow.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import json
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from stores.base.errors import UnreadableDocument, WrongUsage
from stores.base.one_line import one_line

Record: TypeAlias = Mapping[str, Any]

LAYOUTS = (
    "A table is a .jsonl, .json or .csv file (also as .gz), a .parquet or .arrow one, or a folder of them."
)
_ABOUT_TABLES = ("dataset_dict.json", "dataset_info.json", "dataset_infos.json", "state.json")
_LONGEST_CELL = 10_000_000  # characters of CSV
_ZIPPED = ".gz"
_NO_ZIP = "Not a gzipped file"  # as the library says it
_ARROW_FILE = b"ARROW1"  # how one begins that is no stream


@dataclass(frozen=True)
class TableRow:
    """One row, and where it stands."""

    record: Record
    file: Path
    place: str  # in the file, such as "line 3"

    @property
    def where(self) -> str:
        return f"{self.file}, {self.place}"


_Placed = tuple[str, Record]


def is_table(path: Path) -> bool:
    """Whether its name is that of a table, or it is a folder, which is read as one."""
    return path.is_dir() or bool(_kind(path))


def read_table(path: Path, split: str = "") -> Iterator[TableRow]:
    """The rows of a file, or of those files of a folder that are of a split, by file name.

    A file is of a split when its name begins with it (train.jsonl, train-00000-of-00002.parquet) or its
    folder has that name. A file that is named and has none of the endings is read as JSON lines. Raises
    `WrongUsage` where there is none, or for Parquet and Arrow without pyarrow; `UnreadableDocument` for one
    that is not what it is called, and for a row that is no object. A file that is not there is an OSError.
    """
    for file in _files_of(path, split) if path.is_dir() else [path]:
        place = ""
        try:
            _must_be_no_pipe(file)
            for place, record in _ROWS[_kind(file) or ".jsonl"](file):
                yield TableRow(record, file, place)
        except FileNotFoundError:
            raise
        except (ValueError, EOFError, OSError, csv.Error, zlib.error, RecursionError) as error:
            raise unreadable(file, _reason(error, file, place)) from error


def read_text(file: Path) -> str:
    """The text of a file that is no table. Raises `UnreadableDocument`, and FileNotFoundError."""
    try:
        _must_be_no_pipe(file)
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise unreadable(file, _reason(error, file, "")) from error


def _must_be_no_pipe(file: Path) -> None:
    """Raises OSError for a pipe with a name, which may be waited for without end; `<(...)` has none."""
    if stat.S_ISFIFO(file.stat().st_mode) and file.resolve().exists():
        raise OSError(None, "it is a pipe")


def _files_of(folder: Path, split: str) -> list[Path]:
    tables = [file for file in sorted(folder.rglob("*")) if _kind(file) and file.is_file()]
    if not tables:
        raise WrongUsage(f"{folder} has no tables", hint=LAYOUTS)
    begins = re.compile(rf"{re.escape(split)}(?![A-Za-z0-9])")
    found = [file for file in tables if begins.match(file.name) or file.parent.name == split or not split]
    if not found:
        names = ", ".join(str(file.relative_to(folder)) for file in tables[:5])
        raise WrongUsage(f"{folder} has no table of split {split!r}; tables there: {names}")
    return found


def _kind(file: Path) -> str:
    """One of `_ROWS`; empty for what is no table."""
    ending = Path(file.name.removesuffix(_ZIPPED)).suffix
    is_zipped = file.name.endswith(_ZIPPED)
    known = ending in _ROWS and file.name not in _ABOUT_TABLES and not (is_zipped and ending in _BINARY)
    return ending if known else ""


def unreadable(file: Path, reason: str) -> UnreadableDocument:
    """The error for a file, with what next."""
    error = UnreadableDocument(file, reason)
    error.hint = "Mend that file, or get it anew." if _kind(file) else LAYOUTS
    return error


def _reason(error: Exception, file: Path, behind: str) -> str:
    """What is wrong with a file, for a person. behind: the place of the last row that could be read."""
    if isinstance(error, UnicodeDecodeError):
        try:
            return f"line {_undecodable_line(file)} is not UTF-8"
        except (EOFError, OSError, zlib.error) as damaged:  # that as well
            error = damaged
    if isinstance(error, RecursionError):
        return f"it is nested too deeply behind {behind or 'its beginning'}"
    if isinstance(error, gzip.BadGzipFile) and str(error).startswith(_NO_ZIP):
        return "it is no gzip file, though its name says so"
    if isinstance(error, EOFError | gzip.BadGzipFile | zlib.error):
        return f"it is cut off or damaged behind {behind or 'its beginning'}"
    if isinstance(error, OSError) and error.strerror:
        return f"it cannot be read: {error.strerror}"
    return one_line(str(error))


def _undecodable_line(file: Path) -> int:
    """The number of the first line that is no UTF-8."""
    opener: Callable[..., Any] = gzip.open if file.name.endswith(_ZIPPED) else open
    number = 0
    with opener(file, "rb") as lines:
        for number, line in enumerate(lines, start=1):  # noqa: B007 - the last one's is told, too
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return number


def _opened(file: Path) -> IO[str]:
    opener: Callable[..., IO[str]] = gzip.open if file.name.endswith(_ZIPPED) else open
    return opener(file, "rt", encoding="utf-8-sig", newline="")


def _line_rows(file: Path) -> Iterator[_Placed]:
    with _opened(file) as lines:
        yield from _of_lines(file, lines)


def _json_rows(file: Path) -> Iterator[_Placed]:
    """Of one array, or of lines."""
    with _opened(file) as content:
        text = content.read()
    if not text.lstrip().startswith("["):
        yield from _of_lines(file, text.split("\n"))
        return
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        raise unreadable(file, _no_json(error.lineno, error)) from error
    for number, row in enumerate(rows, start=1):
        yield f"row {number}", _object(file, f"row {number}", row)


def _of_lines(file: Path, lines: Iterable[str]) -> Iterator[_Placed]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.rstrip())
        except json.JSONDecodeError as error:
            raise unreadable(file, _no_json(number, error)) from error
        yield f"line {number}", _object(file, f"line {number}", row)


def _no_json(line: int, error: json.JSONDecodeError) -> str:
    return f"line {line} is not JSON: {error.msg}, at character {error.colno}"


def _object(file: Path, where: str, row: Any) -> Record:
    if not isinstance(row, dict):
        raise unreadable(file, f"{where} is not a JSON object")
    return row


def _csv_rows(file: Path) -> Iterator[_Placed]:
    """The first line names the columns; an empty cell is an empty text."""
    csv.field_size_limit(_LONGEST_CELL)
    with _opened(file) as lines:
        reader = csv.DictReader(lines, strict=True)
        try:
            for row in reader:
                if None in row:  # where DictReader puts what is too much
                    raise unreadable(file, f"line {reader.line_num} has more cells than the first")
                yield f"line {reader.line_num}", row
        except csv.Error as error:
            raise unreadable(file, f"line {reader.reader.line_num}: {error}") from error


def _parquet_rows(file: Path) -> Iterator[_Placed]:
    parquet = _pyarrow(file, "parquet")
    with parquet.ParquetFile(file) as opened:
        yield from _of_batches(opened.iter_batches())


def _arrow_rows(file: Path) -> Iterator[_Placed]:
    ipc = _pyarrow(file, "ipc")
    with file.open("rb") as content:
        is_file = content.read(len(_ARROW_FILE)) == _ARROW_FILE
        content.seek(0)
        if is_file:
            opened = ipc.open_file(content)
            batches = map(opened.get_batch, range(opened.num_record_batches))
        else:
            batches = iter(ipc.open_stream(content))
        yield from _of_batches(batches)


def _of_batches(batches: Iterable[Any]) -> Iterator[_Placed]:
    rows = (row for batch in batches for row in batch.to_pylist())
    yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))


def _pyarrow(file: Path, part: str) -> Any:
    try:
        return importlib.import_module(f"pyarrow.{part}")
    except ModuleNotFoundError as error:
        kind = "Parquet" if part == "parquet" else "Arrow"
        raise WrongUsage(f"{file} is {kind}, which needs pyarrow", hint="pip install pyarrow") from error


_ROWS: Mapping[str, Callable[[Path], Iterator[_Placed]]] = {
    ".jsonl": _line_rows,
    ".json": _json_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
    ".arrow": _arrow_rows,
}
_BINARY = (".parquet", ".arrow")
