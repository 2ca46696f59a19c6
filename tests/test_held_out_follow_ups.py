"""When a candidate query model goes live: by what its rewrites find, as a chat searches with them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.learning.held_out.follow_ups import MRR, R_AT_5, compare, decided, earlier_of
from stores.learning.follow_ups import FollowUp

RANKS = st.sampled_from([0.0, 0.1, 0.2, 1 / 3, 0.5, 1.0])


def follow_up(number: int) -> FollowUp:
    return FollowUp(
        turn_id=number,
        user_id=1,
        session=f"s{number}",
        question=f"and the {number}th?",
        messages=("who walked on the moon?", "hm"),
        answers=("Neil Armstrong. He did. [1]\nMore.", "I do not know."),
        earlier_turns=(1, 2),
        passages=(number,),
    )


def test_what_was_said_before_is_read_as_in_a_chat() -> None:
    assert earlier_of(follow_up(1)) == [("who walked on the moon?", "Neil Armstrong"), ("hm", "")]


def test_one_that_finds_more_wins_and_the_same_text_is_searched_once() -> None:
    searched: list[tuple[int, str]] = []

    def found(each: FollowUp, alone: str) -> float:
        searched.append((each.turn_id, alone))
        return {"": 0.5, "better": 1.0}[alone]

    told: list[tuple[int, int]] = []
    some = [follow_up(number) for number in range(40)]
    came = compare(
        some,
        lambda each: "",
        lambda each: "better" if each.turn_id % 2 else "",
        found,
        seed=1,
        tell=lambda *each: told.append(each),
    )
    assert (came.promotion.is_promoted, came.questions) == (True, 40)
    assert (came.figures[MRR]["live"], came.figures[MRR]["candidate"]) == (0.5, 0.75)
    assert told[-1] == (40, 40)
    assert len(searched) == 60


def test_one_that_loses_near_ones_is_refused() -> None:
    came = decided([(0.2, 0.1)] * 10 + [(0.2, 1.0)] * 50, seed=1)
    assert not came.promotion.is_promoted
    assert R_AT_5 in came.promotion.reason


def test_few_decide_nothing() -> None:
    assert not decided([(0.0, 1.0)] * 29, seed=1).promotion.is_promoted
    assert not decided([], seed=1).promotion.is_promoted


@given(st.lists(st.tuples(RANKS, RANKS), min_size=30, max_size=60))
def test_nothing_is_promoted_that_does_not_gain(scored: list[tuple[float, float]]) -> None:
    came = decided(scored, seed=1)
    gained = sum(new - old for old, new in scored)
    assert not came.promotion.is_promoted or gained > 0
    assert abs(came.figures[MRR]["gain"] - gained / len(scored)) < 1e-3
