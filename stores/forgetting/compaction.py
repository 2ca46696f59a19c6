"""The bytes of what was forgotten leave the database's files, once nobody holds an older state open."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from sqlalchemy import Engine

from stores.base.errors import StoreUnavailable

_FTS5_TABLES = ("shared_words", "own_words", "turn_words")
_SERVER_TABLES = (
    "passage_versions passages passage_vectors passage_words word_counts document_versions documents turns "
    "turn_words retrievals sessions feedback receipts claims proposals jobs"
).split()


def compact_file(engine: Engine, place: str, ends: float) -> None:
    """SQLite: the words that the full-text index keeps of what was deleted, free pages, and the log."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        left = max(0, int((ends - time.monotonic()) * 1000))
        patience = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout={min(left, patience)}")
        try:
            for table in _FTS5_TABLES:
                _until(ends, lambda t=table: cursor.execute(f"INSERT INTO {t}({t}) VALUES ('optimize')"))
            _until(ends, lambda: cursor.execute("VACUUM"))
            while cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:  # others still read
                _wait(place, ends)
        finally:
            cursor.execute(f"PRAGMA busy_timeout={patience}")
            cursor.close()
    finally:
        connection.close()


def _until(ends: float, work: Any) -> None:
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= ends:
                raise
            time.sleep(0.1)
        else:
            return


def compact_server(engine: Engine, place: str, ends: float) -> None:
    """PostgreSQL: every table that held it is written anew, and the statistics made of its values."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        mark = connection.exec_driver_sql("SELECT pg_current_xact_id()::text").scalar()
        # rows that an older snapshot may still ask for would be copied, too
        older = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend' "
            f"AND age(backend_xmin) > age('{mark}'::xid8::xid)"
        )
        while connection.exec_driver_sql(older).scalar():
            _wait(place, ends)
        for table in _SERVER_TABLES:
            connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
        connection.exec_driver_sql("VACUUM FULL pg_catalog.pg_statistic")  # with a warning where not allowed


def _wait(place: str, ends: float) -> None:
    if time.monotonic() >= ends:
        raise StoreUnavailable(
            f"{place}: the bytes of what was forgotten are still in its files, since others use it",
            hint="End the other processes; the next start of Vouch tries again.",
        )
    time.sleep(0.1)
