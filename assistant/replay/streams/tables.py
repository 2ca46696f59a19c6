"""Questions and passages of tables, by the columns that hold them.

rows, and in which columns what stands -> questions, passages
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assistant.learning.recipes.examples.table_rows import TableRow
from assistant.replay.streams.datasets import DEFAULT_USER, ReplayPassage, ReplayQuestion
from stores.base.errors import WrongUsage


@dataclass(frozen=True, kw_only=True)
class QuestionColumns:
    """In which columns a table of questions has what; "" where it has none. "a.b" is b within a."""

    OPTION: ClassVar[str] = "--column"  # by which a person names them

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

    OPTION: ClassVar[str] = "--passage-column"

    text: str = "text"
    id: str = ""  # else made from the text, as for `QuestionColumns.context`
    title: str = ""


Columns = QuestionColumns | PassageColumns


def table_questions(
    rows: Iterable[TableRow], columns: QuestionColumns, *, domain: str
) -> Iterator[ReplayQuestion]:
    """The questions of a table.

    Raises `WrongUsage` where a row lacks a column, and where two questions have one id.
    """
    places: dict[str, str] = {}
    for number, row in enumerate(rows):
        gold = {*_texts(row, columns, "gold"), *map(text_id, _texts(row, columns, "context"))}
        question = ReplayQuestion(
            _text(row, columns, "id") if columns.id else f"{domain}/{number}",
            _text(row, columns, "text"),
            _texts(row, columns, "answers"),
            frozenset(gold) if columns.gold or columns.context else None,
            _text(row, columns, "user") or DEFAULT_USER,
            domain,
            _text(row, columns, "topic"),
        )
        if question.text.strip() and places.setdefault(question.id, row.where) != row.where:
            raise WrongUsage(
                f"two questions have the id {question.id!r}: {places[question.id]}, and {row.where}",
                hint="Name the column of their ids with --column id=NAME, or have the rows numbered: "
                "--column id=",
            )
        yield question


def table_passages(rows: Iterable[TableRow], columns: PassageColumns) -> Iterator[ReplayPassage]:
    """The passages of a table, each id once.

    Raises `WrongUsage` where a row lacks a column, and where two passages that differ have one id.
    """
    known: dict[str, tuple[str, str]] = {}
    for row in rows:
        text = _text(row, columns, "text")
        name = _text(row, columns, "id") if columns.id else text_id(text)
        earlier, where = known.setdefault(name, (text, row.where))
        if earlier != text:
            raise WrongUsage(
                f"two passages have the id {name!r}: {where}, and {row.where}",
                hint="Name the column of their ids with --passage-column id=NAME.",
            )
        if where == row.where:
            yield ReplayPassage(name, _text(row, columns, "title"), text)


def text_id(text: str) -> str:
    """The id of a passage that has none: the same for the same text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _value(row: TableRow, columns: Columns, what: str) -> Any:
    column: str = getattr(columns, what)
    value: Any = row.record
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            none = f", or none with {columns.OPTION} {what}=" if what not in ("text", "answers") else ""
            raise WrongUsage(
                f"{row.where} has no column {column!r}; its columns: {', '.join(row.record)}",
                hint=f"Name another with {columns.OPTION} {what}=NAME{none}",
            )
        value = value[part]
    return value


def _texts(row: TableRow, columns: Columns, what: str) -> tuple[str, ...]:
    """One text or several as texts; none without a column, and none for null."""
    column: str = getattr(columns, what)
    value = _value(row, columns, what) if column else None
    several = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(one, Mapping | list | tuple) for one in several):
        raise WrongUsage(
            f"{row.where}: the column {column!r} holds what is neither a text nor a list of texts",
            hint=f"Name another with {columns.OPTION} {what}=NAME",
        )
    return tuple(str(one) for one in several if one is not None)


def _text(row: TableRow, columns: Columns, what: str) -> str:
    return next(iter(_texts(row, columns, what)), "")
