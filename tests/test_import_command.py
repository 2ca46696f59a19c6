"""`vouch import`: what a torn file leaves, what a dry run leaves, learning later, and who else may write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch
from click.testing import CliRunner
from sqlalchemy import text

from assistant.cli import cli
from assistant.commands import import_chats
from assistant.library.chat_logs import batches


def conversations(count: int) -> list[dict[str, Any]]:
    """Of Claude: a message and its answer each."""
    return [
        {
            "uuid": f"k{number}",
            "name": f"Lamp {number}",
            "chat_messages": [
                {"uuid": "m", "sender": "human", "text": f"Lamp {number} is green."},
                {"uuid": "a", "sender": "assistant", "text": "Noted."},
            ],
        }
        for number in range(count)
    ]


def written(folder: Path, value: Any) -> str:
    file = folder / "conversations.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(file)


def rows(vouch: Vouch, statement: str) -> list[Any]:
    with vouch.database() as database, database.reading() as sql:
        return list(sql.execute(text(statement)).scalars())


@pytest.fixture
def vouch(tmp_path: Path) -> Vouch:
    return Vouch(tmp_path / "home", tmp_path / "encoders")  # for what loads no model


def test_the_good_sessions_of_a_torn_file_are_kept(vouch: Vouch, tmp_path: Path) -> None:
    whole = json.dumps(conversations(6))
    ran = vouch.run("import", written(tmp_path, whole[:-40]), code=1)
    assert ran.out == "new: 5 sessions, 5 turns; known already: 0 turns\n"
    assert "damaged or torn" in ran.err
    assert len(vouch.run("sessions").cells) == 5
    assert vouch.run("import", written(tmp_path, whole)).out == (
        "new: 1 session, 1 turn; known already: 5 turns\n"
    )


def test_a_dry_run_writes_nothing(vouch: Vouch, tmp_path: Path) -> None:
    file = written(tmp_path, conversations(2))
    assert vouch.run("import", file, "--dry-run").out == "2 sessions, 2 turns\n"
    assert not (vouch.data / "vouch.db").exists()
    vouch.run("import", file)
    vouch.run("import", file, "--dry-run", "--user", "bob")
    assert rows(vouch, "SELECT name FROM users") == ["ann"]


def test_an_answer_that_came_since_is_told(vouch: Vouch, tmp_path: Path) -> None:
    asked = conversations(2)
    for each in asked:
        each["chat_messages"].pop()
    vouch.run("import", written(tmp_path, asked))
    answered = written(tmp_path, conversations(2))
    assert vouch.run("import", answered).out == (
        "new: 0 sessions, 0 turns; known already: 2 turns (2 answered since)\n"
    )
    told = vouch.run("import", answered, "--json").object
    assert {name: told[name] for name in ("read", "told", "known", "answered", "to_learn")} == {
        "read": 2,
        "told": 2,
        "known": 2,
        "answered": 0,
        "to_learn": 0,
    }


def test_one_learns_from_what_was_taken_in_before_but_not_from_pictures_and_attached_texts(
    minilm_folder: Path, tmp_path: Path
) -> None:
    vouch = Vouch(tmp_path / "home", minilm_folder.parent)
    told = conversations(1)
    picture = {"uuid": "p", "chat_messages": [{"uuid": "a", "sender": "assistant", "text": "A fine cat."}]}
    held = {"sender": "human", "text": "Read.", "attachments": [{"extracted_content": "My lamp is red."}]}
    attached = {"uuid": "t", "chat_messages": [{"uuid": "b", **held}]}
    file = written(tmp_path, [*told, picture, attached])
    vouch.run("import", file)
    ran = vouch.run("import", file, "--learn")
    assert ran.out == "new: 0 sessions, 0 turns; known already: 3 turns\n"
    assert "is learned by and by" in ran.err
    learned = "SELECT turns.message FROM jobs JOIN turns ON turns.id = subject_id WHERE kind = 'summarize'"
    assert rows(vouch, learned) == ["Lamp 0 is green."]
    listed = [entry["text"] for entry in vouch.run("memory", "list", "--kind", "message", "--json").objects]
    assert listed == ["Lamp 0 is green."]
    assert vouch.run("import", file, "--learn").err == ""


def test_others_may_write_between_the_parts_of_a_long_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setenv("VOUCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(batches, "MOST_TURNS", 2)
    monkeypatch.setattr(import_chats, "_WRITES_SECONDS", 0.0)
    monkeypatch.setattr("time.sleep", slept.append)
    ran = CliRunner().invoke(cli, ["import", written(tmp_path, conversations(5))], standalone_mode=False)
    assert ran.exception is None
    assert "new: 5 sessions, 5 turns" in ran.output
    pause = import_chats._LETS_OTHERS_WRITE_SECONDS
    assert pause > 0.1  # SQLite's longest between two looks
    assert slept.count(pause) == 2  # between three parts
