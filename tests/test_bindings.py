"""Sentences that hold a claim's words and say something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.base.bindings import is_bound_otherwise


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (
            "Members may borrow three books for ten weeks.",
            "Members may borrow up to ten books for three weeks.",
        ),
        ("The Rhine is 1,230 miles long.", "The Rhine is 1,230 km long."),
        ("The library is open on Sundays.", "It is closed on Sundays."),
        ("It has two towers.", "It has three towers and two gates."),
        ("Ann beat Ben.", "Ben beat Ann in May."),
        ("The pump must be switched off at night.", "The pump must be switched on at night."),
        (
            "The west gate stays open during the market.",
            "The west gate stays shut during the market and the east gate stays open.",
        ),
        (
            "The key to the shed hangs above the sink.",
            "The key to the shed hangs below the sink, and the key to the attic hangs above the stove.",
        ),
        ("Ida is older than Jon.", "Jon is older than Ida."),
        ("The cheque is from Mr Hale.", "The cheque is for Mr Hale."),
    ],
)
def test_words_that_are_bound_otherwise(claim: str, sentence: str) -> None:
    assert is_bound_otherwise(claim, sentence)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Members may borrow ten books.", "Members may borrow up to ten books for three weeks."),
        ("The Rhine is 1230 kilometres long.", "The Rhine is 1,230 km long."),
        ("The library is closed on Sundays.", "It is closed on Sundays."),
        ("Emma was written by Jane Austen.", "Jane Austen wrote Emma."),
        ("Oslo is the capital of Norway.", "The capital of Norway is Oslo."),
        ("The war ended in 1945.", "The war began in 1939 and ended in 1945."),
        ("It opens at 7:00.", "It opens at 7:00 and closes at 9:00."),
        ("Ann beat Ben.", "Ann beat Ben in May."),
        ("Bessie Smith was a singer.", "Bessie Smith (1894 to 1937) was an American blues singer."),
        ("Ian Brennan was born in April.", "Ian Brennan (born April 23) is a writer."),
    ],
)
def test_words_that_are_bound_alike(claim: str, sentence: str) -> None:
    assert not is_bound_otherwise(claim, sentence)


@given(st.text(max_size=200))
def test_a_text_binds_its_own_words_as_it_does(text: str) -> None:
    assert not is_bound_otherwise(text, text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_can_be_compared(claim: str, sentence: str) -> None:
    is_bound_otherwise(claim, sentence)
