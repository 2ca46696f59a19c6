"""Before and after: two answers side by side, names hidden, and what becomes of a choice."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import runs
from round_rows import keep, of, promoted, row
from screen_fixtures import HANDBOOK, QUESTION, ChatOnScreen, on_screen
from sqlmodel import col

from assistant.terminal.comparison.comparison_process import ComparisonChild, ComparisonFailed
from assistant.terminal.facts.comparison import (
    BETTER,
    OTHERWISE,
    SAME,
    WORDING,
    WORSE,
    Pair,
    Side,
    counts,
)
from assistant.terminal.training.compare_screen import CompareScreen
from assistant.terminal.training.training_screen import TrainingScreen
from stores.base.clock import now
from stores.conversation.pair_choices import REASON, FoundText, PairChoices
from stores.database.tables import Feedback

CITED = f"House rules: {HANDBOOK}"
TELLS = "import json, sys, time\nfor row in json.loads({rows!r}): print(json.dumps(row), flush=True)\n"


def told(
    turn: int,
    message: str,
    live: tuple[str, Sequence[str]],
    other: tuple[str, Sequence[str]],
    *,
    change: float = 1.0,
) -> dict[str, Any]:
    """As `vouch replay --json` tells a message."""
    cites_apart = 0.0 if set(live[1]) == set(other[1]) else 1.0
    return {
        "turn": turn,
        "message": message,
        "change": change,
        "changes": {"answer": change, "citations": cites_apart, "writes": 0.0},
        "replies": [
            {"model": name, "answer": said, "citations": list(cited), "writes": []}
            for name, (said, cited) in (("live", live), ("previous", other))
        ],
    }


def playing(*rows: dict[str, Any], then: str = "") -> ComparisonChild:
    script = TELLS.format(rows=json.dumps(rows)) + then
    return ComparisonChild([sys.executable, "-c", script])


ASKED = told(
    1,
    QUESTION,
    ("It opens at 10:00 on Saturdays [1].", [CITED]),
    ("It is closed.", ["Rules: Closed on Sundays."]),
)
ASKED_AGAIN = told(2, "Is there a locker?", ("No.", []), ("Yes, there is one.", []), change=0.4)
ALIKE = told(3, "Thank you.", ("Welcome.", []), ("Welcome.", []), change=0.0)
PROGRESS = {"model": "live", "done": 1, "of": 3}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was asked to be compared; the comparison itself is read from here."""
    asked: list[dict[str, Any]] = []
    child = {"made": lambda: playing(ASKED, ASKED_AGAIN, ALIKE)}

    def made(_assistant: Any, user: str, session_id: int, **more: Any) -> ComparisonChild:
        asked.append({"user": user, "session": session_id, **more})
        return child["made"]()

    monkeypatch.setattr(ComparisonChild, "of", staticmethod(made))
    monkeypatch.setattr(sys.modules[__name__], "CHILD", child, raising=False)
    return asked


CHILD: dict[str, Any] = {}


async def compares(chat: ChatOnScreen, *, rounds: bool = True, line: str = "/compare") -> CompareScreen:
    """Asks twice, and compares that session."""
    await chat.asks(QUESTION)
    await chat.asks("Is there a locker?")
    if rounds:
        keep(of(chat), promoted(12))
    await chat.sends(line)
    await chat.until(lambda: isinstance(chat.screen, CompareScreen))
    screen = chat.screen
    assert isinstance(screen, CompareScreen)
    return screen


REPLIES = [["It opens at 10:00 on Saturdays [1]."], ["No."]]


def ratings(chat: ChatOnScreen) -> list[tuple[int, int | None, str, bool]]:
    """Turn, version, rating, and whether it is in force."""
    with of(chat).stores.database.reading() as sql:
        rows = sql.query(Feedback).order_by(col(Feedback.id)).all()
        return [(f.turn_id, f.version_id, f.rating, f.withdrawn_at is None) for f in rows]


async def test_names_are_hidden_until_a_choice_was_made_and_v_shows_them(
    tmp_path: Path, begun: list[dict[str, Any]]
) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await compares(chat)
        assert begun == [{"user": "ann", "session": 1, "against": "previous", "turn_id": None, "newest": 50}]
        await chat.shows("names hidden")
        assert "─ live 12" not in chat.text
        await chat.presses("v")
        await chat.shows("─ live 12")
        await chat.shows("judged passages help")
        await chat.presses("v")
        await chat.shows("names hidden")
        await chat.presses("0")
        await chat.shows("─ live 12")
        await chat.shows("Neither is better")
        assert ratings(chat) == []


