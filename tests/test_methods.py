"""The methods of a replay that ask no model: what they search with, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pytest
from agent_fakes import FixedEncoder, candidate, passage

from agents.base.interfaces import Candidate, Vector
from agents.retrieval.retriever import Fusion
from assistant.replay.methods.method import Asked, Frozen, Search
from experiments.methods.query_rewrite import fused_by_rank, mean_vector
from stores.base.passages import Found, Passage, Worth

EAST, NORTH = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)
FUSION = Fusion(dense_weight=0.5, document_lift=0.0, conversation_lift=0.0)


class WrittenSpace:
    """Passages with vectors and words: cosines are inner products, BM25 counts each shared word once."""

    def __init__(self, passages: Mapping[int, tuple[str, Sequence[float]]]) -> None:
        self.texts = {i: text for i, (text, _) in passages.items()}
        self.vectors = {i: np.array(vector, dtype=np.float32) for i, (_, vector) in passages.items()}
        self.searched: list[tuple[str, Vector]] = []

    def found(
        self,
        query: str,
        vector: Vector,
        k: int,
        *,
        without: Collection[int] = (),
        beside: Callable[[Passage], bool] = lambda _passage: False,
        worth: Worth | None = None,
    ) -> Found:
        self.searched.append((query, vector))
        ids = [i for i in self.texts if i not in without]
        return Found(
            {i: passage(i, self.texts[i]) for i in ids},
            {i: float(self.vectors[i] @ vector) for i in ids},
            self.word_scores(query, ids),
            dict.fromkeys(ids, (None, None)),
        )

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        return {
            i: float(len(set(query.lower().split()) & set(self.texts[i].lower().split())))
            for i in version_ids
        }


def search(
    space: WrittenSpace, vectors: Mapping[str, Sequence[float]] | None = None, *, keep: int = 10
) -> Search:
    return Search(FixedEncoder(vectors or {}), space, keep=keep, pool=10, fusion=FUSION)


def ids(candidates: Sequence[Candidate]) -> list[int]:
    return [each.passage.version_id for each in candidates]


SPACE = {1: ("red tea", EAST), 2: ("green tea", NORTH), 3: ("milk", (0.6, 0.8, 0.0, 0.0))}


def test_both_orders_come_from_one_search() -> None:
    space = WrittenSpace(SPACE)
    ranked = search(space).ranked("green tea", np.array(EAST, dtype=np.float32))
    # cosines 1, 0, 0.6 and words 1, 2, 0, each scaled to 0..1: (1 + 0.5)/2, (0 + 1)/2, (0.6 + 0)/2
    assert ids(ranked.fused) == [1, 2, 3]
    assert [round(each.score, 6) for each in ranked.fused] == [0.75, 0.5, 0.3]
    assert ids(ranked.dense) == [1, 3, 2]
    assert len(space.searched) == 1


def test_what_is_not_looked_for_is_not_found() -> None:
    asked = Asked("q", "green tea", without=(2,))
    found = Frozen().retrieve(asked, search(WrittenSpace(SPACE)))
    assert 2 not in {*ids(found.candidates), *ids(found.dense)}


def test_the_frozen_method_searches_once_with_the_question() -> None:
    space = WrittenSpace(SPACE)
    found = Frozen().retrieve(Asked("q", "green tea"), search(space, {"green tea": NORTH}))
    assert [words for words, _ in space.searched] == ["green tea"]
    assert found.tokens == 0
    assert found.candidates[0].passage.version_id == 2
    np.testing.assert_array_equal(found.vector, NORTH)


def test_rankings_are_fused_by_the_reciprocals_of_their_ranks() -> None:
    one, other = [candidate(1), candidate(2)], [candidate(2), candidate(3)]
    fused = fused_by_rank([one, other], keep=10)
    assert ids(fused) == [2, 1, 3]  # 1/62 + 1/61, 1/61, 1/62
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert [each.found_rank for each in fused] == [1, 2, 3]


def test_the_mean_of_vectors_has_unit_length() -> None:
    mean = mean_vector(np.array([EAST, NORTH], dtype=np.float32))
    np.testing.assert_allclose(mean, [0.5**0.5, 0.5**0.5, 0, 0], rtol=1e-6)
