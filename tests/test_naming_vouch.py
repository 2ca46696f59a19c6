"""Questions about the assistant get its name; all others stay as they are."""

from __future__ import annotations

import pytest

from agents.naming_vouch import with_its_name


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        ("can you read word documents?", "can Vouch read word documents?"),
        ("Do you send anything away?", "Does Vouch send anything away?"),
        ("what kinds of files can you read", "what kinds of files can Vouch read"),
        ("Why don't you answer in French?", "Why doesn't Vouch answer in French?"),
        ("how can i make you forget one thing", "how can i make Vouch forget one thing"),
        ("is this free?", "is Vouch free?"),
        ("does it cost anything", "does Vouch cost anything"),
        ("how do i install this", "how do i install Vouch"),
        ("what licence is this under", "what licence is Vouch under"),
        ("how much disk space does it take", "how much disk space does Vouch take"),
        ("can two people use it on one computer", "can two people use Vouch on one computer"),
    ],
)
def test_what_is_asked_of_the_assistant_is_searched_with_its_name(asked: str, searched: str) -> None:
    assert with_its_name(asked, is_first=True) == searched


@pytest.mark.parametrize(
    "asked",
    [
        "Do you know where I live?",
        "How do you tune a lute?",
        "what age do you need to be to vote",
        "What did I tell you about Ada?",
        "do you remember my sister's birthday",
        "Can you please tell me when the library opens?",
        "What do you think of Bergheim?",
        "Is your sister coming?",
        "Is this book good?",
        "is it raining",
        "What time is it?",
        "Is it possible to walk there?",
        "When does it open?",
        "where is it",
        "does my cat like it",
        "Is Rome old and is it large?",
        "did it rain",
        "It is free.",
        "You can read this.",
        "How does Vouch know it?",
    ],
)
def test_other_questions_stay_as_they_are(asked: str) -> None:
    assert with_its_name(asked, is_first=True) == asked


def test_a_pointer_after_something_was_said_may_mean_that() -> None:
    assert with_its_name("is it free?", is_first=False) == "is it free?"
    assert with_its_name("can you read it?", is_first=False) == "can Vouch read it?"
