"""A message is searched and read with what was asked before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Exchange
from agents.retrieval.query_augmenter import QueryAugmenter


def augmented(message: str, *before: str) -> str:
    return QueryAugmenter().augment(message, [Exchange(one, one, "An answer.") for one in before]).text


def test_a_first_message_is_searched_as_it_is() -> None:
    assert augmented("who runs it?") == "who runs it?"


def test_behind_a_later_one_stands_what_was_asked_before() -> None:
    assert augmented("who runs it?", "hi", "when does the pool open?", "and on\nsundays?") == (
        "who runs it? (after: when does the pool open? and on sundays?)"
    )


@given(st.text(min_size=1), st.lists(st.text(max_size=500), max_size=4))
def test_the_message_comes_first_and_stays_whole(message: str, before: list[str]) -> None:
    text = augmented(message, *before)
    assert text.startswith(message)
    assert len(text) <= len(message) + 220
