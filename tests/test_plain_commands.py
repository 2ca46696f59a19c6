"""What the screen does by keys, typed in plain mode: find, answer again, branches, before and after."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_fakes import FakeChat
from cli_helpers import QUESTION, Vouch
from round_rows import keep, promoted
from screen_fixtures import made_assistant
from scripted_server import ScriptedServer, says

from agents.interfaces import ReplyRequest
from assistant.locations import Locations
from assistant.terminal.comparing import session_to_compare
from assistant.terminal.plain import PlainChat
from assistant.terminal.plain_commands import ONLY_ON_SCREEN, PLAIN_COMMANDS, PlainCommands
from assistant.terminal.screens.compare_child import ComparisonChild
from assistant.terminal.screens.keys import PLACES, SCREEN_COMMANDS
from assistant.terminal.slash_commands import SLASH_COMMANDS
from assistant.wiring import Assistant
from stores.pair_choices import PairChoices
from stores.records import Feedback

_TELLS = "import json, sys\nfor row in json.loads(sys.argv[1]): print(json.dumps(row), flush=True)\n"


async def _counting(request: ReplyRequest) -> AsyncIterator[str]:
    yield f"Answer to {request.question}"


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    place = Locations(
        data=tmp_path / "data",
        settings=tmp_path / "settings",
        cache=tmp_path / "cache",
        state=tmp_path / "state",
    )
    with closing(made_assistant(place, FakeChat(_counting))) as made:
        yield made


def talk(assistant: Assistant, *lines: str, session: int = 0, echoes: bool = True) -> tuple[str, int]:
    """The transcript of ann's chat in which these lines are typed, and the session that was on at its end."""
    user = assistant.journal.user_id("ann")
    session = session or assistant.journal.open_session(user)
    typed, said = iter(lines), list[str]()
    chat = PlainChat(assistant, user, session, ask=lambda: next(typed, None), say=said.append, echoes=echoes)
    chat.run()
    return "".join(said), chat._commands.session_id


def messages(assistant: Assistant, session: int) -> list[str]:
    """Of the branch that is on."""
    turns = assistant.journal.turns(assistant.journal.user_id("ann"), session)
    return [turn.message for turn in turns]


# All commands


@pytest.mark.parametrize("name", sorted(SLASH_COMMANDS | SCREEN_COMMANDS))
def test_each_command_of_the_screen_is_in_plain_mode_or_names_what_to_do_there(name: str) -> None:
    if name in ONLY_ON_SCREEN:
        assert name not in PlainCommands.commands
        assert len(ONLY_ON_SCREEN[name]) > len(name)
    else:
        assert name in PlainCommands.commands
        assert callable(getattr(PlainCommands, f"_{name[1:]}"))


def test_each_command_that_a_key_names_can_be_typed_in_plain_mode() -> None:
    named = {key.slash for keys in PLACES.values() for key in keys if key.slash}
    assert named <= PlainCommands.commands.keys() | ONLY_ON_SCREEN.keys()


def test_no_command_is_only_in_plain_mode() -> None:
    assert PLAIN_COMMANDS.keys() <= SCREEN_COMMANDS.keys()
    assert not PLAIN_COMMANDS.keys() & SLASH_COMMANDS.keys()


@pytest.mark.parametrize("name", sorted(ONLY_ON_SCREEN))
def test_what_only_a_screen_can_do_is_refused_in_one_sentence(assistant: Assistant, name: str) -> None:
    told, _ = talk(assistant, f"{name} anything")
    assert told == f"You: {name} anything\n{ONLY_ON_SCREEN[name]}\n\n"


# Find


def test_find_lists_turns_of_this_session_and_of_others_by_their_numbers(assistant: Assistant) -> None:
    talk(assistant, "The cellar is damp.", "Thank you.")
    told, here = talk(assistant, "Is the cellar locked?", "/find cellar")
    lines = told.splitlines()
    assert lines[lines.index("In this session: 1") + 1].startswith("    3  ")
    assert lines[lines.index("In this session: 1") + 1].endswith("You: Is the cellar locked?")
    other = lines[lines.index("In other sessions: 1") + 1]
    assert other.startswith("    1  ")
    assert "session 1, The cellar is damp.  You: The cellar is damp." in other
    assert here == 2


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


# Branches


