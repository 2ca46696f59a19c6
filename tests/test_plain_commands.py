"""What the screen does by keys can be typed in plain mode, or is refused in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from plain_fixtures import counting, messages, talk
from screen_fixtures import assistant_in

from assistant.terminal.chat.chat_actions import ChatActions
from assistant.terminal.engine.slash_commands import SlashCommands
from assistant.terminal.input.commands import COMMANDS, NAMED, Command
from assistant.terminal.input.keys import PLACES
from assistant.terminal.plain.chat import PlainChat
from assistant.terminal.plain.commands import PlainCommands
from assistant.wiring.assistant import Assistant


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with assistant_in(tmp_path, counting) as made:
        yield made


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_command_is_carried_out_or_names_what_to_do_in_plain_mode(command: Command) -> None:
    method = f"_{command.name[1:]}"
    assert hasattr(SlashCommands, method) == (command.by == "both")
    assert hasattr(PlainCommands, method) == (command.by != "screen")
    assert bool(command.instead) == (command.by == "screen")


def test_each_command_that_a_key_names_can_be_typed() -> None:
    named = {key.slash.partition(" ")[0] for keys in PLACES.values() for key in keys if key.slash}
    assert named <= NAMED.keys()


def test_the_screen_has_a_door_for_what_it_does_itself() -> None:
    chat = SimpleNamespace(**dict.fromkeys(dir(ChatActions)))
    doors = ChatActions._doors.fget(chat)  # type: ignore[attr-defined]
    assert doors.keys() >= {command.name for command in COMMANDS if command.by != "both"}
    assert doors.keys() <= NAMED.keys()


@pytest.mark.parametrize("name", [command.name for command in COMMANDS if command.by == "screen"])
def test_what_only_a_screen_can_do_is_refused_in_one_sentence(assistant: Assistant, name: str) -> None:
    told, _ = talk(assistant, f"{name} anything")
    assert told == f"You: {name} anything\n{NAMED[name].instead}\n\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/retry", "nothing was said in this session yet"),
        ("/change Anything", "nothing was said in this session yet"),
        ("/retry 1", "turn 1 is of session 1"),
        ("/retry 99", "99"),
        ("/retry soon", "you have no turn soon"),
        ("/branch", "One branch so far"),
        ("/branch two", "two is no number of a branch"),
        ("/branch 0", "0 is no number of a branch"),
        ("/compare soon", "Name the turn by its number"),
        ("/compare", "there is no model before the live one to compare with"),
        ("/edit", "An editor needs a terminal"),
        ("/log", "log-"),
        ("/rename", "Write its title: /rename"),
        ("/archive", "Nothing was said in this session yet."),
        ("/archive soon", "Name the session by its number: /archive 12."),
        ("/archive 99", "there is no session 99 of yours"),
        ("/learned", "this session has no answer yet"),
        ("/learned soon", "Name the turn by its number: /learned 12."),
        ("/learned 99", "99"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(assistant: Assistant, line: str, told: str) -> None:
    talk(assistant, "Elsewhere?")
    said, session = talk(assistant, line)
    assert told in said
    assert messages(assistant, session) == []
    assert messages(assistant, 1) == ["Elsewhere?"]


def test_notices_are_told_again_when_they_are_asked_for(assistant: Assistant) -> None:
    user = assistant.stores.journal.user_id("ann")
    typed, said = iter(["/notices", "/help", "/notices"]), list[str]()
    chat = PlainChat(
        assistant,
        user,
        assistant.stores.journal.open_session(user),
        ask=lambda: next(typed, None),
        say=said.append,
        echoes=True,
    )
    chat._notices.say("Round 3 was refused.")
    chat.run()
    assert "".join(said).count("Round 3 was refused.") == 3  # at once, and whenever it is asked for


def test_training_is_told_as_by_train(assistant: Assistant) -> None:
    told, _ = talk(assistant, "/training", "/train")
    first, second = told.split("You: /train\n")
    assert first == f"You: /training\n{second}"


# Find -------------------------------------------------------------------------------------------


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
    bob = assistant.stores.journal.user_id("bob")
    assistant.stores.journal.accept(
        bob, assistant.stores.journal.open_session(bob), "The cellar is damp.", parts=[]
    )
    told, _ = talk(assistant, "/find", "/find cellar")
    assert "Write what to find" in told
    assert "Nothing is found with 'cellar'." in told
    assert "damp" not in told


def test_find_shows_no_more_than_a_page(assistant: Assistant) -> None:
    user = assistant.stores.journal.user_id("ann")
    session = assistant.stores.journal.open_session(user)
    for number in range(23):
        assistant.stores.journal.accept(user, session, f"The cellar, {number}.", parts=[])
    told, _ = talk(assistant, "/find cellar")
    assert "The first 20 of 23; a further word leaves fewer." in told
    assert told.count("The cellar, ") - told.count("session 1, The cellar") == 20
