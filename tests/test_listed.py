"""A list without those of its items that hold no more."""

from __future__ import annotations

import pytest

from agents.relations.listed import gone_one, is_of_what_one_has, says_as_much, says_more_than, without_listed
from agents.value_changes import withdrawn_words


@pytest.mark.parametrize(
    ("known", "withdrawal", "left"),
    [
        ("I have a dog and a cat named Tom.", "I don't have a dog any more.", "I have a cat named Tom."),
        ("I have a dog and a cat named Tom.", "I don't have a cat any more.", "I have a dog."),
        ("I play tennis and the piano.", "I no longer play tennis.", "I play the piano."),
        (
            "I take vitamin D and iron every morning.",
            "I stopped taking iron.",
            "I take vitamin D every morning.",
        ),
        (
            "I am in the choir, the chess club and the library.",
            "I left the chess club.",
            "I am in the choir and the library.",
        ),
        ("I speak German, French and Dutch.", "I no longer speak Dutch.", "I speak German and French."),
        ("I have three cats: Tom, Jerry and Kit.", "I no longer have Kit.", "I have cats: Tom and Jerry."),
        ("I have three cats, Tom, Jerry and Kit.", "I no longer have Tom.", "I have cats, Jerry and Kit."),
        ("We have two dogs called Moss and Fern.", "I no longer have Fern.", "We have a dog called Moss."),
        (
            "My two brothers are Karl and Ben.",
            "Ben is not my brother any more.",
            "My brother is called Karl.",
        ),
        ("I have two cats, a dog and a bird.", "I no longer have a dog.", "I have two cats and a bird."),
        ("I have two cats and three hens.", "I no longer have cats.", "I have three hens."),
        ("I don't eat meat, fish or eggs.", "I no longer avoid fish.", None),  # it names what was not said
        ("I own a bike and my sister's boat.", "I sold the boat.", None),  # whose boat?
        ("I have a dog called Rex and live in Rome.", "I no longer have a dog.", None),  # no list
        ("Ana and Ben play tennis.", "Ana no longer plays tennis.", None),
        ("I play tennis.", "I no longer play tennis.", None),
        ("I play tennis and chess.", "I no longer play.", None),  # none of them is named
    ],
)
def test_only_what_was_withdrawn_goes(known: str, withdrawal: str, left: str | None) -> None:
    assert without_listed(known, withdrawn_words(withdrawal)) == left


@pytest.mark.parametrize(
    ("known", "withdrawal", "says_more"),
    [
        ("My locker number is 214.", "I no longer have a locker.", False),  # it hangs on the locker
        ("I have a dog called Rex and live in Rome.", "I no longer have a dog.", True),
        ("My gym is in Baker Street and costs 40 euros.", "I cancelled the gym.", True),
        ("Ana and Ben play tennis.", "Ana no longer plays tennis.", True),
        ("Paul the baker next door has a big old dog.", "Paul no longer has a dog.", True),
    ],
)
def test_what_says_more_than_was_withdrawn_is_known(known: str, withdrawal: str, says_more: bool) -> None:
    assert says_more_than(known, withdrawn_words(withdrawal)) == says_more


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("Kit died in March.", {"kit"}),
        ("Bee was taken by a fox.", {"bee"}),
        ("Fern is gone.", {"fern"}),
        ("My cat Kit ran away.", {"cat", "kit"}),
        ("Kit is gone for a walk.", set()),
        ("Kit has gone to the vet.", set()),
        ("Kit was taken to the vet.", set()),
        ("Kit likes fish.", set()),
    ],
)
def test_who_is_gone_is_known(said: str, gone: set[str]) -> None:
    assert gone_one(said) == gone


def test_only_of_what_one_has_is_one_gone() -> None:
    assert is_of_what_one_has("I have three cats: Tom, Jerry and Kit.")
    assert is_of_what_one_has("Our hens are called Ada, Bee and Cleo.")
    assert not is_of_what_one_has("I like Bach, Brahms and Liszt.")
    assert not is_of_what_one_has("I had three cats: Tom, Jerry and Kit.")


def test_a_withdrawal_is_of_a_list_that_says_the_same_of_its_items() -> None:
    assert says_as_much("I play tennis and chess.", "I no longer play chess.")
    assert not says_as_much("I cleaned the car and the boat.", "I sold the car.")
    assert not says_as_much("I had a dog and a cat.", "I no longer have a dog.")
