"""A follow-up is completed from the recent turns."""

from __future__ import annotations

import pytest

from agents.interfaces import Exchange
from agents.query_augmenter import QueryAugmenter


def augmented(before: str, message: str) -> str:
    return QueryAugmenter().augment(message, [Exchange(before, before, "An answer.")]).text


@pytest.mark.parametrize(
    ("before", "message", "expected"),
    [
        (
            "When does the reading room open on Saturdays?",
            "and on Sundays?",
            "When does the reading room open on Sundays?",
        ),
        (
            "When does the reading room open on Saturdays?",
            "And on public holidays?",
            "When does the reading room open on public holidays?",
        ),
        ("What is the capital of France?", "What about Germany?", "What is the capital of Germany?"),
        ("Who was Marie Curie?", "Where was she born?", "Where was Marie Curie born?"),
        ("Who wrote Hamlet?", "When was it written?", "When was Hamlet written?"),
        ("Who is Marie Curie?", "What was her field?", "What was Marie Curie's field?"),
    ],
)
def test_a_follow_up_is_completed(before: str, message: str, expected: str) -> None:
    assert augmented(before, message) == expected


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("When does the reading room open on Saturdays?", "Who runs it?"),
        ("How do I undo something?", "and for documents I have shared with others?"),
        ("Which teas are there?", "What about green ones?"),
    ],
)
def test_where_no_rule_is_certain_the_earlier_question_goes_before(before: str, message: str) -> None:
    assert augmented(before, message) == f"{before} {message}"


@pytest.mark.parametrize(
    "message",
    [
        "What is my cat's name?",
        "Where are my settings?",
        "How many people live in Bern?",
        "My cat is called Ada.",
        "Who discovered that radium glows?",
    ],
)
def test_a_message_that_stands_alone_is_left_alone(message: str) -> None:
    assert augmented("Who was Marie Curie?", message) == message


def test_the_first_message_is_left_alone() -> None:
    query = QueryAugmenter().augment("and on Sundays?", [])
    assert (query.text, query.strategy) == ("and on Sundays?", "original")


def test_a_chain_of_follow_ups_stays_on_its_subject() -> None:
    augmenter = QueryAugmenter()
    first = "When does the reading room open on Saturdays?"
    second = augmenter.augment("and on Sundays?", [Exchange(first, first, "")])
    third = augmenter.augment("and on Mondays?", [Exchange("and on Sundays?", second.text, "")])
    assert third.text == "When does the reading room open on Mondays?"


def test_a_completed_query_says_where_it_came_from() -> None:
    before = "Who wrote Hamlet?"
    query = QueryAugmenter().augment("When was it written?", [Exchange(before, before, "")])
    assert query.strategy == "standalone"
    assert before in query.reasons[0]


@pytest.mark.parametrize(
    "message", ["is there a way to export my memory?", "can two persons use it on one computer?"]
)
def test_a_pointing_message_with_words_of_its_own_is_left_alone(message: str) -> None:
    assert augmented("How do I undo something?", message) == message


def test_a_misspelt_question_word_is_searched_as_it_is_meant() -> None:
    query = QueryAugmenter().augment("wich version is it", [])
    assert query.text == "which version is Vouch"
    assert query.reasons[0] == "'wich' is 'which'"
    assert QueryAugmenter().augment("A wich elm", []).text == "A wich elm"
