"""A message is searched and read with what was asked before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Exchange
from agents.retrieval.query_augmenter import QueryAugmenter


def augmented(message: str, *before: str, answer: str = "An answer.") -> str:
    return QueryAugmenter().augment(message, [Exchange(one, one, answer) for one in before]).text


def test_a_first_message_is_searched_as_it_is() -> None:
    assert augmented("who runs it?") == "who runs it?"


def test_behind_a_later_one_stands_the_question_before_with_what_answered_it() -> None:
    asked = "hi", "where is\nthe pool?"
    assert augmented("who runs it?", *asked) == "who runs it? (after: where is the pool?)"
    said = "In Lund. You said on 3 May: “the pool is in Lund” [1]\nBefore: “in Ystad” [2]"
    assert (
        augmented("who runs it?", *asked, answer=said) == "who runs it? (after: where is the pool? In Lund)"
    )
    unsure = "I am not sure. The nearest I have:\n“It rains.” [1]"
    assert augmented("who runs it?", *asked, answer=unsure) == "who runs it? (after: where is the pool?)"


@given(st.text(min_size=1), st.lists(st.text(max_size=500), max_size=4))
def test_the_message_comes_first_and_stays_whole(message: str, before: list[str]) -> None:
    text = augmented(message, *before)
    assert text.startswith(message)
    assert len(text) <= len(message) + 220
