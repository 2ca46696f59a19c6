"""Answers that are counted over the rows of a table in a document: sums, means, ends and counts.

message, all passages of the document -> rows -> what is wanted of them, by the trained parser of wishes
    -> the rows that meet it -> the answer, with the rows it was made of

What adds up or averages is told by a small head over the message's vector. Where a value is no number, or no
column is clearly meant, that is said instead of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from agents.base.chat_interfaces import Tabulated
from agents.dialogue.knowledge_table import KnowledgeTable
from agents.dialogue.wish_parser import Meant, WishParser, wishes_after
from agents.models.wish_network import VALUE, TotalHead
from stores.base.entities import Entity
from stores.base.passages import Passage
from stores.base.wishes import Wish, decimal_of, number_of, unit_of, words

Operation = Literal["sum", "mean", "highest", "lowest", "count"]

_CELLS, _NAMES_END = " | ", ": "  # as every reader of documents writes a row
_LEAST_ROWS, _MOST_CELLS = 2, 50_000  # more take half a second of each message
_COMMA, _DOT = re.compile(r"\d,\d{1,2}(?!\d)"), re.compile(r"\d\.\d{3}(?!\d)")  # 80,50 and 1.200
_SURE_FROM = 0.6  # chance of a sum or a mean; chosen on the dev part of benchmarks/tables


@dataclass(frozen=True)
class _Row:
    """A row as it stands in a passage."""

    version_id: int
    text: str
    cells: dict[str, str]


class Tabulator:
    """Counts over tables."""

    def __init__(self, parser: WishParser, totals: TotalHead) -> None:
        self._parser = parser
        self._totals = totals

    def answer(self, message: str, passages: Sequence[Passage]) -> Tabulated | None:
        """The answer; None where nothing that is counted over the rows is asked for.

        passages: all of one document, in their order.
        """
        rows, alike = _rows(passages)
        if len(rows) < _LEAST_ROWS or sum(len(row.cells) for row in rows) > _MOST_CELLS:
            return None
        entities = ((number, Entity("", row.cells)) for number, row in enumerate(rows))
        table = KnowledgeTable(passages[0].title, entities)
        meant = _without_numbers_of_names(self._parser.meant(message, table), message, table)
        operation = self._operation(message, meant, table)
        if operation is None or meant.unsure:
            return None
        if len(alike) > 1:
            return Tabulated(f"I cannot tell which table is meant: {'; '.join(alike)} have the same columns.")
        wishes = wishes_after(table, [meant], [[]])
        if operation == "count":
            return _counted(rows, wishes) if wishes else None
        kept = [row for row in rows if _meets(row, wishes)]
        column = _named_whole(message, table)
        if not column and meant.best and operation in ("highest", "lowest"):
            column = meant.best[0]
        column = column or _summed_column(message, meant, table, kept)
        if not column:
            numeric = [one.name for one in table.columns.values() if one.kind == "number"]
            if not numeric:
                return None
            return Tabulated(f"I cannot tell which column is meant; {', '.join(numeric)} have numbers.")
        return _calculated(operation, column, rows, kept, wishes)

    def _operation(self, message: str, meant: Meant, table: KnowledgeTable) -> Operation | None:
        if meant.best:
            return meant.best[1]
        if meant.act == "count":
            return "count"
        chances = self._totals.chances(_without_names(message, table))
        likeliest = max(chances, key=chances.__getitem__)
        if likeliest == "none" or chances[likeliest] < _SURE_FROM:
            return None
        return "sum" if likeliest == "sum" else "mean"


def _named_whole(message: str, table: KnowledgeTable) -> str:
    """The one column with numbers whose whole name stands in the message; empty where there is none."""
    numeric = [name for name, column in table.columns.items() if column.kind == "number"]
    named = [
        name for name in numeric if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message, re.IGNORECASE)
    ]
    return named[0] if len(named) == 1 else ""


def _without_numbers_of_names(meant: Meant, message: str, table: KnowledgeTable) -> Meant:
    """Without wishes whose number stands in the name of a column alone, such as the 2 of "Q2"."""
    rest = message
    for column in sorted(table.columns, key=len, reverse=True):
        rest = re.sub(rf"(?<!\w){re.escape(column)}(?!\w)", " ", rest, flags=re.IGNORECASE)
    if rest == message:
        return meant
    said = [
        change
        for change in meant.changes
        if decimal_of(change.value) is None or re.search(rf"(?<!\d){re.escape(change.value)}(?!\d)", rest)
    ]
    return replace(meant, changes=tuple(said))


def _without_names(message: str, table: KnowledgeTable) -> str:
    for named in reversed(table.named_in(message)):
        message = f"{message[: named.span[0]]}{VALUE}{message[named.span[1] :]}"
    for column in table.columns:  # "total" may be one
        message = re.sub(rf"(?<!\w){re.escape(column)}(?!\w)", VALUE, message, flags=re.IGNORECASE)
    return message


def _rows(passages: Sequence[Passage]) -> tuple[list[_Row], list[str]]:
    """The rows of the table with most of them, and the headings of all tables with the same columns."""
    found: dict[tuple[str, str], list[_Row]] = {}  # under each heading, by the first column
    for passage in passages:
        for line in passage.text.splitlines():
            parts = [cell.partition(_NAMES_END) for cell in line.split(_CELLS)]
            if len(parts) > 1 and all(end for _, end, _ in parts):
                cells = {name: value for name, _, value in parts}
                row = _Row(passage.version_id, line, cells)
                found.setdefault((passage.title, parts[0][0]), []).append(row)
    most = max(found.values(), key=len, default=[])
    columns = set(most[0].cells) if most else set()
    return most, [title for (title, _), rows in found.items() if set(rows[0].cells) == columns]


def _shown(rows: Sequence[_Row]) -> tuple[tuple[int, str], ...]:
    return tuple((row.version_id, row.text) for row in rows)


def holds_rows(passage: Passage) -> bool:
    """Whether a passage of a document has rows of a table."""
    return passage.kind == "document" and bool(_rows([passage])[0])


def _meets(row: _Row, wishes: Sequence[Wish]) -> bool:
    return all(wish.is_met(row.cells.get(wish.column, "")) for wish in wishes)


def _summed_column(message: str, meant: Meant, table: KnowledgeTable, rows: Sequence[_Row]) -> str:
    """The one column with numbers, the one asked for, or the one in whose unit it is asked."""
    numeric = [name for name, column in table.columns.items() if column.kind == "number"]
    said = set(words(message))
    of_unit = [name for name in numeric if any(unit_of(row.cells.get(name, "")) in said for row in rows)]
    for found in ([name for name in meant.asks if name in numeric], of_unit, numeric):
        if len(found) == 1:
            return found[0]
    return ""


def _counted(rows: Sequence[_Row], wishes: Sequence[Wish]) -> Tabulated:
    """What a limit itself has ("over 5") is told apart, since the parser does not say whether it counts."""
    kept = [row for row in rows if _meets(row, wishes)]
    limits = [wish for wish in wishes if wish.operator in ("most", "least")]
    on = [row for row in kept if any(_is_at(row, wish) for wish in limits)]
    of = f"of {len(rows)} rows have {_told(wishes)}"
    if not on:
        return Tabulated(f"{len(kept)} {of}.", _shown(kept))
    return Tabulated(f"{len(kept) - len(on)} {of}, and {len(on)} more at the limit itself.", _shown(kept))


def _is_at(row: _Row, wish: Wish) -> bool:
    return number_of(row.cells.get(wish.column, "")) == number_of(wish.values[0])


def _calculated(
    operation: Operation, column: str, rows: Sequence[_Row], kept: Sequence[_Row], wishes: Sequence[Wish]
) -> Tabulated:
    told = [(row, row.cells[column]) for row in kept if row.cells.get(column)]
    for row, value in told:
        if decimal_of(value) is None:
            return Tabulated(f"I cannot count with {column}: “{value}” is no number, in the row {row.text}")
    if any(map(_COMMA.search, values := [value for _, value in told])) and any(map(_DOT.search, values)):
        return Tabulated(f"I cannot count with {column}: its numbers are written in more than one way.")
    if len({unit_of(value) for _, value in told}) > 1:
        return Tabulated(f"I cannot count with {column}: its values have different units.")
    if not told:
        return Tabulated(f"No row of {len(rows)} has {column} and meets {_told(wishes)}.")
    numbers = [number for _, value in told if (number := decimal_of(value)) is not None]
    adds_up = len(kept) == len(rows) == len(told) and len(numbers) > 2 and sum(numbers[:-1]) == numbers[-1]
    if adds_up:  # a last row that is the sum of the others is none of them
        told, numbers = told[:-1], numbers[:-1]
    places = max(0, *(-int(number.as_tuple().exponent) for number in numbers))
    if operation in ("sum", "mean"):
        result = sum(numbers, Decimal(0)) / (len(numbers) if operation == "mean" else 1)
        places += operation == "mean" and not places
    else:
        result = (max if operation == "highest" else min)(numbers)
        told = [one for one, number in zip(told, numbers, strict=True) if number == result]
    name = {"sum": "Sum of ", "mean": "Mean of ", "highest": "Highest ", "lowest": "Lowest "}[operation]
    of = f"of {len(numbers)} {'row' if len(numbers) == 1 else 'rows'}"
    of += f" with {_told(wishes)}" if wishes else ""
    of += ", without the last one, which is their sum" if adds_up else ""
    value = _written(f"{result:.{places}f}", told[0][1])
    return Tabulated(f"{name}{column}: {value}, {of}.", _shown([row for row, _ in told]))


def _written(number: str, like: str) -> str:
    """A number with the unit that stands before or behind another."""
    digits = [at for at, character in enumerate(like) if character.isdecimal()]
    return f"{like[: digits[0]].strip('-−')}{number}{like[digits[-1] + 1 :]}"


def _told(wishes: Sequence[Wish]) -> str:
    return ", ".join(wish.told for wish in wishes)
