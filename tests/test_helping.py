"""Which of what was found is sent to a chat model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Verdict
from agents.retrieval.helping import NAMES, WEIGHTS, chosen, features, most_helping
from tests.agent_fakes import candidate

SCORES = st.lists(st.floats(0, 1), max_size=12)


def test_each_feature_has_a_weight() -> None:
    rows = features(True, [candidate(1)], {})
    assert len(rows[0]) == len(NAMES) == len(WEIGHTS)


def test_what_the_judge_takes_for_the_answer_comes_first_and_what_is_far_stays_away() -> None:
    near, far, answers = candidate(1, dense=0.5), candidate(2, dense=-0.3), candidate(3, dense=0.45)
    verdicts = {id(answers): Verdict("answer", 0.98), id(far): Verdict("irrelevant", 0.001)}
    found = most_helping(True, [near, far, answers], verdicts)
    assert found[0] is answers
    assert far not in found


def test_a_message_that_asks_nothing_needs_less() -> None:
    told = [candidate(n, dense=0.3, kind="note") for n in range(1, 4)]
    assert len(most_helping(False, told, {})) <= len(most_helping(True, told, {}))


@given(SCORES, st.data(), st.integers(0, 4), st.integers(0, 4), st.floats(0, 1))
def test_the_likeliest_are_chosen_within_what_there_is_room_for(
    scores: list[float], data: st.DataObject, told: int, documents: int, threshold: float
) -> None:
    kinds = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    places = chosen(scores, kinds, threshold=threshold, most=(told, documents))
    assert [scores[i] for i in places] == sorted((scores[i] for i in places), reverse=True)
    assert all(scores[i] >= threshold for i in places)
    for is_document, most in ((False, told), (True, documents)):
        of_kind = [i for i in range(len(scores)) if kinds[i] is is_document and scores[i] >= threshold]
        kept = [i for i in places if kinds[i] is is_document]
        assert len(kept) == min(most, len(of_kind))
