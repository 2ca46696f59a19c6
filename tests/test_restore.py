"""A restore brings back what a backup holds, or changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from backup_fixtures import found_in, names_in, small_stores
from sqlalchemy import text
from store_fixtures import Stores, findable

from stores.base.clock import now
from stores.base.errors import NotABackup, SchemaTooNew, StoreUnavailable, WrongUsage
from stores.database.data_directory import DirectoryLock
from stores.database.database import HEAD, Database
from stores.database.tables import FilledIndex
from stores.exchange.backup import BackupContents, inspect_backup, restore_backup, write_backup

_ROOT = Path(__file__).parent.parent


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    made = small_stores(tmp_path / "live")
    yield made
    made.database.close()


@pytest.fixture
def backup(stores: Stores, tmp_path: Path) -> Path:
    file = tmp_path / "backup.db"
    write_backup(stores.database, file)
    return file


def test_an_empty_database_is_restored_over_without_a_word(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Database.at(tmp_path / "empty").close()
    restored = restore_backup(backup, tmp_path / "empty" / "vouch.db", data=tmp_path / "empty")
    assert restored.kept is None
    assert len(found_in(tmp_path / "empty")["texts"]) == 3
    assert (tmp_path / "empty" / "vouch.db").stat().st_mode & 0o777 == 0o600


def test_a_database_that_holds_something_is_refused_and_left_as_it_is(
    stores: Stores, backup: Path, tmp_path: Path
) -> None:
    stores.knowledge.remember(1, "A later note.")
    before = findable(stores.database)
    with pytest.raises(WrongUsage, match="holds something already"):
        restore_backup(backup, tmp_path / "live" / "vouch.db", data=tmp_path / "live")
    assert findable(stores.database) == before


def test_a_database_that_is_replaced_is_kept_beside_the_new_one(
    stores: Stores, backup: Path, tmp_path: Path
) -> None:
    stores.knowledge.remember(1, "A later note.")
    before = findable(stores.database)
    stores.database.close()
    restored = restore_backup(backup, tmp_path / "live" / "vouch.db", data=tmp_path / "live", replace=True)
    assert restored.kept is not None
    assert restored.kept.parent == tmp_path / "live"
    assert len(findable(stores.database)["texts"]) == 3
    kept = Database(f"sqlite:///{restored.kept}")
    assert findable(kept) == before
    kept.close()


def test_a_damaged_database_is_replaced_and_kept_with_its_log(
    stores: Stores, backup: Path, tmp_path: Path
) -> None:
    stores.knowledge.remember(1, "A later note.")
    log = (tmp_path / "live" / "vouch.db-wal").read_bytes()  # SQLite would take it for the new database's
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "vouch.db").write_bytes(b"dear diary\n" * 1000)
    (folder / "vouch.db-wal").write_bytes(log)
    with pytest.raises(WrongUsage, match="holds something"):
        restore_backup(backup, folder / "vouch.db", data=folder)
    restored = restore_backup(backup, folder / "vouch.db", data=folder, replace=True)
    assert restored.kept is not None
    assert restored.kept.read_bytes() == b"dear diary\n" * 1000
    assert restored.kept.with_name(f"{restored.kept.name}-wal").read_bytes() == log
    assert len(found_in(folder)["texts"]) == 3


def test_derived_indexes_go_and_none_counts_as_filled(stores: Stores, tmp_path: Path) -> None:
    with stores.database.writing() as sql:
        sql.add(FilledIndex(name="faiss", encoder_version="fake-1", fill_id="f1", filled_at=now()))
    write_backup(stores.database, tmp_path / "backup.db")
    for name in ("faiss", "chroma"):
        (tmp_path / "new" / name / "fake-1").mkdir(parents=True)
    restore_backup(tmp_path / "backup.db", tmp_path / "new" / "vouch.db", data=tmp_path / "new")
    assert names_in(tmp_path / "new") == {"vouch.db", "in-use.lock"}
    database = Database.at(tmp_path / "new")
    with database.reading() as sql:
        assert sql.execute(text("SELECT count(*) FROM filled_indexes")).scalar() == 0
    database.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of somebody else's things, in which a database is to lie."""
    folder = tmp_path / "projects"
    for place in (".unfinished-work", "chroma", "faiss"):
        (folder / place).mkdir(parents=True)
        (folder / place / "notes.txt").write_text("precious")
    (folder / ".unfinished-letter").write_text("precious")
    (folder / ".vouch-restore-thesis").mkdir()
    return folder


