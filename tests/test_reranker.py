"""Judging in growing steps (the properties of luf.md section 14, 7)."""

from __future__ import annotations

from itertools import accumulate

import pytest
from agent_fakes import FixedJudge, candidate
from hypothesis import given
from hypothesis import strategies as st

from agents.reranker import Reranker, Schedule, steps

schedules = st.sampled_from(["multi", "single", "every_5", "every_20"])


def test_the_growing_schedule_of_forty() -> None:
    assert list(steps("multi", 40)) == [1, 1, 1, 2, 4, 8, 16, 7]


def test_the_other_schedules_of_twelve() -> None:
    assert list(steps("single", 3)) == [1, 1, 1]
    assert list(steps("every_5", 12)) == [5, 5, 2]
    assert list(steps("every_20", 12)) == [12]


@given(schedules, st.integers(0, 200))
def test_steps_spend_the_budget_and_no_more(schedule: Schedule, budget: int) -> None:
    assert sum(steps(schedule, budget)) == budget
    assert all(step > 0 for step in steps(schedule, budget))


@given(schedules, st.integers(1, 60), st.integers(1, 60))
def test_judging_stops_right_after_the_call_that_found_help(
    schedule: Schedule, count: int, helpful: int
) -> None:
    judge = FixedJudge({helpful: "answer"})
    reranked = Reranker(judge, schedule=schedule, budget=40, min_judged=1).rerank(
        "q", [candidate(rank) for rank in range(1, count + 1)]
    )
    ends = list(accumulate(steps(schedule, min(40, count))))
    expected = next((end for end in ends if end >= helpful), ends[-1])
    assert len(reranked.judgements) == expected
    assert sum(map(len, judge.calls)) == expected


@given(st.integers(1, 40))
def test_growing_steps_never_cost_more_calls_than_single_ones(helpful: int) -> None:
    costs = {}
    for schedule in ("multi", "single"):
        judge = FixedJudge({helpful: "relevant"})
        Reranker(judge, schedule=schedule, budget=40, min_judged=1).rerank(  # type: ignore[arg-type]
            "q", [candidate(rank) for rank in range(1, 41)]
        )
        costs[schedule] = len(judge.calls)
    assert costs["multi"] <= costs["single"]


def test_helpful_first_then_unjudged_then_useless() -> None:
    judge = FixedJudge({1: "irrelevant", 2: "irrelevant", 3: "relevant"})
    reranked = Reranker(judge, schedule="single", budget=40, min_judged=1).rerank(
        "q", [candidate(rank) for rank in range(1, 6)]
    )
    assert [c.passage.version_id for c in reranked.order] == [3, 4, 5, 1, 2]


def test_an_unreadable_verdict_is_unjudged_and_never_useless() -> None:
    judge = FixedJudge({1: None, 2: "answer"})
    reranked = Reranker(judge, schedule="single", budget=40, min_judged=1).rerank(
        "q", [candidate(1), candidate(2), candidate(3)]
    )
    assert [j.candidate.passage.version_id for j in reranked.judgements] == [2]
    assert [c.passage.version_id for c in reranked.order] == [2, 1, 3]


def test_at_least_so_many_are_judged() -> None:
    judge = FixedJudge({1: "answer"})
    reranked = Reranker(judge, schedule="single", budget=40, min_judged=5).rerank(
        "q", [candidate(rank) for rank in range(1, 11)]
    )
    assert len(reranked.judgements) == 5


def test_a_calls_tokens_are_shared_among_its_passages() -> None:
    judge = FixedJudge({}, tokens=10)
    reranked = Reranker(judge, schedule="every_5", budget=5, min_judged=1).rerank(
        "q", [candidate(rank) for rank in range(1, 6)]
    )
    assert [j.tokens_in for j in reranked.judgements] == [10] * 5


def test_nothing_found_is_nothing_judged() -> None:
    judge = FixedJudge({})
    reranked = Reranker(judge, schedule="multi", budget=40, min_judged=1).rerank("q", [])
    assert reranked.order == ()
    assert judge.calls == []


@pytest.mark.parametrize("schedule", ["multi", "single", "every_5", "every_20"])
def test_a_verdict_can_be_looked_up(schedule: Schedule) -> None:
    first, second = candidate(1), candidate(2)
    reranked = Reranker(FixedJudge({1: "answer"}), schedule=schedule, budget=1, min_judged=1).rerank(
        "q", [first, second]
    )
    verdict = reranked.verdict_of(first)
    assert verdict is not None
    assert verdict.label == "answer"
    assert reranked.verdict_of(second) is None
