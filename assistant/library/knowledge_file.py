"""A knowledge base as a file: one entity a row of CSV, or a line of JSON.

It is read whole and checked before anything is stored: one bad row, and nothing of it is.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.library.formats.plain_text import plain_line
from assistant.library.formats.table_readers import separator
from stores.base.entities import NAMES_END, Entity, entity_text
from stores.base.errors import UnreadableDocument
from stores.base.regular_files import open_regular

MOST_ROWS = 100_000
MOST_COLUMNS = 64
MOST_BYTES = 200_000_000
SUFFIXES = (".csv", ".tsv", ".jsonl")
_NAME = "name"  # of the column that names an entity; else the first one does
_MOST_PROBLEMS = 100  # then it is something else
_LONGEST_VALUE = 2_000  # characters
_LONGEST_NAME = 200  # of a column, in characters: each entity repeats it

_Row = tuple[int, Mapping[str, str]]  # its line, from 1; values by column


@dataclass(frozen=True)
class KnowledgeFile:
    """What a file holds, and what is wrong with it."""

    entities: tuple[Entity, ...]
    columns: tuple[str, ...]
    problems: tuple[str, ...]  # each with its line; with any, nothing is to be stored


def read_knowledge(path: Path) -> KnowledgeFile:
    """Reads and checks a file. Raises `UnreadableDocument` where it is no table at all."""
    problems: list[str] = []
    try:
        if path.suffix.lower() not in SUFFIXES:
            raise UnreadableDocument(path, f"is none of these: {', '.join(SUFFIXES)}")
        open_regular(path).close()  # a pipe would be waited for
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableDocument(path, f"is larger than {MOST_BYTES // 1_000_000} MB")
        read = _json_rows if path.suffix.lower() == ".jsonl" else _csv_rows
        rows: list[_Row] = []
        for row in read(path, problems):
            rows.append(row)
            if len(rows) > MOST_ROWS or len(problems) > _MOST_PROBLEMS:
                what = f"{MOST_ROWS:,} rows" if len(rows) > MOST_ROWS else f"{_MOST_PROBLEMS} bad rows"
                raise UnreadableDocument(path, f"has more than {what}")
    except OSError as error:
        raise UnreadableDocument(path, error.strerror or "cannot be read") from error
    except UnicodeDecodeError as error:
        raise UnreadableDocument(path, "is not UTF-8") from error
    if not rows and not problems:
        raise UnreadableDocument(path, "holds no rows")
    columns = tuple(rows[0][1]) if rows else ()
    return KnowledgeFile(tuple(_entities(rows, columns, problems)), columns, tuple(problems))


def prepared(name: str, path: Path, entities: Sequence[Entity]) -> PreparedDocument:
    """Ready to be encoded and stored, an entity a passage. name: of the knowledge base."""
    passages = tuple(PreparedPassage(entity.name, entity_text(entity)) for entity in entities)
    digest = hashlib.sha256()
    for passage in passages:
        digest.update(f"{passage.title}\0{passage.text}\0".encode())
    return PreparedDocument(name, str(path), digest.hexdigest(), passages, kind="entity")


def _entities(rows: Sequence[_Row], columns: Sequence[str], problems: list[str]) -> Iterator[Entity]:
    naming = next((column for column in columns if column.lower() == _NAME), columns[0] if columns else "")
    first_at: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        values = {column: value for column in columns if (value := row.get(column, ""))}
        name = values.pop(naming, "")
        same = first_at.setdefault((name, *values.items()), line)  # type: ignore[arg-type]
        if not name:
            problems.append(f"line {line} has no {naming}, which names the entity")
        elif same != line:
            problems.append(f"line {line} is the same as line {same}")
        else:
            yield Entity(name, values)


def _csv_rows(path: Path, problems: list[str]) -> Iterator[_Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        delimiter, first_row_at = separator(file.readline(_LONGEST_VALUE * MOST_COLUMNS))
        before = 1 if first_row_at else 0  # lines
        if not before:
            file.seek(0)
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            columns = _columns(path, next(reader, []))
            for row in reader:
                if not any(value.strip() for value in row):
                    continue
                if len(row) != len(columns):
                    problems.append(
                        f"line {reader.line_num + before} has {len(row)} values for {len(columns)} columns"
                    )
                else:
                    values = {column: plain_line(value) for column, value in zip(columns, row, strict=True)}
                    yield from _checked(reader.line_num + before, values, problems)
        except csv.Error as error:
            raise UnreadableDocument(path, f"line {reader.line_num + before}: {error}") from error


def _json_rows(path: Path, problems: list[str]) -> Iterator[_Row]:
    columns: list[str] = []
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                problems.append(f"line {number} is not valid JSON")
                continue
            if not isinstance(row, dict):
                problems.append(f"line {number} is not an object of columns and values")
                continue
            columns = columns or _columns(path, list(row))
            named = {plain_line(str(column)): value for column, value in row.items()}
            if unknown := sorted(set(named).difference(columns)):
                problems.append(f"line {number} has a column {unknown[0]!r} that the first row has not")
                continue
            values = {column: _value(value) for column, value in named.items()}
            if (bad := next((c for c, value in values.items() if value is None), None)) is not None:
                problems.append(f"line {number}: {bad!r} is no text, number, yes or no, or list of these")
                continue
            whole = {column: values.get(column) or "" for column in columns}
            yield from _checked(number, whole, problems)


def _checked(line: int, values: Mapping[str, str], problems: list[str]) -> Iterator[_Row]:
    if (long := next((c for c, value in values.items() if len(value) > _LONGEST_VALUE), None)) is not None:
        problems.append(f"line {line}: {long!r} is longer than {_LONGEST_VALUE:,} characters")
    else:
        yield line, values


def _columns(path: Path, head: Sequence[str]) -> list[str]:
    columns = [plain_line(column) for column in head]
    if not columns:
        raise UnreadableDocument(path, "is empty: its first line should name the columns")
    if not all(columns):
        raise UnreadableDocument(path, "has a column without a name in its first line")
    if len(columns) > MOST_COLUMNS:
        raise UnreadableDocument(path, f"has more than {MOST_COLUMNS} columns")
    if long := next((column for column in columns if len(column) > _LONGEST_NAME), None):
        raise UnreadableDocument(
            path, f"has a name of over {_LONGEST_NAME} characters for a column: {long[:40]!r}"
        )
    if twice := next((column for column in columns if columns.count(column) > 1), None):
        raise UnreadableDocument(path, f"has two columns {twice!r}")
    if odd := next((column for column in columns if NAMES_END in column), None):
        raise UnreadableDocument(path, f"has {NAMES_END!r} in the name of a column: {odd!r}")
    return columns


def _value(value: object) -> str | None:
    """As text; None for what is no value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return plain_line(str(value))
    if isinstance(value, list):
        parts = [_value(part) for part in value if not isinstance(part, list)]
        return (
            ", ".join(part for part in parts if part)
            if None not in parts and len(parts) == len(value)
            else None
        )
    return None
