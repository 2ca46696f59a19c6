"""What a claim ends among all that its user told, by rule and not by its meaning."""

from __future__ import annotations

import pytest

from agents import met_statements
from agents.met_statements import ended_by, is_met

LOCKERS = [(number, f"My locker at station {number} has the code {4000 + number}.") for number in range(40)]


def test_of_statements_that_are_nearly_the_same_the_one_meant_is_found() -> None:
    told = list(reversed(LOCKERS))
    assert ended_by("I no longer have a locker at station 17.", told, most=5) == [17]
    assert ended_by("I no longer have a bike.", told, most=5) == []
    assert ended_by("My locker at station 17 is red.", told, most=5) == []  # it ends nothing


def test_no_more_are_found_than_are_wanted_the_newest_first() -> None:
    told = [(9, "I have a cat."), (8, "My cat is old."), (7, "My cat sleeps."), (6, "The dog barks.")]
    assert ended_by("I no longer have a cat.", told, most=2) == [9, 8]


def test_no_more_are_looked_into_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(met_statements, "_LOOKED_INTO", 10)
    told = list(reversed(LOCKERS))
    assert ended_by("I no longer have a locker at station 17.", told, most=5) == []
    assert ended_by("I no longer have a locker at station 35.", told, most=5) == [35]


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("I swapped my Skoda for a Fiat.", "I drive a Skoda."),
        ("We renamed the dog, he is Max now.", "My dog is called Rex."),
        ("I gave Tom away.", "I have two cats, Tom and Mia."),
        ("I no longer have a locker.", "My locker number is 214."),
        ("My bike was stolen.", "It rains. My bike is a Brompton."),
    ],
)
def test_what_is_ended_is_met_in_whatever_words(claim: str, told: str) -> None:
    assert is_met(claim, told)
    assert ended_by(claim, [(1, "I like tea."), (0, told)], most=5) == [0]
