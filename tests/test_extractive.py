"""The built-in chat model quotes, or says that it found nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import FixedEncoder, FixedReader, source

from agents.backends.extractive import (
    FORGETTING,
    GOODBYE,
    GREETING,
    KEPT,
    NOT_KEPT,
    NOT_SURE,
    NOTED,
    NOTHING_FOUND,
    NOTHING_KNOWN,
    WELCOME,
    WHERE_TO_LOOK,
    ExtractiveChat,
)
from agents.chat_interfaces import ReplyRequest, Source
from agents.quoting import Quoter
from agents.readings import Readings
from agents.responder import Citations
from agents.statements import tells
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


REFERENCES = ["[1]", "[31]", "[31?]", "[2, 3]", "[4-6]", "[1] [2]", "(Figure 2-A) [31]"]


@pytest.mark.parametrize("reference", REFERENCES)
async def test_the_reference_numbers_of_a_quotation_are_no_citations(reference: str) -> None:
    text = f"The reading room opens at 10:00 {reference}."
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), LUNCH: (0, 1, 0, 0), text: (1, 0, 0, 0)})
    model = ExtractiveChat(Quoter(encoder, threshold=0.5, quotes=3))
    sources = (source(1, LUNCH), source(2, text))
    citations = Citations(sources)
    pieces = [piece async for piece in model.stream(ReplyRequest((), QUESTION, QUESTION, sources))]
    shown = "".join([*map(citations.feed, pieces), citations.rest()])
    assert shown == f"“{text}” [2]"
    assert (citations.cited, citations.invented) == ([2], [])


async def test_what_was_told_and_how_to_forget_it_cite_only_their_sources() -> None:
    text = "My desk is number [7] of [2]."
    encoder = FixedEncoder({"my desk": (1, 0, 0, 0), text: (1, 0, 0, 0)})
    model = ExtractiveChat(Quoter(encoder, threshold=0.5, quotes=3))
    sources = (source(2, LUNCH), source(3, text, kind="note"))
    for message in ("What have I told you?", "Forget my desk."):
        citations = Citations(sources)
        pieces = [piece async for piece in model.stream(ReplyRequest((), message, message, sources))]
        assert f"“{text}” [3]" in "".join(map(citations.feed, pieces))
        assert (citations.cited, citations.invented) == ([3], [])


async def test_what_may_help_is_quoted_with_a_warning() -> None:
    model = ExtractiveChat(Quoter(ENCODER, threshold=0.999, unsure_from=0.5, quotes=3))
    request = ReplyRequest((), QUESTION, QUESTION, (source(1, f"{LUNCH} {OPENS}"),))
    assert "".join([piece async for piece in model.stream(request)]) == f"{NOT_SURE} “{OPENS}” [1]"


async def test_no_sources_is_nothing_found() -> None:
    assert await answer([]) == NOTHING_FOUND


async def test_who_asks_of_vouch_in_vain_is_told_where_to_look() -> None:
    assert await answer([], "How do I rename a session?") == f"{NOTHING_FOUND} {WHERE_TO_LOOK}"
    assert await answer([], "Is Vouch hungry?") == f"{NOTHING_FOUND} {WHERE_TO_LOOK}"
    assert await answer([], "Who is Ada's teacher?") == NOTHING_FOUND


async def test_the_users_own_words_are_quoted_as_theirs() -> None:
    assert await answer([source(1, OPENS, kind="message", space="user:1")]) == f"You said: “{OPENS}” [1]"
    as_said = source(1, OPENS, kind="fact", space="user:1")
    reworded = replace(as_said, passage=replace(as_said.passage, is_reworded=True))
    assert await answer([reworded]) == f"As I have it: {OPENS} [1]"


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


async def test_a_wish_that_a_program_can_fulfil_is_looked_up() -> None:
    assert await answer([], "download my chat") != NOTED
    assert await answer([], "I want to remove a conversation") == f"{NOTHING_FOUND} {KEPT}"


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


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Hi!", GREETING),
        ("Hello there", GREETING),
        ("Good morning!", GREETING),
        ("Thanks a lot!", WELCOME),
        ("Great, thank you.", WELCOME),
        ("Thanks, that's all.", WELCOME),
        ("Good night!", GOODBYE),
        ("Thanks, bye!", GOODBYE),
        ("See you tomorrow", GOODBYE),
    ],
)
async def test_a_courtesy_is_returned(message: str, expected: str) -> None:
    assert await answer([source(1, OPENS)], message) == expected


@pytest.mark.parametrize(
    "message", ["Thanks to my aunt I have a car.", "I said hi to my boss.", "Bye is my dog."]
)
async def test_what_only_opens_like_a_courtesy_is_none(message: str) -> None:
    assert await answer([], message) == NOTED


@pytest.mark.parametrize(
    "message", ["What do you know about me?", "What have I told you?", "So what do you remember?"]
)
async def test_who_asks_what_is_known_where_nothing_is_learns_that(message: str) -> None:
    assert await answer([source(1, LUNCH)], message) == NOTHING_KNOWN


async def test_what_is_neither_asked_nor_told_is_said_to_be_kept() -> None:
    assert await answer([], "reading room") == f"{NOTHING_FOUND} {KEPT}"


def test_asking_to_remember_tells() -> None:
    assert tells("remember that the wifi password is tulip42")
    assert not tells("Remember when we met?")


@pytest.mark.parametrize(
    "message",
    [
        "Forget where I work.",
        "please forget my address",
        "Can you forget my address?",
        "I want you to forget what I told you about Ada.",
        "Delete what you know about my job.",
        "Don't remember my address.",
        "Thanks. Forget my address.",
    ],
)
async def test_who_asks_to_forget_is_told_how_and_never_that_it_is_noted(message: str) -> None:
    said = await answer([], message)
    assert said.startswith(FORGETTING)
    assert "/forget" in said
    assert NOTED not in said


async def test_what_may_be_meant_to_be_forgotten_is_named_by_its_number() -> None:
    sources = [source(1, OPENS), source(2, OPENS, kind="fact", space="user:1")]
    said = await answer(sources, f"Forget {QUESTION[:-1].lower().replace('when', 'When')}.")
    assert f"/forget 2 takes away “{OPENS}” [2]" in said
    assert "[1]" not in said  # what is shared is not theirs to forget


@pytest.mark.parametrize("message", ["Don't forget that my cat is called Ada.", "I forgot my keys at work."])
async def test_to_remember_and_to_have_forgotten_ask_for_nothing_to_be_forgotten(message: str) -> None:
    assert await answer([], message) == NOTED


async def test_what_the_message_itself_states_answers_its_question() -> None:
    assert await answer([source(1, LUNCH)], f"{OPENS} {QUESTION}") == f"You just said: “{OPENS}”"


async def test_what_the_message_states_of_something_else_does_not() -> None:
    assert await answer([source(1, OPENS)], f"{LUNCH} {QUESTION}") != f"You just said: “{LUNCH}”"


async def test_a_document_that_answers_stands_beside_what_the_message_states() -> None:
    other = "The reading room opens at 9:00."
    encoder = FixedEncoder(
        {
            QUESTION: (1, 0, 0, 0),
            f"{OPENS} {QUESTION}": (1, 0, 0, 0),
            OPENS: (0.8, 0.6, 0, 0),
            other: (0.8, 0.6, 0, 0),
        }
    )
    model = ExtractiveChat(Quoter(encoder, threshold=0.3, quotes=3))
    message = f"{OPENS} {QUESTION}"
    request = ReplyRequest((), message, message, (source(1, other),))
    said = "".join([piece async for piece in model.stream(request)])
    assert said == f"You just said: “{OPENS}”\n“{other}” [1]"


def told(number: int, text: str, *, day: int) -> Source:
    one = source(number, text, kind="fact")
    return Source(number, replace(one.passage, created_at=one.passage.created_at + timedelta(days=day)))


@pytest.mark.parametrize("threshold", [0.2, 0.999])
def test_the_latest_value_is_quoted_though_another_sentence_answers_better(threshold: float) -> None:
    old, new = "My desk is number 12.", "My desk is number 14 now."
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), old: (0.9, 0.43, 0, 0), new: (0.3, 0.95, 0, 0)})
    quoter = Quoter(encoder, threshold=threshold, unsure_from=0.01, quotes=3)
    best = quoter.best_quotes(QUESTION, [told(1, old, day=1), told(2, new, day=2)])
    assert best[0].text == new
    earlier = quoter.best_quotes(QUESTION, [told(1, old, day=2), told(2, new, day=1)])
    assert earlier[0].text == old


def test_what_somebody_else_said_later_comes_behind_what_the_user_said() -> None:
    own, heard = "We live in Rome.", "My boss says I live in Bonn."
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), own: (0.9, 0.43, 0, 0), heard: (0.9, 0.43, 0, 0)})
    quoter = Quoter(encoder, threshold=0.2, quotes=3)
    best = quoter.best_quotes(QUESTION, [told(1, own, day=1), told(2, heard, day=2)])
    assert [quote.text for quote in best] == [own, heard]


def test_what_gives_the_very_thing_asked_for_answers_in_whatever_words() -> None:
    moved = "I moved to Bonn last week."
    quoter = Quoter(FixedEncoder({"Where do I live?": (1, 0, 0, 0)}), threshold=0.5, quotes=3)
    assert [q.text for q in quoter.best_quotes("Where do I live?", [told(1, moved, day=1)])] == [moved]
    assert quoter.best_quotes("Where do I live?", [told(1, "My boss moved to Bonn.", day=1)]) == []
    assert quoter.best_quotes("Where do I live?", [source(1, moved)]) == []  # of a document, it is not theirs


def test_what_asks_to_forget_is_never_quoted() -> None:
    asks = "Forget where I live."
    encoder = FixedEncoder({"Where do I live?": (1, 0, 0, 0), asks: (1, 0, 0, 0)})
    assert (
        Quoter(encoder, threshold=0.0, quotes=3).best_quotes("Where do I live?", [told(1, asks, day=1)]) == []
    )


async def test_hearsay_is_quoted_with_who_says_it_and_named_no_answer() -> None:
    heard = "My brother says the reading room opens at nine."
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), heard: (1, 0, 0, 0)})
    model = ExtractiveChat(
        Quoter(encoder, threshold=0.2, quotes=3, readings=Readings(FixedReader({"at nine": 0.9})))
    )
    said = source(1, heard, kind="fact")
    request = ReplyRequest((), QUESTION, QUESTION, (said,))
    assert [piece async for piece in model.stream(request)] == [f"Your brother says so: “{heard}” [1]"]
    request = ReplyRequest((), QUESTION, QUESTION, (source(1, heard),))  # a document speaks for itself
    assert [piece async for piece in model.stream(request)] == [f"at nine. “{heard}” [1]"]
