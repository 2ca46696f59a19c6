"""What the recall benchmark counts, what it is measured against, and the vectors that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agents.base.interfaces import Vectors
from benchmarks.cached_encoder import CachedEncoder
from benchmarks.recall import mix_scores
from benchmarks.recall_collections import Question


def evidence(*names: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset({name}) for name in names)


def test_recall_is_the_share_of_the_evidence_found() -> None:
    question = Question("q", evidence("a", "b", "c", "d"))
    assert question.recall(["a", "x", "b", "c"], 3) == 0.5


def test_any_of_several_right_passages_will_do() -> None:
    question = Question("q", (frozenset({"a", "b"}),))
    assert question.recall(["x", "b"], 2) == 1.0
    assert question.recall(["x", "b"], 1) == 0.0


def test_where_all_are_needed_a_part_is_nothing() -> None:
    question = Question("q", evidence("a", "b"), needs_all=True)
    assert (question.recall(["a", "x"], 2), question.recall(["a", "b"], 2)) == (0.0, 1.0)


def test_the_mix_lifts_within_a_session_only() -> None:
    dense = np.array([[1.0, 0.0, 0.5]])  # scaled: 1, 0, 1/2
    lexical = np.array([[2.0, 0.0, 0.0]])  # scaled: 1, 0, 0; together 1, 0, 1/4
    assert mix_scores(dense, lexical, [1, 1, 1]).tolist() == [[1.0, 0.4, 0.25]]
    assert mix_scores(dense, lexical, [1, 2, 2]).tolist() == [[1.0, 0.1, 0.25]]


class CountingEncoder:
    """One number a text, its length, and the texts it was asked for."""

    version, dimension = "counting-1", 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return -self.encode_passages(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_a_text_is_encoded_once_over_several_openings(tmp_path: Path) -> None:
    first, second = CountingEncoder(), CountingEncoder()
    CachedEncoder(first, tmp_path).encode_passages(["a", "bb"])
    found = CachedEncoder(second, tmp_path).encode_passages(["bb", "ccc", "a"])
    assert found.tolist() == [[2], [3], [1]]
    assert second.asked == ["ccc"]


def test_a_text_repeated_in_one_call_is_encoded_once(tmp_path: Path) -> None:
    encoder = CountingEncoder()
    assert CachedEncoder(encoder, tmp_path).encode_passages(["a", "a"]).tolist() == [[1], [1]]
    assert encoder.asked == ["a"]


def test_a_query_and_a_passage_of_the_same_text_have_vectors_of_their_own(tmp_path: Path) -> None:
    cached = CachedEncoder(CountingEncoder(), tmp_path)
    assert (cached.encode_queries(["a"]).item(), cached.encode_passages(["a"]).item()) == (-1, 1)


def test_two_that_write_in_turn_find_each_others_vectors(tmp_path: Path) -> None:
    one, other = CachedEncoder(CountingEncoder(), tmp_path), CachedEncoder(CountingEncoder(), tmp_path)
    one.encode_passages(["a"])
    other.encode_passages(["bb"])
    assert one.encode_passages(["ccc", "bb", "a"]).tolist() == [[3], [2], [1]]
    assert other.encode_passages(["a", "ccc"]).tolist() == [[1], [3]]


@pytest.mark.parametrize(("name", "torn"), [("keys", 7), ("vectors", 3), ("vectors", 8)])
def test_a_torn_end_is_encoded_again(tmp_path: Path, name: str, torn: int) -> None:
    CachedEncoder(CountingEncoder(), tmp_path).encode_passages(["a", "bb", "ccc"])
    path = tmp_path / "counting-1" / name
    path.write_bytes(path.read_bytes()[:-torn])
    again = CountingEncoder()
    assert CachedEncoder(again, tmp_path).encode_passages(["a", "bb", "ccc"]).tolist() == [[1], [2], [3]]
    assert again.asked == (["bb", "ccc"] if torn == 8 else ["ccc"])


def test_nothing_asked_nothing_encoded(tmp_path: Path) -> None:
    assert CachedEncoder(CountingEncoder(), tmp_path).encode_passages([]).shape == (0, 1)
