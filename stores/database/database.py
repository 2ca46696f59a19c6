"""One SQL database: transactions that are durable once they return, and a schema that is migrated.

SQLite by default, PostgreSQL by address, and the same promises on both: a commit that returned survives
the loss of power, readers never wait for a writer, a reading transaction sees one moment, and a writing
one takes the one write lock when it begins. So writers follow each other: none fails half way because
another wrote in between, and ids become visible in the order in which they were given. Nobody writes a
schema that is not this release's, also where another release migrated it in the meantime.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import URL, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError
from sqlalchemy.orm import Session as SqlSession

from stores.base.errors import (
    SchemaDamaged,
    SchemaTooNew,
    SchemaTooOld,
    StoreUnavailable,
    TryAgain,
    VouchError,
    WrongUsage,
)
from stores.base.secrets import without_values
from stores.base.shortages import lacks_files, shortage, temporary_folder, too_many_files

HEAD = "0013"  # the newest schema; a test holds it to the migrations
KNOWN_SCHEMAS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
    "0007",
    "0008",
    "0009",
    "0010",
    "0011",
    "0012",
    "0013",
)  # every schema this release can bring up to date
_BUSY_SECONDS = 15.0  # how long a writer waits for another process's transaction
_AGAIN_AFTER_SECONDS = 0.01
_MIGRATION_SECONDS = 120.0  # how long a start waits for another process to migrate
WRITE_LOCK = 0x766F756368  # PostgreSQL's advisory lock of this number is ours: "vouch"


_kept: Callable[[str], Engine] | None = None


def keep_statements() -> None:
    """From now on what was worked out of statements is kept for the next `Database` of the same URL."""
    global _kept
    _kept = lru_cache(maxsize=8)(_engine)


class Database:
    """A database by URL: `sqlite:///path`, or `postgresql+psycopg://user@host/name`.

    Raises `StoreUnavailable` where it cannot be reached, `SchemaTooNew` where a later release wrote it, and
    `SchemaTooOld` where an earlier one did, it is a server's, and migrates is not set. A file is migrated
    whenever it is opened.
    """

    def __init__(self, url: str, *, migrates: bool = False) -> None:
        self.url = url
        self._migrates = migrates
        self._engine = (_engine if _kept is None else _kept)(url)
        self._reader = self._engine
        if self.is_postgresql:
            self._reader = self._engine.execution_options(isolation_level="REPEATABLE READ")
        try:
            self._bring_up_to_date()
        except BaseException:
            self.close()
            raise

    @property
    def is_postgresql(self) -> bool:
        """Whether many machines may share it; otherwise it is a file of SQLite's."""
        return self._engine.dialect.name == "postgresql"

    @property
    def place(self) -> str:
        """Where it is, fit to be shown: the file, or the address without a password."""
        return _place(self.url)

    @property
    def file(self) -> Path | None:
        """SQLite's file; None of a server's database."""
        return database_file(self.url)

    @classmethod
    def at(cls, folder: Path) -> Database:
        """The SQLite database of a data directory."""
        file = folder / "vouch.db"
        with suppress(OSError):  # the driver will say what is wrong
            file.touch(mode=0o600)  # its owner's alone, also as a copy elsewhere
        # written as a URL by the library: a folder's name may hold ? or %
        return cls(URL.create("sqlite", database=str(file)).render_as_string())

    @contextmanager
    def reading(self) -> Iterator[SqlSession]:
        """A consistent view for as long as it is open; what is changed in it is thrown away."""
        with told_plainly(self.url), SqlSession(self._reader, expire_on_commit=False) as sql:
            yield sql

    @contextmanager
    def writing(self) -> Iterator[SqlSession]:
        """All or nothing; durable when the block is left without an exception.

        Raises `SchemaTooNew` or `SchemaTooOld` where the schema is not this release's any more.
        """
        writer = self._engine.execution_options(vouch_writes=True)
        with told_plainly(self.url), SqlSession(writer, expire_on_commit=False) as sql, sql.begin():
            yield sql

    def close(self) -> None:
        """Gives connections back; the database can be used again afterwards."""
        self._engine.dispose()

    def integrity_problems(self) -> list[str]:
        """What the database itself finds wrong with its file; empty when nothing is."""
        if self._engine.dialect.name != "sqlite":
            return []
        with told_plainly(self.url), self._engine.connect() as connection:
            told = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
        return [] if told == ["ok"] else told

    def rows_without_parents(self) -> dict[str, int]:
        """How many rows name another that is not there, by table. A server's database allows none."""
        if self.is_postgresql:
            return {}
        with told_plainly(self.url), self._engine.connect() as connection:
            return dict(Counter(str(r[0]) for r in connection.exec_driver_sql("PRAGMA foreign_key_check")))

    def schema(self) -> str:
        """The schema found in the database; empty when there is none."""
        with self._engine.connect() as connection:
            return _schema_of(connection)

    def _bring_up_to_date(self) -> None:
        with told_plainly(self.url):
            found = self.schema()
            if found == HEAD:
                return
            if found and (found not in KNOWN_SCHEMAS or (self.is_postgresql and not self._migrates)):
                raise _not_ours(found, self.place)
            with _one_migrator(self._engine):
                _keep_before_links(self.file, found)
                _migrate(self._engine)


