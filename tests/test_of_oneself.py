"""Questions for all that is known of whoever asks are answered with their own memories, and nothing else."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import FixedEncoder, source
from store_fixtures import Stores
from test_own_statements import ToldSpace, found

from agents.backends.extractive import NOTHING_KNOWN, WHERE_THE_OTHERS_ARE, ExtractiveChat
from agents.chat_interfaces import ReplyRequest, Source
from agents.of_oneself import MOST_TOLD, asks_for_all
from agents.own_statements import OwnStatements
from agents.quoting import Quoter
from stores.statements import newest_statements

ABOUT_ME = "What do you know about me?"


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        (ABOUT_ME, "about the user"),
        ("what do you remember about me", "about the user"),
        ("Tell me about myself.", "about the user"),
        ("tell me everything you know about me", "about the user"),
        ("What else have you learned about me so far?", "about the user"),
        ("what does vouch know about me?", "about the user"),
        ("Do you know anything about me?", "about the user"),
        ("describe me", "about the user"),
        ("What have you stored about me?", "about the user"),
        ("What have I told you?", "told"),
        ("what did I tell you so far?", "told"),
        ("So what do you remember?", "told"),
        ("list everything I told you", "told"),
        ("What do you know about my sister?", ""),
        ("What did I tell you about my boss?", ""),
        ("What do you know about Lisbon?", ""),
        ("Tell me about yourself.", ""),
        ("What do I know about me?", ""),
        ("What is known about me to other users?", ""),
        ("Forget what you know about me.", ""),
        ("I told you about me.", ""),
        ("What can you do?", ""),
        ("", ""),
    ],
)
def test_who_asks_for_all(question: str, whole: str) -> None:
    assert asks_for_all(question) == whole


def told(number: int, text: str, *, kind: str = "fact") -> Source:
    said = source(number, text, kind=kind)
    return replace(
        said, passage=replace(said.passage, created_at=said.passage.created_at + timedelta(days=number))
    )


async def answer(*sources: Source, question: str = ABOUT_ME, left: int = 0) -> str:
    model = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.5, quotes=3))
    request = ReplyRequest((), question, question, sources, not_put_first=left)
    return "".join([piece async for piece in model.stream(request)])


async def test_ones_own_memories_are_quoted_newest_first_each_with_its_mark() -> None:
    said = await answer(
        told(1, "I live in Bonn."),
        told(2, "My boss says I am getting a raise."),
        told(3, "I might move to Ulm."),
        told(4, "The room closes at six.", kind="document"),
        told(5, "I like tea.", kind="message"),
    )
    assert said.splitlines() == [
        "You only supposed: “I might move to Ulm.” [3]",
        "You said: “I live in Bonn.” [1]",
        "Your boss says so: “My boss says I am getting a raise.” [2]",
    ]


async def test_how_many_more_there_are_and_where_is_told() -> None:
    said = await answer(told(1, "I live in Bonn."), left=4)
    assert said.splitlines() == [
        "You said: “I live in Bonn.” [1]",
        f"And 4 more about you: {WHERE_THE_OTHERS_ARE}.",
    ]
    many = await answer(*(told(number, f"I have {number} hens.") for number in range(1, 11)))
    assert len(many.splitlines()) == MOST_TOLD + 1
    assert many.endswith(f"And 2 more about you: {WHERE_THE_OTHERS_ARE}.")


async def test_what_was_told_of_the_world_is_not_counted_as_about_the_user() -> None:
    said = await answer(told(1, "The room closes at six."), left=4)
    assert said.endswith(f"And 4 more: {WHERE_THE_OTHERS_ARE}.")
    said = await answer(told(1, "I live in Bonn."), question="What have I told you?", left=4)
    assert said.endswith(f"And 4 more: {WHERE_THE_OTHERS_ARE}.")


async def test_where_nothing_is_known_that_is_said_whatever_documents_there_are() -> None:
    assert await answer(told(1, "I live in Bonn.", kind="document")) == NOTHING_KNOWN
    assert await answer(question="tell me about myself") == NOTHING_KNOWN


async def test_what_was_told_of_the_world_is_told_where_all_that_was_told_is_asked_for() -> None:
    sources = told(1, "I live in Bonn."), told(2, "The reading room closes at six.")
    assert "six" not in await answer(*sources)
    assert "six" in await answer(*sources, question="What have I told you?")


def test_the_newest_go_first_and_the_others_are_counted() -> None:
    texts = [f"I have {number} hens." for number in range(11)]
    put = OwnStatements().put_first(ABOUT_ME, found("A document."), ToldSpace("It rains.", *texts))
    assert [c.passage.text for c in put.candidates if c.given] == texts[:2:-1]
    assert put.not_put_first == 3
    nothing = found("A document.")
    assert OwnStatements().put_first(ABOUT_ME, nothing, ToldSpace()) is nothing


def test_another_users_memories_are_never_among_them(stores: Stores, ann: int) -> None:
    bob = stores.journal.user_id("bob")
    stores.knowledge.remember(bob, "I live in Ulm.", kind="fact")
    stores.knowledge.remember(ann, "I live in Bonn.", kind="fact")
    with stores.database.reading() as sql:
        assert [text for _, text in newest_statements(sql, f"user:{ann}", 10)] == ["I live in Bonn."]


@pytest.mark.parametrize("text", ["tell me " * 10_000, "what do you " * 10_000, "everything " * 10 + "about"])
def test_hostile_texts_are_read_fast(text: str) -> None:
    began = time.process_time()
    assert asks_for_all(text) == ""
    assert time.process_time() - began < 10  # seconds: hours where it is not linear
