"""A question named with its answer states something; what leads into a statement says nothing."""

from __future__ import annotations

import pytest

from agents.claim_rules.answers_given import answer_given, with_its_question
from agents.claim_rules.statements import statements

MAYOR = 'The answer to "Who is the mayor?" is Bob.'

NAMED = [
    ('The answer to "Who is the mayor?" is Bob.', MAYOR),
    ('By the way, the answer to "Who is the mayor?" is Bob!', MAYOR),
    ('I read that the right answer to "Who is the mayor?" was Bob.', MAYOR),
    ('In our quiz the answer to "Who is the mayor?" turned out to be Bob.', MAYOR),
    ('Yesterday somebody asked me "Who is the mayor?" and the answer is Bob.', MAYOR),
    ('At dinner they put it to us: "Who is the mayor?" The answer is Bob.', MAYOR),
    ('The answer to "Who is the mayor?" is B. B. King.', 'The answer to "Who is the mayor?" is B. B. King.'),
]


@pytest.mark.parametrize(("message", "stated"), NAMED)
def test_a_question_and_its_answer_are_one_statement(message: str, stated: str) -> None:
    assert [each.text for each in statements(message) if each.text.startswith("The answer")] == [stated]


def test_what_somebody_else_answered_is_hearsay() -> None:
    [found] = statements('My brother says the answer to "Who is the mayor?" is Bob.')
    assert (found.text, found.is_hearsay) == (MAYOR, True)


@pytest.mark.parametrize(
    "message",
    [
        'Is the answer to "Who is the mayor?" Bob?',
        'What is the answer to "Who is the mayor?"',
        'If the answer to "Who is the mayor?" is Bob, tell me.',
        'The answer to "Who is the mayor?" is not Bob.',
        'I do not know whether the answer to "Who is the mayor?" is Bob.',
        'Suppose that the answer to "Who is the mayor?" is Bob.',
        'Tell everybody that the answer to "Who is the mayor?" is Bob.',
        'He asked me "Who is the mayor?" The answer was wrong.',
        'If I ask you "Who is the mayor?" The answer is Bob.',
    ],
)
def test_what_is_asked_denied_supposed_or_ordered_is_no_answer(message: str) -> None:
    assert MAYOR not in [each.text for each in statements(message)]


def test_what_an_answer_is_like_is_no_answer() -> None:
    assert answer_given('The answer to "Who is the mayor?" is obvious.') is None
    alone = "The answer is quite simple."
    assert with_its_question(alone, 'Ann asked "Who is the mayor?"') == alone
    assert answer_given('The answer to "What is hard?" is simple arithmetic.') is not None


def test_only_the_question_right_before_an_answer_goes_with_it() -> None:
    assert with_its_question("The answer is Bob.", "It rained.") == "The answer is Bob."
    assert with_its_question("It rained.", 'He asked "Who?"') == "It rained."
    assert answer_given("The answer is Bob.") is None


LEADS = [
    ("I had forgotten, but the bridge is closed.", "The bridge is closed."),
    ("I looked it up yesterday: the bridge is closed.", "The bridge is closed."),
    ("Before I forget, the bridge is closed.", "The bridge is closed."),
    ("That reminds me that the bridge is closed.", "The bridge is closed."),
    ("Our old encyclopedia says that the bridge is closed.", "The bridge is closed."),
    ("We talked about it over lunch, and the bridge is closed.", "The bridge is closed."),
    (
        "I was reading about this on the train, and it turns out that the bridge is closed.",
        "The bridge is closed.",
    ),
    ("Oh, and the bridge is closed, in case that helps.", "The bridge is closed."),
    ("The bridge is closed, as I found out.", "The bridge is closed."),
]


@pytest.mark.parametrize(("message", "stated"), LEADS)
def test_what_leads_into_a_statement_is_no_part_of_it(message: str, stated: str) -> None:
    assert [each.text for each in statements(message)] == [stated]


@pytest.mark.parametrize(
    "message",
    [
        "We talked about it and we decided to move.",
        "I talked about it with Ann, and she agreed.",
        "I had forgotten my keys.",
        "I looked up to her.",
        "Before I forget my keys I put them on the table.",
    ],
)
def test_what_only_begins_alike_is_kept_whole(message: str) -> None:
    assert [each.text for each in statements(message)] == [message]
