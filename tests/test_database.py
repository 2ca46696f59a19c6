"""The database: durable, whole, migrated, and plain about what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, select, text
from sqlmodel import SQLModel, col
from store_fixtures import fresh_database

import stores.database.database
from stores.base.errors import SchemaDamaged, SchemaTooNew, SchemaTooOld, StoreUnavailable
from stores.database.database import HEAD, Database
from stores.database.tables import Session, User

_MIGRATIONS = Path(stores.database.database.__file__).parent / "migrations"
_MOMENT = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)


@pytest.fixture
def file_database(tmp_path: Path) -> Iterator[Database]:
    opened = fresh_database(tmp_path)
    yield opened
    opened.close()


def user(name: str, moment: datetime = _MOMENT) -> User:
    return User(name=name, created_at=moment)


def names(database: Database) -> set[str]:
    with database.reading() as sql:
        return set(sql.scalars(select(col(User.name))))


def process(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=_MIGRATIONS.parent.parent,
    )


@pytest.mark.parametrize("opened", ["reading", "writing"])
def test_every_connection_has_a_write_ahead_log_full_synchronisation_and_foreign_keys(
    file_database: Database, opened: str
) -> None:
    with getattr(file_database, opened)() as sql:
        found = {
            name: sql.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_process_killed_inside_a_transaction_loses_that_one_and_no_earlier_one(tmp_path: Path) -> None:
    killed = process(
        """
        import os, signal, sys
        from pathlib import Path
        from stores.database.database import Database
        from stores.base.clock import now
        from stores.database.tables import User
        database = Database.at(Path(sys.argv[1]))
        with database.writing() as sql:
            sql.add(User(name="kept", created_at=now()))
        with database.writing() as sql:
            sql.add(User(name="lost", created_at=now()))
            sql.flush()
            os.kill(os.getpid(), signal.SIGKILL)
""",
        tmp_path,
    )
    _, errors = killed.communicate()
    assert killed.returncode == -9, errors
    assert names(Database.at(tmp_path)) == {"kept"}


def test_a_transaction_left_with_an_exception_changes_nothing(database: Database) -> None:
    def write_half() -> None:
        with database.writing() as sql:
            sql.add(user("ann"))
            sql.flush()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert names(database) == set()


def test_what_is_changed_while_reading_is_thrown_away(database: Database) -> None:
    with database.reading() as sql:
        sql.add(user("ann"))
        sql.flush()
    assert names(database) == set()


def test_a_reader_sees_one_moment_and_waits_for_no_writer(database: Database) -> None:
    with database.reading() as reader:
        assert reader.scalar(select(col(User.name))) is None
        with database.writing() as writer:
            writer.add(user("ann"))
            writer.flush()
            assert names(database) == set()  # a third connection, beside the open transaction
        assert reader.scalar(select(col(User.name))) is None
    assert names(database) == {"ann"}


def test_writers_take_turns(database: Database) -> None:
    def count_up() -> None:
        for _ in range(20):
            with database.writing() as sql:
                number = sql.execute(text("SELECT count(*) FROM users")).scalar() or 0
                sql.add(user(f"user {number}"))  # unique: two that read the same count would collide

    threads = [threading.Thread(target=count_up) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(database) == {f"user {number}" for number in range(60)}


def test_a_row_cannot_name_another_that_is_not_there(database: Database) -> None:
    with pytest.raises(Exception, match=r"(?i)foreign key"), database.writing() as sql:
        sql.add(Session(user_id=9, created_at=_MOMENT))


def test_moments_come_back_in_utc(database: Database) -> None:
    with database.writing() as sql:
        sql.add(user("ann", _MOMENT.astimezone(timezone(timedelta(hours=5)))))
    with database.reading() as sql:
        found = sql.scalar(select(col(User.created_at)))
    assert found == _MOMENT
    assert found is not None
    assert found.tzinfo is UTC


def test_processes_that_open_an_empty_folder_at_once_all_succeed(tmp_path: Path) -> None:
    script = """
        import sys
        from pathlib import Path
        from stores.database.database import Database
        from stores.base.clock import now
        from stores.database.tables import User
        print("ready", flush=True)
        sys.stdin.readline()
        with Database.at(Path(sys.argv[1])).writing() as sql:
            sql.add(User(name=sys.argv[2], created_at=now()))
