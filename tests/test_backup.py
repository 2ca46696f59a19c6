"""A backup is one file that holds what was stored when it began, whoever writes meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from backup_fixtures import found_in, names_in, small_stores
from sqlalchemy import text
from store_fixtures import Stores, findable

from benchmarks.durable_checks import check_whole, opened
from benchmarks.durable_work import Papers
from benchmarks.durable_worker import Specification
from stores.base.errors import NotABackup, StoreUnavailable, WrongUsage
from stores.database.database import HEAD, Database
from stores.exchange.backup import BackupContents, inspect_backup, restore_backup, write_backup

_ROOT = Path(__file__).parent.parent


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    made = small_stores(tmp_path / "live")
    yield made
    made.database.close()


def test_a_backup_is_one_private_file_that_says_what_it_holds(stores: Stores, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    file = tmp_path / "place" / "backup.db"
    contents = write_backup(stores.database, file)
    assert contents == BackupContents(
        users=1, passages=3, turns=0, size_bytes=file.stat().st_size, database_schema=HEAD
    )
    assert inspect_backup(file) == contents
    assert file.stat().st_mode & 0o777 == 0o600
    assert names_in(file.parent) == {"backup.db"}


def test_a_backup_holds_what_is_still_in_the_write_ahead_log(stores: Stores, tmp_path: Path) -> None:
    assert (tmp_path / "live" / "vouch.db-wal").stat().st_size > 0
    write_backup(stores.database, tmp_path / "backup.db")
    (tmp_path / "other").mkdir()
    restore_backup(tmp_path / "backup.db", tmp_path / "other" / "vouch.db", data=tmp_path / "other")
    assert found_in(tmp_path / "other") == findable(stores.database)


def test_a_text_that_was_overwritten_leaves_no_trace_in_a_backup(stores: Stores, tmp_path: Path) -> None:
    with stores.database.writing() as sql:
        sql.execute(text("UPDATE users SET name = 'X' || name"))
        sql.execute(text("INSERT INTO users(name, created_at) VALUES ('xyzzy-plugh', '2026-01-01')"))
    with stores.database.writing() as sql:
        sql.execute(text("DELETE FROM users WHERE name = 'xyzzy-plugh'"))
    write_backup(stores.database, tmp_path / "backup.db")
    assert b"xyzzy-plugh" not in (tmp_path / "backup.db").read_bytes()


def test_a_file_that_is_there_is_replaced_only_when_that_was_said(stores: Stores, tmp_path: Path) -> None:
    file = tmp_path / "precious.txt"
    file.write_text("precious")
    with pytest.raises(WrongUsage, match="is there already"):
        write_backup(stores.database, file)
    assert file.read_text() == "precious"
    write_backup(stores.database, file, replace=True)
    assert inspect_backup(file).passages == 3


def test_the_database_is_not_replaced_by_its_own_backup(stores: Stores, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="the database itself"):
        write_backup(stores.database, tmp_path / "live" / ".." / "live" / "vouch.db", replace=True)


def test_a_place_that_cannot_be_written_is_told(stores: Stores, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        write_backup(stores.database, tmp_path / "nowhere" / "backup.db")


def test_a_backup_of_a_damaged_database_is_no_success_and_leaves_no_file(
    stores: Stores, tmp_path: Path
) -> None:
    stores.database.close()
    file = tmp_path / "live" / "vouch.db"
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)  # all but the first page
    file.write_bytes(content)
    with pytest.raises((StoreUnavailable, NotABackup)):
        write_backup(stores.database, tmp_path / "backup.db")
    assert names_in(tmp_path) == {"live"}


def test_a_backup_made_while_another_process_writes_is_whole_and_holds_all_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    written, restored = (
        Specification(work="ingest", folder=str(tmp_path / name), index_kind="faiss") for name in ("a", "b")
    )
    (tmp_path / "b" / "data").mkdir(parents=True)
    acknowledged: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.durable_worker", written.write()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            assert worker.stdout.readline() == "ready\n"
            worker.stdin.write("begin\n")
            worker.stdin.flush()
            acknowledged += [worker.stdout.readline() for _ in range(40)]
            database = Database.at(tmp_path / "a" / "data")
            write_backup(database, tmp_path / "backup.db")
            database.close()
            assert worker.stdout.readline()  # it went on
            assert worker.poll() is None
        finally:
            worker.kill()
            worker.stdout.read()
    restore_backup(tmp_path / "backup.db", tmp_path / "b" / "data" / "vouch.db", data=tmp_path / "b" / "data")
    papers = Papers()
    papers.hear("".join(acknowledged))
    with opened(restored) as assistant:
        check_whole(assistant, is_caught_up=False)
        papers.check(assistant, assistant.stores.journal.user_id(restored.user))
        assistant.catch_up()
        check_whole(assistant, is_caught_up=True)
        papers.go_on(assistant, assistant.stores.journal.user_id(restored.user))
