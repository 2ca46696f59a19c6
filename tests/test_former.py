"""Questions for what held before: answered from what was replaced, or told that only now is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import FixedEncoder, source

from agents.backends.extractive import ONLY_NOW, ExtractiveChat
from agents.former import asked_of_before, former_of, quotes_of_before
from agents.interfaces import ReplyRequest, Source
from agents.prompts.answer import entry
from agents.quoting import Quoter

QUESTION = "What was my old phone number?"


@pytest.mark.parametrize(
    ("question", "present"),
    [
        (QUESTION, "What is my phone number?"),
        ("What's my previous phone number?", "What is my phone number?"),
        ("Where did I live before?", "Where do I live?"),
        ("Where did I work before I came here?", "Where do I work?"),
        ("Where did we use to live?", "Where do we live?"),
        ("Who was my boss before?", "Who is my boss?"),
        ("What was my last job?", "What is my job?"),
    ],
)
def test_what_held_before_is_asked_for_as_what_holds_now(question: str, present: str) -> None:
    assert former_of(question) == present
    assert asked_of_before(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is my last name?",
        "What did I do before?",
        "What is my phone number?",
        "Where do I live?",
        "Who was Ada Lovelace?",
        "I lived in Bonn before.",
        "",
    ],
)
def test_other_questions_ask_for_nothing_of_before(question: str) -> None:
    assert former_of(question) is None


def test_what_is_no_relation_is_not_understood() -> None:
    assert asked_of_before("What was my last question?") == []


def told(number: int, text: str, *, is_live: bool = True) -> Source:
    said = source(number, text, kind="fact")
    return replace(said, passage=replace(said.passage, is_live=is_live))


NOW = told(1, "My phone number is 222.")
BEFORE = told(2, "My phone number is 111.", is_live=False)


def test_what_was_replaced_answers_and_not_what_took_its_place() -> None:
    assert [q.source for q in quotes_of_before(QUESTION, [NOW, BEFORE], most=3)] == [BEFORE]
    assert quotes_of_before("What is my phone number?", [NOW, BEFORE], most=3) == []


def test_what_was_said_otherwise_since_answers_where_both_are_kept() -> None:
    lim, okafor = told(1, "My dentist is now Dr Lim."), told(2, "My dentist is Dr Okafor.")
    later = replace(lim.passage, created_at=okafor.passage.created_at + timedelta(days=1))
    sources = [replace(lim, passage=later), okafor]
    (quote,) = quotes_of_before("Who was my dentist before?", sources, most=3)
    assert (quote.source, quote.is_earlier, quote.is_only_now) == (okafor, False, False)


def test_what_is_said_to_hold_no_more_answers_too() -> None:
    ghent = told(2, "I used to live in Ghent.")
    sources = [told(1, "I live in Bonn."), ghent]
    assert [q.source for q in quotes_of_before("Where did I live before?", sources, most=3)] == [ghent]


def test_where_nothing_else_is_known_what_holds_now_is_marked() -> None:
    (only,) = quotes_of_before(QUESTION, [told(3, "It rains."), NOW], most=3)
    assert (only.source, only.is_only_now) == (NOW, True)
    assert quotes_of_before(QUESTION, [told(3, "It rains.")], most=3) == []
    assert quotes_of_before(QUESTION, [source(1, NOW.passage.text)], most=3) == []  # of a document


async def answer(*sources: Source) -> str:
    model = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.5, quotes=3))
    request = ReplyRequest((), QUESTION, QUESTION, sources)
    return "".join([piece async for piece in model.stream(request)])


async def test_the_answer_says_whether_it_holds_now() -> None:
    assert await answer(NOW, BEFORE) == "Before: “My phone number is 111.” [2]"
    assert await answer(NOW) == f"{ONLY_NOW} You said: “My phone number is 222.” [1]"


def test_a_chat_model_is_told_what_holds_no_more() -> None:
    assert entry(NOW) == "[1] (said by the user)\n> My phone number is 222."
    assert entry(BEFORE) == "[2] (said by the user, no longer so)\n> My phone number is 111."
