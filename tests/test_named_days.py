"""Days, spans and repetitions are read out of texts, relative to when they were told."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.languages.named_days import Days, asked_days, named_days, repeated_in

TOLD = date(2026, 9, 16)  # a Wednesday


def days(first: str, last: str = "") -> Days:
    return Days(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dentist on 12 october at 9", days("2026-10-12")),
        ("call the bank tomorrow", days("2026-09-17")),
        ("supper with Ines on friday", days("2026-09-18")),
        ("what is on next week?", days("2026-09-21", "2026-09-27")),
        ("what happens this weekend", days("2026-09-19", "2026-09-20")),
        ("skiing from 9 to 13 February", days("2027-02-09", "2027-02-13")),
        ("away from the 2nd to the 4th of october", days("2026-10-02", "2026-10-04")),
        ("which exams are in june?", days("2026-06-01", "2026-06-30")),  # the nearest
        ("she moves out in July", days("2026-07-01", "2026-07-31")),
        ("in march 2027", days("2027-03-01", "2027-03-31")),
        ("the fair from 28 to 3 May", days("2026-04-28", "2026-05-03")),
        ("the best of last year", days("2025-01-01", "2025-12-31")),
    ],
)
def test_a_day_or_span_is_named(text: str, wanted: Days) -> None:
    assert named_days(text, TOLD) == (wanted,)


@pytest.mark.parametrize(
    "text", ["the cat sat there", "may i come", "invoice 112, 640 euros", "1,400 a month", "on 31/31/31"]
)
def test_what_names_no_day(text: str) -> None:
    assert named_days(text, TOLD) == ()


@given(st.text(max_size=60), st.dates(date(1990, 1, 1), date(2100, 1, 1)))
def test_any_text_can_be_read(text: str, told_on: date) -> None:
    assert all(one.first <= one.last for one in named_days(text, told_on))
    assert repeated_in(text, told_on, Days(told_on, told_on)) in (None, Days(told_on, told_on))


def test_of_the_week_that_runs_what_is_left_is_asked_for() -> None:
    assert asked_days("what is on this week?", TOLD) == days("2026-09-16", "2026-09-20")
    assert asked_days("how many visits in september?", TOLD) == days("2026-09-01", "2026-09-30")
    assert asked_days("who is Ines?", TOLD) is None


def test_what_repeats_comes_about_on_its_days_from_when_it_was_told() -> None:
    choir = "the choir meets every tuesday evening"
    assert repeated_in(choir, TOLD, days("2026-09-21", "2026-09-27")) == days("2026-09-22")
    assert not repeated_in(choir, TOLD, days("2026-09-23", "2026-09-27"))
    assert not repeated_in(choir, TOLD, days("2026-09-01", "2026-09-15"))
    assert not repeated_in("we need milk", TOLD, days("2026-09-21", "2026-09-27"))


def test_what_repeats_more_often_than_days_is_not_looked_for() -> None:
    assert repeated_in("The sensor logs every second of the day.", TOLD, days("2026-11-29")) is None
