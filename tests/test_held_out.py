"""A candidate against the live retriever: judged alike, by one judge, and by nothing that was said before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from agent_fakes import FixedJudge, candidate

from agents.interfaces import Candidate, Judged, Label, Verdict
from assistant.replay import held_out
from assistant.replay.held_out import Comparison, compare
from stores.lessons import Lesson, LessonDocument

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
    asked: Sequence[Lesson], live: FixedRetriever, new: FixedRetriever, judge: Any = None, **more: Any
) -> Comparison:
    judge = judge or FixedJudge({1: "answer"})
    spaces: Any = FixedSpaces()
    retrievers: Any = {"live": live, "candidate": new}
    return compare(asked, **retrievers, spaces=spaces, judge=judge, seed=1, **more)


def test_one_that_finds_more_is_promoted_with_its_figures() -> None:
    found = compared(lessons(), FixedRetriever(LAST), FixedRetriever(FIRST))
    assert found.promotion.is_promoted
    assert found.questions == 40
    assert found.figures["R@5"] == {
        "live": 0.0, "candidate": 1.0, "gain": 1.0, "low": 1.0, "high": 1.0, "questions": 40,
    }  # fmt: skip
    assert list(found.figures["slices"]) == ["2026-11"]


@pytest.mark.parametrize("found", [FIRST, [*WRONG[:5], 1]])
def test_one_that_finds_the_same_is_refused(found: list[int]) -> None:
    came = compared(lessons(), FixedRetriever(found), FixedRetriever(found))
    assert not came.promotion.is_promoted
    assert "not surely above" in came.promotion.reason


def test_one_that_finds_less_is_refused() -> None:
    assert not compared(lessons(), FixedRetriever(FIRST), FixedRetriever(LAST)).promotion.is_promoted


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


def test_an_earlier_month_that_loses_refuses_it() -> None:
    months = [lesson(n, month="2026-10" if n < 30 else "2026-11") for n in range(150)]
    october = {f"q{n}": FIRST for n in range(30)}
    lost = {f"q{n}": LAST for n in range(30)}
    found = compared(months, FixedRetriever(LAST, **october), FixedRetriever(FIRST, **lost))
    assert not found.promotion.is_promoted
    assert "2026-10" in found.promotion.reason


def test_nobody_asked_and_nothing_found_are_refused() -> None:
    for asked, found in (([], FIRST), (lessons(), [])):
        came = compared(asked, FixedRetriever(found), FixedRetriever(found))
        assert (came.promotion.is_promoted, came.questions) == (False, 0)


def test_it_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    compared(
        lessons(3), FixedRetriever(LAST), FixedRetriever(FIRST), tell=lambda done, of: told.append((done, of))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_judge_that_fails_fails_the_comparison() -> None:
    class Broken:
        name = "broken"

        def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
            return Judged((Verdict("answer", 1.0),), 0, 0)  # too few

    with pytest.raises(ValueError, match="zip"):
        compared(lessons(), FixedRetriever(LAST), FixedRetriever(FIRST), Broken())
