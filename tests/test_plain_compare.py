"""Answers before and after, typed in plain mode."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from plain_fixtures import counting, talk
from round_rows import keep, promoted
from screen_fixtures import assistant_in

from assistant.terminal.comparison.comparing import session_to_compare
from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.wiring.assistant import Assistant
from stores.conversation.pair_choices import PairChoices
from stores.database.tables import Feedback

_TELLS = "import json, sys\nfor row in json.loads(sys.argv[1]): print(json.dumps(row), flush=True)\n"


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with assistant_in(tmp_path, counting) as made:
        yield made


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
    with assistant.stores.database.reading() as sql:
        assert sql.query(Feedback).count() == 0


def test_compare_takes_the_last_session_while_nothing_was_said_in_this_one(assistant: Assistant) -> None:
    _, earlier = talk(assistant, "First?")
    user = assistant.stores.journal.user_id("ann")
    empty = assistant.stores.journal.open_session(user)
    assert session_to_compare(assistant, user, empty, None) == earlier
    assert session_to_compare(assistant, user, earlier, None) == earlier
    assert session_to_compare(assistant, user, empty, 1) == earlier
