"""The database of `llm` (logs.db), read one conversation at a time.

What a row holds may be made up by the database itself, and be far more than the file: only names are
sorted, each row is read by itself, and what is too long in it is cut before it leaves the database.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from assistant.library.chat_logs.formats import LlmRow, llm_row, llm_session
from assistant.library.chat_logs.values import LONGEST
from stores.base.errors import UnreadableDocument
from stores.conversation.imported_sessions import ToldSession

_MOST_CHARACTERS = 500_000_000  # of all rows: no file that may be read holds more
_LONGEST_VALUE = 20_000_000  # bytes that SQLite makes of one value
_ORDER = """
    SELECT rowid, substr(coalesce(nullif(conversation_id, ''), id), 1, 200) AS conversation
    FROM responses ORDER BY conversation, substr(datetime_utc, 1, 64), substr(id, 1, 200)
"""
_ROW = """
    SELECT substr(r.id, 1, 200) AS id, substr(r.conversation_id, 1, 200) AS conversation_id,
        substr(r.model, 1, 200) AS model, substr(r.datetime_utc, 1, 64) AS datetime_utc,
        substr(r.prompt, 1, :longest) AS prompt, substr(r.response, 1, :longest) AS response,
        {name} AS conversation_name
    FROM responses AS r {join} WHERE r.rowid = :row
"""


def sessions_of_database(path: Path) -> Iterator[ToldSession]:
    """The sessions of a database. Raises `UnreadableDocument`, also in the midst of it."""
    try:
        # as bytes: a file's name need not be text
        address = f"file:{quote(os.fsencode(path))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.row_factory = sqlite3.Row
            yield from _Log(path, connection).sessions()
    except sqlite3.Error as error:
        raise UnreadableDocument(path, f"SQLite says: {error}") from error


class _Log:
    """The rows of an open database."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._connection = path, connection
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "responses" not in tables:
            raise UnreadableDocument(path, "it is no log of llm: it has no table of responses")
        has_names = "conversations" in tables
        self._statement = _ROW.format(
            name="substr(c.name, 1, 1000)" if has_names else "''",
            join="LEFT JOIN conversations AS c ON c.id = r.conversation_id" if has_names else "",
        )
        self._left = _MOST_CHARACTERS

    def sessions(self) -> Iterator[ToldSession]:
        ordered = self._connection.execute(_ORDER)
        for _, of_one in groupby(ordered, key=lambda row: row["conversation"]):
            session = llm_session(self._row(row["rowid"]) for row in of_one)
            if session is not None:
                yield session

    def _row(self, row_id: int) -> LlmRow:
        values = self._connection.execute(self._statement, {"row": row_id, "longest": LONGEST + 1})
        row = llm_row(dict(values.fetchone() or {}))
        self._left -= row.characters
        if self._left < 0:
            most = f"{_MOST_CHARACTERS / 1e6:,.0f} million characters"
            raise UnreadableDocument(self._path, f"more than {most} are in it")
        return row
