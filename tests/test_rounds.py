"""Rounds of training: one at a time, each with its end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from store_fixtures import Stores

from stores.base.clock import now
from stores.base.errors import TryAgain
from stores.database.tables import Round
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels


def only(stores: Stores) -> Round:
    [row] = Rounds(stores.database).latest()
    return row


def expire(stores: Stores, round_id: int) -> None:
    with stores.database.writing() as sql:
        row = sql.get_one(Round, round_id)
        row.figures = {**row.figures, "lease_until": (now() - timedelta(seconds=1)).isoformat()}


def promote(rounds: Rounds, round_id: int, version: str, *, compared_with: str | None = None) -> bool:
    return rounds.promote(
        round_id,
        "r",
        version,
        "",
        details={},
        figures={},
        before_the_first="none",
        compared_with={"r": compared_with},
    )


def test_a_round_keeps_what_was_noted_and_why_it_ended(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    round_id = rounds.begin("retriever", {"last_turn": 7})
    assert rounds.note(round_id, {"step": 1, "loss": 2.0})
    assert rounds.note(round_id, {"step": 2})
    rounds.end(round_id, "refused", "R@5 did not gain", figures={"recall@5": 0.5})
    row = only(stores)
    assert (row.state, row.reason, row.settings) == ("refused", "R@5 did not gain", {"last_turn": 7})
    assert row.figures == {"step": 2, "loss": 2.0, "recall@5": 0.5}
    assert row.ended_at is not None


def test_one_round_runs_at_a_time(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    first = rounds.begin("retriever", {})
    with pytest.raises(TryAgain):
        rounds.begin("retriever", {})
    rounds.end(first, "stopped", "by command")
    assert rounds.begin("retriever", {}) != first


def test_a_round_whose_learner_died_makes_room(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    first = rounds.begin("retriever", {})
    expire(stores, first)
    second = rounds.begin("retriever", {})
    states = {row.id: row.state for row in rounds.latest()}
    assert states == {first: "failed", second: "running"}


def test_a_round_whose_process_was_killed_is_taken_over_before_its_lease_ends(stores: Stores) -> None:
    dead: set[str] = set()
    killed = Rounds(stores.database, process=lambda: "killed")
    other = Rounds(stores.database, has_died=dead.__contains__, process=lambda: "other")
    round_id = killed.begin("retriever", {})
    assert killed.note(round_id, {"step": 4})
    assert (other.abandoned("retriever"), other.is_broken_off(only(stores))) == (None, False)
    dead.add("killed")
    assert other.is_broken_off(only(stores))
    assert other.take_over(round_id) == 1
    assert not other.is_broken_off(only(stores))
    other.end(round_id, "refused", "")
    assert "process" not in only(stores).figures


def test_a_round_that_takes_learner_after_learner_with_it_waits_for_its_lease(stores: Stores) -> None:
    """Else a chat would begin it again and again, each time with all that it reads at first."""
    always = Rounds(stores.database, has_died=bool, process=lambda: "killed")
    round_id = always.begin("retriever", {})
    assert [always.take_over(round_id) for _ in range(4)] == [1, 2, 3, None]
    assert always.is_broken_off(only(stores)), "it is known all the same"
    with pytest.raises(TryAgain):
        always.begin("retriever", {})
    expire(stores, round_id)
    assert always.take_over(round_id) == 4


def test_learners_that_left_a_round_are_not_among_those_that_died_of_it(stores: Stores) -> None:
    dead: set[str] = set()
    rounds = Rounds(stores.database, has_died=dead.__contains__, process=lambda: "this one")
    round_id = rounds.begin("retriever", {})
    for _ in range(5):
        rounds.leave(round_id, "the chat ended")
        assert rounds.take_over(round_id)
    dead.add("this one")
    assert rounds.take_over(round_id) == 6


def test_what_won_against_another_model_than_the_live_one_does_not_go_live(stores: Stores) -> None:
    rounds, live = Rounds(stores.database), LiveModels(stores.database)
    assert promote(rounds, rounds.begin("retriever", {}), "first")
    round_id = rounds.begin("retriever", {})
    live.step_back("r")  # behind the learner's last look
    assert not promote(rounds, round_id, "second", compared_with="first")
    row = rounds.latest(1)[0]
    assert (live.live("r"), row.state, row.model_version_id) == ("none", "running", None)
    others = {"r": "none", "encoder": "gone"}  # of what it was compared with
    assert not rounds.promote(
        round_id, "r", "second", "", details={}, figures={}, before_the_first="none", compared_with=others
    )
    assert promote(rounds, round_id, "second", compared_with="none")
    assert live.live("r") == "second"


def test_a_round_that_was_told_to_stop_hears_it_with_its_next_note(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    assert rounds.ask_to_stop() is None
    round_id = rounds.begin("retriever", {})
    assert rounds.ask_to_stop() == round_id
    assert not rounds.note(round_id, {"step": 1})
    assert only(stores).state == "stopped"


def test_what_was_learned_counts_once_it_was_judged(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    assert rounds.last_turn_learned("retriever") == 0
    for turn, state in ((5, "refused"), (9, "failed"), (7, "promoted")):
        rounds.end(rounds.begin("retriever", {"last_turn": turn}), state, "")
    assert rounds.last_turn_learned("retriever") == 7
    assert rounds.last_turn_learned("reader") == 0


def test_an_abandoned_round_is_taken_over_by_one(stores: Stores) -> None:
    first, second, third = (Rounds(stores.database) for _ in range(3))
    round_id = first.begin("retriever", {"last_turn": 7})
    first.note(round_id, {"step": 4})
    assert second.abandoned("retriever") is None
    assert second.take_over(round_id) is None
    expire(stores, round_id)
    left = second.abandoned("retriever")
    assert left is not None
    assert (left.id, second.abandoned("reader")) == (round_id, None)
    assert second.take_over(round_id) == 1
    assert third.take_over(round_id) is None
    row = only(stores)
    assert (row.state, row.settings, row.figures["step"]) == ("running", {"last_turn": 7}, 4)


def test_who_was_taken_over_changes_nothing_more(stores: Stores) -> None:
    first, second = Rounds(stores.database), Rounds(stores.database)
    round_id = first.begin("retriever", {})
    expire(stores, round_id)
    second.take_over(round_id)
    assert not first.note(round_id, {"step": 9})
    first.end(round_id, "failed", "woke up")
    first.leave(round_id, "woke up")
    promoted = promote(first, round_id, "v")
    assert (promoted, only(stores).state, "step" in only(stores).figures) == (False, "running", False)


def test_a_round_that_was_left_waits_and_can_be_stopped(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    round_id = rounds.begin("retriever", {})
    rounds.leave(round_id, "the chat ended")
    assert (only(stores).state, only(stores).reason) == ("waiting", "the chat ended")
    assert not rounds.is_broken_off(only(stores))
    assert rounds.abandoned("retriever") is not None
    assert rounds.ask_to_stop() == round_id
    assert rounds.abandoned("retriever") is None
    assert rounds.take_over(round_id) is None


def test_a_round_whose_training_was_killed_is_broken_off_until_it_goes_on(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    round_id = rounds.begin("retriever", {})
    rounds.note(round_id, {"is_paused": True})
    rounds.leave(round_id, "killed", is_broken_off=True)
    assert rounds.is_broken_off(only(stores))
    rounds.take_over(round_id)
    assert not rounds.is_broken_off(only(stores))
    assert "is_paused" not in only(stores).figures, "whoever goes on notes that anew"


def test_a_round_that_rests_is_left_alone_unless_somebody_asks(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    rounds.leave(rounds.begin("retriever", {}), "killed", rest=timedelta(minutes=5))
    assert rounds.abandoned("retriever", even_resting=False) is None
    assert rounds.abandoned("retriever") is not None


def test_no_round_is_gone_on_with_while_another_runs(stores: Stores) -> None:
    rounds = Rounds(stores.database)
    left = rounds.begin("retriever", {})
    expire(stores, left)
    other = rounds.begin("another", {})
    assert [row.state for row in rounds.latest()] == ["running", "waiting"]
    with pytest.raises(TryAgain):
        rounds.take_over(left)
    rounds.leave(other, "")
    third = rounds.begin("retriever", {})
    assert [row.state for row in rounds.latest()] == ["running", "waiting", "stopped"]
    assert rounds.note(third, {})


def test_a_round_that_was_broken_off_waits_while_one_of_another_recipe_runs(stores: Stores) -> None:
    rounds, other = Rounds(stores.database), Rounds(stores.database)
    left = rounds.begin("retriever", {"last_turn": 7})
    rounds.note(left, {"step": 4})
    expire(stores, left)
    newer = other.begin("dialogue", {})
    assert (rounds.note(left, {}), other.has_other_learner(), other.waiting()) == (False, False, [left])
    assert other.is_broken_off(rounds.latest()[-1])
    expire(stores, newer)
    assert rounds.take_over(left) == 1
    assert (rounds.latest()[-1].figures["step"], rounds.waiting()) == (4, [newer])
    assert (rounds.ask_to_stop(), rounds.ask_to_stop()) == (left, newer)


def test_a_dropped_round_ends_unless_somebody_went_on_with_it(stores: Stores) -> None:
    rounds, other = Rounds(stores.database), Rounds(stores.database)
    round_id = rounds.begin("retriever", {})
    rounds.leave(round_id, "")
    other.take_over(round_id)
    rounds.drop(round_id, "dropped")
    assert only(stores).state == "running"
    other.leave(round_id, "")
    rounds.drop(round_id, "dropped")
    assert (only(stores).state, only(stores).reason) == ("stopped", "dropped")
