"""Questions for what held before: answered from what was replaced, or told that only now is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import FixedEncoder, source

from agents.backends.extractive import ONLY_NOW, ExtractiveChat
from agents.chat_interfaces import ReplyRequest, Source
from agents.former import asked_of_before, former_of, past_of, quotes_of_before, quotes_of_then_and_now
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


@pytest.mark.parametrize(
    ("question", "present"),
    [
        ("What was my pin?", "What is my pin?"),
        ("what was my address", "what is my address?"),
        ("Where did I live?", "Where do I live?"),
        ("Where did we work?", "Where do we work?"),
        ("Who was my boss?", "Who is my boss?"),
        ("Which car did I have?", "Which car do I have?"),
        ("Which pets did I have?", "Which pets do I have?"),
        ("what was my locker code?", "what is my locker code?"),
        ("What was my old pin?", None),  # of before
        ("What was my pin before?", None),
        ("Where did I live in 2010?", None),
        ("Where did I live as a child?", None),
        ("Where did I park my car?", None),  # asks for the present of a thing
        ("What did I do?", None),
        ("What did I eat?", None),
        ("What did I say?", None),
        ("What was my last question?", None),
        ("Who was Ada Lovelace?", None),
        ("When was I born?", None),
        ("What is my pin?", None),
        ("I lived in Bonn.", None),
        ("what was my " * 5_000, None),
    ],
)
def test_what_is_asked_in_the_past_tense_alone(question: str, present: str | None) -> None:
    assert past_of(question) == present


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


async def answer(*sources: Source, question: str = QUESTION) -> str:
    model = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.5, quotes=3))
    request = ReplyRequest((), question, question, sources)
    return "".join([piece async for piece in model.stream(request)])


async def test_the_answer_says_whether_it_holds_now() -> None:
    assert await answer(NOW, BEFORE) == "Before: “My phone number is 111.” [2]"
    assert await answer(NOW) == f"{ONLY_NOW} You said: “My phone number is 222.” [1]"


def test_a_chat_model_is_told_what_holds_no_more() -> None:
    assert entry(NOW) == "[1] (said by the user)\n> My phone number is 222."
    assert entry(BEFORE) == "[2] (said by the user, no longer so)\n> My phone number is 111."


async def test_what_is_live_no_more_answers_no_question_for_the_present_alone() -> None:
    asked = "What is my phone number?"
    beside = told(3, "My sister is called Ida.")
    assert await answer(BEFORE, question=asked) == "I found nothing about that."
    assert await answer(BEFORE, beside, question=asked) == "I found nothing about that."
    assert (await answer(BEFORE, NOW, question=asked)).startswith("You said: “My phone number is 222.”")


WAS = "What was my phone number?"


async def test_who_asks_in_the_past_tense_is_told_what_holds_and_what_held() -> None:
    assert await answer(BEFORE, NOW, question=WAS) == (
        "Now: “My phone number is 222.” [1]\nBefore: “My phone number is 111.” [2]"
    )


async def test_where_only_one_of_them_is_known_that_is_told() -> None:
    assert await answer(NOW, question=WAS) == "You said: “My phone number is 222.” [1]"
    assert await answer(BEFORE, question=WAS) == "Before: “My phone number is 111.” [2]"
    ghent = told(2, "I used to live in Ghent.")
    assert await answer(ghent, question="Where did I live?") == "You said: “I used to live in Ghent.” [2]"


async def test_what_was_said_otherwise_since_is_told_as_earlier_where_both_are_kept() -> None:
    lim, okafor = told(1, "My dentist is now Dr Lim."), told(2, "My dentist is Dr Okafor.")
    later = replace(lim.passage, created_at=okafor.passage.created_at + timedelta(days=1))
    said = await answer(replace(lim, passage=later), okafor, question="Who was my dentist?")
    assert said == "Now: “My dentist is now Dr Lim.” [1]\nEarlier you said: “My dentist is Dr Okafor.” [2]"


def test_hearsay_and_what_was_only_supposed_are_not_what_held() -> None:
    heard, maybe = told(3, "My boss says my phone number is 333."), told(4, "My phone number might be 444.")
    assert quotes_of_then_and_now(WAS, [heard, maybe, NOW], most=3) == []


CATS = told(1, "I have two cats. Bruno died yesterday.")
WITH_BRUNO = told(2, "I have two cats and a dog called Bruno.", is_live=False)


async def test_of_a_group_is_told_what_it_had_before() -> None:
    said = await answer(CATS, WITH_BRUNO, question="Which pets did I have before?")
    assert said == "Before: “I have two cats and a dog called Bruno.” [2]"
    both = await answer(CATS, WITH_BRUNO, question="Which pets did I have?")
    assert both == f"Now: “I have two cats.” [1]\n{said}"


async def test_who_died_was_had_before_where_both_statements_stand() -> None:
    fish, end = told(1, "I have a fish called Nemo and it is orange."), told(2, "Nemo died.")
    end = replace(end, passage=replace(end.passage, created_at=fish.passage.created_at + timedelta(days=1)))
    said = await answer(fish, end, question="Which pets did I have before?")
    assert said == "Earlier you said: “I have a fish called Nemo and it is orange.” [1]"
    assert (await answer(fish, question="Which pets did I have before?")).startswith(ONLY_NOW)


async def test_an_exchange_that_may_be_meant_answers_in_doubt() -> None:
    swap = told(1, "I swapped my Volvo for a Kia.")
    (quote,) = quotes_of_before("Which car did I have before?", [swap], most=3)
    assert (quote.text, quote.is_sure) == ("I swapped my Volvo for a Kia.", False)
    bought = told(1, "I bought a Kia.")
    assert quotes_of_before("Which car did I have before?", [bought], most=3) == []
    volvo = told(2, "I drive a Volvo.", is_live=False)
    said = await answer(swap, volvo, question="Which car did I have before?")
    assert said == "Before: “I drive a Volvo.” [2]"
