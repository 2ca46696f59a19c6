"""vouch sessions: one session named, renamed, archived and brought back, for people and for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_helpers import Vouch


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    """With two sessions: 1 about lockers, 2 about ladders."""
    made = Vouch(tmp_path, minilm_folder.parent)
    turns = [
        {"conversation_id": f"c{n}", "conversation_name": name, "id": f"r{n}", "model": "m"}
        | {"prompt": name, "response": "answer", "datetime_utc": f"2026-01-0{n}T10:00:00"}
        for n, name in enumerate(("About lockers", "About ladders"), start=1)
    ]
    made.run("import", made.write("logs.json", json.dumps(turns)))
    return made


def titles(vouch: Vouch, *arguments: str, code: int = 0) -> dict[int, str]:
    listed = vouch.run("sessions", "--json", *arguments, code=code).out.splitlines()
    return {(told := json.loads(line))["session"]: told["title"] for line in listed}


def test_a_session_is_named_renamed_archived_and_brought_back(vouch: Vouch) -> None:
    lockers, ladders = sorted(titles(vouch))
    assert titles(vouch, "--session", str(ladders)) == {ladders: "About ladders"}

    renamed = vouch.run("sessions", "--session", str(ladders), "--rename", "The  cellar", "--json")
    assert [json.loads(line)["title"] for line in renamed.out.splitlines()] == ["The cellar"]
    assert renamed.err == "Renamed: it was “About ladders”.\n"
    assert titles(vouch) == {ladders: "The cellar", lockers: "About lockers"}

    archived = vouch.run("sessions", "--session", str(ladders), "--archive")
    assert "The cellar" in archived.out
    assert "Archived: 1 session. With --shelf archived, --bring-back." in archived.err
    assert titles(vouch) == {lockers: "About lockers"}
    assert titles(vouch, "--shelf", "archived") == {ladders: "The cellar"}

    back = vouch.run("sessions", "--shelf", "archived", "--session", str(ladders), "--bring-back")
    assert "Out of the archive: 1 session." in back.err
    assert titles(vouch) == {ladders: "The cellar", lockers: "About lockers"}
    assert titles(vouch, "--shelf", "archived", code=1) == {}


def test_all_that_are_listed_are_archived_in_one_step(vouch: Vouch) -> None:
    assert len(titles(vouch, "--query", "about", "--archive")) == 2
    assert titles(vouch, code=1) == {}


def test_what_cannot_be_done_is_refused_and_changes_nothing(vouch: Vouch) -> None:
    before = titles(vouch)
    lockers = str(min(before))
    several = vouch.run("sessions", "--rename", "One title", code=2)
    assert "--rename is for one session, and 2 are listed" in several.err
    assert "--session ID" in several.err
    vouch.run("sessions", "--session", lockers, "--rename", " ", code=2)
    both = vouch.run("sessions", "--session", lockers, "--rename", "x", "--archive", code=2)
    assert "one at a time" in both.err
    vouch.run("sessions", "--shelf", "archived", "--archive", code=2)
    vouch.run("sessions", "--session", lockers, "--bring-back", code=2)
    missing = vouch.run("sessions", "--session", "99", "--archive", code=1)
    assert "session 99 is not among those listed" in missing.err
    assert "--shelf archived" in missing.err
    vouch.run("sessions", "--session", "0", code=2)
    theirs = vouch.run("--user", "bob", "sessions", "--session", lockers, "--rename", "Mine", code=1)
    assert "Renamed" not in theirs.err
    assert titles(vouch) == before
