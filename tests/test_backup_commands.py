"""`vouch backup` and `vouch restore`, and PostgreSQL, which has programs of its own for that."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from backup_fixtures import names_in
from cli_helpers import HANDBOOK, QUESTION, Vouch
from store_fixtures import Stores, document, findable

from stores.database.database import Database, server_address


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("library"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    made.run("backup", str(made.folder / "library.db"))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def test_a_backup_restored_into_another_directory_answers_the_same(vouch: Vouch) -> None:
    told = vouch.run("backup", "mine.db").out
    assert told.startswith("mine.db: users 1, passages 1, turns 0, ")
    shutil.rmtree(vouch.data)
    assert "passages 1" in vouch.run("restore", "mine.db").out
    assert "10:00" in vouch.run("ask", QUESTION).out
    assert [c["repaired"] for c in vouch.run("doctor", "--json").objects if c.get("repaired")] == []


def test_what_is_restored_over_is_kept_and_named(vouch: Vouch, library: Vouch) -> None:
    file = str(library.folder / "library.db")
    refused = vouch.run("restore", file, code=2)
    assert "--replace" in refused.err
    told = vouch.run("restore", "--replace", "--json", file).object
    assert Path(told["kept"]).is_file()
    assert told["passages"] == 1
    assert "10:00" in vouch.run("ask", QUESTION).out


def test_a_database_that_the_settings_place_elsewhere_is_restored_there(
    vouch: Vouch, library: Vouch, tmp_path: Path
) -> None:
    place = tmp_path / "projects"
    (place / "chroma").mkdir(parents=True)
    (vouch.data / "chroma").mkdir(exist_ok=True)
    vouch.set(f'[store]\nurl = "sqlite:///{place}/mine.db"\n')
    vouch.run("restore", str(library.folder / "library.db"))
    assert names_in(place) == {"mine.db", "chroma", "in-use.lock"}
    assert not (vouch.data / "chroma").exists()


def test_a_chat_that_is_open_keeps_a_restore_out(vouch: Vouch, library: Vouch) -> None:
    with vouch.terminal("chat", "--plain") as person:
        person.sees("You: ")
        refused = vouch.run("restore", "--replace", "--json", str(library.folder / "library.db"), code=3)
        assert "in use by another Vouch process" in refused.complaint["error"]


@pytest.mark.skipif(not shutil.which("pg_dump"), reason="pg_dump is not installed")
def test_postgresqls_own_programs_bring_back_the_same(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server = request.getfixturevalue("postgres")
    source, target = (server.new_database(template="vouch_empty") for _ in range(2))
    stores = Stores.over(Database(source))
    stores.add(stores.journal.user_id("ann"), document("a.txt", "cat", "dog"))
    file = str(tmp_path / "vouch.dump")
    for command in (
        ["pg_dump", "--format=custom", f"--file={file}", server_address(source)],
        ["pg_restore", "--clean", "--if-exists", f"--dbname={server_address(target)}", file],
    ):
        subprocess.run(command, check=True, capture_output=True)
    restored = Database(target)
    assert findable(restored) == findable(stores.database)
    restored.close()
    stores.database.close()


def test_postgresql_is_left_to_its_own_programs_without_a_password(
    vouch: Vouch, library: Vouch, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("postgres")
    url = server.new_database(template="vouch_empty").replace("vouch@", "vouch:secret@")
    vouch.set(f'[store]\nurl = "{url}"\n')
    address = url.replace(":secret", "").replace("+psycopg", "")
    for arguments, expected in (
        (("backup", "mine.db"), f"pg_dump --format=custom --file=mine.db '{address}'"),
        (("restore", "mine.db"), f"pg_restore --clean --if-exists --dbname='{address}' mine.db"),
    ):
        told = vouch.run(*arguments, "--json", code=2)
        assert expected in told.complaint["hint"]
        assert "secret" not in told.err
