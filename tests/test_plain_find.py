"""Finding what was said, typed in plain mode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_fixtures import counting, messages, talk
from screen_fixtures import assistant_in

from assistant.wiring.assistant import Assistant


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with assistant_in(tmp_path, counting) as made:
        yield made


def test_find_goes_on_with_the_session_of_the_number_that_is_typed(assistant: Assistant) -> None:
    talk(assistant, "The cellar is damp.", "And the attic?")
    told, session = talk(assistant, "/find cellar", "1", echoes=False)
    assert session == 1
    assert "Session 1 goes on: The cellar is damp.\nYou: The cellar is damp.\nAssistant: Answer to" in told
    told, session = talk(assistant, "/find cellar", "", echoes=False)
    assert (session, "It goes on here." in told) == (3, True)


def test_find_in_a_pipe_asks_nothing_and_its_next_line_is_a_message(assistant: Assistant) -> None:
    talk(assistant, "The cellar is damp.")
    told, session = talk(assistant, "/find cellar", "1")
    assert session == 2
    assert messages(assistant, session) == ["1"]
    assert "goes on with the session of one" in told


def test_find_says_where_there_is_nothing_and_finds_nothing_of_others(assistant: Assistant) -> None:
    bob = assistant.journal.user_id("bob")
    assistant.journal.accept(bob, assistant.journal.open_session(bob), "The cellar is damp.", parts=[])
    told, _ = talk(assistant, "/find", "/find cellar")
    assert "Write what to find" in told
    assert "Nothing is found with 'cellar'." in told
    assert "damp" not in told


def test_find_shows_no_more_than_a_page(assistant: Assistant) -> None:
    user = assistant.journal.user_id("ann")
    session = assistant.journal.open_session(user)
    for number in range(23):
        assistant.journal.accept(user, session, f"The cellar, {number}.", parts=[])
    told, _ = talk(assistant, "/find cellar")
    assert "The first 20 of 23; a further word leaves fewer." in told
    assert told.count("The cellar, ") - told.count("session 1, The cellar") == 20