def test_a_database_among_other_things_is_restored_and_those_are_left(
    backup: Path, home: Path, tmp_path: Path
) -> None:
    before = set(home.rglob("*"))
    data = tmp_path / "data"
    (data / "chroma" / "fake-1").mkdir(parents=True)
    restore_backup(backup, home / "vouch.db", data=data)
    restore_backup(backup, home / "vouch.db", data=data, replace=True)
    assert before <= set(home.rglob("*"))
    assert names_in(data) == {"in-use.lock"}  # the index is where it is looked for
    assert len(found_in(home)["texts"]) == 3


def test_what_a_killed_restore_left_goes_and_a_backup_being_written_stays(
    stores: Stores, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import stores.exchange.backup as module

    folder = tmp_path / "new"
    folder.mkdir()
    (folder / ".vouch-restore-0123").write_text("half a database")
    real = module.inspect_backup

    def restore_first(copy: Path) -> BackupContents:  # copied, and not in its place yet
        monkeypatch.setattr(module, "inspect_backup", real)
        restore_backup(backup, folder / "vouch.db", data=folder)
        return real(copy)

    monkeypatch.setattr(module, "inspect_backup", restore_first)
    write_backup(stores.database, folder / "mine.db")
    assert names_in(folder) == {"mine.db", "vouch.db", "in-use.lock"}


def test_a_data_directory_in_use_keeps_its_index_from_being_deleted(backup: Path, tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    (data / "faiss" / "fake-1").mkdir(parents=True)
    elsewhere.mkdir()
    with DirectoryLock(data), pytest.raises(StoreUnavailable, match="in use by another Vouch process"):
        restore_backup(backup, elsewhere / "vouch.db", data=data)
    assert names_in(elsewhere) <= {"in-use.lock"}
    assert (data / "faiss" / "fake-1").is_dir()


def test_an_older_schema_is_migrated(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    _make_first_schema(old)
    assert inspect_backup(old).database_schema == "0001"
    (tmp_path / "new").mkdir()
    restore_backup(old, tmp_path / "new" / "vouch.db", data=tmp_path / "new")
    database = Database.at(tmp_path / "new")
    assert database.schema() == HEAD
    with database.reading() as sql:
        assert sql.execute(text("SELECT name FROM users")).scalar() == "ann"
    database.close()
    assert inspect_backup(old).database_schema == "0001"  # the backup is as it was


def _make_first_schema(file: Path) -> None:
    from stores.database.database import _engine, _migrate

    engine = _engine(f"sqlite:///{file}")
    _migrate(engine, "0001")
    engine.dispose()
    connection = sqlite3.connect(file)
    connection.execute("INSERT INTO users(name, created_at) VALUES ('ann', '2026-01-01')")
    connection.commit()
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()


def cut_short(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def scramble(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192:16384] = b"\xff" * 8192
    file.write_bytes(content)


def no_database(file: Path) -> None:
    file.write_bytes(b"dear diary\n" * 1000)


def something_else(file: Path) -> None:
    file.unlink()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()


def of_a_later_release(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()


def orphan(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM users")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("harm", "refusal"),
    [
        (cut_short, NotABackup),
        (scramble, NotABackup),
        (no_database, NotABackup),
        (something_else, NotABackup),
        (Path.unlink, NotABackup),
        (orphan, NotABackup),
        (of_a_later_release, SchemaTooNew),
    ],
    ids=["cut short", "scrambled", "no database", "something else", "missing", "orphaned", "too new"],
)
def test_what_cannot_be_restored_is_refused_before_anything_is_touched(
    stores: Stores, backup: Path, tmp_path: Path, harm: Callable[[Path], None], refusal: type[Exception]
) -> None:
    stores.database.close()
    harm(backup)
    before = {name: (tmp_path / "live" / name).read_bytes() for name in names_in(tmp_path / "live")}
    with pytest.raises(refusal) as refused:
        restore_backup(backup, tmp_path / "live" / "vouch.db", data=tmp_path / "live", replace=True)
    assert refused.value.exit_code == 2  # type: ignore[attr-defined]
    assert {name: (tmp_path / "live" / name).read_bytes() for name in names_in(tmp_path / "live")} == before


def test_a_data_directory_in_use_is_not_restored_over(backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "used"
    folder.mkdir()
    with (
        DirectoryLock(folder),
        DirectoryLock(folder),  # many may use it at once
        pytest.raises(StoreUnavailable, match="in use by another Vouch process") as refused,
    ):
        restore_backup(backup, folder / "vouch.db", data=folder)
    assert refused.value.exit_code == 3
    assert names_in(folder) == {"in-use.lock"}
    restore_backup(backup, folder / "vouch.db", data=folder)


_DIES_AT = """
    import os, signal, sys
    from pathlib import Path
    import stores.exchange.backup

    def dying(name, real):
        def die(*arguments, **more):
            if sys.argv[3] == f"before {name}":
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*arguments, **more)
            if sys.argv[3] == f"after {name}":
                os.kill(os.getpid(), signal.SIGKILL)
            return result
        return die

    steps = "_copy_database _bring_up_to_date _kept_beside _remove_write_ahead_log _put_in_place"
    for name in steps.split():
        setattr(stores.exchange.backup, name, dying(name, getattr(stores.exchange.backup, name)))
    target = Path(sys.argv[2])
    stores.exchange.backup.restore_backup(Path(sys.argv[1]), target, data=target.parent, replace=True)
"""


@pytest.mark.parametrize(
    ("moment", "texts"),
    [
        ("after _copy_database", 4),
        ("after _bring_up_to_date", 4),
        ("after _kept_beside", 4),
        ("after _remove_write_ahead_log", 4),
        ("after _put_in_place", 3),
    ],
    ids=["copied", "migrated", "kept", "log removed", "in place"],
)
def test_killed_while_restoring_the_database_is_the_old_or_the_new_one(
    stores: Stores, backup: Path, tmp_path: Path, moment: str, texts: int
) -> None:
    stores.knowledge.remember(1, "A later note.")
    folder = tmp_path / "killed"  # as a writer that was killed leaves it: the note is in the log alone
    shutil.copytree(tmp_path / "live", folder)
    (folder / "vouch.db-shm").unlink()
    assert (folder / "vouch.db-wal").stat().st_size > 0
    killed = subprocess.run(
        [
            *(sys.executable, "-W", "error", "-c", textwrap.dedent(_DIES_AT)),
            *(str(backup), str(folder / "vouch.db"), moment),
        ],
        cwd=_ROOT,
        capture_output=True,
        text=True,
    )
    assert killed.returncode == -9, killed.stderr
    database = Database.at(folder)
    assert len(findable(database)["texts"]) == texts
    assert database.integrity_problems() == []
    database.close()
    restore_backup(backup, folder / "vouch.db", data=folder, replace=True)  # the lock died with it
    assert len(found_in(folder)["texts"]) == 3


def test_a_full_disk_while_restoring_leaves_the_database_as_it_was(
    stores: Stores, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import stores.exchange.backup as module

    before = findable(stores.database)
    stores.database.close()

    def no_room(source: Path, copy: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_copy_database", no_room)
    with pytest.raises(StoreUnavailable, match="No space left"):
        restore_backup(backup, tmp_path / "live" / "vouch.db", data=tmp_path / "live", replace=True)
    assert findable(stores.database) == before
    assert not [name for name in names_in(tmp_path / "live") if name.startswith(".")]
