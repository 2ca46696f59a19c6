"""Whether a database can be written now: asked before somebody waits for it."""

from __future__ import annotations

import time
from contextlib import closing

from sqlalchemy import Engine

from stores.base.errors import StoreUnavailable
from stores.database.database import WRITE_LOCK, Database, told_plainly

# writes no row, and is refused by what may only be read, where the lock alone is not
_NOTHING = "DELETE FROM alembic_version WHERE 1 = 0"


def why_not_writable(database: Database, *, patience_seconds: float) -> StoreUnavailable | None:
    """Why nothing can be written; None where it can. Whoever writes is waited for no longer than so.

    Nothing is changed. What can be written now may be locked a moment later: a writer still waits its time.
    """
    with database.reading() as sql:
        engine = sql.get_bind()
    assert isinstance(engine, Engine), "a session of ours is bound to an engine"
    take = _take_on_server if database.is_postgresql else _take_file
    try:
        with told_plainly(database.url):
            take(engine, patience_seconds)
    except StoreUnavailable as error:
        return error
    return None


def _take_file(engine: Engine, patience_seconds: float) -> None:
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        patience = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout={int(patience_seconds * 1000)}")
        try:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                cursor.execute(_NOTHING)
            finally:
                cursor.execute("ROLLBACK")
        finally:
            cursor.execute(f"PRAGMA busy_timeout={patience}")
            cursor.close()


def _take_on_server(engine: Engine, patience_seconds: float) -> None:
    ends = time.monotonic() + patience_seconds
    with engine.connect() as connection:
        while not connection.exec_driver_sql(f"SELECT pg_try_advisory_xact_lock({WRITE_LOCK})").scalar():
            if time.monotonic() >= ends:
                raise StoreUnavailable(
                    "the database: another process is writing", hint="Try again, or end the other process."
                )
            time.sleep(0.05)
        connection.exec_driver_sql(_NOTHING)
        connection.rollback()
