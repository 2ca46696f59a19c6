"""Which lessons judge: the newest, each once, and none that repeats what teaches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.learning.lineage import taught
from assistant.learning.newest_block import begins_behind, marked
from stores.learning.follow_ups import FollowUp
from stores.learning.lessons import Lesson


def lesson(turn: int, question: str) -> Lesson:
    return Lesson(turn, 1, question, (), "", "", "2026-11")


def follow_up(turn: int, session: str) -> FollowUp:
    return FollowUp(turn, 1, session, "and then?", (), (), (), ())


def judging(lessons: list[Lesson], behind: int) -> list[int]:
    return [each.turn_id for each in marked(lessons, behind=behind) if each.is_held_out]


def test_at_first_the_newer_half_judges_and_later_what_came_since() -> None:
    assert begins_behind([3, 5, 7, 9], judged_until=0) == 5
    assert begins_behind([3, 5, 7], judged_until=0) == 5
    assert begins_behind([3, 5, 7, 9], judged_until=7) == 7
    assert begins_behind([], judged_until=0) == 0


def test_what_repeats_an_earlier_question_teaches() -> None:
    asked = [
        lesson(1, "When does the small room open on Sundays?"),
        lesson(2, "when does the  SMALL room open on sundays?"),
        lesson(3, "On Sundays, when does the small room open?"),
        lesson(4, "When does the large hall open in winter?"),
    ]
    assert judging(asked, behind=1) == [4]


def test_a_session_that_began_before_teaches_whole() -> None:
    asked = [follow_up(1, "a"), follow_up(2, "a"), follow_up(3, "b"), follow_up(4, "b")]
    assert [each.turn_id for each in marked(asked, behind=1) if each.is_held_out] == [3, 4]
    assert {each.unit for each in taught(marked(asked, behind=1))} == {"a"}


@given(st.lists(st.sampled_from("abcdefgh"), max_size=20), st.integers(0, 25))
def test_nothing_both_judges_and_teaches(words: list[str], behind: int) -> None:
    asked = [lesson(turn, word) for turn, word in enumerate(words, start=1)]
    found = marked(asked, behind=behind)
    assert [each.turn_id for each in found] == [each.turn_id for each in asked]
    judge = {each.unit for each in found if each.is_held_out}
    assert judge.isdisjoint(each.unit for each in found if not each.is_held_out)
    assert all(each.turn_id > behind for each in found if each.is_held_out)
