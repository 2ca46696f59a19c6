"""Simulated judges, answerers and users: as accurate as they are told to be, and the same every time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from agent_fakes import candidate, passage
from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Candidate, Judge
from assistant.replay.methods.simulated_judge import (
    RIGHT_ON_IRRELEVANT,
    SimulatedJudge,
    draws,
    gold_truth,
)
from assistant.replay.streams.datasets import ReplayQuestion
from experiments.feedback import FeedbackKind, feedback_counts, simulated_feedback
from experiments.simulated_chat import SimulatedAnswerer
from stores.base.passages import Passage

MANY = 4_000  # passages of one question
PINNED = (0.6656892017707108, 0.8333019799961576)  # of blake2b; a change would change every report
accuracies = st.floats(0, 1)


def named(number: int) -> Candidate:
    found = candidate(number)
    return replace(found, passage=replace(found.passage, external_id=f"p{number}"))


CANDIDATES = [named(number) for number in range(1, MANY + 1)]


def is_even(question: str, found: Passage) -> bool:
    return found.passage_id % 2 == 0


def labels(judge: Judge, candidates: Sequence[Candidate] = CANDIDATES) -> list[str]:
    return [verdict.label for verdict in judge.judge("Who?", candidates).verdicts if verdict]


def scores(judge: Judge, candidates: Sequence[Candidate]) -> list[float]:
    return [verdict.score for verdict in judge.judge("Who?", candidates).verdicts if verdict]


def within_3_sigma(count: int, of: int, share: float) -> bool:
    return abs(count / of - share) <= 3 * math.sqrt(share * (1 - share) / of)


# the judge


@pytest.mark.parametrize("accuracy", [0.5, 0.9])
def test_it_is_as_accurate_as_told(accuracy: float) -> None:
    said = labels(SimulatedJudge(accuracy, 1, is_relevant=is_even))
    relevant, irrelevant = said[1::2], said[0::2]
    assert within_3_sigma(relevant.count("answer"), MANY // 2, accuracy)
    assert within_3_sigma(irrelevant.count("irrelevant"), MANY // 2, RIGHT_ON_IRRELEVANT)


def test_one_of_accuracy_1_reproduces_the_oracle() -> None:
    expected = ["answer" if n % 2 == 0 else "irrelevant" for n in range(1, MANY + 1)]
    assert labels(SimulatedJudge(1.0, 1, is_relevant=is_even)) == expected


@given(accuracies, st.integers(0, 5), st.permutations(CANDIDATES[:12]), st.integers(1, 12))
def test_judging_again_says_the_same_in_any_order_and_any_call(
    accuracy: float, seed: int, order: list[Candidate], step: int
) -> None:
    judge = SimulatedJudge(accuracy, seed, is_relevant=is_even)
    whole = dict(zip(CANDIDATES[:12], judge.judge("Who?", CANDIDATES[:12]).verdicts, strict=True))
    again = SimulatedJudge(accuracy, seed, is_relevant=is_even)
    for start in range(0, 12, step):
        some = order[start : start + step]
        assert list(again.judge("Who?", some).verdicts) == [whole[c] for c in some]


@given(accuracies, accuracies, st.integers(0, 5))
def test_what_is_right_stays_right_at_a_higher_accuracy(one: float, other: float, seed: int) -> None:
    some = CANDIDATES[:30]
    low, high = (
        labels(SimulatedJudge(accuracy, seed, is_relevant=is_even), some) for accuracy in sorted((one, other))
    )
    right = labels(SimulatedJudge(1.0, seed, is_relevant=is_even), some)
    assert all(h == r for wrong, h, r in zip(low, high, right, strict=True) if wrong == r)


def test_errors_hang_on_seed_question_and_passage() -> None:
    one, other = passage(1), replace(passage(1), external_id="1")
    first = draws(1, "Who?", one)
    assert first == draws(1, "Who?", replace(one, version_id=9, text="Another version."))
    assert len({first, draws(2, "Who?", one), draws(1, "Why?", one), draws(1, "Who?", other)}) == 4
    assert draws(1, "Who?", other) == draws(1, "Who?", replace(other, passage_id=5))


def test_draws_are_the_same_on_every_machine() -> None:
    assert draws(1, "Who?", replace(passage(1), external_id="p1"))[:2] == PINNED


def test_scores_around_the_verdict_tell_nothing_more_than_it() -> None:
    judge = SimulatedJudge(0.5, 1, is_relevant=is_even)
    missed, found = [], []
    for verdict in judge.judge("Who?", CANDIDATES[1::2]).verdicts:
        assert verdict
        (found if verdict.label == "answer" else missed).append(verdict.score)
    assert sum(found) / len(found) == pytest.approx(0.9, abs=0.01)
    assert sum(missed) / len(missed) == pytest.approx(0.1, abs=0.01)


def test_a_call_costs_its_prompt_and_its_reply() -> None:
    judge = SimulatedJudge(0.9, 1, is_relevant=is_even, count_tokens=lambda text: len(text.split()))
    one, two = judge.judge("Who is it?", CANDIDATES[:1]), judge.judge("Who is it?", CANDIDATES[:2])
    assert (one.tokens_in, one.tokens_out) == (60 + 3 + 2, 8)  # "Passage 1." has two words
    assert (two.tokens_in, two.tokens_out) == (60 + 3 + 4, 16)
    assert judge.judge("Who is it?", []).tokens_in == 0


# what is true


def question(number: int, *, gold: frozenset[str] | None = None, needs_all: bool = False) -> ReplayQuestion:
    return ReplayQuestion(f"q{number}", f"Question {number}?", ("Rome",), gold, needs_all=needs_all)


def test_gold_ids_decide_or_else_the_answer() -> None:
    truth = gold_truth([question(1, gold=frozenset({"p1"})), question(2)])
    right, other = named(1).passage, replace(named(2).passage, text="It is in Rome.")
    assert truth("Question 1?", right)
    assert not truth("Question 1?", other)  # its answer stands there, but gold is known
    assert truth("Question 2?", other)
    assert not truth("Question 2?", right)
    with pytest.raises(ValueError, match="nothing is known"):
        truth("Question 3?", right)


def test_the_answerer_is_right_when_it_reads_the_answer() -> None:
    found = [named(number).passage for number in range(1, 8)]
    answerer = SimulatedAnswerer(depth=5)
    assert answerer.answer(question(1, gold=frozenset({"p5"})), found) == "Rome"
    assert answerer.answer(question(1, gold=frozenset({"p6"})), found) == answerer.NOT_KNOWN
    both = question(1, gold=frozenset({"p1", "p2"}), needs_all=True)
    assert answerer.answer(both, found) == "Rome"
    assert answerer.answer(both, found[1:]) == answerer.NOT_KNOWN


# users


def tell_all(kind: FeedbackKind, questions: Sequence[ReplayQuestion]) -> Mapping[str, str]:
    return {each.id: f"{kind} about {each.text}" for each in questions}


def kinds(total: int, seed: int) -> dict[str, FeedbackKind]:
    found = simulated_feedback([question(n) for n in range(total)], tell_all, seed=seed)
    return {name: each.kind for name, each in found.items()}


@given(st.integers(0, 200), st.integers(0, 5))
def test_feedback_comes_in_exactly_these_shares(total: int, seed: int) -> None:
    found = Counter(kinds(total, seed).values())
    assert found == Counter(feedback_counts(total))
    assert found.total() == total
    assert all(abs(found[kind] - share * total) < 1 for kind, share in SHARES)


SHARES: Sequence[tuple[FeedbackKind, float]] = (("right", 0.4), ("wrong", 0.4), ("unrelated", 0.2))


def test_counts_by_hand() -> None:
    assert feedback_counts(10) == {"right": 4, "wrong": 4, "unrelated": 2}
    # 7: 2.8, 2.8, 1.4 make 2, 2, 1; the two left go to the larger remainders
    assert feedback_counts(7) == {"right": 3, "wrong": 3, "unrelated": 1}


def test_where_too_few_can_have_a_kind_it_is_said() -> None:
    with pytest.raises(ValueError, match="4 questions need wrong feedback, but 0 can have it"):
        simulated_feedback(
            [question(n) for n in range(10)],
            lambda kind, questions: {} if kind == "wrong" else tell_all(kind, questions),
            seed=1,
        )
