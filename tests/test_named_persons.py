"""Who is known by what they are and by name."""

from __future__ import annotations

import pytest

from agents.relations.comparison import relation_change
from agents.relations.named_persons import NamedPersons, says_who

TOLD = [
    "My wife is called Mirthe.",
    "I live in Graz with my boss, Renate.",
    "My daughter Signe is seven.",
    "Dr Weil is my therapist.",
    "Our landlady is Mrs Pell.",
]


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("My wife works at the hall.", "My wife Mirthe works at the hall."),
        ("My wife's job is dull.", "My wife Mirthe's job is dull."),
        ("Mirthe works at the hall.", "My wife Mirthe works at the hall."),
        ("Signe turned eight.", "My daughter Signe turned eight."),
        ("Signe's school is big.", "My daughter Signe's school is big."),
        ("Mrs Pell moved to Cardiff.", "Our landlady Mrs Pell moved to Cardiff."),
        ("My boss moved to Cardiff.", "My boss Renate moved to Cardiff."),
    ],
)
def test_whom_a_sentence_opens_with_gets_both_role_and_name(sentence: str, named: str) -> None:
    assert NamedPersons(TOLD).named(sentence) == named


@pytest.mark.parametrize(
    "sentence",
    [
        "My daughter is in Rome.",  # there may be two
        "My wife Mirthe works at the hall.",
        "My wife is called Ann.",  # gives another name
        "My boss is Piet.",
        "Mirthe is my wife.",
        "The hall is where Mirthe works.",
        "Ada works at the hall.",
        "My wife and I live in Graz.",
        "I work with Mirthe.",
    ],
)
def test_other_sentences_stay_as_they_are(sentence: str) -> None:
    assert NamedPersons(TOLD).named(sentence) == sentence


def test_of_two_names_or_two_roles_none_is_meant() -> None:
    persons = NamedPersons(
        ["My boss Renate is tall.", "My boss is Piet.", "My friend Ada.", "My cousin Ada."]
    )
    assert persons.named("My boss lives in Ulm.") == "My boss lives in Ulm."
    assert persons.named("Ada lives in Ulm.") == "Ada lives in Ulm."


def test_what_says_who_somebody_is_is_known() -> None:
    assert says_who("My wife is called Nora.")
    assert says_who("Nora is my wife.")
    assert not says_who("My wife Nora is tall.")


def test_of_a_person_named_in_one_of_two_statements_both_are_compared() -> None:
    assert relation_change("My wife Nora works at the mill.", "my wife works at the bakery") == "value"
    assert relation_change("My son Emil is six.", "My son is eight.") in (None, "other")


@pytest.mark.parametrize(
    "told",
    [
        "My wife is Finnish.",
        "I taught my wife French.",
        "I gave my wife Chanel perfume.",
        "I told my wife Ben is ill.",
        "I met my wife December 3.",
        "We visited my wife, Anna and Ben.",
        "With my wife, Anna, Ben and Carl I had lunch.",
        "I saw my wife, Ben came along.",
        "My wife, March is cold, stays in.",
        "Say hello to my wife, Vouch!",
        "My wife is not called Nora.",
        "My ex-wife Nora left.",
    ],
)
def test_a_word_beside_somebody_is_not_yet_their_name(told: str) -> None:
    persons = NamedPersons([told])
    assert persons.named("My wife works at the mill.") == "My wife works at the mill."
    assert persons.named("Anna lives in Ulm.") == "Anna lives in Ulm."


@pytest.mark.parametrize(
    "told",
    [
        "My wife Nora is tall.",
        "I live with my wife Nora.",
        "My wife, Nora, sings.",
        "This is my wife, Nora.",
        "Tom and my wife Nora sing.",
    ],
)
def test_a_name_told_in_passing_is_known(told: str) -> None:
    assert NamedPersons([told]).named("My wife works at the mill.") == "My wife Nora works at the mill."
