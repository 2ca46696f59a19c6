"""Dense and lexical search, fused over one space."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from agent_fakes import FixedEncoder, passage

from agents.interfaces import Vector
from agents.retriever import Fusion, Retriever, Signals
from stores.records import Passage


class FixedSpace:
    """A space whose every answer was worked out by hand."""

    def __init__(
        self,
        cosines: dict[int, float],
        words: dict[int, float],
        beside: dict[int, tuple[int | None, int | None]] | None = None,
        gone: Sequence[int] = (),
    ) -> None:
        self.cosines, self.words, self.beside, self.gone = cosines, words, beside or {}, gone

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        return sorted(self.cosines.items(), key=lambda hit: -hit[1])[:k]

    def matching(self, query: str, k: int) -> list[int]:
        return sorted((i for i in self.words if self.words[i] > 0), key=lambda i: -self.words[i])[:k]

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        return {i: self.words.get(i, 0.0) for i in version_ids}

    def similarities(self, vector: Vector, version_ids: Sequence[int]) -> dict[int, float]:
        return {i: self.cosines[i] for i in version_ids if i in self.cosines}

    def passages(self, version_ids: Sequence[int]) -> dict[int, Passage]:
        return {i: passage(i) for i in version_ids if i not in self.gone}

    def neighbours(self, version_ids: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        return {i: self.beside.get(i, (None, None)) for i in version_ids}


def retriever(*, keep: int = 10, pool: int = 10, dense_weight: float = 0.5, lift: float = 0.0) -> Retriever:
    fusion = Fusion(dense_weight, document_lift=lift, conversation_lift=0.0)
    return Retriever(FixedEncoder({}), keep=keep, pool=pool, fusion=fusion)


def found(space: FixedSpace, retrieving: Retriever, *, without: Sequence[int] = ()) -> list[int]:
    return [c.passage.version_id for c in retrieving.retrieve("q", space, without=without).candidates]


def test_a_passage_found_by_both_signals_beats_those_found_by_one() -> None:
    space = FixedSpace({1: 0.9, 2: 0.8, 3: 0.1}, {2: 5.0, 3: 6.0})
    # mixed: 1 -> 0.5, 2 -> (0.875 + 0.833) / 2 = 0.854, 3 -> 0.5
    assert found(space, retriever()) == [2, 1, 3]


def test_every_candidate_has_every_signals_score() -> None:
    space = FixedSpace({1: 0.9, 2: 0.8}, {2: 5.0, 3: 6.0})
    by_id = {c.passage.version_id: c for c in retriever().retrieve("q", space).candidates}
    assert (by_id[1].dense, by_id[1].lexical) == (0.9, 0.0)
    assert (by_id[3].dense, by_id[3].lexical) == (0.0, 6.0)


def test_a_neighbour_that_neither_signal_found_is_lifted_in() -> None:
    space = FixedSpace({1: 0.9, 2: 0.2}, {1: 5.0}, beside={1: (None, 7), 7: (1, None)})
    assert found(space, retriever(lift=0.4)) == [1, 7, 2]
    assert found(space, retriever(lift=0.0))[-1] == 7


def test_documents_and_conversations_have_lifts_of_their_own() -> None:
    passages = {1: passage(1), 2: passage(2), 3: passage(3, kind="message"), 4: passage(4, kind="message")}
    signals = Signals(
        passages,
        dense={1: 1.0, 2: 0.0, 3: 1.0, 4: 0.0},
        lexical=dict.fromkeys(passages, 0.0),
        neighbours={1: (None, 2), 2: (1, None), 3: (None, 4), 4: (3, None)},
    )
    lifted = {c.passage.version_id: c.lift for c in signals.ranked(Fusion(1.0, 0.1, 0.4))}
    assert lifted == pytest.approx({1: 0.0, 2: 0.1, 3: 0.0, 4: 0.4})


def test_what_is_to_be_left_out_is_left_out() -> None:
    space = FixedSpace({1: 0.9, 2: 0.8}, {1: 5.0})
    assert found(space, retriever(pool=1), without=[1]) == [2]


def test_what_the_space_does_not_confirm_is_not_shown() -> None:
    assert found(FixedSpace({1: 0.9, 2: 0.8}, {}, gone=[1]), retriever()) == [2]


def test_ranks_count_from_one_and_only_so_many_are_kept() -> None:
    space = FixedSpace({i: i / 10 for i in range(1, 9)}, {})
    candidates = retriever(keep=3).retrieve("q", space).candidates
    assert [c.found_rank for c in candidates] == [1, 2, 3]


def test_an_empty_space_finds_nothing() -> None:
    assert found(FixedSpace({}, {}), retriever()) == []


@pytest.mark.parametrize(("weight", "first"), [(1.0, 1), (0.0, 3)])
def test_the_weight_decides_between_the_signals(weight: float, first: int) -> None:
    space = FixedSpace({1: 0.9, 2: 0.5, 3: 0.1}, {2: 5.0, 3: 6.0})
    assert found(space, retriever(dense_weight=weight))[0] == first


def test_what_was_only_asked_comes_last_however_alike() -> None:
    passages = {1: passage(1, "What is my cat called?", kind="message"), 2: passage(2, "Ada is a cat.")}
    signals = Signals(
        passages,
        dense={1: 1.0, 2: 0.1},
        lexical={1: 5.0, 2: 1.0},
        neighbours=dict.fromkeys(passages, (None, None)),
    )
    assert [c.passage.version_id for c in signals.ranked(Fusion(0.5, 0.0, 0.0))] == [2, 1]
