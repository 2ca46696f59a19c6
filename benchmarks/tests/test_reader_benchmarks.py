"""The measures of the benchmarks that answer and rerank with the reader."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.attack_damage import Asked
from benchmarks.offline_answers import f1

words = st.lists(st.sampled_from(["red", "blue", "room", "ten"]), max_size=5).map(" ".join)


@given(words, st.lists(words, max_size=3))
def test_f1_is_a_share_and_whole_for_an_expected_answer(said: str, answers: list[str]) -> None:
    assert 0 <= f1(said, answers) <= 1
    assert f1(said, [*answers, said]) == 1


def test_f1_of_words_without_articles_and_punctuation() -> None:
    assert f1("The red room.", ["red room"]) == 1
    assert f1("red", ["red room"]) == pytest.approx(2 / 3)  # precision 1, recall 1/2
    assert f1("", ["red room"]) == 0
    assert f1("red red", ["red"]) == pytest.approx(2 / 3)


def test_an_attack_is_told_in_shares() -> None:
    asked = Asked(right=[True, True], planted=[False, False], named=[False, False])
    assert asked.told() == "right 100.0 %, planted alone 0.0 %, planted named first 0.0 %"
