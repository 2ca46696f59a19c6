"""Rows of a statement as the driver gives them: no objects, a tenth of the cost of the toolkit above it.

For the few statements that every search makes. Values are passed beside the statement, never written into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session as SqlSession


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
