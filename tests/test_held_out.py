"""A candidate against the live retriever: judged alike, by one judge, and by nothing that was said before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from agent_fakes import FixedJudge, candidate
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.base.interfaces import Candidate, Judged, Label, Verdict
from assistant.learning.held_out import retrieval as held_out
from assistant.learning.held_out.retrieval import (
    SMALLEST_SLICE,
    UNSEEN,
    Comparison,
    Scored,
    Side,
    compare,
    decided,
    slices,
)
from stores.learning.lessons import Lesson, LessonDocument

WRONG = list(range(10, 20))
FIRST, LAST = [1, *WRONG], [*WRONG, 1]  # passage 1 answers every question


class FixedRetriever:
    """Finds the same for every question, or by question; and remembers whose space it searched."""

    def __init__(self, found: Sequence[int], **by_question: Sequence[int]) -> None:
        self._found, self._by_question = found, by_question
        self.searched: list[tuple[str, object]] = []

    def retrieve(self, question: str, space: object, *, without: Sequence[int]) -> Any:
        self.searched.append((question, space))
        ids = (i for i in self._by_question.get(question, self._found) if i not in without)
        return type("Found", (), {"candidates": tuple(candidate(i) for i in ids)})


class FixedSpaces:
    def of(self, user_id: int) -> str:
        return f"space of {user_id}"


def lesson(
    number: int, *, is_held_out: bool = True, month: str = "2026-11", labels: dict[int, str] | None = None
) -> Lesson:
    documents = tuple(
        LessonDocument(version, "", f"Passage {version}.", label, 1.0, rank)
        for rank, (version, label) in enumerate((labels or {1: "answer", 10: "irrelevant"}).items(), start=1)
    )
    return Lesson(number, 7, f"q{number}", documents, "an earlier judge", "e-1", month, is_held_out)


def lessons(count: int = 40, **more: Any) -> list[Lesson]:
    return [lesson(number, **more) for number in range(count)]


def compared(
    asked: Sequence[Lesson],
    live: FixedRetriever,
    new: FixedRetriever,
    judge: Any = None,
    *,
    domains: Mapping[int, str] | None = None,
    **more: Any,
) -> Comparison:
    return compare(
        asked,
        domains=domains or {each.turn_id: "rules" for each in asked},
        **more,
        **told_to(live, new),
        judge=judge or FixedJudge({1: "answer"}),
    )


def told_to(live: FixedRetriever, new: FixedRetriever) -> dict[str, Any]:
    return {"live": live, "candidate": new, "spaces": FixedSpaces(), "seed": 1}


def test_one_that_finds_more_is_promoted_with_its_figures() -> None:
    found = compared(lessons(), FixedRetriever(LAST), FixedRetriever(FIRST))
    assert found.promotion.is_promoted
    assert found.questions == 40
    assert found.figures["R@5"] == {
        "live": 0.0, "candidate": 1.0, "gain": 1.0, "low": 1.0, "high": 1.0, "questions": 40,
    }  # fmt: skip
    assert list(found.figures["slices"]) == [UNSEEN, "2026-11"]


def test_recall_among_ten_is_told_and_decides_nothing() -> None:
    found = compared(lessons(), FixedRetriever(WRONG[:10]), FixedRetriever([*WRONG[:5], 1]))
    assert (found.figures["R@5"]["live"], found.figures["R@5"]["candidate"]) == (0.0, 0.0)
    assert (found.figures["R@10"]["live"], found.figures["R@10"]["candidate"]) == (0.0, 1.0)
    lost = decided([Scored("2026-11", "rules", Side(1, 1, 0.5), Side(1, 0, 0.9)) for _ in range(40)], seed=1)
    assert lost.figures["R@10"]["gain"] == -1.0
    assert lost.promotion.is_promoted


@pytest.mark.parametrize("found", [FIRST, [*WRONG[:5], 1]])
def test_one_that_finds_the_same_is_refused(found: list[int]) -> None:
    came = compared(lessons(), FixedRetriever(found), FixedRetriever(found))
    assert not came.promotion.is_promoted
    assert "not surely above" in came.promotion.reason


def test_questions_that_were_learned_from_are_not_asked() -> None:
    live = FixedRetriever(LAST)
    found = compared([*lessons(3, is_held_out=False), lesson(9)], live, FixedRetriever(FIRST))
    assert live.searched == [("q9", "space of 7")]
    assert found.questions == 1
    assert "fewer than" in found.promotion.reason


def test_a_question_that_was_asked_often_counts_once() -> None:
    assert compared([lesson(1)] * 40, FixedRetriever(LAST), FixedRetriever(FIRST)).questions == 1


def test_of_very_many_questions_some_are_drawn_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_out, "_MOST", 30)
    retrievers = [FixedRetriever(LAST), FixedRetriever(LAST)]
    for live in retrievers:
        assert compared(lessons(50), live, FixedRetriever(FIRST)).questions == 30
    assert retrievers[0].searched == retrievers[1].searched


def test_what_either_finds_first_is_judged_once_by_one_judge() -> None:
    judge = FixedJudge({1: "answer"})
    compared([lesson(1)], FixedRetriever([2, 1, 3]), FixedRetriever([3, 4, 1]), judge)
    assert judge.calls == [[2, 1, 3, 4]]


def test_only_the_first_ten_of_either_count() -> None:
    judge = FixedJudge({1: "answer"})
    found = compared(lessons(), FixedRetriever([*range(20, 30), 1]), FixedRetriever(LAST), judge)
    assert found.questions == 0  # neither has it among them
    assert "no held-out question has an answer" in found.promotion.reason
    assert all(1 not in call for call in judge.calls)


def test_falsified_labels_do_not_vouch_for_what_learned_them() -> None:
    """All labels flipped: they say that passage 10 answers, and the candidate has learned to find it."""
    flipped = lessons(labels={1: "irrelevant", 10: "answer"})
    found = compared(flipped, FixedRetriever(FIRST), FixedRetriever(LAST))
    assert not found.promotion.is_promoted
    assert found.figures["R@5"]["gain"] == -1.0


def test_the_question_itself_is_not_looked_for_however_often_it_was_asked() -> None:
    judge = FixedJudge({1: "answer"})
    often = [replace(lesson(1), message_versions=(version,)) for version in (98, 99)]
    compared(often, FixedRetriever([98, 2, 99, 1]), FixedRetriever([99, 98, 1]), judge)
    assert judge.calls == [[2, 1]]


def test_what_the_judge_cannot_read_is_neither_right_nor_wrong() -> None:
    labels: dict[int, Label | None] = {1: "answer", **dict.fromkeys(WRONG)}
    found = compared(lessons(), FixedRetriever(LAST), FixedRetriever(FIRST), FixedJudge(labels))
    assert found.questions == 40


def test_passages_that_only_help_raise_ndcg_alone() -> None:
    judge = FixedJudge({1: "answer", 2: "relevant"})
    found = compared(lessons(), FixedRetriever([1, 10, 2]), FixedRetriever([1, 2, 10]), judge)
    assert found.figures["R@5"]["gain"] == 0
    assert found.figures["nDCG@10"]["gain"] > 0
    assert found.promotion.is_promoted  # R@5 must not be lost, and need not be gained


def test_what_a_user_said_counts_and_is_not_judged_anew() -> None:
    judge = FixedJudge({1: "answer"})
    said = {number: {19} for number in range(40)}
    found = compared(lessons(41), FixedRetriever(FIRST), FixedRetriever([19, *FIRST]), judge, said=said)
    assert (found.figures["R@5"]["gain"], len(judge.calls)) == (0.9756, 1)
    assert found.promotion.is_promoted


def test_what_is_found_is_put_in_the_order_of_answers_before_it_is_compared() -> None:
    def in_order(question: str, found: Sequence[Candidate]) -> Sequence[Candidate]:
        return sorted(found, key=lambda each: each.passage.version_id)

    found = compared(lessons(), FixedRetriever(LAST), FixedRetriever(FIRST), in_order=in_order)
    assert (found.figures["R@5"]["live"], found.figures["R@5"]["candidate"]) == (1.0, 1.0)
    assert not found.promotion.is_promoted


def test_one_that_loses_on_passages_it_was_not_trained_on_is_refused() -> None:
    """It has learned passage 1 by heart, and finds no other any more."""
    asked = [lesson(-1, is_held_out=False), *lessons(100)]
    judge = FixedJudge({1: "answer", 2: "answer"})
    new = {f"q{n}": [2, *WRONG] for n in range(30)}
    live = FixedRetriever(LAST, **new)
    found = compared(asked, live, FixedRetriever(FIRST, **dict.fromkeys(new, WRONG)), judge)
    assert found.figures["slices"][UNSEEN] == {"gain": -1.0, "low": -1.0, "high": -1.0, "questions": 30}
    assert f"on {UNSEEN} (30 questions)" in found.promotion.reason


def test_an_earlier_month_that_loses_refuses_it() -> None:
    months = [lesson(n, month="2026-10" if n < 30 else "2026-11") for n in range(150)]
    october = {f"q{n}": FIRST for n in range(30)}
    lost = {f"q{n}": LAST for n in range(30)}
    found = compared(months, FixedRetriever(LAST, **october), FixedRetriever(FIRST, **lost))
    assert not found.promotion.is_promoted
    assert "2026-10" in found.promotion.reason


def test_an_earlier_domain_that_loses_refuses_it_with_its_figures() -> None:
    """All in one month; 30 of 150 questions are of the songs, and there the candidate finds nothing."""
    asked, domains = lessons(150), {n: "songs" if n < 30 else "rules" for n in range(150)}
    songs = {f"q{n}": FIRST for n in range(30)}
    lost = {f"q{n}": WRONG for n in range(30)}
    live, new = FixedRetriever(LAST, **songs), FixedRetriever(FIRST, **lost)
    found = compared(asked, live, new, domains=domains)
    assert not found.promotion.is_promoted
    reason = "it lost 100.00 points on domain songs (30 questions), more than 1.00 points"
    assert found.promotion.reason == f"Refused: {reason}."
    assert [(each["name"], each["questions"]) for each in found.figures["domains"]] == [
        ("rules", 120), ("songs", 30),
    ]  # fmt: skip
    assert found.figures["domains"][1]["gain"] == -1.0


def test_a_domain_of_too_few_questions_has_no_say() -> None:
    domains = {n: "songs" if n < SMALLEST_SLICE - 1 else "rules" for n in range(150)}
    songs = {f"q{n}": FIRST for n in range(SMALLEST_SLICE - 1)}
    lost = {f"q{n}": WRONG for n in range(SMALLEST_SLICE - 1)}
    live, new = FixedRetriever(LAST, **songs), FixedRetriever(FIRST, **lost)
    found = compared(lessons(150), live, new, domains=domains)
    assert found.promotion.is_promoted
    assert [each["name"] for each in found.figures["domains"]] == ["rules"]


_SIDES = st.builds(
    Side,
    recall_at_5=st.sampled_from([0.0, 1.0]),
    recall_at_10=st.sampled_from([0.0, 1.0]),
    ndcg_at_10=st.floats(0, 1),
)
_SCORED = st.builds(
    Scored,
    month=st.sampled_from(["2026-10", "2026-11"]),
    domain=st.sampled_from(["/songs", "own", "2026-10"]),
    live=_SIDES,
    candidate=_SIDES,
)


@given(st.lists(_SCORED, max_size=60))
def test_each_question_is_in_one_slice_by_month_and_in_one_by_domain(scored: list[Scored]) -> None:
    numbered = [replace(each, live=Side(0, 0, n)) for n, each in enumerate(scored)]
    ways: list[Callable[[Scored], str]] = [lambda each: each.month, lambda each: each.domain]
    for of in ways:
        parts = slices(numbered, of)
        assert all({of(each)} == {name} for name, part in parts.items() for each in part)
        together = [each.live.ndcg_at_10 for part in parts.values() for each in part]
        assert sorted(together) == list(range(len(scored)))


@settings(max_examples=30, deadline=None)
@given(
    lost=st.floats(0.011, 1.0),
    questions=st.integers(SMALLEST_SLICE, 80),
    gained=st.integers(0, 300),
    rest=st.lists(_SCORED, max_size=40),
)
def test_a_candidate_that_loses_on_a_large_enough_domain_is_always_refused(
    lost: float, questions: int, gained: int, rest: list[Scored]
) -> None:
    """However much it gains elsewhere: `gained` questions of other domains that only it answers."""
    loses = Scored("2026-11", "lost here", Side(1, 1, 1), Side(1, 1, 1 - lost))
    gains = Scored("2026-11", "gained there", Side(0, 0, 0), Side(1, 1, 1))
    found = decided([*[loses] * questions, *[gains] * gained, *rest], seed=1, margin=0.01)
    assert not found.promotion.is_promoted
    assert f"on domain lost here ({questions} questions)" in found.promotion.reason


@pytest.mark.parametrize("lost", [0.0, 0.01])
def test_a_domain_may_lose_the_margin_and_no_more(lost: float) -> None:
    """The same candidate goes live, so it is the loss that refuses it."""
    loses = Scored("2026-11", "lost here", Side(1, 1, 1), Side(1, 1, 1 - lost))
    gains = Scored("2026-11", "gained there", Side(0, 0, 0), Side(1, 1, 1))
    found = decided([*[loses] * 30, *[gains] * 300], seed=1, margin=0.01)
    assert found.promotion.is_promoted
    assert "2026-11" in found.promotion.reason


def test_a_domain_that_is_called_like_a_month_takes_nothing_of_the_month() -> None:
    """October gains as a month, and as a domain of November's questions loses."""
    gains = Scored("2026-10", "rules", Side(0, 0, 0), Side(1, 1, 1))
    loses = Scored("2026-11", "2026-10", Side(1, 1, 1), Side(1, 1, 0.5))
    found = decided([*[gains] * 90, *[loses] * 40], seed=1)
    assert "it lost 50.00 points on domain 2026-10 (40 questions)" in found.promotion.reason
    assert found.figures["slices"]["2026-10"]["gain"] == 1.0


def test_nobody_asked_and_nothing_found_are_refused() -> None:
    for asked, found in (([], FIRST), (lessons(), [])):
        came = compared(asked, FixedRetriever(found), FixedRetriever(found))
        assert (came.promotion.is_promoted, came.questions) == (False, 0)


def test_a_judge_that_fails_fails_the_comparison() -> None:
    class Broken:
        name = "broken"

        def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
            return Judged((Verdict("answer", 1.0),), 0, 0)  # too few

    with pytest.raises(ValueError, match="zip"):
        compared(lessons(), FixedRetriever(LAST), FixedRetriever(FIRST), Broken())
