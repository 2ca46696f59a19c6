"""Numbers and names as they are compared."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.base.values import content, names, numbers, values


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("25 ducks", "twenty-five ducks"),
        ("1,200 men", "1200 men"),
        ("two hundred and fifty thousand people", "250,000 people"),
        ("1.5 million", "1500000"),
        ("5 pm", "17:00"),
        ("9:30 a.m.", "9:30"),
        ("the 3rd door", "the third door"),
        ("2026-03-04", "4 March 2026"),
        ("5 km", "5 kilometres"),
    ],
)
def test_the_same_number_is_the_same_however_it_is_written(one: str, other: str) -> None:
    assert set(content(one)) == set(content(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("5 pm", "5 am"), ("1990", "the 1990s"), ("3 doors", "the 3rd door"), ("1.5 m", "15 m"), ("10", "100")],
)
def test_different_numbers_differ(one: str, other: str) -> None:
    assert set(content(one)) != set(content(other))


@pytest.mark.parametrize("text", ["one of them", "no one", "that one", "a second per second", "version v2a"])
def test_some_number_words_count_nothing(text: str) -> None:
    assert numbers(text) == []


def test_names_that_follow_each_other_are_one() -> None:
    text = "In 1884 Nikola Tesla moved to New York."
    assert [text[v.start : v.end] for v in values(text)] == ["1884", "Nikola Tesla", "New York"]
    assert names("I'm sure the river is long") == []


@given(st.text(max_size=300))
def test_values_stand_in_their_text_in_order_and_never_overlap(text: str) -> None:
    found = values(text)
    assert all(0 <= v.start < v.end <= len(text) and v.items for v in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    content(text)


@given(st.integers(0, 999_999_999))
def test_digits_with_and_without_commas_are_equal(number: int) -> None:
    assert content(f"{number:,}") == content(str(number)) == [f"#{float(number):.15g}"]