def test_retry_answers_again_in_a_branch_and_branch_goes_back(assistant: Assistant) -> None:
    told, session = talk(assistant, "First?", "Second?", "/retry", "/branch", "/branch 2")
    assert "Turn 2 is answered again. The earlier answer is kept: /branch goes there." in told
    assert told.count("You: Second?\nAssistant: Answer to Second?") == 2 + 2  # and shown by each /branch
    assert "Branch 1 of 2 goes on. It ends so:\n\nYou: First?\nAssistant: Answer to First?\n" in told
    assert "Branch 2 of 2 goes on." in told
    assert messages(assistant, session) == ["First?", "Second?"]


def test_retry_of_an_earlier_turn_goes_on_from_there(assistant: Assistant) -> None:
    _, session = talk(assistant, "First?", "Second?", "/retry 1")
    assert messages(assistant, session) == ["First?"]
    talk(assistant, "/branch 1", session=session)
    assert messages(assistant, session) == ["First?", "Second?"]


def test_change_sends_another_message_in_place_of_the_last(assistant: Assistant) -> None:
    told, session = talk(assistant, "First?", "Secnd?", "/change //Second?", "Third?")
    assert "Turn 2 is kept as it was: /branch goes there.\n\nYou: /Second?\nAssistant: " in told
    assert messages(assistant, session) == ["First?", "/Second?", "Third?"]
    talk(assistant, "/branch", session=session)
    assert messages(assistant, session) == ["First?", "Secnd?"]