"""
    opened = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(tmp_path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=_MIGRATIONS.parent.parent,
        )
        for number in range(2)
    ]
    for each in opened:
        assert each.stdout is not None
        each.stdout.readline()  # both have imported everything before either begins
    errors = []
    for each in opened:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    for each in opened:
        errors.append(each.communicate()[1])
    assert [each.returncode for each in opened] == [0, 0], errors
    assert names(Database.at(tmp_path)) == {"0", "1"}


def test_threads_that_open_an_empty_folder_in_the_same_moment_all_succeed(tmp_path: Path) -> None:
    """SQLite refuses, without waiting, one of two that turn a new file to WAL: one pair in four."""
    for attempt in range(40):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        together = threading.Barrier(2)

        def opens(folder: Path = folder, together: threading.Barrier = together) -> None:
            engine = stores.database.database._engine(f"sqlite:///{folder / 'vouch.db'}")
            together.wait()
            with engine.connect() as connection:
                connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")
            engine.dispose()

        with ThreadPoolExecutor(2) as threads:
            for opened in [threads.submit(opens) for _ in range(2)]:
                opened.result()


def test_the_migrations_make_the_tables_that_the_records_describe(
    file_database: Database, tmp_path: Path
) -> None:
    def is_described(name: str | None, kind: str, _parents: Any) -> bool:
        return kind != "table" or not (name or "").startswith(
            ("shared_words", "own_words", "turn_words", "shared_vocabulary")
        )

    engine = create_engine(f"sqlite:///{tmp_path / 'vouch.db'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_name": is_described, "compare_type": True}
        )
        assert compare_metadata(context, SQLModel.metadata) == []
    engine.dispose()


def test_the_migrations_make_the_indexes_word_for_word(file_database: Database, tmp_path: Path) -> None:
    # conditions of indexes and AUTOINCREMENT, which the comparison of metadata does not look at
    plain = create_engine(f"sqlite:///{tmp_path / 'plain.db'}")
    SQLModel.metadata.create_all(plain)
    plain.dispose()

    def made(file: str) -> dict[str, str]:
        connection = sqlite3.connect(tmp_path / file)
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        )
        found = {name: " ".join(statement.split()) for name, statement in rows}
        growing = connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE name = 'passage_vectors' AND sql LIKE '%AUTOINCREMENT%'"
        )
        found["passage_vectors"] = str(growing.fetchone()[0])
        connection.close()
        return found

    assert made("vouch.db") == made("plain.db")


def test_the_newest_schema_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD]
    assert {script.revision for script in scripts.walk_revisions()} == set(
        stores.database.database.KNOWN_SCHEMAS
    )


def test_opening_a_database_again_migrates_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores.database.database, "_migrate", lambda _engine: pytest.fail("it is up to date"))
    again = Database(database.url)
    assert again.schema() == HEAD
    again.close()


def test_a_schema_of_a_later_release_is_refused_untouched(database: Database) -> None:
    with database.writing() as sql:
        sql.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="9999") as refused:
        Database(database.url)
    assert refused.value.exit_code == 2
    assert database.schema() == "9999"


def test_what_another_release_migrated_meanwhile_is_read_and_never_written(database: Database) -> None:
    with database.writing() as sql:
        sql.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for change in ("'0012'", "'9999'"):
        with pytest.raises((SchemaTooNew, SchemaTooOld)) as refused, database.writing() as sql:
            sql.add(user("ann"))
        assert refused.value.exit_code == 2
        assert names(database) == set()
        with database._engine.connect() as raw:
            raw.exec_driver_sql(f"UPDATE alembic_version SET version_num = {change}")
            raw.commit()
    with database._engine.connect() as raw:
        raw.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{HEAD}'")
        raw.commit()
    with database.writing() as sql:  # no connection was left within a transaction
        sql.add(user("ann"))
    assert names(database) == {"ann"}


def test_a_database_locked_for_too_long_is_told_with_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh_database(tmp_path).close()
    monkeypatch.setattr(stores.database.database, "_BUSY_SECONDS", 0.05)
    impatient = Database.at(tmp_path)
    other = sqlite3.connect(tmp_path / "vouch.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with (
        pytest.raises(StoreUnavailable, match="another process is writing") as refused,
        impatient.writing() as sql,
    ):
        sql.add(user("bob"))
    assert refused.value.exit_code == 3
    assert refused.value.hint
    assert names(impatient) == set()  # readers go on
    other.execute("ROLLBACK")
    other.close()
    with impatient.writing() as sql:
        sql.add(user("ann"))
    assert names(impatient) == {"ann"}


@pytest.mark.parametrize(
    ("statement", "told"),
    [("SELECT * FROM diaries", "it lacks a table"), ("SELECT pages FROM users", "it lacks a column")],
)
def test_a_table_or_a_column_that_is_not_there_is_told(database: Database, statement: str, told: str) -> None:
    with pytest.raises(StoreUnavailable, match=told), database.reading() as sql:
        sql.execute(text(statement))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_database_that_another_process_migrates_meanwhile_is_not_taken_for_a_damaged_one(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres").new_database()
    real = stores.database.database._schema_of

    def schema_before_the_other_was_done(connection: Any) -> str:
        monkeypatch.setattr(stores.database.database, "_schema_of", real)
        found = real(connection)
        Database(url).close()
        return found

    monkeypatch.setattr(stores.database.database, "_schema_of", schema_before_the_other_was_done)
    opened = Database(url)
    assert opened.schema() == HEAD
    opened.close()


def test_tables_without_a_schema_are_told_to_be_damaged(database: Database) -> None:
    with database.writing() as sql:
        sql.execute(text("DELETE FROM alembic_version"))
    with pytest.raises(SchemaDamaged, match="does not say which schema"):
        Database(database.url)


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "vouch.db").write_bytes(b"dear diary\n" * 1000)
    with pytest.raises(StoreUnavailable, match="no SQLite database"):
        Database.at(tmp_path)
    assert (tmp_path / "vouch.db").read_bytes() == b"dear diary\n" * 1000


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    fresh_database(tmp_path).close()
    file = tmp_path / "vouch.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(StoreUnavailable, match="the file is damaged"):
        Database.at(tmp_path)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        Database.at(tmp_path / "nowhere")


def test_a_database_that_may_only_be_read_is_read_and_writing_is_refused(tmp_path: Path) -> None:
    writable = fresh_database(tmp_path)
    with writable.writing() as sql:
        sql.add(user("ann"))
    writable.close()
    read_only = Database(f"sqlite:///file:{tmp_path}/vouch.db?mode=ro&uri=true")  # holds for root as well
    assert names(read_only) == {"ann"}
    with pytest.raises(StoreUnavailable, match="may only be read"), read_only.writing() as sql:
        sql.add(user("bob"))
    read_only.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any directory")
def test_a_new_database_in_a_read_only_directory_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        Database.at(tmp_path)
    tmp_path.chmod(0o700)


def test_a_full_disk_is_told_and_nothing_is_lost(file_database: Database) -> None:
    with file_database.writing() as sql:
        sql.add(user("ann"))

    def write_much() -> None:
        with file_database.writing() as sql:
            pages = sql.execute(text("PRAGMA page_count")).scalar()
            sql.execute(text(f"PRAGMA max_page_count = {pages}"))  # as full as a disk can be
            sql.add(user("b" * 1_000_000))

    with pytest.raises(StoreUnavailable, match="the disk is full"):
        write_much()
    file_database.close()
    assert names(file_database) == {"ann"}


@pytest.mark.parametrize("name", ["what?", "50%25 off", "me@home", "#1", "mode=ro?mode=ro", "ä 東 '\""])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    Database.at(folder).close()
    assert (folder / "vouch.db").exists()


def test_the_place_that_is_told_has_no_password() -> None:
    assert (
        stores.database.database._place("postgresql://ann:secret@host/vouch")
        == "postgresql://ann:***@host/vouch"
    )
    assert (
        stores.database.database._place("postgresql://host/vouch?password=secret&sslmode=require")
        == "postgresql://host/vouch?password=...&sslmode=..."
    )
    assert stores.database.database._place("sqlite:////home/me/vouch.db") == "/home/me/vouch.db"
