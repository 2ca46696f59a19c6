"""What a person orders in plain language is shown with its command, and never done or kept by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from agent_fakes import PERSONAL, FixedEncoder, FixedReader, source
from test_languages import FixedLanguages

from agents.answering.memory_answers import MemoryAnswer, Remembered
from agents.answering.memory_orders import CORRECT, FORGET, NOTHING_MEANT, UNDO, answered_order
from agents.answering.quoting import Quoter
from agents.backends.extractive import ExtractiveChat
from agents.base.chat_interfaces import CitingText, ReplyRequest, Source
from agents.base.citations import Citations
from agents.base.claim_interfaces import Said
from agents.base.interfaces import Sorting
from agents.memory.reader_summarizer import ReaderSummarizer, _claim
from assistant.terminal.actions.undoing import in_shell
from stores.base.passages import SHARED

BELLA = "forget that my cat is called Bella"
NOOR = "no, I meant Noor"
HEADS = FixedLanguages(
    **{
        BELLA: "forget",
        NOOR: "correct",
        "take that back": "undo",
        "I nearly moved to Prague.": "irreal",
    }
)


def answered(message: str, *kinds: str) -> list[str] | None:
    sources = [
        source(number, f"Statement {number}.", kind=kind) for number, kind in enumerate(kinds, start=1)
    ]
    return answered_order(HEADS, message, sources, lambda: read(sources))


def read(sources: list[Source]) -> list[MemoryAnswer]:
    told = [Remembered(s, s.passage.text, (s.passage,)) for s in sources if s.passage.kind != "document"]
    return [MemoryAnswer(one, one.text, 0.5) for one in told]


def test_forgetting_names_what_may_be_meant_with_its_command() -> None:
    found = answered(BELLA, "document", "fact", "message", "note", "fact", "fact")
    assert found is not None
    assert found[0] == FORGET
    assert [line.split(" forgets ")[0].strip() for line in found[1:]] == [
        f"/forget {source(n, '').passage.passage_id}" for n in (2, 4, 5)
    ]
    assert answered(BELLA, "document") == [NOTHING_MEANT]


def test_what_is_shared_is_not_offered() -> None:
    shared = source(1, "The room opens at ten.", kind="fact")
    shared = replace(shared, passage=replace(shared.passage, space=SHARED))
    assert answered_order(HEADS, BELLA, [shared], lambda: read([shared])) == [NOTHING_MEANT]


def test_what_is_far_less_likely_meant_is_not_shown() -> None:
    sources = [source(number, f"Statement {number}.", kind="fact") for number in (1, 2)]
    far = [replace(one, probability=p) for one, p in zip(read(sources), (0.8, 0.02), strict=True)]
    assert len(answered_order(HEADS, BELLA, sources, lambda: far) or []) == 2


def test_a_correction_names_what_it_may_put_itself_in_the_place_of() -> None:
    found = answered(NOOR, "fact", "document")
    assert found is not None
    assert found[0] == CORRECT
    [piece] = found[1:]
    assert isinstance(piece, CitingText)
    assert piece.command == f"/instead {source(1, '').passage.passage_id} {NOOR}"
    assert answered(NOOR, "document") is None  # it is read as what it says


def test_undo_names_the_command_and_all_else_is_no_order() -> None:
    assert answered("take that back", "fact") == [UNDO]
    assert answered("my cat is called Bella", "fact") is None
    assert answered_order(None, BELLA, [], list) is None


@pytest.mark.parametrize(("cosine", "is_order"), [(1.0, False), (0.0, True)])
def test_a_document_that_surely_answers_goes_before_an_order_that_names_nothing(
    cosine: float, is_order: bool
) -> None:
    asked, text = "take that back", "Take that back to the depot."
    encoder = FixedEncoder({asked: (1, 0, 0, 0), text: (cosine, (1 - cosine**2) ** 0.5, 0, 0)})
    heads = FixedLanguages(**{asked: "undo"})
    chat = ExtractiveChat(Quoter(encoder, threshold=0.5, quotes=1), languages=heads)
    request = ReplyRequest((), asked, asked, (source(1, text),))
    said = asyncio.run(_all(chat, request))
    assert (said == UNDO) == is_order
    assert is_order or text in said


async def _all(chat: ExtractiveChat, request: ReplyRequest) -> str:
    return "".join([piece async for piece in chat.stream(request)])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (BELLA, 0),
        ("I nearly moved to Prague.", 0),
        ("I moved to Prague.", 1),
        (NOOR, 1),  # a word against what was told is never lost
    ],
)
def test_orders_and_what_is_not_so_become_no_fact(said: str, kept: int) -> None:
    reader = FixedReader(sorting={said: PERSONAL})
    found = asyncio.run(ReaderSummarizer(reader, HEADS).summarize(Said(said)))
    assert len(found) == kept


@pytest.mark.parametrize(("personal", "irreal", "kept"), [(0.96, 0.55, 1), (0.96, 0.65, 0), (0.9, 0.55, 0)])
def test_what_the_reader_is_sure_of_is_not_so_only_where_the_heads_are_too(
    personal: float, irreal: float, kept: int
) -> None:
    said, [heads] = "I live in Vienna.", HEADS.signs(["I nearly moved to Prague."])
    signs = replace(heads, labels={"irreal": irreal, "self": 1 - irreal})
    claim = _claim(said, Sorting(asks=0, world=0, personal=personal, nothing=1 - personal), signs)
    assert (claim is not None) == kept


def test_a_reply_offers_its_first_command_and_a_chat_model_none() -> None:
    citations = Citations([])
    citations.feed("/undo\n")  # in the words of a model
    assert citations.command == ""
    for piece in (UNDO, CitingText(UNDO, command="/undo"), CitingText("x", command="/forget 2")):
        citations.feed(piece)
    assert citations.command == "/undo"
    assert in_shell("/undo") == "vouch memory undo"
    assert in_shell("/instead 12 no, it's Noor") == """vouch memory instead 12 'no, it'"'"'s Noor'"""
