"""The built-in chat model quotes, or says that it found nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import FixedEncoder, source

from agents.backends.extractive import (
    GREETING,
    KEPT,
    NOT_KEPT,
    NOT_SURE,
    NOTED,
    NOTHING_FOUND,
    ExtractiveChat,
    tells,
)
from agents.interfaces import ReplyRequest, Source
from agents.quoting import Quoter
from stores.errors import ModelRefused

QUESTION = "When does the reading room open?"
OPENS = "The reading room opens at 10:00."
LUNCH = "Lunch is served in the cafeteria."

ENCODER = FixedEncoder(
    {
        QUESTION: (1, 0, 0, 0),
        OPENS: (0.8, 0.6, 0, 0),
        LUNCH: (0.1, 0, 0.995, 0),
        "When does the reading room open": (1, 0, 0, 0),
    }
)


async def answer(sources: list[Source], message: str = QUESTION, *, is_kept: bool = True) -> str:
    model = ExtractiveChat(Quoter(ENCODER, threshold=0.5, quotes=3))
    request = ReplyRequest((), message, message, tuple(sources), is_kept)
    return "".join([piece async for piece in model.stream(request)])


async def test_the_best_sentence_is_quoted_with_its_citation() -> None:
    assert await answer([source(1, LUNCH), source(2, f"{LUNCH} {OPENS}")]) == f"“{OPENS}” [2]"


async def test_nothing_probable_is_nothing_found() -> None:
    assert await answer([source(1, LUNCH)]) == NOTHING_FOUND


async def test_what_may_help_is_quoted_with_a_warning() -> None:
    model = ExtractiveChat(Quoter(ENCODER, threshold=0.999, unsure_from=0.5, quotes=3))
    request = ReplyRequest((), QUESTION, QUESTION, (source(1, f"{LUNCH} {OPENS}"),))
    assert "".join([piece async for piece in model.stream(request)]) == f"{NOT_SURE} “{OPENS}” [1]"


async def test_no_sources_is_nothing_found() -> None:
    assert await answer([]) == NOTHING_FOUND


async def test_the_users_own_words_are_quoted_as_theirs() -> None:
    assert await answer([source(1, OPENS, kind="message", space="user:1")]) == f"You said: “{OPENS}” [1]"


async def test_a_question_is_never_quoted_as_an_answer() -> None:
    assert await answer([source(1, QUESTION, kind="message")]) == NOTHING_FOUND


async def test_every_word_of_an_answer_stands_in_a_source() -> None:
    sources = [source(1, f"{OPENS} {LUNCH}"), source(2, OPENS)]
    for line in (await answer(sources)).splitlines():
        quoted = line.split("“")[1].split("”")[0]
        assert any(quoted in s.passage.text for s in sources)


async def test_a_sentence_in_two_sources_is_quoted_once() -> None:
    assert await answer([source(1, OPENS), source(2, OPENS)]) == f"“{OPENS}” [1]"


async def test_what_is_told_is_acknowledged_and_not_looked_up() -> None:
    assert await answer([source(1, OPENS)], "My cat is called Ada.") == NOTED


async def test_a_private_session_says_that_nothing_is_kept() -> None:
    assert await answer([], "My cat is called Ada.", is_kept=False) == NOT_KEPT


async def test_a_schema_cannot_be_filled_by_quoting() -> None:
    with pytest.raises(ModelRefused, match="only quotes"):
        await ExtractiveChat(Quoter(ENCODER, threshold=0.5, quotes=3)).structured([], {})


@pytest.mark.parametrize("message", ["My cat is called Ada.", "I live in Bern", "The office moved to Basel!"])
def test_a_statement_tells(message: str) -> None:
    assert tells(message)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "opening hours",
        "What is my cat's name?",
        "My cat is Ada. What does she eat?",
        "tell me about cats",
    ],
)
def test_a_question_or_bare_words_do_not(message: str) -> None:
    assert not tells(message)


async def test_of_ones_own_words_the_latest_come_first() -> None:
    earlier, later = "The reading room opens at 9:00.", "The reading room opens at 10:00."
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), earlier: (0.8, 0.6, 0, 0), later: (0.8, 0.6, 0, 0)})
    sources = [source(1, earlier, kind="message"), source(2, later, kind="message")]
    newer = replace(sources[1].passage, created_at=sources[1].passage.created_at + timedelta(days=1))
    sources[1] = Source(2, newer)
    best = Quoter(encoder, threshold=0.2, quotes=3).best_quotes(QUESTION, sources)
    assert [quote.text for quote in best] == [later, earlier]


async def test_a_greeting_is_returned() -> None:
    assert await answer([source(1, OPENS)], "Hi!") == GREETING


async def test_what_is_neither_asked_nor_told_is_said_to_be_kept() -> None:
    assert await answer([], "reading room") == f"{NOTHING_FOUND} {KEPT}"


def test_asking_to_remember_tells() -> None:
    assert tells("remember that the wifi password is tulip42")
    assert not tells("Remember when we met?")