async def test_a_choice_is_kept_for_what_the_better_answer_cites_and_can_be_changed(
    tmp_path: Path, begun: list[dict[str, Any]]
) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        screen = await compares(chat)
        await chat.shows("It is closed.")
        exchanged = screen._pairs[0].is_exchanged(1)
        live, other = ("2", "1") if exchanged else ("1", "2")
        await chat.presses(live)
        await chat.shows("Kept as feedback: 1 passage cited there helped")
        assert ratings(chat) == [(1, 1, "good", True)]
        await chat.shows("worse 1")
        await chat.presses(other)  # it cites nothing that the turn had found
        await chat.shows("Nothing new to keep")
        assert ratings(chat) == [(1, 1, "good", False)]
        await chat.shows("better 1")
        await chat.presses("0")
        await chat.shows("Neither is better")


async def test_one_turn_alone_by_its_number_and_while_it_is_read(
    tmp_path: Path, begun: list[dict[str, Any]]
) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await compares(chat, line="/compare 2")
        await chat.shows("turn 2")
        await chat.shows("Yes, there is one.")
        await chat.goes_back()
        await chat.reads()
        await chat.opens(CompareScreen, "g", "j", "b")
        await chat.shows("turn 1")
        assert [asked["turn_id"] for asked in begun] == [2, 1]


async def test_c_in_training_compares_with_the_model_of_the_marked_round(
    tmp_path: Path, begun: list[dict[str, Any]]
) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks(QUESTION)
        checkpoints = of(chat).stores.checkpoints
        made = tmp_path / "made"
        made.mkdir()
        (made / "model.onnx").write_text("a model")
        version = checkpoints.keep("retriever", made, {"encoder_version": "none"})
        refused = row(13, "refused", "Refused: it lost.", {"version": version})
        keep(of(chat), promoted(12), refused)
        await chat.opens(TrainingScreen, "f4")
        await chat.opens(CompareScreen, "c")
        await chat.presses("v")
        await chat.shows("─ candidate 13")
        await chat.presses("escape", "down", "c")
        await chat.until(lambda: len(begun) == 2 and isinstance(chat.screen, CompareScreen))
        assert [asked["against"] for asked in begun] == [version, "previous"]


async def test_without_a_model_before_nothing_is_begun(tmp_path: Path, begun: list[dict[str, Any]]) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks(QUESTION)
        await chat.sends("/compare")
        await chat.shows("there is no model before the live one")
        await chat.sends("/compare 99")
        await chat.shows("there is no model before the live one")
        keep(of(chat), promoted(12))
        await chat.sends("/compare 99")
        await chat.until(lambda: "no turn 99" in chat.text)
        assert begun == []


async def test_progress_is_shown_and_esc_leaves_off_and_ends_the_process(
    tmp_path: Path, begun: list[dict[str, Any]]
) -> None:
    waits = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(__import__('os').getpid()))\ntime.sleep(600)"
    CHILD["made"] = lambda: playing(PROGRESS, then=waits)
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await compares(chat)
        await chat.shows("message 2 of 3")
        await chat.shows("first by live 12")
        await chat.until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
        pid = int((tmp_path / "pid").read_text())
        await chat.presses("1", "n", "f", "v")  # nothing to act on yet
        await chat.goes_back()
        await chat.until(lambda: not runs(pid))


async def test_why_it_could_not_be_compared_and_that_nothing_changed_is_told(
    tmp_path: Path, begun: list[dict[str, Any]]
) -> None:
    complaint = json.dumps({"error": "the model [b]fell[/b] over", "code": 1, "hint": "Train another one."})
    CHILD["made"] = lambda: playing(then=f"print({complaint!r}, file=sys.stderr)\nsys.exit(1)")
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await compares(chat)
        await chat.shows("They could not be compared: the model [b]fell[/b] over. Train another one.")
        await chat.presses("escape")
        CHILD["made"] = lambda: playing(ALIKE)
        await chat.sends("/compare")
        await chat.shows("Nothing changed: all 1 messages are answered alike.")
        await chat.presses("1", "n", "f")
        await chat.shows("No answer is known to be worse")


