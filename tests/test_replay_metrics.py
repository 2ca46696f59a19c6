"""Replay's metrics: by hand, by properties, and beside ir-measures on random runs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.replay.metrics.metrics import (
    answer_f1,
    answer_recall_at,
    evidence_recall_at,
    exact_match,
    forgetting,
    has_answer,
    holds_answer,
    matching_tokens,
    ndcg_at,
    reciprocal_rank,
    success_at,
)

names = st.sampled_from([f"p{i}" for i in range(12)])
founds = st.lists(names, min_size=1, max_size=12, unique=True)
graded = st.dictionaries(names, st.integers(1, 3), min_size=1, max_size=6)
depths = st.integers(1, 12)
texts = st.text(alphabet="aB é.,\n-", max_size=20)


# by relevant ids


def test_found_by_hand() -> None:
    found, relevant = ["x", "b", "y", "a"], {"a", "b", "c"}
    assert [success_at(found, relevant, k) for k in (1, 2, 4)] == [0, 1, 1]
    assert reciprocal_rank(found, relevant) == 1 / 2
    assert reciprocal_rank(["x"], relevant) == 0


def test_ndcg_by_hand() -> None:
    # DCG = 3 / log2(3); the best order has 3 / log2(2) + 1 / log2(3)
    assert ndcg_at(["x", "b", "a"], {"a": 1, "b": 3}, 2) == pytest.approx(
        (3 / math.log2(3)) / (3 + 1 / math.log2(3))
    )
    assert ndcg_at(["b", "b", "b"], {"a": 1, "b": 1}, 3) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_evidence_is_found_by_any_of_its_names() -> None:
    evidence = [{"a", "a2"}, {"b"}]
    assert evidence_recall_at(["a2", "x"], evidence, 2) == 0.5
    assert evidence_recall_at(["a2", "x"], evidence, 2, needs_all=True) == 0
    assert evidence_recall_at(["a2", "b"], evidence, 2, needs_all=True) == 1


def test_where_nothing_is_to_be_found_nothing_is_measured() -> None:
    with pytest.raises(ValueError, match="nothing is relevant"):
        success_at(["a"], set(), 5)
    with pytest.raises(ValueError, match="no evidence"):
        evidence_recall_at(["a"], [], 5)
    for gains in ({}, {"a": 0.0}, {"a": -1.0, "b": 2.0}):
        with pytest.raises(ValueError, match="gains"):
            ndcg_at(["a"], gains, 5)


@given(founds, graded, depths)
def test_ir_measures_says_the_same(found: list[str], gains: Mapping[str, int], depth: int) -> None:
    qrels = [ir_measures.Qrel("q", name, gain) for name, gain in gains.items()]
    run = [ir_measures.ScoredDoc("q", name, -float(rank)) for rank, name in enumerate(found)]
    ours = {
        ir_measures.Success @ depth: success_at(found, gains, depth),
        ir_measures.nDCG @ depth: ndcg_at(found, gains, depth),
        ir_measures.RR: reciprocal_rank(found, gains),
    }
    theirs = ir_measures.calc_aggregate(list(ours), qrels, run)
    assert theirs == pytest.approx(ours)


@given(founds, graded, depths)
def test_deeper_finds_no_less_and_the_best_order_is_whole(
    found: list[str], gains: Mapping[str, int], depth: int
) -> None:
    assert success_at(found, gains, depth) <= success_at(found, gains, depth + 1)
    best = sorted(gains, key=lambda name: -gains[name])
    assert 0 <= ndcg_at(found, gains, depth) <= ndcg_at(best, gains, depth) == pytest.approx(1)


# by answers


def test_tokens_of_letters_digits_and_marks_and_single_signs() -> None:
    assert matching_tokens("Zoë's 3.5€\n(ok)") == ["zoe\u0308", "'", "s", "3", ".", "5", "€", "(", "ok", ")"]
    assert matching_tokens("a_b\x00c") == ["a", "_", "b", "c"]


def test_an_answer_stands_whole_and_in_order() -> None:
    assert has_answer("He left New York  City.", ["new york"])
    assert not has_answer("He left Newer York", ["new york"])
    assert not has_answer("York, the new", ["new york"])
    assert has_answer("caf\u00e9", ["CAFE\u0301"])  # both written forms of é
    assert not has_answer("cafe", ["café"])
    assert not has_answer("anything", ["", " "])
    assert has_answer("It cost $5.", ["$5"])
    assert not has_answer("It cost $50.", ["$5"])


def test_articles_and_signs_count_for_passages_but_not_for_replies() -> None:
    assert not has_answer("in U.S. waters", ["US"])
    assert holds_answer("in U.S. waters", ["US"])
    assert not has_answer("a cat of the house", ["cat of house"])
    assert holds_answer("a cat of the house", ["cat of house"])


def test_answer_recall_looks_no_deeper_than_told() -> None:
    found = ["nothing", "Paris is here", "Lyon"]
    assert [answer_recall_at(found, ["paris", "rome"], k) for k in (1, 2, 3)] == [0, 1, 1]


@given(texts, texts, texts)
def test_an_answer_with_tokens_stands_in_every_text_around_it(before: str, answer: str, after: str) -> None:
    assert has_answer(f"{before} {answer} {after}", [answer]) == bool(matching_tokens(answer))


def naive(text: str, answer: str) -> bool:
    whole, part = matching_tokens(text), matching_tokens(answer)
    return bool(part) and any(whole[i : i + len(part)] == part for i in range(len(whole)))


@given(texts, texts)
def test_matching_is_a_search_for_a_run_of_tokens(text: str, answer: str) -> None:
    assert has_answer(text, [answer]) == naive(text, answer)


# what was said


def test_exact_match_and_f1_as_squad_counts_them() -> None:
    assert exact_match("The Red Room.", ["blue", "red room"]) == 1
    assert exact_match("red", ["red room"]) == exact_match("red", []) == 0
    # words red, red, room against red, room: 2 shared, precision 2/3, recall 1
    assert answer_f1("red red room", ["a red room", "no"]) == pytest.approx(0.8)
    assert answer_f1("red", []) == 0


@given(texts, st.lists(texts, max_size=3))
def test_f1_is_whole_where_the_match_is_exact(said: str, answers: list[str]) -> None:
    assert exact_match(said, answers) <= answer_f1(said, answers) <= 1


# over many


def test_forgetting_is_what_each_slice_lost_from_its_best() -> None:
    rounds = [{"a": 0.5}, {"a": 0.8, "b": 0.4}, {"a": 0.7, "b": 0.6}]
    assert forgetting(rounds) == pytest.approx((0.1 + 0.0) / 2)  # b gained, which hides nothing
    with pytest.raises(ValueError, match="no score of"):
        forgetting([{"a": 0.5}, {"b": 0.5}])
    with pytest.raises(ValueError, match="no slice"):
        forgetting([])


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=5))
def test_nothing_is_forgotten_after_a_round_that_is_best_everywhere(rows: list[list[float]]) -> None:
    rounds = [dict(zip("abc", row, strict=True)) for row in rows]
    assert forgetting(rounds) >= 0
    assert forgetting([*rounds, dict.fromkeys("abc", 1.0)]) == 0
