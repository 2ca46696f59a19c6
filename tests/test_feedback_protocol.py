"""Simulated feedback, and what is counted of its weighing."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.base.claim_interfaces import Claim, Weighed
from assistant.replay.streams.datasets import ReplayQuestion
from benchmarks.feedback_said import became, counted
from benchmarks.questions import holds_answer
from experiments.feedback import (
    UNRELATED,
    feedback_counts,
    said_after,
    simulated,
)


def record(number: int, question: str, answer: str, doc: str = "") -> dict[str, Any]:
    return {
        "question": question,
        "answers": [answer],
        "passage_ids": [f"p{number}"],
        "doc": doc or f"d{number}",
    }


CITIES = ["Rome", "Oslo", "Lima", "Bern", "Kyiv", "Doha", "Riga", "Cairo", "Quito", "Sofia"]
QUESTIONS = [record(n, f"What is the capital of land {n}?", city) for n, city in enumerate(CITIES)]


def test_questions_in_the_same_words_are_each_given_feedback() -> None:
    """In talks the same is asked of scene after scene."""
    questions = [
        ReplayQuestion(f"q{n}", "What is the capital?", (city,), frozenset([f"p{n}"]), topic=f"d{n}")
        for n, city in enumerate(CITIES)
    ]
    said = said_after(questions, seed=1)
    assert sorted(said) == [question.id for question in questions]
    assert Counter(one.kind for one in said.values()) == feedback_counts(len(CITIES))
    for question in questions:
        one = said[question.id]
        assert (question.answers[0] in one.message) == (one.kind == "right")


def test_what_became_of_feedback_hangs_on_its_claims() -> None:
    claim = Claim("The pool is heated.", "The pool is heated.", "fact", "world")
    weighed = {status: Weighed(status, 0.9, by="fake") for status in ("correct", "incorrect", "unknown")}
    assert became([], []) == "nothing"
    assert became([claim], []) == "own"
    assert became([claim, claim], [weighed["unknown"], weighed["correct"]]) == "correct"
    assert became([claim, claim], [weighed["unknown"], weighed["incorrect"]]) == "incorrect"
    assert became([claim], [weighed["unknown"]]) == "unknown"
    [right, *_] = [one for one in simulated(QUESTIONS, QUESTIONS, seed=1) if one.kind == "right"]
    table = counted([(right, "correct"), (right, "own"), (right, "correct")])
    assert (table["right"]["correct"], table["right"]["own"], sum(table["wrong"].values())) == (2, 1, 0)


@given(st.integers(0, 200))
def test_right_claims_hold_their_answer_and_wrong_ones_another(seed: int) -> None:
    for one in simulated(QUESTIONS, QUESTIONS, seed=seed):
        holds = holds_answer(one.claim, list(one.answers))
        assert holds == (one.kind == "right")
        if one.kind == "wrong":
            assert sum(city in one.claim for city in CITIES) == 1
        if one.kind == "unrelated":
            assert one.message == one.claim
            assert one.message in UNRELATED
        else:
            assert one.claim.rstrip(".").casefold() in one.message.casefold()
