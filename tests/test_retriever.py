"""Dense and lexical search, fused over one space."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import pytest
from agent_fakes import FixedEncoder, passage

from agents.base.interfaces import Vector
from agents.retrieval.retriever import Fusion, Retriever, Signals
from stores.base.passages import Found, Passage, Worth


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
        deep = k + len(without)
        near = sorted(self.cosines, key=lambda i: -self.cosines[i])[:deep]
        matching = sorted((i for i in self.words if self.words[i] > 0), key=lambda i: -self.words[i])[:deep]
        ids = [i for i in dict.fromkeys(near + matching) if i not in without and i not in self.gone]
        pairs = {i: self.beside.get(i, (None, None)) for i in ids if beside(passage(i))}
        around = [i for pair in pairs.values() for i in pair if i is not None and i not in without]
        ids = list(dict.fromkeys([*ids, *around]))
        return Found(
            {i: passage(i) for i in ids},
            {i: self.cosines.get(i, 0.0) for i in ids},
            {i: self.words.get(i, 0.0) for i in ids},
            {i: self.beside.get(i, (None, None)) if beside(passage(i)) else (None, None) for i in ids},
        )


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
    assert found(space, retriever(lift=0.0)) == [1, 2]


def signals_of(
    query: str, passages: dict[int, Passage], dense: dict[int, float], *, in_a_row: bool = True
) -> Signals:
    """Signals by meaning alone, of passages that stand one after the other."""
    stands = {
        i: (
            i - 1 if in_a_row and i - 1 in passages else None,
            i + 1 if in_a_row and i + 1 in passages else None,
        )
        for i in passages
    }
    return Signals(query, passages, dense, dict.fromkeys(passages, 0.0), stands)


def test_documents_and_conversations_have_lifts_of_their_own() -> None:
    passages = {1: passage(1), 2: passage(2), 4: passage(4, kind="message"), 5: passage(5, kind="message")}
    signals = signals_of("q", passages, {1: 1.0, 2: 0.0, 4: 1.0, 5: 0.0})
    lifted = {c.passage.version_id: c.lift for c in signals.ranked(Fusion(1.0, 0.1, 0.4))}
    assert lifted == pytest.approx({1: 0.0, 2: 0.1, 4: 0.0, 5: 0.4})


TALK = {
    1: "Ada: Did you get a pet?",
    2: "Ben: Yes, a cat called Tom.",
    3: "Ben: He sleeps all day.",
    4: "Ada: Lovely.",
}


def lifts_in_talk(fusion: Fusion, query: str = "q", *, kind: str = "message") -> list[float]:
    passages = {i: passage(i, text, kind=kind) for i, text in TALK.items()}
    candidates = signals_of(query, passages, {1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}).ranked(fusion)
    by_id = {c.passage.version_id: c.lift for c in candidates}
    return [by_id[i] for i in sorted(by_id)]


def test_a_reply_gains_its_own_share_of_the_question_before_it() -> None:
    assert lifts_in_talk(Fusion(1.0, 0.0, 0.4, reply_lift=0.7)) == pytest.approx([0.0, 0.7, 0.0, 0.0])


def test_a_reply_gains_at_least_what_any_neighbour_does() -> None:
    assert lifts_in_talk(Fusion(1.0, 0.0, 0.4, reply_lift=0.1)) == pytest.approx([0.0, 0.4, 0.0, 0.0])


def test_what_the_speaker_named_in_the_query_says_gains_a_bonus() -> None:
    fusion = Fusion(1.0, 0.0, 0.0, speaker_bonus=0.2)
    assert lifts_in_talk(fusion, "What is Ben's cat called?") == pytest.approx([0.0, 0.2, 0.2, 0.0])


def test_what_tells_a_time_gains_a_bonus_when_a_time_is_asked_for() -> None:
    fusion = Fusion(1.0, 0.0, 0.0, time_bonus=0.3)
    assert lifts_in_talk(fusion, "When does the cat sleep?") == pytest.approx([0.0, 0.0, 0.3, 0.0])
    assert lifts_in_talk(fusion, "Who sleeps?") == pytest.approx([0.0, 0.0, 0.0, 0.0])


def test_a_talk_inside_a_document_is_ranked_as_a_document() -> None:
    fusion = Fusion(1.0, 0.0, 0.4, reply_lift=0.7, speaker_bonus=0.2, time_bonus=0.3)
    assert lifts_in_talk(fusion, "When does Ben's cat sleep?", kind="document") == [0.0] * 4


def test_a_bonus_is_not_passed_on_to_neighbours() -> None:
    fusion = Fusion(1.0, 0.0, 1.0, speaker_bonus=0.5)
    passages = {i: passage(i, text, kind="message") for i, text in {1: "Ada: Hm.", 2: "Ben: Ah."}.items()}
    lifted = signals_of("Ada", passages, {1: 0.0, 2: 0.0}).ranked(fusion)
    assert [(c.passage.version_id, c.lift) for c in lifted] == [(1, 0.5), (2, 0.0)]


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
    signals = signals_of("q", passages, {1: 1.0, 2: 0.1}, in_a_row=False)
    assert [c.passage.version_id for c in signals.ranked(Fusion(0.5, 0.0, 0.0))] == [2, 1]


@pytest.mark.parametrize("keep", range(5))
def test_the_best_few_are_the_first_of_all(keep: int) -> None:
    texts = ["Is it late?", "It is late.", "Who is late?", "Late."]
    passages = {i: passage(i, text, kind="message") for i, text in enumerate(texts)}
    signals = signals_of("q", passages, {0: 0.9, 1: 0.3, 2: 0.8, 3: 0.5}, in_a_row=False)
    everything = signals.ranked(Fusion(1.0, 0.0, 0.0))
    assert [c.passage.version_id for c in everything] == [3, 1, 0, 2]
    assert signals.ranked(Fusion(1.0, 0.0, 0.0), keep=keep) == everything[:keep]