def _engine(url: str) -> Engine:
    try:
        address = make_url(url)
        if address.get_backend_name() == "sqlite":
            engine = create_engine(address, connect_args={"timeout": _BUSY_SECONDS})
            event.listen(engine, "connect", _set_up_connection)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        if address.drivername == "postgresql":
            address = address.set(drivername="postgresql+psycopg")
        engine = create_engine(
            address,
            pool_pre_ping=True,  # a server that was started again is found without an error
            connect_args={
                "connect_timeout": int(_BUSY_SECONDS),
                "options": f"-c lock_timeout={int(_BUSY_SECONDS * 1000)} -c timezone=UTC",
                "application_name": "vouch",
                "client_encoding": "UTF8",  # whatever PGCLIENTENCODING says
            },
        )
    except ModuleNotFoundError as error:
        raise WrongUsage(
            f"{_place(url)}: the driver {error.name} is not installed",
            hint="For PostgreSQL: pip install 'vouch[postgres]'.",
        ) from None
    except ArgumentError:
        raise WrongUsage(
            "store.url is no address of a database", hint="Change it in settings.toml."
        ) from None
    event.listen(engine, "begin", _begin_postgresql)
    # before SQLAlchemy's own: of SQL_ASCII it would get bytes, and fail
    event.listen(engine, "connect", partial(_must_hold_all_text, place=_place(url)), insert=True)
    return engine


def _must_hold_all_text(connection: Any, _record: Any, *, place: str) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise WrongUsage(
            f"{place}: the database has the encoding {encoding}, and Vouch needs UTF8",
            hint="Create another one and name it in store.url: "
            "CREATE DATABASE name ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0",
        )


