"""BLEU, Entity-F1 and Re@K of task dialogues, against figures that can be worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.replay.metrics.dialogue import (
    bigram_overlap,
    bleu,
    entity_f1,
    sentence_bleu,
    values_covered,
    values_in,
)

tokens = st.lists(st.sampled_from("a b c d e".split()), min_size=4, max_size=12).map(" ".join)


@given(st.lists(tokens, min_size=1, max_size=4))
def test_the_same_words_are_100_bleu_whatever_their_case(texts: list[str]) -> None:
    assert bleu(texts, [text.upper() for text in texts]) == pytest.approx(100)


@given(st.lists(st.tuples(tokens, tokens), min_size=1, max_size=5))
def test_bleu_lies_between_0_and_100(pairs: list[tuple[str, str]]) -> None:
    right, said = zip(*pairs, strict=True)
    assert 0 <= bleu(right, said) <= 100 + 1e-9


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
