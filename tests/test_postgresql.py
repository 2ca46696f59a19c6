"""PostgreSQL: what differs from a file, told as plainly, and every schema brought up to date on both."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_helpers import Vouch
from postgres_server import PostgresServer
from sqlalchemy import create_engine, text
from store_fixtures import Stores, assert_words_are_exact, findable

import stores.database.database as database_module
from stores.base.clock import now
from stores.base.errors import SchemaTooOld, StoreUnavailable, WrongUsage
from stores.base.passages import SHARED
from stores.database.database import HEAD, Database
from stores.database.rows import rows
from stores.database.tables import User
from stores.words.lexical import tokens

ROOT = Path(database_module.__file__).parents[2]


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    made = postgres.new_database(template="vouch_empty")
    yield made
    postgres.drop(made)


def process(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def names(database: Database) -> set[str]:
    with database.reading() as sql:
        return {row[0] for row in sql.execute(text("SELECT name FROM users"))}


def test_the_short_form_of_the_address_names_the_same_driver(url: str) -> None:
    opened = Database(url.replace("postgresql+psycopg://", "postgresql://"))
    assert opened.schema() == HEAD
    assert opened.is_postgresql
    opened.close()


def test_the_server_synchronises_each_commit_to_disk(url: str) -> None:
    opened = Database(url)
    with opened.writing() as sql:
        assert sql.execute(text("SHOW synchronous_commit")).scalar() == "on"
    opened.close()


def test_a_process_killed_inside_a_transaction_loses_that_one_and_frees_the_lock(url: str) -> None:
    killed = process(
        """
        import sys
        from stores.database.database import Database
        from stores.base.clock import now
        from stores.database.tables import User
        database = Database(sys.argv[1])
        with database.writing() as sql:
            sql.add(User(name="kept", created_at=now()))
        with database.writing() as sql:
            sql.add(User(name="lost", created_at=now()))
            sql.flush()
            print("inside", flush=True)
            sys.stdin.readline()
""",
        url,
    )
    assert killed.stdout is not None
    assert killed.stdout.readline() == "inside\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    opened = Database(url)
    with opened.writing() as sql:  # waits until the server has noticed
        sql.add(User(name="next", created_at=now()))
    assert names(opened) == {"kept", "next"}
    opened.close()


def test_a_database_locked_for_too_long_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = Database(url)
    monkeypatch.setattr(database_module, "_BUSY_SECONDS", 1.0)
    impatient = Database(url)
    with patient.writing() as first:
        first.add(User(name="first", created_at=now()))
        first.flush()
        with (
            pytest.raises(StoreUnavailable, match="another process is writing") as refused,
            impatient.writing() as second,
        ):
            second.add(User(name="second", created_at=now()))
        assert refused.value.exit_code == 3
        assert names(impatient) == set()  # readers go on
    assert names(impatient) == {"first"}
    patient.close()
    impatient.close()


def test_processes_that_open_an_empty_database_at_once_all_succeed(postgres: PostgresServer) -> None:
    empty = postgres.new_database()
    script = """
        import sys
        from stores.database.database import Database
        from stores.base.clock import now
        from stores.database.tables import User
        print("ready", flush=True)
        sys.stdin.readline()
        with Database(sys.argv[1]).writing() as sql:
            sql.add(User(name=sys.argv[2], created_at=now()))