def _set_up_connection(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # this module says BEGIN, see below
    connection.create_function("lower", 1, _lower, deterministic=True)
    cursor = connection.cursor()
    _write_ahead(cursor)
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA cache_size=-65536")  # 64 MiB
    cursor.close()


def _write_ahead(cursor: sqlite3.Cursor) -> None:
    """Where two open a new file at once, SQLite refuses one at once, without its own waiting."""
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(_AGAIN_AFTER_SECONDS)


def _lower(text: str | None) -> str | None:
    """In place of SQLite's own, which knows the letters of ASCII only."""
    return None if text is None else text.lower()


def _begin_sqlite(connection: Any) -> None:
    writes = connection.get_execution_options().get("vouch_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
    _must_be_ours(connection)


def _begin_postgresql(connection: Any) -> None:
    if connection.get_execution_options().get("vouch_writes", False):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")
    _must_be_ours(connection)


def _must_be_ours(connection: Any) -> None:
    """Refuses to write a schema that another release made since this process began."""
    options = connection.get_execution_options()
    if options.get("vouch_writes", False) and not options.get("vouch_migrates", False):
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        if found != HEAD:
            raise _not_ours(found, _place(connection.engine.url.render_as_string(hide_password=False)))


def _not_ours(found: str | None, place: str) -> VouchError:
    if not found:
        return SchemaDamaged(place, "it does not say which schema it has")
    return SchemaTooOld(place, found, HEAD) if found in KNOWN_SCHEMAS else SchemaTooNew(place, found)


def _schema_of(connection: Any) -> str:
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() or "")


@contextmanager
def _one_migrator(engine: Engine) -> Iterator[None]:
    """Keeps two processes that start on one SQLite file from migrating it at once."""
    path = engine.url.database
    if engine.dialect.name != "sqlite" or not path or path == ":memory:":
        yield
        return
    try:
        with FileLock(f"{path}.schema-lock", timeout=_MIGRATION_SECONDS):
            yield
    except Timeout:
        raise StoreUnavailable(f"{path}: another process is migrating it", hint="Try again later.") from None


def before_links(file: Path) -> Path:
    """Where the database of before is kept, once versions that replaced each other became statements."""
    return file.with_name(f"{file.stem}-before-links{file.suffix}")


def _keep_before_links(file: Path | None, schema: str) -> None:
    """Copies a file in which a statement replaced another one, as 0009 will split them."""
    if file is None or not schema or schema >= "0009" or before_links(file).exists():
        return
    copy = before_links(file)
    unfinished = copy.with_name(f"{copy.name}.part")
    with closing(sqlite3.connect(file)) as opened:
        some = "SELECT 1 FROM passage_versions WHERE number > 1 AND author = 'remembering' LIMIT 1"
        if opened.execute(some).fetchone() is None:
            return
        unfinished.unlink(missing_ok=True)  # of a start that was killed
        unfinished.touch(mode=0o600)
        opened.execute("VACUUM INTO ?", (str(unfinished),))
    unfinished.replace(copy)


def _migrate(engine: Engine, to: str = "head") -> None:
    """Looks what there is and migrates it, in one transaction; PostgreSQL's migrators queue at its lock."""
    from alembic import command  # half a second to import, and needed once
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.execution_options(vouch_writes=True, vouch_migrates=True).begin() as connection:
        if not _schema_of(connection) and inspect(connection).has_table("passage_versions"):
            raise _not_ours("", _place(engine.url.render_as_string(hide_password=False)))
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def database_file(url: str) -> Path | None:
    """The file of an SQLite URL; None where there is none."""
    parts = make_url(url)
    name = parts.database or ""
    is_file = parts.get_backend_name() == "sqlite" and name and name != ":memory:"
    return Path(name) if is_file and not name.startswith("file:") else None


def server_address(url: str) -> str:
    """A server's URL as its own programs take it, without the password, which they are given otherwise."""
    parts = make_url(url).difference_update_query(["password", "sslpassword"])
    return parts._replace(drivername="postgresql", password=None).render_as_string()


def _place(url: str) -> str:
    """Where the database is, as it can be shown: the file, or the address without a password."""
    parts = make_url(url)
    is_file = parts.get_backend_name() == "sqlite" and parts.database
    return str(parts.database) if is_file else without_values(parts.render_as_string(hide_password=True))


@contextmanager
def told_plainly(url: str, *, writes_to: Path | None = None) -> Iterator[None]:
    """Turns what a driver reports about locks, space and permissions into our own error.

    writes_to: the folder or file that is written, where it is not the database's own.
    """
    try:
        yield
    except Exception as error:
        if not _is_a_drivers(error):
            raise
        reported = getattr(error, "orig", error)
        if (file := writes_to or database_file(url)) and (lacking := _lacking(reported, file)):
            raise lacking from error
        words = f"{type(reported).__name__}: {reported}".lower()  # a server tells in its own language
        for symptom, message, hint in _SYMPTOMS:
            if symptom in words:
                raise StoreUnavailable(f"{_place(url)}: {message}", hint=hint) from error
        raise


def _lacking(reported: BaseException, file: Path) -> TryAgain | None:
    """What SQLite lacks that writes a file; also why it cannot open any."""
    if "unable to open" in str(reported) and lacks_files():
        return too_many_files()
    temporary = temporary_folder("SQLITE_TMPDIR")
    return shortage(reported, {file: "Nothing was lost.", temporary: "Name another one with SQLITE_TMPDIR."})


def _is_a_drivers(error: Exception) -> bool:
    """Whether SQLAlchemy or a driver below it raised this; psycopg is not imported to tell."""
    of_psycopg = type(error).__module__.partition(".")[0] == "psycopg"
    return of_psycopg or isinstance(error, (DBAPIError, DatabaseError, sqlite3.Error))


_SYMPTOMS = (
    ("database is locked", "another process is writing", "Try again, or end the other process."),
    ("lock timeout", "another process is writing", "Try again, or end the other process."),
    ("no space left", "the server's disk is full", "Make room there, then try again; nothing was lost."),
    ("out of memory", "the server has no memory left", "Try again in a while; nothing was lost."),
    ("readonly database", "it may only be read", "Give yourself write permission to the data directory."),
    ("read-only transaction", "it may only be read", "Name the server that takes writes in store.url."),
    ("unable to open", "it cannot be opened", "Check that the data directory exists and is yours."),
    ("disk i/o error", "the disk failed to read or write", "Check the disk; `vouch doctor` tells more."),
    ("image is malformed", "the file is damaged", "Restore a backup; `vouch doctor` tells more."),
    ("not a database", "the file is no SQLite database", "Name another data directory with --data."),
    ("password authentication failed", "user or password is wrong", "Correct store.url."),
    ("no password supplied", "it wants a password", "Add it to store.url, or set PGPASSWORD."),
    ("permission denied", "this user may not do that there", "Give the user the rights to the database."),
    (
        'fatal:  database "',
        "the server has no such database",
        "Create it: createdb NAME; or correct store.url.",
    ),
    ("no such table", "it lacks a table", "`vouch doctor` tells more."),
    ("undefinedtable", "it lacks a table", "`vouch doctor` tells more."),
    ("no such column", "it lacks a column", "`vouch doctor` tells more."),
    ("undefinedcolumn", "it lacks a column", "`vouch doctor` tells more."),
    ('fatal:  role "', "the server knows no such user", "Create it: createuser NAME; or correct store.url."),
    ("too many clients", "the server has too many connections", "Try again in a while."),
    ("remaining connection slots", "the server has too many connections", "Try again in a while."),
    ("starting up", "the server is starting", "Try again in a while."),
    ("shutting down", "the server is shutting down", "Start the database server, then try again."),
    ("terminating connection", "the server ended the connection", "Try again."),
    ("closed the connection", "the server ended the connection", "Try again; nothing acknowledged was lost."),
    ("connection is closed", "the connection was lost", "Try again; nothing acknowledged was lost."),
    ("connection is lost", "the connection was lost", "Try again; nothing acknowledged was lost."),
    ("connection refused", "the server is not reachable", "Start the database server, then try again."),
    ("connection failed", "the server is not reachable", "Check store.url and the network."),
    ("connection timeout", "the server is not reachable", "Check store.url and the network."),
    ("resolve host", "there is no server of that name", "Check store.url and the network."),
)
