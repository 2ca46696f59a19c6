"""A clause that is said anew within its sentence takes the place of the one that opens like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.claim_interfaces import Said
from agents.clause_slips import with_clause_put_right
from agents.reader_summarizer import candidates


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            "My sister is Ann and my brother is Ben, no, my sister is Anna",
            "My sister is Anna and my brother is Ben",
        ),
        (
            "My sister is Ann and my brother is Ben, no, my brother is Bert.",
            "My sister is Ann and my brother is Bert.",
        ),
        ("I live in Bonn, no, I live in Ulm.", "I live in Ulm."),
        ("I live in Bonn, no wait, I live in Ulm, and I work in Bonn.", "I live in Ulm, and I work in Bonn."),
        ("My sister is called Ann, no, she is called Anna.", "My sister is called Anna."),
        ("My boss is Carla, sorry, my boss is Karla.", "My boss is Karla."),
        ("I'm from Leeds - scratch that, I'm from York.", "I'm from York."),
        ("We have two cats, I mean we have three cats.", "We have three cats."),
        ("The train leaves at 7, no, it leaves at 8.", "The train leaves at 8."),
    ],
)
def test_the_clause_said_anew_takes_the_place_of_the_old_one(said: str, meant: str) -> None:
    assert with_clause_put_right(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "I have a cat, and no, I have no dog.",
        "I am 40, no, I am not 41.",
        "I have a brother, no, I haven't seen him for years.",
        "I drive a Skoda, no, I drive it daily.",
        "I have no cats, no, I have no dogs either.",
        "My sister is Ann and my brother is Ben.",
        "My sister is Ann, well, my sister is a nurse.",  # says more
        "My sister is Ann, actually my brother is Ben.",
        "My sister is Ann and my brother is Ben, no, he is Bert.",  # of whom?
        "My sister is Ann and my sister is Eva, no, my sister is Lea.",  # which?
        "I have no dog, no cat and no bird.",
        "I live in Bonn, no more and no less.",
        "Is my sister Ann, no, is she Anna?",
        "I said no, my sister said yes.",
    ],
)
def test_a_sentence_that_says_no_clause_anew_stays(said: str) -> None:
    assert with_clause_put_right(said) == said


@given(st.text(max_size=400))
def test_any_text_can_be_looked_at(text: str) -> None:
    with_clause_put_right(text)


@pytest.mark.parametrize(
    ("message", "stated"),
    [
        (
            "My sister is Ann and my brother is Ben, no, my sister is Anna",
            "My sister is Anna and my brother is Ben.",
        ),
        ("The choir meets on Monday, no, Tuesday.", "The choir meets on Tuesday."),
        ("I have two, sorry, three cats and a dog.", "I have three cats and a dog."),
    ],
)
def test_what_is_put_right_in_its_sentence_is_claimed_as_it_is_meant(message: str, stated: str) -> None:
    (claim,) = candidates(Said(message))
    assert (claim.text, claim.quote) == (stated, message)