"""
    opened = [process(script, empty, number) for number in range(2)]
    for each in opened:
        assert each.stdout is not None
        each.stdout.readline()  # both have imported everything before either begins
    for each in opened:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    errors = [each.communicate()[1] for each in opened]
    assert [each.returncode for each in opened] == [0, 0], errors
    database = Database(empty)
    assert names(database) == {"0", "1"}
    database.close()
    postgres.drop(empty)


def test_connections_that_the_server_ended_are_made_anew(url: str) -> None:
    opened = Database(url)
    assert names(opened) == set()
    other = Database(url)
    with other.reading() as sql:
        sql.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    assert names(opened) == set()
    opened.close()
    other.close()


def test_a_connection_that_ends_in_a_transaction_is_told_and_nothing_is_half_written(url: str) -> None:
    opened, other = Database(url), Database(url)

    def write() -> None:
        with opened.writing() as sql:
            sql.add(User(name="half", created_at=now()))
            sql.flush()
            with other.reading() as killer:
                killer.execute(
                    text(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                )
            sql.add(User(name="whole", created_at=now()))

    with pytest.raises(StoreUnavailable, match=r"ended the connection|connection was lost"):
        write()
    assert names(opened) == set()
    opened.close()
    other.close()


def test_a_connection_that_ends_while_searching_is_told(url: str) -> None:
    opened, other = Database(url), Database(url)

    def search() -> None:
        with opened.reading() as sql:
            assert rows(sql, "SELECT count(*) FROM users") == [(0,)]
            with other.reading() as killer:
                killer.execute(
                    text(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                )
            rows(sql, "SELECT count(*) FROM users")

    with pytest.raises(StoreUnavailable, match=r"ended the connection|connection was lost"):
        search()
    assert names(opened) == set()
    opened.close()
    other.close()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("/test_", "/nowhere_"), "no such database"),
        (("vouch@", "stranger@"), "no such user"),
    ],
    ids=["another database", "another user"],
)
def test_a_wrong_address_is_told_without_its_password(url: str, change: tuple[str, str], told: str) -> None:
    wrong = url.replace(*change).replace("@", ":secret@")
    with pytest.raises(StoreUnavailable, match=told) as refused:
        Database(wrong)
    assert "secret" not in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "EUC_JP"])
def test_a_database_that_cannot_hold_all_text_is_refused(postgres: PostgresServer, encoding: str) -> None:
    name = f"of_{encoding.lower()}"
    postgres.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(WrongUsage) as told:
            Database(postgres.url(name))
    finally:
        postgres.drop(postgres.url(name))
    said = f"{postgres.url(name)}: the database has the encoding {encoding}, and Vouch needs UTF8"
    assert (told.value.message, told.value.exit_code) == (said, 2)
    assert "ENCODING 'UTF8'" in told.value.hint


def test_text_is_kept_whatever_the_environment_says_of_its_encoding(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    opened = Database(url)
    with opened.writing() as sql:
        sql.add(User(name="東", created_at=now()))
    assert names(opened) == {"東"}
    opened.close()


def test_a_server_that_does_not_run_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(StoreUnavailable, match="not reachable"):
        Database(f"postgresql://ann@127.0.0.1:{port}/vouch")


def test_a_database_of_another_kind_is_told() -> None:
    with pytest.raises(WrongUsage, match="not installed"):
        Database("mysql://ann@127.0.0.1/vouch")


OLD_TEXTS = {1: (SHARED, "cat dog"), 2: (SHARED, "cats"), 3: ("user:1", "cat owl"), 4: ("user:12", "owl")}


def make_first_schema(url: str, *, is_postgresql: bool) -> None:
    """A database as the first release left it, with four passages and a live encoder."""
    engine = database_module._engine(url)
    database_module._migrate(engine, "0001")
    with engine.execution_options(vouch_writes=True, vouch_migrates=True).begin() as sql:
        sql.execute(text("INSERT INTO users VALUES (1, 'ann', CURRENT_TIMESTAMP)"))
        for number, (space, written) in OLD_TEXTS.items():
            values = {"id": number, "space": space, "written": written, "words": " ".join(tokens(written))}
            sql.execute(
                text(
                    "INSERT INTO passages(id, space, kind, external_id, created_at) "
                    "VALUES (:id, :space, 'note', '', CURRENT_TIMESTAMP)"
                ),
                values,
            )
            sql.execute(
                text(
                    "INSERT INTO passage_versions(id, passage_id, position, space, number, title, text, "
                    "text_hash, author, created_at) VALUES (:id, :id, 0, :space, 1, '', :written, '', "
                    "'user', CURRENT_TIMESTAMP)"
                ),
                values,
            )
            sql.execute(
                text(
                    "INSERT INTO space_statistics VALUES (:space, 1, :count) ON CONFLICT(space) DO UPDATE "
                    "SET passages = space_statistics.passages + 1, "
                    "words = space_statistics.words + excluded.words"
                ),
                values | {"count": len(tokens(written))},
            )
            if is_postgresql:
                sql.execute(
                    text("INSERT INTO passage_words VALUES (:id, :space, :words, 1, ''::tsvector)"), values
                )
            elif space == SHARED:
                sql.execute(text("INSERT INTO shared_words(rowid, words) VALUES (:id, :words)"), values)
            else:
                sql.execute(
                    text("INSERT INTO own_words(rowid, space, words) VALUES (:id, :own, :words)"),
                    values | {"own": space.replace(":", "")},
                )
        sql.execute(
            text(
                "INSERT INTO model_versions VALUES "
                "(1, 'encoder', 'old-1', '', CAST(:details AS JSON), CURRENT_TIMESTAMP)"
            )
            if is_postgresql
            else text(
                "INSERT INTO model_versions VALUES (1, 'encoder', 'old-1', '', :details, CURRENT_TIMESTAMP)"
            ),
            {"details": json.dumps({})},
        )
        sql.execute(text("INSERT INTO live_models VALUES ('encoder', 1, NULL, CURRENT_TIMESTAMP)"))
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def first_schema(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database that has the first schema and some data."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path / 'old.db'}"
        make_first_schema(address, is_postgresql=False)
        yield address
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    address = server.new_database()
    make_first_schema(address, is_postgresql=True)
    yield address
    server.drop(address)


def test_the_first_schema_is_brought_up_to_date_with_its_words_counted(first_schema: str) -> None:
    opened = Database(first_schema, migrates=True)
    assert opened.schema() == HEAD
    assert_words_are_exact(opened)
    assert [row["text"] for row in findable(opened)["texts"]] == ["cat dog", "cats", "cat owl", "owl"]
    with opened.reading() as sql:
        live = sql.execute(text("SELECT role, model_version_id, declined FROM live_models")).all()
    assert [tuple(row) for row in live] == [("encoder", 1, "")]
    opened.close()


def test_a_server_s_database_gets_a_new_schema_by_the_doctor_alone(
    postgres: PostgresServer, tmp_path: Path, minilm_folder: Path
) -> None:
    address = postgres.new_database()
    make_first_schema(address, is_postgresql=True)
    with pytest.raises(SchemaTooOld, match="schema 0001, and this release needs"):
        Database(address)
    settings = tmp_path / "settings.toml"
    settings.write_text(f"[store]\nurl = {json.dumps(address)}\n", "utf-8")

    vouch = Vouch(tmp_path, minilm_folder.parent)
    assert "vouch doctor --migrate" in vouch.run("doctor", "--settings", str(settings), code=1).out
    told = vouch.run("doctor", "--migrate", "--settings", str(settings), code=1)  # of an encoder that is gone
    assert f"schema {HEAD}" in told.err
    refused = vouch.run("doctor", "--migrate", "--no-repair", "--settings", str(settings), code=2)
    assert "--no-repair changes nothing" in refused.err
    opened = Database(address)
    assert_words_are_exact(opened)
    opened.close()
    postgres.drop(address)


def test_writing_goes_on_in_a_database_that_was_brought_up_to_date(first_schema: str) -> None:
    stores = Stores.over(Database(first_schema, migrates=True))
    stores.journal.user_id("ann")
    if stores.database.is_postgresql:  # the rows above were numbered by hand
        with stores.database.writing() as sql:
            for table in ("passages", "passage_versions"):
                sql.execute(text(f"SELECT setval('{table}_id_seq', 100)"))
    stores.knowledge.remember(1, "an elk and a cat")
    assert_words_are_exact(stores.database)
    assert len(stores.spaces().of(1).matching("elk", 5)) == 1
    stores.database.close()


def test_both_databases_make_the_same_tables_and_columns(url: str, tmp_path: Path) -> None:
    from sqlalchemy import inspect

    Database.at(tmp_path).close()
    found = []
    for address in (url, f"sqlite:///{tmp_path / 'vouch.db'}"):
        engine = create_engine(address)
        inspector = inspect(engine)
        found.append(
            {
                table: {column["name"] for column in inspector.get_columns(table)}
                for table in inspector.get_table_names()
                if not table.startswith(("own_words", "shared_words", "passage_words", "turn_words"))
            }
        )
        engine.dispose()
    assert found[0] == found[1]
