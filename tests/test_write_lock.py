"""Whether a database can be written is asked without changing anything, on both databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from store_fixtures import fresh_database

from stores.database.database import Database
from stores.database.write_lock import why_not_writable


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        return fresh_database(tmp_path)
    return Database(request.getfixturevalue("postgres").new_database())


def test_a_database_that_nobody_writes_can_be_written(database: Database) -> None:
    assert why_not_writable(database, patience_seconds=0.0) is None
    with database.writing() as sql:  # the lock was given back
        sql.execute(text("UPDATE users SET name = name"))
    database.close()


def test_a_database_that_another_process_writes_cannot_and_can_again_afterwards(database: Database) -> None:
    other = Database(database.url)
    with other.writing() as sql:
        sql.execute(text("UPDATE users SET name = name"))
        refused = why_not_writable(database, patience_seconds=0.05)
        assert refused is not None
        assert "another process is writing" in refused.message
        assert refused.exit_code == 3
    assert why_not_writable(database, patience_seconds=0.0) is None
    database.close()
    other.close()


def test_asking_leaves_the_patience_of_a_writer_as_it_was(tmp_path: Path) -> None:
    database = fresh_database(tmp_path)
    with database.reading() as sql:
        before = sql.execute(text("PRAGMA busy_timeout")).scalar()
    with closing(sqlite3.connect(tmp_path / "vouch.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert why_not_writable(database, patience_seconds=0.0) is not None
        other.execute("ROLLBACK")
    with database.reading() as sql:
        assert sql.execute(text("PRAGMA busy_timeout")).scalar() == before
    database.close()


def test_a_file_that_may_only_be_read_cannot_be_written(tmp_path: Path) -> None:
    fresh_database(tmp_path).close()
    read_only = Database(f"sqlite:///file:{tmp_path}/vouch.db?mode=ro&uri=true")
    refused = why_not_writable(read_only, patience_seconds=0.0)
    assert refused is not None
    assert "may only be read" in refused.message
    read_only.close()
