"""Judging in growing steps (LUF, Appendix A.2): the calls, the stop, and what stays unjudged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from agent_fakes import FixedJudge, candidate
from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Candidate, Verdict
from agents.retrieval.relevance import fixed_mix
from agents.retrieval.reranker import Reranker, Schedule, steps

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


def test_by_classes_helpful_first_then_unjudged_then_useless() -> None:
    judge = FixedJudge({1: "irrelevant", 2: "irrelevant", 3: "relevant"})
    reranked = Reranker(judge, schedule="single", budget=40, min_judged=1, order="classes").rerank(
        "q", [candidate(rank) for rank in range(1, 6)]
    )
    assert [c.passage.version_id for c in reranked.order] == [3, 4, 5, 1, 2]


def test_an_unreadable_verdict_is_unjudged_and_never_useless() -> None:
    judge = FixedJudge({1: None, 2: "answer"})
    reranked = Reranker(judge, schedule="single", budget=40, min_judged=1, order="classes").rerank(
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


def ranks(order: Sequence[Candidate]) -> list[int]:
    return [c.found_rank for c in order]


possible = st.floats(0.001, 1)  # 0 is for what is surely useless
judged_scores = st.lists(st.one_of(st.none(), possible), min_size=1, max_size=12)


def mixed(scores: Sequence[float | None], *, judge_share: float) -> list[int]:
    """The places found, in the new order; None: not judged. Candidate n has the score 1 / n."""
    candidates = [candidate(rank) for rank in range(1, len(scores) + 1)]
    verdicts = {id(c): Verdict("answer", s) for c, s in zip(candidates, scores, strict=True) if s is not None}
    return ranks([each.candidate for each in fixed_mix(judge_share).placed("q", candidates, verdicts)])


@given(judged_scores, st.floats(0, 1))
def test_mixing_loses_and_doubles_nobody(scores: list[float | None], share: float) -> None:
    assert sorted(mixed(scores, judge_share=share)) == list(range(1, len(scores) + 1))


@given(judged_scores)
def test_without_a_share_the_judge_changes_nothing(scores: list[float | None]) -> None:
    assert mixed(scores, judge_share=0.0) == list(range(1, len(scores) + 1))


@given(st.lists(possible, min_size=1, max_size=12))
def test_with_the_whole_share_the_judge_alone_decides(scores: list[float]) -> None:
    expected = sorted(range(1, len(scores) + 1), key=lambda rank: (-scores[rank - 1], rank))
    assert mixed(scores, judge_share=1.0) == expected


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.data(), st.floats(0, 1))
def test_a_better_verdict_never_costs_a_place(scores: list[float], data: st.DataObject, share: float) -> None:
    rank = data.draw(st.integers(1, len(scores)))
    better = list(scores)
    better[rank - 1] = data.draw(st.floats(scores[rank - 1], 1))
    before, after = (mixed(some, judge_share=share).index(rank) for some in (scores, better))
    assert after <= before


@given(judged_scores, st.floats(0, 1), st.data())
def test_what_is_surely_useless_comes_last(
    scores: list[float | None], share: float, data: st.DataObject
) -> None:
    useless = data.draw(st.integers(1, len(scores)))
    scores[useless - 1] = 0.0
    assert mixed(scores, judge_share=share)[-1] == useless


def test_what_was_found_well_and_judged_badly_is_not_lost() -> None:
    judge = FixedJudge({2: "answer", 3: "answer", 4: "answer", 5: "answer", 6: "answer"})
    reranked = Reranker(judge, schedule="single", budget=40, min_judged=6).rerank(
        "q", [candidate(rank) for rank in range(1, 7)]
    )
    assert 1 in ranks(reranked.order[:5])


def test_what_was_given_moves_none_of_the_others() -> None:
    found, judged = replace(candidate(1), score=1.0), replace(candidate(2), score=0.0)
    told = replace(candidate(3), score=3.0, given=2.0)
    verdicts = {id(judged): Verdict("relevant", 0.6)}  # 1/2 · 0.6 + 0 is less than 1/2 · 0.2 + 1/2 · 1
    order = [each.candidate for each in fixed_mix(0.5).placed("q", [told, found, judged], verdicts)]
    assert [c for c in order if c is not told] == [found, judged]


def test_where_what_was_told_comes_first_more_is_judged() -> None:
    for kind, expected in (("message", 17), ("document", 9)):
        judge = FixedJudge({1: "answer"})
        some = [candidate(rank, kind=kind) for rank in range(1, 31)]
        reranker = Reranker(judge, schedule="multi", budget=40, min_judged=9, min_judged_told=17)
        assert len(reranker.rerank("q", some).judgements) == expected
