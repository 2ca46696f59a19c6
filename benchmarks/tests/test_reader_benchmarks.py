"""The measures of the benchmarks that answer and rerank with the reader."""

from __future__ import annotations

import pytest
from agent_fakes import candidate
from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Verdict
from benchmarks.attack_damage import Asked
from benchmarks.offline_answers import f1
from benchmarks.reader_reranking import Known, Read, by_reranker, by_score
from benchmarks.recall_collections import Question

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


def read(*scores: float) -> Read:
    """Candidates in the order found, of which the third is right."""
    candidates = tuple(candidate(rank) for rank in range(1, len(scores) + 1))
    verdicts = tuple(Verdict("answer" if score >= 0.5 else "irrelevant", score) for score in scores)
    names = tuple(each.passage.external_id for each in candidates)
    return Read(Question("q", ()), names, candidates, verdicts, (10,) * len(scores), (1.0,) * len(scores))


def test_the_readers_scores_order_and_equals_stay() -> None:
    assert by_score(read(0.1, 0.9, 0.5)) == [1, 2, 0]
    assert by_score(read(0.2, 0.2, 0.2)) == [0, 1, 2]
    assert by_score(read(0.1, 0.9, 0.5), share=0.0) == [0, 1, 2]  # as found


def test_the_reranker_is_charged_for_what_it_judged() -> None:
    some = read(0.1, 0.1, 0.9, 0.1, 0.1)
    known = Known(some)
    assert by_reranker(some, known, "single", min_judged=1, order="classes") == [2, 3, 4, 0, 1]
    assert (known.judged, known.tokens, known.milliseconds) == (3, 30, 3.0)
    known = Known(some)
    by_reranker(some, known, "every_5", min_judged=1, order="classes")
    assert known.judged == 5
