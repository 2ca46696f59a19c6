"""A bare name puts right the place that was told last, unless it is a person's."""

from __future__ import annotations

import pytest
from test_everyday import remembered
from test_told_before import told

from agents.names_put_right import name_put_right
from agents.told_before import put_right

ROSA = "My aunt Rosa lives in Genk."


@pytest.mark.parametrize(
    ("before", "said", "becomes"),
    [
        (ROSA, "I meant Hasselt", "My aunt Rosa lives in Hasselt."),
        (ROSA, "sorry, I mean Hasselt.", "My aunt Rosa lives in Hasselt."),
        (ROSA, "oops, Hasselt", "My aunt Rosa lives in Hasselt."),
        ("My friend Ben is from Kiel.", "I meant Lübeck.", "My friend Ben is from Lübeck."),
        ("My boss Ann has a house in Ulm.", "No, I meant Bonn.", "My boss Ann has a house in Bonn."),
        ("My sister Jana was born in New York.", "I meant Boston.", "My sister Jana was born in Boston."),
        (ROSA, "I meant Georgia.", "My aunt Rosa lives in Georgia."),  # a country, too
        (ROSA, "I meant Paula.", "My aunt Paula lives in Genk."),
        (ROSA, "I meant Rose.", "My aunt Rose lives in Genk."),  # a slip
        (ROSA, "I meant Ghent.", "My aunt Rosa lives in Ghent."),
    ],
)
def test_a_name_takes_the_place_of_its_kind(before: str, said: str, becomes: str) -> None:
    assert put_right(said, "", told(before)) == becomes
    assert remembered(before, said) == [becomes]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("My aunt Rosa lives in Genk and my uncle Bert lives in Ulm.", "I meant Hasselt."),  # which?
        ("My aunt Rosa likes Brel.", "I meant Hasselt."),
        ("Rosa and my aunt Ann live in Genk.", "I meant Paula."),
        (ROSA, "I meant Genk."),
        (ROSA, "Sorry, Hasselt."),  # it may be spoken to
        (ROSA, "I meant it."),
        ("My aunt lives in Genk.", "I meant Paula."),
    ],
)
def test_in_doubt_no_name_is_put_right(before: str, said: str) -> None:
    assert put_right(said, "", told(before)) is None


def test_who_is_known_by_the_name_is_no_place() -> None:
    known = ["My cousin is called Hasselt."]
    assert put_right("I meant Hasselt.", "", told(ROSA), known) is None
    assert put_right("I meant Hasselt.", "", told("My cousin Hasselt is six.", ROSA)) is None
    assert put_right("I meant Paula.", "", told(ROSA), ["My sister is Paula."]) is None
    assert put_right("I meant Hasselt.", "", told(ROSA), ["I was in Hasselt."]) is not None


@pytest.mark.parametrize(
    ("before", "said", "known"),
    [
        ("My dog is 4.", "sorry, I mean my dog is 3", ["My dog is 3."]),
        ("My dog Rex is 4.", "sorry, I mean my dog is 3", ["My dog Rex is 3."]),
        ("My dog Rex is 4.", "I meant he is 3", ["My dog Rex is 3."]),
        (
            "My aunt Rosa lives in Genk.",
            "I mean my aunt lives in Hasselt",
            ["My aunt Rosa lives in Hasselt."],
        ),
        ("My dog is 4.", "sorry, I mean my cat is 3", ["My dog is 4.", "My cat is 3."]),
        ("My dog Rex is 4.", "My dog is 3.", ["My dog Rex is 4.", "My dog is 3."]),  # no correction
        ("My dog Rex is 4.", "I mean my dog is not 3", ["My dog Rex is 4.", "My dog is not 3."]),
    ],
)
def test_a_clause_said_anew_takes_the_place_of_the_one_it_means(
    before: str, said: str, known: list[str]
) -> None:
    assert remembered(before, said) == known


def test_of_two_clauses_the_one_that_is_meant_is_put_right() -> None:
    known = " ".join(remembered("My cat is 5 and my dog is 4.", "sorry, I mean my dog is 3")).casefold()
    assert known.count("my cat is 5") == known.count("my dog is 3") == 1
    assert "my dog is 4" not in known


@pytest.mark.parametrize("hostile", ["is in ", "A ", "my aunt A ", " ", "lives a in "])
def test_a_long_text_is_not_put_right(hostile: str) -> None:
    assert name_put_right([hostile * (30_000 // len(hostile))], "Hasselt", ()) is None
