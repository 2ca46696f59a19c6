"""Rows of a statement as the driver gives them: no objects, a tenth of the cost of the toolkit above it.

For the few statements that every search makes. Values are passed beside the statement, never written into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import SQLModel

AT_ONCE = 2_000  # rows or ids in one statement

M = TypeVar("M", bound=SQLModel)


def all_ids(sql: SqlSession, statement: Any) -> set[int]:
    """What a statement selects, each once."""
    return {int(i) for i in sql.scalars(statement)}


def found_by(
    sql: SqlSession, table: type[M], column: Any, values: Iterable[Any], *conditions: Any
) -> list[M]:
    """The rows whose column is one of the values, and that meet the conditions."""
    return [
        row
        for some in in_parts(values)
        for row in sql.scalars(select(table).where(column.in_(some), *conditions)).all()
    ]


def update_by(sql: SqlSession, table: type[SQLModel], column: Any, ids: Iterable[int], **values: Any) -> None:
    """Sets values in the rows whose column is one of the ids; rows that were read already are not told."""
    for some in in_parts(ids):
        sql.execute(
            update(table)
            .where(column.in_(some))
            .values(**values)
            .execution_options(synchronize_session=False)
        )


def in_parts(values: Iterable[Any]) -> Iterator[list[Any]]:
    """The values in their order, AT_ONCE of them at a time."""
    wanted = sorted(values)
    for start in range(0, len(wanted), AT_ONCE):
        yield wanted[start : start + AT_ONCE]


def rows(sql: SqlSession, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement, in the transaction that is open. A ? in the statement stands for a value."""
    connection: Any = sql.connection().connection.driver_connection
    if sql.get_bind().dialect.name == "postgresql":
        statement = statement.replace("?", "%s")
    return list(connection.execute(statement, tuple(values)).fetchall())


def moment(stored: str | datetime) -> datetime:
    """A moment as a driver gives it, in UTC."""
    found = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
