"""Replay's metrics: by hand, by properties, and beside ir-measures on random runs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.learning.held_out.ranking import evidence_recall_at, ndcg_at, reciprocal_rank, success_at
from assistant.learning.held_out.replies import entity_f1, sentence_bleu
from assistant.replay.metrics.metrics import (
    answer_f1,
    exact_match,
    has_answer,
    holds_answer,
    matching_tokens,
)
from benchmarks.twenty_rounds import forgetting
from training.dialogue.measures import bigram_overlap, bleu, values_covered, values_in

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


# over many


def test_forgetting_is_what_each_slice_lost_from_its_best() -> None:
    rounds = [{"a": 0.5}, {"a": 0.8, "b": 0.4}, {"a": 0.7, "b": 0.6}]
    assert forgetting(rounds) == pytest.approx((0.1 + 0.0) / 2)  # b gained, which hides nothing
    with pytest.raises(ValueError, match="no score of"):
        forgetting([{"a": 0.5}, {"b": 0.5}])
    with pytest.raises(ValueError, match="no slice"):
        forgetting([])


# Of task dialogues


tokens = st.lists(st.sampled_from("a b c d e".split()), min_size=4, max_size=12).map(" ".join)


@given(st.lists(tokens, min_size=1, max_size=4))
def test_the_same_words_are_100_bleu_whatever_their_case(texts: list[str]) -> None:
    assert bleu(texts, [text.upper() for text in texts]) == pytest.approx(100)


def test_bleu_worked_out_by_hand() -> None:
    # 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 fours; 6 words against 7
    right, said = "the cat sat on the mat today", "the cat sat on a mat"
    precision = sum(map(math.log, (5 / 6, 3 / 5, 2 / 4, 1 / 3))) / 4
    expected = math.exp(precision + 1 - 7 / 6)
    assert bleu([right], [said]) == pytest.approx(100 * expected)
    assert bleu(["a b c d"], ["a b x y"]) == 0  # no triple is right, and nothing is smoothed
    assert bleu(["a b c d"], [""]) == 0


def test_overlap_of_pairs_of_words() -> None:
    assert bigram_overlap("a b c", "A b c") == 1
    assert bigram_overlap("a b c", "") == bigram_overlap("a b c", "a") == bigram_overlap("a", "a") == 0
    assert bigram_overlap("a b c d", "a b") == pytest.approx(math.exp(-1))  # half as long
    assert bigram_overlap("a b", "a b a b") == pytest.approx(1 / 3)  # the pair counts once
    assert bigram_overlap("a b", "a b a b", clipped=False) == pytest.approx(2 / 3)


@given(tokens, tokens)
def test_overlaps_lie_between_0_and_1_and_repetition_does_not_help(right: str, said: str) -> None:
    assert 0 <= bigram_overlap(right, said) <= bigram_overlap(right, said, clipped=False) <= 1
    twice = bigram_overlap(right, f"{right} {right}")
    assert twice <= bigram_overlap(right, right) == 1
    assert 0 <= sentence_bleu(right, said) <= sentence_bleu(right, right) == pytest.approx(1)
    assert sentence_bleu(right, "") == 0


@pytest.mark.parametrize(
    ("text", "removes", "found"),
    [
        ("Pizza_Hut is cheap .", False, {"pizza_hut", "cheap"}),
        ("it is moderately priced", False, {"moderate"}),  # within a word, as the reference has it
        ("pizza_hut_fen_ditton", False, {"pizza_hut_fen_ditton"}),  # not the shorter one within it
        ("pizza_hut_fen_ditton or pizza_hut", True, {"pizza_hut_fen_ditton", "pizza_hut"}),
        ("pizza_hut_fen_ditton or pizza_hut", False, {"pizza_hut_fen_ditton"}),
        ("nothing", True, set()),
    ],
)
def test_values_are_found_the_longest_first(text: str, removes: bool, found: set[str]) -> None:
    values = ["pizza_hut", "pizza_hut_fen_ditton", "cheap", "moderate"]
    assert values_in(text, values, removes=removes) == found


def test_entity_f1_passes_over_turns_that_tell_none_unless_it_is_strict() -> None:
    right, told = [{"a", "b"}, set(), {"c"}], [{"a", "x"}, {"y"}, set()]
    assert entity_f1(right, told) == pytest.approx(100 * 2 * 1 / (2 * 1 + 2 + 1))
    assert entity_f1(right, told, strict=True) == pytest.approx(100 * 2 * 1 / (2 * 1 + 2 + 2))
    assert entity_f1([set()], [set()]) == 0


@given(st.lists(st.sets(st.sampled_from("abcd"))))
def test_what_is_told_rightly_is_100(right: list[set[str]]) -> None:
    assert entity_f1(right, right, strict=True) == (100 if any(right) else 0)


def test_re_at_k_is_the_share_of_values_in_the_first_rows() -> None:
    rows = [{"a", "b"}, {"c"}, {"d"}]
    found = [values_covered({"a", "c", "x"}, rows, k) for k in (1, 2, 3)]
    assert found == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert values_covered(set(), rows, 1) == 1
