"""A backup: one file with the whole database, and bringing it back.

The file is an SQLite database of its own: the whole truth, with the words and vectors that lie beside it,
as they were at one moment. It is made while others write. Indexes in folders are not in it: they are filled
again from the vectors. Nor are the models that were trained here, which lie beside the database.

    write_backup     database -> FILE
    inspect_backup   FILE -> what it holds, or why it is none
    restore_backup   FILE -> database
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import URL, delete

from stores.base.errors import NotABackup, SchemaTooNew, StoreUnavailable, WrongUsage
from stores.base.syncing import sync
from stores.database.data_directory import DirectoryLock
from stores.database.database import KNOWN_SCHEMAS, Database, told_plainly
from stores.database.living_processes import is_left
from stores.database.tables import FilledIndex

INDEX_FOLDERS = ("chroma", "faiss")  # of a data directory; derived
_BEING_WRITTEN = ".vouch-backup-"  # how unfinished files begin
_BEING_RESTORED = ".vouch-restore-"
_HELD = ("users", "turns", "documents", "passages", "receipts")  # tables by which a database holds something


@dataclass(frozen=True)
class BackupContents:
    """What a backup holds."""

    users: int
    passages: int  # live ones
    turns: int
    size_bytes: int
    database_schema: str


@dataclass(frozen=True)
class Restored:
    """What a restore did."""

    contents: BackupContents
    kept: Path | None  # the database of before; None where there was nothing to keep


def write_backup(database: Database, file: Path, *, replace: bool = False) -> BackupContents:
    """Writes a database as it is at one moment, durable and checked once this returns.

    Raises `WrongUsage` where the file is there already and is not to be replaced, `StoreUnavailable` where it
    cannot be written. Stopped half way, there is no such file, or the one of before.
    """
    source = database.file
    if source is None:
        raise WrongUsage(f"{database.place} is no file of SQLite's")
    if file.resolve() == source.resolve():
        raise WrongUsage(f"{file} is the database itself", hint="Name another file.")
    if file.exists() and not (replace and file.is_file()):
        raise WrongUsage(f"{file} is there already", hint="Name another file, or replace it with --replace.")
    for left in file.parent.glob(f"{_BEING_WRITTEN}*"):
        if is_left(left):  # by a backup that was killed
            _remove_files(file.parent, left.name)
    with _unfinished(file.parent, _BEING_WRITTEN) as copy:
        _copy_database(source, copy)
        contents = inspect_backup(copy)
        _put_in_place(copy, file)
    return contents


def inspect_backup(file: Path) -> BackupContents:
    """What a backup holds; nothing is written. Raises `NotABackup` or `SchemaTooNew`."""
    if not file.is_file():
        raise NotABackup(file, "there is no such file")
    try:
        with closing(_opened_to_read(file)) as connection:
            return _inspected(connection, file)
    except sqlite3.Error as error:
        raise NotABackup(file, str(error)) from error


def restore_backup(file: Path, target: Path, *, data: Path, replace: bool = False) -> Restored:
    """Makes a backup the database `target`, which nobody may be using, and forgets the derived indexes.

    data: the data directory, in which the indexes lie, and mostly the database too.
    replace: a database that holds something is kept beside it, and otherwise refused (`WrongUsage`). Raises
    as `inspect_backup`, before anything is touched. Killed at any point, it is the old database or the new.
    """
    contents = inspect_backup(file)
    with ExitStack() as locks:
        for folder in sorted({target.parent.resolve(), data.resolve()}):
            locks.enter_context(DirectoryLock(folder, is_exclusive=True))
        _remove_files(target.parent, _BEING_RESTORED)  # by a restore that was killed
        is_kept = target.exists() and _holds_something(target)
        if is_kept and not replace:
            raise WrongUsage(
                f"{target} holds something already",
                hint="--replace restores over it and keeps it under another name beside it; "
                "--data names another directory.",
            )
        with _unfinished(target.parent, _BEING_RESTORED) as copy:
            _copy_database(file, copy)
            _bring_up_to_date(copy)
            kept = _kept_beside(target) if is_kept else None
            _remove_write_ahead_log(target)
            _put_in_place(copy, target)
        # only now: what lies there is not asked by the new database, which says that none is filled
        for name in INDEX_FOLDERS:
            shutil.rmtree(data / name, ignore_errors=True)
    return Restored(contents, kept)


def _copy_database(source: Path, copy: Path) -> None:
    """One consistent copy, without what was deleted, also while others write."""
    with told_plainly(_url(source), writes_to=copy.parent), closing(_opened_to_read(source)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))


def _opened_to_read(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=15, isolation_level=None)


def _inspected(connection: sqlite3.Connection, file: Path) -> BackupContents:
    def number(statement: str) -> int:
        return int(connection.execute(statement).fetchone()[0])

    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not {"alembic_version", "passage_versions", *_HELD} <= names:
        raise NotABackup(file, "it is a database of something else")
    schema = str((connection.execute("SELECT version_num FROM alembic_version").fetchone() or [""])[0])
    if schema not in KNOWN_SCHEMAS:
        raise SchemaTooNew(str(file), schema)
    told = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
    if told != ["ok"]:
        raise NotABackup(file, "; ".join(told))
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise NotABackup(file, "a row names another that is not there")
    return BackupContents(
        users=number("SELECT count(*) FROM users"),
        passages=number("SELECT count(*) FROM passage_versions WHERE removed_at IS NULL"),
        turns=number("SELECT count(*) FROM turns"),
        size_bytes=file.stat().st_size,
        database_schema=schema,
    )


def _holds_something(file: Path) -> bool:
    """Whether anything would be lost with it; what cannot be read may hold anything."""
    if not file.stat().st_size:
        return False
    try:
        with closing(_opened_to_read(file)) as connection:
            names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
            if not names <= {"alembic_version"} and not set(_HELD) <= names:
                return True  # something else's
            tables = [name for name in _HELD if name in names]
            return any(connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in tables)
    except sqlite3.Error:
        return True


def _bring_up_to_date(copy: Path) -> None:
    """Migrates a copy and lets its derived indexes be filled again; one plain file afterwards."""
    database = Database(_url(copy))
    try:
        with database.writing() as sql:
            sql.execute(delete(FilledIndex))
    finally:
        database.close()
    _take_in_log(copy)
    copy.with_name(f"{copy.name}.schema-lock").unlink(missing_ok=True)


def _kept_beside(target: Path) -> Path:
    """Gives the database of now a second name, under which it stays."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    kept = target.with_name(f"{target.stem}-before-restore-{moment}{target.suffix}")
    kept_log = kept.with_name(f"{kept.name}-wal")
    if _is_whole(target):
        _take_in_log(target)
    else:  # as it is, for whoever can read more of it than SQLite
        _link_or_copy(target.with_name(f"{target.name}-wal"), kept_log)
    _link_or_copy(target, kept)
    sync(target.parent)
    return kept


