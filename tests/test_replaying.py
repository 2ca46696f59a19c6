"""/replay: a session by the live model and the one before, as a table or as Before and after."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import HANDBOOK, QUESTION, Vouch
from round_rows import keep, promoted
from screen_fixtures import assistant_in

from assistant.terminal.comparison.comparison_process import ComparisonChild, ComparisonFailed
from assistant.terminal.engine.slash_commands import SlashCommands
from assistant.wiring.assistant import Assistant
from stores.base.errors import NotFound

_TELLS = "import json, sys\nfor row in json.loads(sys.argv[1]): print(json.dumps(row), flush=True)\n"


def told(turn: int, message: str, live: str, other: str, change: float) -> dict[str, Any]:
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


ROWS = [
    {"model": "live", "done": 0, "of": 3},
    told(1, "Is it open?", "It opens at ten.", "It is\nopen.", 0.5),
    told(2, "And on Sundays?", "No.", "Yes, at noon.", 1.0),
    told(3, "Thank you.", "Welcome.", "Welcome.", 0.0),
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, dict[str, Any]]]:
    """Comparisons tell these rows; which sessions were asked for."""
    seen: list[tuple[int, dict[str, Any]]] = []

    def begin(_assistant: Assistant, user: str, session_id: int, **how: Any) -> ComparisonChild:
        seen.append((session_id, {"user": user, **how}))
        return ComparisonChild([sys.executable, "-c", _TELLS, json.dumps(ROWS)])

    monkeypatch.setattr(ComparisonChild, "of", begin)
    return seen


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with assistant_in(tmp_path) as made:
        yield made


def commands(assistant: Assistant) -> SlashCommands:
    user = assistant.stores.journal.user_id("ann")
    session = assistant.stores.journal.open_session(user)
    return SlashCommands(assistant, user, session, ask=lambda: None, is_asked=False, learn=lambda: None)


def test_replay_tells_what_changed_the_greatest_change_first(
    assistant: Assistant, asked: list[tuple[int, dict[str, Any]]]
) -> None:
    keep(assistant, promoted(1, "first-1111"), promoted(2, "second-2222"))
    chat = commands(assistant)
    assert list(chat.run("/replay")) == [
        "The messages of session 1 are answered anew, in copies. Ctrl+C leaves off.",
        " turn  change  what it is to the live model",
        "    2    1.00  only other words",
        "       You: And on Sundays?",
        "       live 2      No.",
        "       previous 1  Yes, at noon.",
        "    1    0.50  only other words",
        "       You: Is it open?",
        "       live 2      It opens at ten.",
        "       previous 1  It is open.",
        "2 of 3 messages are answered differently.",
        "previous 1: better 0 · worse 0 · same 1 · only other words 2",
    ]
    [(session, how)] = asked
    assert session == chat.session_id
    assert (how["user"], how["against"], how["turn_id"]) == ("ann", "previous", None)


def test_replay_takes_the_number_of_a_session_of_ones_own(
    assistant: Assistant, asked: list[tuple[int, dict[str, Any]]]
) -> None:
    keep(assistant, promoted(1, "first-1111"), promoted(2, "second-2222"))
    bob = assistant.stores.journal.user_id("bob")
    others = assistant.stores.journal.open_session(bob)
    chat = commands(assistant)
    first = assistant.stores.journal.open_session(assistant.stores.journal.user_id("ann"))
    list(chat.run(f"/replay {first}"))
    list(chat.run("/replay session"))
    assert [session for session, _ in asked] == [first, chat.session_id]
    for line in (f"/replay {others}", "/replay 999", "/replay nothing"):
        with pytest.raises(NotFound):
            list(chat.run(line))


def test_without_a_model_before_the_live_one_there_is_nothing_to_replay(assistant: Assistant) -> None:
    with pytest.raises(NotFound, match="no model before the live one"):
        list(commands(assistant).run("/replay"))


def test_a_replay_that_fails_says_why(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(assistant, promoted(1, "first-1111"), promoted(2, "second-2222"))
    script = "import sys; print('session 1 holds no message', file=sys.stderr); sys.exit(1)"
    monkeypatch.setattr(
        ComparisonChild, "of", lambda *_, **__: ComparisonChild([sys.executable, "-c", script])
    )
    with pytest.raises(ComparisonFailed, match="session 1 holds no message"):
        list(commands(assistant).run("/replay"))


def test_a_replay_that_is_left_ends_its_process(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(assistant, promoted(1, "first-1111"), promoted(2, "second-2222"))
    child = ComparisonChild([sys.executable, "-c", _TELLS + "import time; time.sleep(600)", json.dumps(ROWS)])
    monkeypatch.setattr(ComparisonChild, "of", lambda *_, **__: child)
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr("assistant.terminal.comparison.replaying.time.monotonic", lambda: float(next(clock)))
    lines = commands(assistant).run("/replay")
    next(lines)
    assert next(lines) == "By live 2: message 1 of 3."  # a sentence now and then
    lines.close()  # type: ignore[attr-defined]
    assert child._process is not None
    assert child._process.returncode is not None


@pytest.mark.slow
def test_replay_by_the_real_command_in_plain_mode(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.run("ingest", vouch.write("handbook.md", HANDBOOK))
    vouch.chat(QUESTION)
    with vouch.database() as database:
        from stores.search.live_models import LiveModels

        for version in ("untrained", "untrained-too"):
            LiveModels(database).make_live("query encoder", version)
    out = vouch.chat("/replay 1")
    assert "0 of 1 messages are answered differently." in out
