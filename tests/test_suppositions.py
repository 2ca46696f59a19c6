"""What is only supposed or wished is no fact: it is not learned, and quoted as what it is."""

from __future__ import annotations

import pytest
from agent_fakes import FixedEncoder, source
from hypothesis import given
from hypothesis import strategies as st

from agents.backends.extractive import NOTHING_FOUND, ExtractiveChat
from agents.chat_interfaces import ReplyRequest
from agents.claim_rules.statements import stated_in
from agents.claim_rules.suppositions import asks_for_suppositions, supposition
from agents.quoting import Quoter

BOAT = "If I had a boat I would call it Zed."
SUPPOSED = [
    BOAT,
    "I would call my boat Zed if I had one.",
    "Suppose I lived in Rome.",
    "Maybe I will move to Bern.",
    "I live in Rome, maybe.",
    "I might call it Zed.",
    "Imagine I had a boat called Zed.",
    "Had I a boat, I would call it Zed.",
    "We may move to Bern.",
    "I'd name the boat Zed.",
    "My sister would call the dog Rex.",
    "I could move to Bern.",
    "I'm thinking of moving to Bern.",
    "Well, perhaps we will buy a boat.",
    "In my novel I live in Rome.",
    "If I had a boat and I could sail I would call it Zed.",
    "I would call my boat Zed and I might sell it.",
    "Suppose I had a boat and I might sell it.",
    "I bet my dog would win.",
]
WISHED = [
    "I wish I had a dog called Rex.",
    "I would like a dog.",
    "I’d love a dog called Rex.",
    "I hope to live in Rome one day.",
    "If only my dog were called Rex.",
    "My dream is a house in Rome.",
    "I dream of a boat called Zed.",
    "We want a dog called Rex.",
]
STATED = [
    "I have a dog called Rex.",
    "I would rather have tea than coffee.",
    "I'd like tea better than coffee.",
    "As a child I would swim every day.",
    "I could swim when I was five.",
    "I may not eat nuts.",
    "My birthday is on 3 May.",
    "May is my favourite month.",
    "If it rains I take the bus.",
    "I want my answers short.",
    "I want short answers.",
    "I hope my sister Ann is well.",
    "Picture books are my hobby.",
    "My sister wishes she had a dog.",
    "I wish you a good day.",
    "I'd been to Rome twice.",
    "My wife would not eat meat.",
    "I could not live without my insulin.",
    "I would die without my inhaler.",
    "I moved to Bonn so that I could study law.",
    "I have what I would call a bad knee.",
    "I have a sister I would die for.",
    "I could work from home since 2020.",
    "I'd choose tea over coffee.",
    "I'd like you to call me Sam.",
    "I want to say that my wife is Nora.",
    "I may have told you that my wife is Nora.",
    "My dream is over, I was fired.",
    "I dream of my late wife every night.",
    "I assume the role of treasurer in May.",
    "I bet on horses every Sunday.",
    "My name is Will and I may need help.",
    "I have two dogs and I might get a third.",
    "I am 45 and maybe the oldest here.",
    "The bridge would carry trains until 1950.",
    "Will works at the mill.",
    "I am allergic to hope-flowers.",
]


@pytest.mark.parametrize("sentence", SUPPOSED)
def test_what_is_supposed(sentence: str) -> None:
    assert supposition(sentence) == "supposed"
    assert stated_in(sentence) is None


@pytest.mark.parametrize("sentence", WISHED)
def test_what_is_wished(sentence: str) -> None:
    assert supposition(sentence) == "wished"
    assert stated_in(sentence) is None


@pytest.mark.parametrize("sentence", ["I want to learn Welsh.", "I would like to visit Rome."])
def test_what_somebody_means_to_do_is_learned_and_quoted_as_a_wish(sentence: str) -> None:
    assert supposition(sentence) == "wished"
    assert stated_in(sentence) is not None


@pytest.mark.parametrize("sentence", STATED)
def test_what_is_stated_is_neither(sentence: str) -> None:
    assert supposition(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "question", "how"),
    [
        ("I live in Bonn, but I might move to Rome.", "Where do I live?", None),
        ("I live in Bonn, but I might move to Rome.", "Where do I move to?", "supposed"),
        ("I wish I had a dog called Rex, but I have a cat called Tom.", "What is my cat called?", None),
        ("I wish I had a dog called Rex, but I have a cat called Tom.", "What is my dog called?", "wished"),
    ],
)
def test_of_a_sentence_that_turns_the_part_that_is_asked_for_counts(
    sentence: str, question: str, how: str | None
) -> None:
    assert supposition(sentence, question) == how


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What would I call my boat?", True),
        ("What do I want?", True),
        ("Where might I move to?", True),
        ("What is my boat called?", False),
        ("Would you tell me what my boat is called?", False),
    ],
)
def test_a_question_may_ask_for_what_is_supposed(question: str, asks: bool) -> None:
    assert asks_for_suppositions(question) is asks


@given(st.text(max_size=500))
def test_any_text_can_be_looked_at(text: str) -> None:
    supposition(text, text)


NEAR, FAR = (0.8, 0.6, 0, 0), (0.1, 0, 0.99, 0)
ASKED = "What is my boat called?"
WOULD = "What would I call my boat?"


async def answer(*told: str, question: str = ASKED, message: str = "", far: str = "") -> str:
    """What is answered from these own messages, of which each is near to the question but for `far`."""
    known = {ASKED: (1, 0, 0, 0), WOULD: (1, 0, 0, 0)} | dict.fromkeys(told, NEAR) | {far: FAR}
    known |= dict.fromkeys([BOAT], NEAR)
    model = ExtractiveChat(Quoter(FixedEncoder(known), threshold=0.5, quotes=3))
    sources = tuple(source(number, text, kind="message") for number, text in enumerate(told, start=1))
    request = ReplyRequest((), message or question, question, sources)
    return "".join([piece async for piece in model.stream(request)])


async def test_what_is_only_supposed_is_quoted_as_that() -> None:
    assert await answer(BOAT) == f"You only supposed: “{BOAT}” [1]"


async def test_what_is_only_wished_is_quoted_as_that() -> None:
    wish = "I wish I had a boat called Zed."
    assert await answer(wish) == f"You only wished: “{wish}” [1]"


async def test_what_was_said_to_be_so_is_quoted_alone() -> None:
    assert await answer(BOAT, "My boat is called Ann.") == "You said: “My boat is called Ann.” [2]"


async def test_what_is_supposed_and_far_from_the_question_is_nothing() -> None:
    far = "If I had a cat I would call it Tom."
    assert await answer(far, far=far) == NOTHING_FOUND


async def test_who_asks_for_what_was_supposed_is_told_plainly() -> None:
    assert await answer(BOAT, question=WOULD) == f"You said: “{BOAT}” [1]"


async def test_a_document_that_supposes_is_quoted_like_any_other() -> None:
    model = ExtractiveChat(Quoter(FixedEncoder({ASKED: (1, 0, 0, 0), BOAT: NEAR}), threshold=0.5, quotes=3))
    request = ReplyRequest((), ASKED, ASKED, (source(1, BOAT),))
    assert "".join([piece async for piece in model.stream(request)]) == f"“{BOAT}” [1]"


async def test_what_a_message_supposes_beside_its_question_is_not_taken_for_said() -> None:
    said = await answer(message=f"{BOAT} {ASKED}")
    assert said == f"You only supposed: “{BOAT}”"
    known = "My boat is called Ann."
    assert await answer(known, message=f"{BOAT} {ASKED}") == f"You said: “{known}” [1]"
