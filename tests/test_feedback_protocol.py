"""Simulated feedback, and what is counted of its weighing."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.base.claim_interfaces import Claim, Weighed
from assistant.replay.simulation.feedback import (
    UNRELATED,
    Feedback,
    said_after,
    simulated,
)
from assistant.replay.simulation.participants import FeedbackKind, feedback_counts
from assistant.replay.streams.datasets import ReplayQuestion
from benchmarks.feedback_protocol import Outcome, accuracy, confusion
from benchmarks.feedback_said import became, counted
from benchmarks.questions import holds_answer


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


def test_a_wrong_answer_is_of_the_same_kind_and_may_be_of_the_same_article() -> None:
    years = [record(20 + n, "When was it built?", str(1900 + n), doc="tower") for n in range(3)]
    shares: dict[FeedbackKind, float] = {"right": 0.0, "wrong": 1.0, "unrelated": 0.0}
    found = simulated(years[:1], [*QUESTIONS, *years], seed=1, shares=shares)
    assert "1901" in found[0].claim or "1902" in found[0].claim
    near = simulated(QUESTIONS[:1], QUESTIONS, seed=1, shares=shares, is_near=True)
    assert near == []  # no other answer of that article is known


def test_what_cannot_be_stated_is_said_by_naming_question_and_answer() -> None:
    odd = [record(30, "Why is the sky blue", "scattering")]
    shares: dict[FeedbackKind, float] = {"right": 1.0, "wrong": 0.0, "unrelated": 0.0}
    (one,) = simulated(odd, odd, seed=1, shares=shares)
    assert one.claim == 'The answer to "Why is the sky blue?" is scattering.'
    assert not one.is_statement


def outcome(kind: FeedbackKind, known: Weighed) -> Outcome:
    feedback = Feedback(kind, "", "", "", (), frozenset())
    return Outcome(feedback, True, known, known, known, known, 1.0)


def test_accuracy_counts_unknown_as_wrong_and_apart() -> None:
    outcomes = [
        outcome("right", Weighed("correct", 0.9)),
        outcome("right", Weighed("correct", 0.4)),
        outcome("wrong", Weighed("incorrect", 0.8)),
        outcome("wrong", Weighed("correct", 0.7)),
        outcome("unrelated", Weighed("unknown", 0.1)),
    ]
    table = confusion(outcomes, lambda o: o.known, correct_from=0.5, incorrect_from=0.5)
    assert table["right"] == {"correct": 1, "incorrect": 0, "unknown": 1}
    assert table["wrong"] == {"correct": 1, "incorrect": 1, "unknown": 0}
    assert table["unrelated"] == {"correct": 0, "incorrect": 0, "unknown": 1}
    share, of_decided, decided = accuracy(table)
    assert (share, of_decided, decided) == (2 / 4, 2 / 3, 3)
