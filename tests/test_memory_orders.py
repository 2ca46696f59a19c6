"""What a person orders in plain language is shown with its command, and never done or kept by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from agent_fakes import PERSONAL, FixedReader, source
from test_languages import FixedLanguages

from agents.answering.memory_orders import FORGET, NOTHING_MEANT, UNDO, answered_order
from agents.base.claim_interfaces import Said
from agents.memory.reader_summarizer import ReaderSummarizer
from stores.base.passages import SHARED

BELLA = "forget that my cat is called Bella"
HEADS = FixedLanguages(**{BELLA: "forget", "take that back": "undo", "I nearly moved to Prague.": "irreal"})


def answered(message: str, *kinds: str) -> list[str] | None:
    sources = [
        source(number, f"Statement {number}.", kind=kind) for number, kind in enumerate(kinds, start=1)
    ]
    return answered_order(HEADS, message, sources)


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
    assert answered_order(HEADS, BELLA, [shared]) == [NOTHING_MEANT]


def test_undo_names_the_command_and_all_else_is_no_order() -> None:
    assert answered("take that back", "fact") == [UNDO]
    assert answered("my cat is called Bella", "fact") is None
    assert answered_order(None, BELLA, []) is None


@pytest.mark.parametrize(
    ("said", "kept"), [(BELLA, 0), ("I nearly moved to Prague.", 0), ("I moved to Prague.", 1)]
)
def test_orders_and_what_is_not_so_become_no_fact(said: str, kept: int) -> None:
    reader = FixedReader(sorting={said: PERSONAL})
    found = asyncio.run(ReaderSummarizer(reader, HEADS).summarize(Said(said)))
    assert len(found) == kept
