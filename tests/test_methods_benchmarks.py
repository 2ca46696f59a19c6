"""What the benchmarks of methods and of judging count."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agent_fakes import FixedJudge, candidate

from agents.base.interfaces import Verdict
from agents.retrieval.reranker import Reranker
from benchmarks import method_times
from benchmarks.judging_tokens import (
    ONE,
    SEVERAL,
    Costs,
    CountingJudge,
    Oracle,
    by_depth,
    reply,
    saved_percent,
    summary,
)
from benchmarks.method_times import SCALED_TO, Clock, MeasuredSeed, Spent, measured_seed, report
from benchmarks.recall_collections import Question


def words(text: str) -> int:
    return len(text.split())


def test_a_call_costs_its_instruction_its_question_its_passages_and_its_reply() -> None:
    judge = CountingJudge(FixedJudge({1: "answer"}), words)
    judge.judge("who was it", [candidate(1, "three words here")])
    # "Question:" and "Passage:" are a word each; the reply is "answer 0.50"
    assert judge.tokens == words(ONE) + 1 + 3 + 1 + 3 + 2
    judge.judge("who was it", [candidate(2, "three words here"), candidate(3, "two words")])
    # "Passages:", the numbers "1." and "2.", and the reply "1 irrelevant 0.50", "2 irrelevant 0.50"
    assert judge.tokens == words(ONE) + 10 + words(SEVERAL) + 1 + 3 + 1 + (1 + 3) + (1 + 2) + 6
    assert (judge.calls, judge.passages) == (2, 3)


def test_a_reply_has_a_line_for_each_passage_that_was_judged() -> None:
    verdicts = [Verdict("answer", 1.0), None, Verdict("irrelevant", 0.25)]
    assert reply(verdicts) == "1 answer 1.00\n2 irrelevant 0.25"
    assert reply(verdicts[:1]) == "answer 1.00"


def test_judging_one_by_one_and_in_growing_steps_costs_the_same_where_the_first_answers() -> None:
    spent = []
    for schedule in ("single", "multi"):
        judge = CountingJudge(FixedJudge({1: "answer"}), words)
        found = [candidate(rank, f"passage {rank}") for rank in range(1, 41)]
        Reranker(judge, schedule=schedule, budget=40, min_judged=1).rerank("who", found)
        spent.append(judge.tokens)
    assert spent[0] == spent[1]


def test_growing_steps_cost_less_where_nothing_answers() -> None:
    spent, calls = {}, {}
    for schedule in ("single", "multi"):
        judge = CountingJudge(FixedJudge({}), words)
        found = [candidate(rank, f"passage {rank}") for rank in range(1, 41)]
        Reranker(judge, schedule=schedule, budget=40, min_judged=1).rerank("who", found)
        spent[schedule], calls[schedule] = judge.tokens, judge.calls
    assert calls == {"single": 40, "multi": 8}
    assert spent["multi"] < spent["single"]


def test_the_oracle_knows_every_name_of_what_is_right() -> None:
    question = Question("who", (frozenset({"", "other"}),))  # the fakes have no name
    assert Oracle(question).judge("who", [candidate(1)]).verdicts == (Verdict("answer", 1.0),)
    assert Oracle(Question("who", (frozenset({"x"}),))).judge("who", [candidate(1)]).verdicts == (
        Verdict("irrelevant", 0.0),
    )


def costs(tokens: list[float], judged: list[float], recalls: list[float]) -> Costs:
    return Costs(tokens, judged, [1.0] * len(tokens), recalls, [0, 1] * (len(tokens) // 2))


SINGLE = costs([100, 100, 300, 500], [1, 1, 3, 40], [1, 1, 1, 0])
MULTI = costs([100, 100, 300, 300], [1, 1, 3, 40], [1, 1, 0, 0])


def test_the_share_saved_is_of_all_tokens() -> None:
    percent, low, high = saved_percent(SINGLE, MULTI)
    assert percent == pytest.approx(20.0)  # 800 instead of 1,000
    assert low <= percent <= high
    assert saved_percent(SINGLE, MULTI, np.array([False, True, False, True]))[0] == pytest.approx(100 / 3)


def test_what_is_saved_is_told_by_how_deep_one_by_one_went() -> None:
    found = by_depth(SINGLE, MULTI)
    assert {name: part["share"] for name, part in found.items()} == {"1": 0.5, "2 to 3": 0.25, "40": 0.25}
    assert found["40"]["saved_percent"] == pytest.approx(40.0)


def test_recall_counts_as_equal_within_half_a_point() -> None:
    found = summary({"single": SINGLE, "multi": MULTI})
    assert found["single"]["is_equal"]
    assert not found["multi"]["is_equal"]
    assert found["multi"]["recall - single"][0] == -0.25
    assert found["multi"]["saved_percent_by_sample"] == [0.0, pytest.approx(100 / 3)]


def test_times_are_scaled_to_three_thousand_questions() -> None:
    clock = Clock()
    clock.spent["tent", "retrieval"] = [Spent(0.5, 0.25), Spent(1.5, 0.75)]
    assert clock.scaled("tent", "retrieval", 2) == Spent(SCALED_TO * 1.0, SCALED_TO * 0.5)
    assert clock.scaled("frozen", "training", 400) == Spent(0, 0)


def test_a_clock_counts_what_is_done_within() -> None:
    clock = Clock()
    with clock.of("frozen", "retrieval"):
        sum(range(200_000))
    (spent,) = clock.spent["frozen", "retrieval"]
    assert 0 < spent.cpu <= 1
    assert spent.wall > 0


def seed_of(number: int, *, cpu: float) -> MeasuredSeed:
    spent = {
        "retrieve and rerank": {"retrieval": Spent(90.4, 60.0), "judging": Spent(500, 400)},
        "tent": {"retrieval": Spent(300, cpu), "judging": Spent(500, 400)},
    }
    return MeasuredSeed(number, {"questions": 150, "judged": 40, "lessons": 400}, 3.5, spent)


def test_one_seed_is_told_as_it_was() -> None:
    title, first, second = report([seed_of(1, cpu=120)])
    assert "seeds 1, load 3.5" in title
    assert first.split() == [
        "retrieve", "and", "rerank", "retrieval", "60", "(90)", "judging", "400", "(500)",
        "retrieval", "x", "1.00",
    ]  # fmt: skip
    assert second.endswith("retrieval x 2.00")


def test_several_seeds_are_told_by_mean_and_interval() -> None:
    """120, 180 and 240 spread by 60: the half interval is 4.303 * 60 / sqrt(3) = 149."""
    *_, tent = report([seed_of(n, cpu=cpu) for n, cpu in ((1, 120), (2, 180), (3, 240))])
    assert "retrieval 180 [31, 329] (300 [300, 300])" in tent
    assert tent.endswith("retrieval x 3.00 [0.52, 5.48]")


def test_a_seed_that_was_kept_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def measure(options: argparse.Namespace, folder: Path, *, seed: int) -> Any:
        measured.append(seed)
        return seed_of(seed, cpu=120).spent

    monkeypatch.setattr(method_times, "measure", measure)
    options = argparse.Namespace(questions=150, judged=40, lessons=400, out=tmp_path)
    first = measured_seed(options, 2)
    assert measured_seed(options, 2) == first
    assert measured == [2]
    assert first.spent == seed_of(2, cpu=120).spent
    with pytest.raises(ValueError, match="other sizes"):
        measured_seed(argparse.Namespace(questions=30, judged=40, lessons=400, out=tmp_path), 2)
