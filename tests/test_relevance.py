"""The relevance model: the fixed mix as one setting of its weights, and what each feature tells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from agent_fakes import candidate, passage
from hypothesis import given
from hypothesis import strategies as st

from agents.base.fusion import normalised
from agents.base.interfaces import Candidate, Verdict
from agents.retrieval.feature_names import NAMES
from agents.retrieval.relevance import SHIPPED, UNJUDGED, Relevance, Weights, features, fixed_mix
from assistant.terminal.facts.answer_lines import moved_line
from stores.database.tables import Turn

SCORES = st.one_of(st.none(), st.just(0.0), st.floats(0, 1))
FOUND = st.lists(st.tuples(SCORES, st.floats(-1, 3), st.sampled_from([0.0, 2.0])), max_size=14)


def verdicts_of(candidates: Sequence[Candidate], scores: Sequence[float | None]) -> dict[int, Verdict]:
    pairs = zip(candidates, scores, strict=True)
    return {id(c): Verdict("relevant", score) for c, score in pairs if score is not None}


def mixed_before(
    candidates: Sequence[Candidate], verdicts: Mapping[int, Verdict], share: float
) -> list[Candidate]:
    """The order that there was before any feature had a weight of its own, as it was written then."""
    found = normalised({id(c): c.score - c.given for c in candidates})

    def place(c: Candidate) -> tuple[bool, float, int]:
        verdict = verdicts.get(id(c))
        judged = UNJUDGED if verdict is None else verdict.score
        return judged <= 0, -(share * judged + (1 - share) * found[id(c)]), c.found_rank

    return sorted(candidates, key=place)


@given(FOUND, st.floats(0, 1))
def test_the_fixed_mix_orders_as_the_two_scores_did(
    found: list[tuple[float | None, float, float]], share: float
) -> None:
    candidates = [
        replace(candidate(rank, kind="message" if rank % 3 else "document"), score=score, given=gift)
        for rank, (_, score, gift) in enumerate(found, start=1)
    ]
    verdicts = verdicts_of(candidates, [judged for judged, _, _ in found])
    after = fixed_mix(share).placed("who is it?", candidates, verdicts)
    assert [id(each.candidate) for each in after] == [
        id(c) for c in mixed_before(candidates, verdicts, share)
    ]


@given(FOUND)
def test_every_feature_is_between_minus_one_and_one(found: list[tuple[float | None, float, float]]) -> None:
    candidates = [
        replace(candidate(rank), score=score, lexical=score, lift=abs(score), given=gift)
        for rank, (_, score, gift) in enumerate(found, start=1)
    ]
    rows = features("who is it?", candidates, verdicts_of(candidates, [judged for judged, _, _ in found]))
    assert len(rows) == len(candidates)
    assert all(len(row) == len(NAMES) and min(row) >= -1 and max(row) <= 1 for row in rows)


def told(rank: int, text: str, *, position: int, session: int = 1, score: float = 1.0) -> Candidate:
    said = replace(
        passage(rank, text, kind="message", space="user:1"), document_id=session, position=position
    )
    return Candidate(said, dense=0.5, lexical=1.0, lift=0.0, score=score, found_rank=rank)


def row_of(
    name: str, question: str, *candidates: Candidate, judged: Sequence[float | None] = ()
) -> list[float]:
    verdicts = verdicts_of(candidates, [*judged, *[None] * (len(candidates) - len(judged))])
    return [row[NAMES.index(name)] for row in features(question, candidates, verdicts)]


def test_who_says_it_counts_where_the_question_names_them() -> None:
    said = told(1, "Ann: I swim", position=0), told(2, "Bob: I run", position=1)
    assert row_of("named", "What does Ann do?", *said) == [1.0, 0.0]


def test_a_reply_is_told_by_the_question_before_it() -> None:
    said = told(1, "Bob: At nine.", position=1), told(2, "Ann: When does it open?", position=0)
    assert row_of("reply", "q", *said) == [1.0, 0.0]


def test_a_time_counts_where_one_is_wanted() -> None:
    said = told(1, "I swam yesterday", position=0), told(2, "I swim", position=1)
    assert row_of("time", "When did I swim?", *said) == [1.0, 0.0]
    assert row_of("time", "Where did I swim?", *said) == [0.0, 0.0]


def test_the_session_counts_what_else_was_found_in_it() -> None:
    said = (
        told(1, "a", position=0, score=3.0),  # 1 over the candidates
        told(2, "b", position=5, score=2.0),  # 1/2
        told(3, "c", position=0, session=2, score=1.0),  # 0
    )
    assert row_of("session", "q", *said) == pytest.approx([0.5 / 1.5, 1 / 1.5, 0.0])


def test_beside_is_how_the_better_neighbour_was_judged() -> None:
    said = told(1, "a", position=1), told(2, "b", position=0), told(3, "c", position=2)
    assert row_of("beside", "q", *said, judged=[0.1, 0.9, 0.4]) == [0.9, 0.1, 0.1]


def test_places_are_one_over_the_rank_and_nothing_for_what_nobody_judged() -> None:
    some = [candidate(1), candidate(2), candidate(3)]
    assert row_of("judged_first", "q", *some, judged=[0.2, 0.8]) == [1 / 2, 1.0, 0.0]
    assert row_of("unjudged", "q", *some, judged=[0.2, 0.8]) == [0.0, 0.0, 1.0]


def test_messages_and_documents_have_weights_of_their_own() -> None:
    said, read = told(1, "a", position=0), candidate(2)
    relevance = Relevance(Weights({}, bias=0.0), Weights({}, bias=1.0))
    assert [each.candidate for each in relevance.placed("q", [said, read], {})] == [read, said]


def test_what_moved_a_candidate_is_told_by_weight_and_distance_from_the_mean() -> None:
    some = [candidate(1), candidate(2)]  # search scores 1 and 1/2: found is 1 and 0, on the mean 1/2
    first = fixed_mix(0.5).placed("q", some, verdicts_of(some, [0.2, 0.6]))[0]
    assert first.candidate is some[0]
    assert [each.feature for each in first.moved] == ["found", "judged"]
    assert [each.by for each in first.moved] == pytest.approx([0.25, -0.1])


def test_a_weight_of_an_unknown_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="charm"):
        Weights({"charm": 1.0})


def test_a_person_is_told_what_moved_a_passage_in_plain_words() -> None:
    turn = Turn(details={"moved": {"7": [["judged", 0.3], ["words", -0.1]]}})
    assert moved_line(turn, 7) == "Moved most by how the reader judged it (up), its words (down)."
    assert moved_line(turn, 8) == ""


def test_the_shipped_weights_order_documents_by_the_mix_and_leave_alone_what_they_never_saw() -> None:
    shipped = Relevance.read(SHIPPED)
    documents = {name: weight for name, weight in shipped.documents.named.items() if weight}
    assert documents.keys() == {"judged", "found"}
    assert documents["judged"] == pytest.approx(documents["found"], abs=1e-3)
    assert not any(shipped.messages.named.get(name) for name in ("kept", "named", "reply", "time"))


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    weights = Relevance(Weights({"judged": 0.25}), Weights({"found": 2.0}, bias=-1.0))
    (tmp_path / "w.json").write_text(json.dumps(weights.as_record()), encoding="utf-8")
    assert Relevance.read(tmp_path / "w.json") == weights
