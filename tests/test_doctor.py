"""What works, what does not, and what is mended."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, QUESTION, Vouch
from scripted_server import ScriptedServer, says
from sqlalchemy import text


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("library"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def checks(vouch: Vouch, *arguments: str, code: int = 0) -> dict[str, dict[str, str]]:
    found = vouch.run("doctor", "--json", *arguments, code=code).objects
    return {entry["check"]: entry for entry in found if "check" in entry}


def test_a_healthy_house_is_all_ok(vouch: Vouch) -> None:
    states = {name: check["state"] for name, check in checks(vouch).items()}
    assert states.pop("settings file") == "missing"  # and that is in order
    assert set(states.values()) == {"ok"}
    assert states.keys() == {"data directory", "database", "encoder", "vectors", "shared index", "chat model"}


def test_a_lost_index_is_made_anew(vouch: Vouch) -> None:
    shutil.rmtree(vouch.data / "chroma")
    assert "1 passages were missing" in checks(vouch)["shared index"]["found"]
    assert checks(vouch)["shared index"]["found"] == "1 shared passages"


def test_lost_vectors_are_made_anew(vouch: Vouch) -> None:
    with vouch.database() as database, database.writing() as sql:
        sql.execute(text("DELETE FROM passage_vectors"))
    assert checks(vouch)["vectors"]["found"].startswith("1 were missing")
    assert "10:00" in vouch.run("ask", QUESTION).out


def test_a_data_directory_open_to_others_is_broken(vouch: Vouch) -> None:
    vouch.data.chmod(0o755)
    check = checks(vouch, code=1)["data directory"]
    assert check["state"] == "broken"
    assert "chmod 700" in check["advice"]


def test_a_damaged_database_is_said_to_be_damaged(vouch: Vouch) -> None:
    file = vouch.data / "vouch.db"
    content = bytearray(file.read_bytes())
    content[4096:8192] = b"\0" * 4096
    file.write_bytes(content)
    ran = vouch.run("doctor", "--json", code=1)
    assert '"state": "broken"' in ran.out


def test_a_model_server_is_asked_only_when_online(vouch: Vouch) -> None:
    with ScriptedServer([says("yes")]) as server:
        vouch.use_server(server.base_url)
        assert "not asked" in checks(vouch)["chat model"]["found"]
        assert server.requests == []
        assert "answers" in checks(vouch, "--online")["chat model"]["found"]


def test_each_setting_is_shown_with_where_it_came_from(vouch: Vouch) -> None:
    vouch.set("[answer]\nsentences = 2\n")
    found = vouch.run("doctor", "--json").objects
    origins = {entry["setting"]: entry["origin"] for entry in found if "setting" in entry}
    assert origins["answer.sentences"] == "settings.toml line 2"
    assert origins["answer.passages"] == "default"
