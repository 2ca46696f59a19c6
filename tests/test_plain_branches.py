"""Answering again, changing a message and writing it in an editor, typed in plain mode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_helpers import QUESTION, Vouch
from plain_fixtures import counting, messages, noting, talk
from screen_fixtures import assistant_in
from scripted_server import ScriptedServer, says

from assistant.wiring.assistant import Assistant


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with assistant_in(tmp_path, counting) as made:
        yield made


def test_retry_of_an_earlier_turn_goes_on_from_there(assistant: Assistant) -> None:
    _, session = talk(assistant, "First?", "Second?", "/retry 1")
    assert messages(assistant, session) == ["First?"]
    talk(assistant, "/branch 1", session=session)
    assert messages(assistant, session) == ["First?", "Second?"]


def test_change_of_a_turn_has_its_message_to_be_changed(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stood: list[str] = []
    monkeypatch.setattr("assistant.terminal.plain.commands.standing_there", noting(stood))
    told, session = talk(assistant, "First?", "Second?", "/change 1", "Other?", echoes=False)
    assert stood == ["First?"]
    assert messages(assistant, session) == ["Other?"]
    assert told.count("You: Other?") == 0  # it stands behind the prompt where it was typed
    told, _ = talk(assistant, "/change", "", session=session, echoes=False)
    assert "It stays as it was." in told
    assert messages(assistant, session) == ["Other?"]


def test_change_with_a_turn_and_a_text_changes_that_turn(assistant: Assistant) -> None:
    told, session = talk(assistant, "First?", "Second?", "/change 1 Other?")
    assert "Turn 1 is kept as it was: /branch goes there.\n\nYou: Other?\n" in told
    assert messages(assistant, session) == ["Other?"]


def test_change_of_a_turn_that_is_not_here_is_refused_with_the_way_on(assistant: Assistant) -> None:
    told, session = talk(assistant, "First?", "/change 12 o'clock?")
    assert "you have no turn 12" in told
    assert "/change 1 12 o'clock?" in told
    assert messages(assistant, session) == ["First?"]


def test_edit_opens_the_editor_and_what_is_written_stands_to_be_sent(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "writes"
    script.write_text('#!/bin/sh\ncat "$1" > "$0.seen"; printf "Is it\\nopen?\\n" > "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    stood: list[str] = []
    monkeypatch.setattr("assistant.terminal.plain.commands.standing_there", noting(stood))
    _, session = talk(assistant, "/edit Is it", "Is it open?", echoes=False)
    assert (tmp_path / "writes.seen").read_text() == "Is it"
    assert stood == ["Is it\nopen?"]
    assert messages(assistant, session) == ["Is it open?"]


def test_without_an_editor_edit_says_how_to_name_one(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    told, session = talk(assistant, "/edit", echoes=False)
    assert "Set VISUAL or EDITOR." in told
    assert messages(assistant, session) == []


@pytest.mark.slow
def test_at_a_terminal_the_message_to_be_changed_stands_in_the_line(
    tmp_path: Path, minilm_folder: Path
) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    with ScriptedServer([says("At nine.")], then=says("At ten.")) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat", "--plain") as person:
            person.sees("You: ")
            person.types(f"{QUESTION}\n")
            person.sees("At nine.")
            person.sees("You: ")
            person.types("/change\n")
            person.sees(f"You: {QUESTION}")
            person.types(" Really?\n")
            person.sees("Assistant: At ten.")
            person.sees("You: ")
            person.types("/branch\n")
            person.sees("Branch 1 of 2 goes on.")
            person.sees("At nine.")
            person.sees("You: ")
            person.types("\x04")
            assert person.exit_code() == 0