# What is known of a pair


def pair(live: Sequence[str], other: Sequence[str], **helps: bool | None) -> Pair:
    found = tuple(FoundText(n, text, help) for n, (text, help) in enumerate(helps.items()))
    return Pair(1, "?", Side("a", tuple(live), ()), Side("b", tuple(other), ()), 1.0, False, found)


def test_what_another_answer_is_goes_by_the_passages_known_to_help() -> None:
    assert pair("a", "b", a=True, b=None).kind == WORSE
    assert pair("a", "b", a=False, b=True).kind == BETTER
    assert pair("a", "b", a=None, b=False).kind == OTHERWISE
    assert pair("a", "ab", a=True, b=True).kind == BETTER
    assert replace(pair("a", "b", a=True), is_wording=True).kind == WORDING
    assert replace(pair("a", "b", a=True), change=0.0).kind == SAME
    assert counts([BETTER, SAME, SAME]) == "better 1 · worse 0 · same 2 · only other words 0"
    assert counts([OTHERWISE]).endswith("otherwise changed 1")


def test_the_coin_falls_the_same_way_each_time_and_on_both_sides() -> None:
    thrown = [replace(pair("a", "b"), turn_id=turn).is_exchanged(7) for turn in range(100)]
    assert thrown == [replace(pair("a", "b"), turn_id=turn).is_exchanged(7) for turn in range(100)]
    assert 25 < sum(thrown) < 75


async def test_a_choice_leaves_what_was_said_of_a_passage_and_what_others_chose(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks(QUESTION)
        assistant = of(chat)
        choices = PairChoices(assistant.stores.database)
        (found,) = choices.found(1, 1)
        assert found.text == CITED
        assert choices.choose(1, 1, [CITED]) == 1
        assert choices.choose(1, 1, [CITED]) == 1  # in place of the earlier one
        assert [kept[3] for kept in ratings(chat)] == [False, True]
        eve = assistant.stores.journal.user_id("eve")
        with assistant.stores.database.writing() as sql:
            hers = Feedback(turn_id=1, user_id=eve, rating="good", created_at=now())
            hers.version_id, hers.reason = 1, REASON
            sql.add(hers)
        assert choices.choose(1, 1, []) == 0
        assert [kept[3] for kept in ratings(chat)] == [False, False, True]
        with pytest.raises(Exception, match="no turn 1"):
            choices.choose(eve, 1, [CITED])
        assistant.stores.journal.rate(1, 1, "bad", version_id=1)
        assert choices.choose(1, 1, [CITED]) == 0
        (found,) = choices.found(1, 1)
        assert found.helps is False


async def test_a_process_that_ends_without_a_word_is_told_too() -> None:
    child = ComparisonChild([sys.executable, "-c", "import sys; sys.exit(3)"])
    with pytest.raises(ComparisonFailed, match="without a word"):
        [line async for line in child.lines()]


async def test_left_before_it_began_it_ends_at_once() -> None:
    began = time.monotonic()
    child = ComparisonChild([sys.executable, "-c", "import time; time.sleep(300)"])
    child.leave()
    assert [line async for line in child.lines()] == []
    assert time.monotonic() - began < 200  # it was not waited for


async def test_of_a_long_session_the_newest_messages_are_played_and_that_is_told(
    tmp_path: Path, begun: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.terminal.chat.training_actions.COMPARED", 1)
    CHILD["made"] = lambda: playing({"model": "live", "done": 0, "of": 1}, then="time.sleep(60)\n")
    async with on_screen(tmp_path, replies=REPLIES, size=(120, 40)) as chat:
        await compares(chat)
        await chat.shows("The newest 1 messages of session 1 are answered anew")
        await chat.shows("message 1 of 1")
        await chat.goes_back()
        CHILD["made"] = lambda: playing(ASKED_AGAIN)
        await chat.sends("/compare")
        await chat.shows("the newest 1 messages; /replay plays every one")
        await chat.presses("escape")
        await chat.sends("/replay")
        await chat.until(lambda: isinstance(chat.screen, CompareScreen))
        await chat.shows("names hidden")
        assert "/replay plays" not in chat.text
    assert [asked["newest"] for asked in begun] == [1, 1, None]
