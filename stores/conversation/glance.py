"""The end of a session, read by the driver alone while nothing of the stores is loaded yet.

What maps tables to classes takes most of a second to load, and this a few milliseconds: so a chat shows what
was said last at once, and opens the stores behind it. What is read here is what `Journal.turns` would give,
or nothing: a session with branches, a server's database and a file that cannot be read are left to it.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stores.base.errors import StoreUnavailable
from stores.database.data_directory import DirectoryLock

_LAST_SESSION = """
    SELECT s.id, s.title FROM turns t JOIN sessions s ON s.id = t.session_id
    WHERE t.user_id = ? AND t.state != 'imported' AND NOT s.is_private AND s.deleted_at IS NULL
    AND (s.origin != 'vouch ask' OR (SELECT count(*) FROM turns o WHERE o.session_id = s.id) != 1)
    ORDER BY t.id DESC LIMIT 1
"""
_SESSION = "SELECT id, title FROM sessions WHERE user_id = ? AND id = ? AND deleted_at IS NULL"
_HAS_BRANCHES = """
    SELECT EXISTS (SELECT 1 FROM sessions WHERE id = :id AND head_id IS NOT NULL)
        OR EXISTS (SELECT 1 FROM turns WHERE session_id = :id AND parent_id IS NOT NULL)
"""
_TURNS = """
    SELECT id, message, answer, state, failure, model, accepted_at, answered_at, details
    FROM turns WHERE session_id = ? ORDER BY id DESC LIMIT ?
"""


@dataclass(frozen=True)
class GlancedTurn:
    """What is shown of a turn; the words are those of `stores.database.tables.Turn`."""

    id: int
    message: str
    answer: str
    state: str
    failure: str
    model: str
    accepted_at: datetime
    answered_at: datetime | None
    details: dict[str, Any]


@dataclass(frozen=True)
class Glance:
    """The last turns of a session, oldest first."""

    session_id: int
    title: str
    turns: tuple[GlancedTurn, ...]


def glance(folder: Path, user: str, session_id: int | None, *, turns: int) -> Glance | None:
    """The last turns of a session of this user in a data directory, or of the one spoken in last.

    None where the stores must be asked, who also know what is wrong. Nothing is written, and nobody is
    waited for.
    """
    file = folder / "vouch.db"
    try:
        if not file.is_file():
            return None
        with (
            DirectoryLock(folder),
            closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as sql,
        ):
            sql.execute("BEGIN")  # one moment for all that is read
            return _read(sql, user, session_id, turns)
    except (sqlite3.Error, StoreUnavailable, ValueError, OSError):
        return None


def _read(sql: sqlite3.Connection, user: str, session_id: int | None, turns: int) -> Glance | None:
    sql.row_factory = sqlite3.Row
    known = sql.execute("SELECT id FROM users WHERE name = ?", (user,)).fetchone()
    if known is None:
        return None
    if session_id is None:
        session = sql.execute(_LAST_SESSION, (known[0],)).fetchone()
    else:
        session = sql.execute(_SESSION, (known[0], session_id)).fetchone()
    if session is None or sql.execute(_HAS_BRANCHES, {"id": session[0]}).fetchone()[0]:
        return None
    read = sql.execute(_TURNS, (session[0], turns)).fetchall()
    return Glance(session[0], session[1], tuple(_turn(row) for row in reversed(read)))


def _turn(row: sqlite3.Row) -> GlancedTurn:
    answered_at = row["answered_at"]
    return GlancedTurn(
        **{name: row[name] for name in ("id", "message", "answer", "state", "failure", "model")},
        accepted_at=_moment(row["accepted_at"]),
        answered_at=_moment(answered_at) if answered_at else None,
        details=json.loads(row["details"]),
    )


def _moment(written: str) -> datetime:
    """All times are kept in UTC, and without saying so."""
    return datetime.fromisoformat(written).replace(tzinfo=UTC)