def _is_whole(file: Path) -> bool:
    try:
        with closing(_opened_to_read(file)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.Error:
        return False


def _take_in_log(file: Path) -> None:
    """Makes a database one plain file: its write-ahead log is in it then, and gone."""
    with told_plainly(_url(file)), closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def _link_or_copy(source: Path, second: Path) -> None:
    if not source.exists():
        return
    try:
        second.hardlink_to(source)
    except OSError:  # a file system without second names
        shutil.copy2(source, second)
        sync(second)


def _remove_write_ahead_log(target: Path) -> None:
    """Of the database of before: it would be taken for the new one's."""
    for ending in ("-wal", "-shm"):
        target.with_name(target.name + ending).unlink(missing_ok=True)


def _put_in_place(copy: Path, file: Path) -> None:
    sync(copy)
    copy.replace(file)
    sync(file.parent)


@contextmanager
def _unfinished(folder: Path, kind: str) -> Iterator[Path]:
    """An empty file of this user's alone in the folder; gone afterwards, unless it was given its name."""
    name = f"{kind}{secrets.token_hex(8)}"
    copy = folder / name
    held = -1
    try:
        held = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        yield copy
    except OSError as error:
        raise StoreUnavailable(
            f"{folder}: a file cannot be written there ({error.strerror or error})",
            hint="Check that the directory is there, is yours, and has room.",
        ) from error
    finally:
        _remove_files(folder, name)
        if held >= 0:
            os.close(held)


def _remove_files(folder: Path, beginning: str) -> None:
    """Deletes the files of a folder whose names begin so, as far as that can be done."""
    for file in folder.glob(f"{beginning}*"):
        if file.is_file():
            with suppress(OSError):
                file.unlink()


def _url(file: Path) -> str:
    return URL.create("sqlite", database=str(file)).render_as_string()
