"""What a message only remarks, on the answer before it or on trouble, is answered and not noted."""

from __future__ import annotations

import pytest
from agent_fakes import FixedEncoder, source
from hypothesis import given
from hypothesis import strategies as st

from agents.backends.extractive import NOTED, NOTHING_FOUND, TO_CORRECT, TROUBLE, ExtractiveChat
from agents.chat_interfaces import ReplyRequest, Source
from agents.claim_interfaces import Said
from agents.claim_rules.remarks import denies_the_answer, is_trouble, tells_of_trouble
from agents.quoting import Quoter
from agents.reader_summarizer import candidates

DENIALS = [
    "No, that's wrong.",
    "that’s not true",
    "No!",
    "Wrong.",
    "not true",
    "Your answer is wrong",
    "you're wrong about that",
    "No, this isn't what I asked.",
    "I never said that.",
    "nope, that was a mistake",
]
NO_DENIALS = [
    "No, my sister is Anna.",
    "That was wrong, I am allergic to hazelnuts.",
    "I meant 4231.",
    "It is not my boat.",
    "Is that wrong?",
    "That's right.",
    "No, on Thursday.",
    "The answer is 42.",
]
TROUBLES = [
    "it says the database is locked",
    "this does not work",
    "the screen is black",
    "The database is locked.",
    "I get an error",
    "Nothing happens.",
    "vouch won't start anymore",
    "The terminal just hangs",
    "I can't open the database",
    "It crashed again!",
    "It says the disk is full",
]
NO_TROUBLES = [
    "My screen is black.",
    "The car is black.",
    "The museum does not open on Mondays.",
    "The database is locked on Sundays for the backup.",
    "I can't open my garage.",
    "It says in the paper that the mill is for sale.",
    "Why is the screen black?",
    "My father does not work any more.",
    "I work at the terminal in Ulm.",
    "The screen is 27 inches wide.",
]


@pytest.mark.parametrize("message", DENIALS)
def test_what_only_says_that_the_answer_is_wrong(message: str) -> None:
    assert denies_the_answer(message)


@pytest.mark.parametrize("message", NO_DENIALS)
def test_what_says_what_is_right_says_more(message: str) -> None:
    assert not denies_the_answer(message)


@pytest.mark.parametrize("message", TROUBLES)
def test_what_only_tells_of_trouble(message: str) -> None:
    assert tells_of_trouble(message)


@pytest.mark.parametrize("message", NO_TROUBLES)
def test_what_tells_of_something_else_is_no_trouble(message: str) -> None:
    assert not tells_of_trouble(message)


@pytest.mark.parametrize("message", [*DENIALS, *TROUBLES])
def test_a_remark_is_no_claim(message: str) -> None:
    assert list(candidates(Said(message))) == []


def test_what_does_not_work_may_be_the_users() -> None:
    texts = [claim.text for claim in candidates(Said("My laptop is old. It is broken."))]
    assert texts == ["My laptop is old.", "My laptop is broken."]


@given(st.text(max_size=300))
def test_any_text_can_be_looked_at(text: str) -> None:
    denies_the_answer(text)
    is_trouble(text)
    tells_of_trouble(text)


async def answer(message: str, *sources: Source, near: str = "") -> str:
    asked = f"What can I do when {message}?"
    encoder = FixedEncoder({asked: (1, 0, 0, 0), near: (0.95, 0.31, 0, 0)})
    model = ExtractiveChat(Quoter(encoder, threshold=0.2, quotes=3))
    request = ReplyRequest((), message, message, sources, is_kept=True)
    return "".join([piece async for piece in model.stream(request)])


async def test_who_denies_the_answer_is_told_how_to_correct_it() -> None:
    assert await answer("No, that's wrong.") == TO_CORRECT


async def test_trouble_is_answered_from_what_is_known_of_it() -> None:
    known = "When the database is locked, wait for the other process."
    told = "I said that the database is locked."
    message = "it says the database is locked"
    sources = (source(1, told, kind="message"), source(2, known))
    assert await answer(message, *sources, near=known) == f"“{known}” [2]"
    assert await answer(message, source(1, told, kind="message"), near=told) == TROUBLE


async def test_a_remark_answers_no_question() -> None:
    asked = "What can I do when the database is locked?"
    told = "it says the database is locked"
    model = ExtractiveChat(
        Quoter(FixedEncoder({asked: (1, 0, 0, 0), told: (1, 0, 0, 0)}), threshold=0.2, quotes=3)
    )
    request = ReplyRequest((), asked, asked, (source(1, told, kind="message"),))
    assert "".join([piece async for piece in model.stream(request)]).startswith(NOTHING_FOUND)


async def test_what_states_something_is_still_noted() -> None:
    assert await answer("My screen is black.") == NOTED
