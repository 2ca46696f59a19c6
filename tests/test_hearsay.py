"""What a user only passes on: who says it, and what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.hearsay import hearsay, only_supposed, who_says_so


@pytest.mark.parametrize(
    ("text", "said", "who"),
    [
        ("My brother says that I live in Oslo.", "I live in Oslo.", "Your brother says so"),
        ("A friend told me that my boss is Peter.", "my boss is Peter.", "A friend told you so"),
        ("By the way, our aunt Ida thinks I'm 30.", "I'm 30.", "Your aunt Ida thinks so"),
        ("I heard that the pool is closed.", "the pool is closed.", "You heard so"),
        ("According to Anna, I am 40.", "I am 40.", "By hearsay"),
        ("Apparently I snore.", "I snore.", "By hearsay"),
        ("I live in Oslo, my brother says.", "I live in Oslo.", "By hearsay"),
        ("According to my boss I am getting a raise.", "I am getting a raise.", "By hearsay"),
        ("My boss hinted that I am getting a raise.", "I am getting a raise.", "Your boss hinted so"),
        ("Carla promised me that I get a raise.", "I get a raise.", "Carla promised you so"),
    ],
)
def test_what_is_passed_on_is_told_with_who_says_it(text: str, said: str, who: str) -> None:
    heard = hearsay(text)
    assert heard is not None
    assert (heard.said, who_says_so(heard)) == (said, who)


@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo.",
        "I like what you said.",
        "My brother lives in Oslo.",
        "Anna is a nurse.",
        "",
        "My boss promised me a raise.",
        "I suggested that we meet.",
        "My boss never promised that I get a raise.",
        "Nobody says that I live in Oslo.",
        "My brother never says that I live in Oslo.",
        "My brother wrongly thinks I live in Oslo.",
        "My brother thinks I live in Oslo, but I live in Rome.",
    ],
)
def test_what_the_user_states_or_nobody_says_is_no_hearsay(text: str) -> None:
    assert hearsay(text) is None


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("My boss told me I'd get a raise.", None),
        ("My boss said I would get a raise.", None),
        ("My boss said that maybe I'd get a raise.", "supposed"),
        ("My boss says I would get a raise if I stayed.", "supposed"),
        ("My boss said I'd get a raise if we sold more.", "supposed"),
        ("I'd get a dog if I could.", "supposed"),
        ("I wish I had a raise.", "wished"),
    ],
)
def test_what_somebody_said_would_be_so_is_not_only_supposed(text: str, how: str | None) -> None:
    assert only_supposed(text) == how


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    if (heard := hearsay(text)) is not None:
        assert who_says_so(heard)
