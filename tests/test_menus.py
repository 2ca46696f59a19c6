"""Menus of plain mode: a numbered list, answered by a number; a pipe and the screen are not asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from screen_fixtures import assistant_in

from assistant.terminal.engine.slash_commands import SlashCommands
from assistant.terminal.input.menus import asked_number
from assistant.wiring.assistant import Assistant


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with assistant_in(tmp_path) as made:
        yield made


def commands(assistant: Assistant, *typed: str, is_asked: bool = True) -> SlashCommands:
    """In a new session of ann, who answers what is asked with these lines."""
    answers = iter(typed)
    user = assistant.stores.journal.user_id("ann")
    session = assistant.stores.journal.open_session(user)
    return SlashCommands(
        assistant, user, session, ask=lambda: next(answers, None), is_asked=is_asked, learn=lambda: None
    )


@pytest.mark.parametrize(
    ("typed", "number"),
    [("2", 2), (" 2 ", 2), ("3", None), ("", None), ("two", None), (None, None), ("²", None)],
)
def test_only_a_number_of_the_list_is_a_choice(typed: str | None, number: int | None) -> None:
    assert asked_number(lambda: typed, [1, 2]) == number


def test_forget_asks_which_one_is_meant_and_then_whether_it_is_sure(assistant: Assistant) -> None:
    first, second = (
        assistant.stores.knowledge.remember(assistant.stores.journal.user_id("ann"), text)[0]
        for text in ("I like green tea.", "I like black tea.")
    )
    told = list(commands(assistant, f"{second}", "y").run("/forget tea"))
    assert "Which one? Type its number, or Enter for none." in told
    assert "Forgotten: “I like black tea.”." in told
    left = assistant.stores.catalogue.lines(assistant.stores.journal.user_id("ann"), scope="yours")
    assert [line.passage_id for line in left] == [first]


@pytest.mark.parametrize("typed", ["", "999"])
def test_no_number_forgets_nothing(assistant: Assistant, typed: str) -> None:
    assistant.stores.knowledge.remember(assistant.stores.journal.user_id("ann"), "I like green tea.")
    told = list(commands(assistant, typed, "y").run("/forget tea"))
    assert told[-1] == "Nothing was forgotten."


def test_a_pipe_is_not_asked_and_its_next_line_stays_a_message(assistant: Assistant) -> None:
    number, _ = assistant.stores.knowledge.remember(
        assistant.stores.journal.user_id("ann"), "I like green tea."
    )
    told = list(commands(assistant, f"{number}", "y", is_asked=False).run("/forget tea"))
    assert told[-1] == f"Say which one: /forget {number}"


def test_sessions_goes_on_with_the_one_whose_number_is_typed(assistant: Assistant) -> None:
    user = assistant.stores.journal.user_id("ann")
    earlier = assistant.stores.journal.open_session(user, title="Opening hours")
    assistant.stores.journal.accept(user, earlier, "When?", parts=["When?"])
    chat = commands(assistant, f"{earlier}", "", "999")
    here = chat.session_id
    assert list(chat.run("/sessions"))[-1] == f"Session {earlier} goes on."
    assert chat.session_id == earlier != here
    assert list(chat.run("/sessions"))[-1] == "It goes on here."
    assert list(chat.run("/sessions"))[-1] == "It goes on here."
    assert chat.session_id == earlier
