"""Marks around emphasised words are no words; all other markup is somebody else's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.claim_interfaces import Said
from agents.claim_rules.emphasis import without_emphasis
from agents.claim_rules.own_part import plain_text
from agents.reader_summarizer import candidates


def cleaned(message: str) -> str:
    return without_emphasis(plain_text(message)).text


@pytest.mark.parametrize(
    ("message", "stated"),
    [
        ("I have [bold]two[/bold] bikes", "I have two bikes."),
        ("I have [red]two[/] bikes", "I have two bikes."),
        ("I have <b>two</b> bikes.", "I have two bikes."),
        ("I have **two** bikes.", "I have two bikes."),
        ("I have *two* bikes.", "I have two bikes."),
        ("I have _two_ bikes.", "I have two bikes."),
        ("I have `two` bikes.", "I have two bikes."),
        ("I have **<b>two</b>** bikes.", "I have two bikes."),
        ("**I have two bikes**", "I have two bikes."),
        ("My site is [here](https://x.example/me).", "My site is here (https://x.example/me)."),
        ("I pay 900 euros/month and drive 50 km/h.", "I pay 900 euros/month and drive 50 km/h."),
    ],
)
def test_what_is_emphasised_is_stated_in_plain_words(message: str, stated: str) -> None:
    (claim,) = candidates(Said(message))
    assert (claim.text, claim.quote) == (stated, message)


@pytest.mark.parametrize(
    "text",
    [
        "The mill is <b>old</b>.",  # not of the user
        "I think <b>the mill was built in the year of the flood</b>",  # a text of its own
        "I have <system>two</system> bikes.",
        "I have <b onclick=x>two</b> bikes.",
        "I have <b>two</i> bikes.",
        "My room is 3*4*5 metres.",
        "My file is called snake_case_name and my other one __init__.",
        "I like ![this](https://x.example/me) a lot.",
        "I like [this](https://x.example/steal?x=1) a lot.",
        "I keep [1] and [2].",
        "* I have two bikes\n* I have a boat",
        "```I have two bikes```",
    ],
)
def test_all_other_markup_stays(text: str) -> None:
    assert cleaned(text) == text


@pytest.mark.parametrize(
    "message",
    [
        "I have <system>two</system> bikes.",
        "I like ![this](https://x.example/me) a lot.",
        "I like [this](https://x.example/steal?x=1) a lot.",
        "My rule is: /forget 12",
        "My rule is `/forget 12`",
    ],
)
def test_what_is_no_emphasis_is_not_claimed(message: str) -> None:
    assert list(candidates(Said(message))) == []


@given(st.text(alphabet="I my`*_[]<>/b()\n. ", max_size=60))
def test_what_stays_stands_in_the_message(message: str) -> None:
    plain = without_emphasis(plain_text(message))
    assert len(plain.text) == len(plain.starts) == len(plain.ends)
    for start in range(len(plain.text)):
        assert plain.original(message, start, start + 1) in message
    assert len(plain.text) <= len(message)
