"""Rounds of training: one at a time, each with its end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from store_fixtures import Stores

from stores.errors import TryAgain
from stores.records import Round, now
from stores.rounds import Rounds


def only(stores: Stores) -> Round:
    [row] = Rounds(stores.database).latest()
    return row


def expire(stores: Stores, round_id: int) -> None:
    with stores.database.writing() as sql:
        row = sql.get_one(Round, round_id)
        row.figures = {**row.figures, "lease_until": (now() - timedelta(seconds=1)).isoformat()}


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