def test_change_of_a_turn_has_its_message_to_be_changed(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stood: list[str] = []
    monkeypatch.setattr("assistant.terminal.plain_commands.standing_there", _notes(stood))
    told, session = talk(assistant, "First?", "Second?", "/change 1", "Other?", echoes=False)
    assert stood == ["First?"]
    assert messages(assistant, session) == ["Other?"]
    assert told.count("You: Other?") == 0  # it stands behind the prompt where it was typed
    told, _ = talk(assistant, "/change", "", session=session, echoes=False)
    assert "It stays as it was." in told
    assert messages(assistant, session) == ["Other?"]


def _notes(stood: list[str]) -> Callable[[str], Any]:
    @contextmanager
    def stands(text: str) -> Iterator[None]:
        stood.append(text)
        yield

    return stands


def test_a_pipe_is_not_asked_for_a_change(assistant: Assistant) -> None:
    told, session = talk(assistant, "First?", "/change", "Second?")
    assert "Write what your last message is to be: /change" in told
    assert messages(assistant, session) == ["First?", "Second?"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/retry", "nothing was said in this session yet"),
        ("/change Anything", "nothing was said in this session yet"),
        ("/retry 1", "turn 1 is of session 1"),
        ("/retry 99", "99"),
        ("/retry soon", "there is no turn soon"),
        ("/branch", "One branch so far"),
        ("/branch two", "two is no number of a branch"),
        ("/branch 0", "0 is no number of a branch"),
        ("/compare soon", "Name the turn by its number"),
        ("/compare", "there is no model before the live one to compare with"),
        ("/edit", "An editor needs a terminal"),
        ("/log", "log-"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(assistant: Assistant, line: str, told: str) -> None:
    talk(assistant, "Elsewhere?")
    said, session = talk(assistant, line)
    assert told in said
    assert messages(assistant, session) == []
    assert messages(assistant, 1) == ["Elsewhere?"]


def test_a_number_beyond_the_last_branch_says_how_many_there_are(assistant: Assistant) -> None:
    told, _ = talk(assistant, "First?", "/retry", "/branch 3")
    assert "there are 2 branches" in told


def test_notices_are_told_again_when_they_are_asked_for(assistant: Assistant) -> None:
    user = assistant.journal.user_id("ann")
    typed, said = iter(["/notices", "/help", "/notices"]), list[str]()
    chat = PlainChat(
        assistant,
        user,
        assistant.journal.open_session(user),
        ask=lambda: next(typed, None),
        say=said.append,
        echoes=True,
    )
    chat._notices.say("Round 3 was refused.")
    chat.run()
    assert "".join(said).count("Round 3 was refused.") == 3  # at once, and whenever it is asked for


def test_without_a_notice_that_is_told(assistant: Assistant) -> None:
    assert "Nothing was told yet." in talk(assistant, "/notices")[0]


def test_training_is_told_as_by_train(assistant: Assistant) -> None:
    told, _ = talk(assistant, "/training", "/train")
    first, second = told.split("You: /train\n")
    assert first == f"You: /training\n{second}"


# The editor


def test_edit_opens_the_editor_and_what_is_written_stands_to_be_sent(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "writes"
    script.write_text('#!/bin/sh\ncat "$1" > "$0.seen"; printf "Is it\\nopen?\\n" > "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    stood: list[str] = []
    monkeypatch.setattr("assistant.terminal.plain_commands.standing_there", _notes(stood))
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


# Before and after


def row(turn: int, message: str, live: str, other: str, change: float) -> dict[str, Any]:
    """As `vouch replay --json` tells a message."""
    return {
        "turn": turn,
        "message": message,
        "change": change,
        "changes": {"answer": change, "citations": 0.0, "writes": 0.0},
        "replies": [
            {"model": name, "answer": answer, "citations": [], "writes": []}
            for name, answer in (("live", live), ("previous", other))
        ],
    }


@pytest.fixture
def played(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Comparisons tell of two turns, of which the second is answered differently; how they were asked for."""
    rows = [row(1, "First?", "One.", "One.", 0.0), row(2, "Second?", "Live\nsays.", "Other says.", 0.5)]
    seen: list[dict[str, Any]] = []

    def begin(_assistant: Assistant, user: str, session_id: int, **how: Any) -> ComparisonChild:
        seen.append({"session": session_id, **how})
        return ComparisonChild([sys.executable, "-c", _TELLS, json.dumps(rows)])

    monkeypatch.setattr(ComparisonChild, "of", begin)
    keep(assistant, promoted(1, "first-1111"), promoted(2, "second-2222"))
    return seen


def test_compare_shows_both_answers_as_blocks_of_text(
    assistant: Assistant, played: list[dict[str, Any]]
) -> None:
    told, session = talk(assistant, "First?", "Second?", "/compare")
    assert told.partition("/compare\n")[2] == (
        f"The messages of session {session} are answered anew, in copies. Ctrl+C leaves off.\n"
        "\n"
        "1 of 1 · turn 2 · You: Second?\n"
        "live 2:\n  Live\n  says.\n"
        "previous 1:\n  Other says.\n"
        "\n"
        "1 of 2 messages are answered differently.\n"
        "previous 1: better 0 · worse 0 · same 1 · only other words 1\n"
        "\n"
    )
    assert played == [{"session": session, "against": "previous", "turn_id": None, "newest": 50}]


def test_compare_of_a_turn_shows_that_turn_alone_also_where_nothing_changed(
    assistant: Assistant, played: list[dict[str, Any]]
) -> None:
    told, session = talk(assistant, "First?", "Second?", "/compare 1")
    assert "1 of 1 · turn 1 · You: First?\nBoth:\n  One.\n" in told
    assert "Second?" not in told.partition("/compare 1\n")[2]
    assert (played[0]["session"], played[0]["turn_id"]) == (session, 1)


def test_who_can_be_asked_chooses_before_the_names_are_told(
    assistant: Assistant, played: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[tuple[int, tuple[str, ...]]] = []

    def choose(_self: PairChoices, _user: int, turn: int, texts: Sequence[str]) -> int:
        chosen.append((turn, tuple(texts)))
        return 1

    monkeypatch.setattr(PairChoices, "choose", choose)
    told, _ = talk(assistant, "First?", "Second?", "/compare", "2", echoes=False)
    before, after = told.split("Which one is better? 1, 2, or 0 for neither")
    assert "Answer 1:\n" in before
    assert "live 2" not in before
    assert (
        "Answer 1: live 2. Answer 2: previous 1." in after
        or "Answer 1: previous 1. Answer 2: live 2." in after
    )
    assert chosen == [(2, ())]
    assert "Kept as feedback: 1 passage cited there helped." in after


@pytest.mark.parametrize(("typed", "kept"), [("0", 0), ("", None), ("q", None), ("3", None)])
def test_nothing_is_kept_of_a_choice_that_was_not_made(
    assistant: Assistant, played: list[dict[str, Any]], typed: str, kept: int | None
) -> None:
    told, _ = talk(assistant, "First?", "Second?", "/compare", typed, echoes=False)
    assert ("Neither is better: nothing is kept of that." in told) == (kept == 0)
    with assistant.database.reading() as sql:
        assert sql.query(Feedback).count() == 0


def test_compare_takes_the_last_session_while_nothing_was_said_in_this_one(assistant: Assistant) -> None:
    _, earlier = talk(assistant, "First?")
    user = assistant.journal.user_id("ann")
    empty = assistant.journal.open_session(user)
    assert session_to_compare(assistant, user, empty, None) == earlier
    assert session_to_compare(assistant, user, earlier, None) == earlier
    assert session_to_compare(assistant, user, empty, 1) == earlier


# At a real terminal


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
