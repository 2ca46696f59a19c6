"""What a user told is read as one page, and one of their statements answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from agent_fakes import NOTHING, FixedReader, source
from hypothesis import given
from hypothesis import strategies as st

from agents.answering.memory_answers import MemoryAnswer, MemoryAnswers
from agents.base.chat_interfaces import Source
from agents.base.memory_page import MemoryPage, Statement, asked_after, said_before
from agents.languages.message_sorting import MessageSorter
from stores.base.statement_links import ReplacedBy


def told(number: int, text: str, month: int = 1, *, kind: str = "fact", newer: float = 0.0) -> Source:
    """newer: how probably statement 1 took its place."""
    one = source(number, text, kind=kind)
    at = datetime(2026, month, 1, tzinfo=UTC)
    by = (ReplacedBy(1, newer),) if newer else ()
    return Source(number, replace(one.passage, created_at=at, replaced_by=by, passage_id=number))


def answered(reader: FixedReader, *sources: Source) -> MemoryAnswer | None:
    found = MemoryAnswers(lambda: reader, MessageSorter(reader)).answers("where do i live", "hi", sources)
    return found[0] if found else None


def test_the_statement_that_holds_the_answer_answers() -> None:
    reader = FixedReader({"lisbon": 0.8})
    found = answered(reader, told(1, "i live in lisbon", 5), told(2, "ana lives in braga", 2))
    assert found is not None
    assert (found.statement.text, found.answer, found.statement.source.number) == (
        "i live in lisbon",
        "lisbon",
        1,
    )
    assert found.probability == pytest.approx(0.8)


def test_the_page_is_in_the_order_of_telling_and_marks_what_no_longer_holds() -> None:
    reader = FixedReader({"lisbon": 0.8})
    answered(reader, told(1, "back in lisbon", 5), told(2, "i live in porto", 2, newer=0.6))
    assert reader.read_passages == ["i live in porto (no longer) | back in lisbon"]


def test_what_perhaps_no_longer_holds_is_not_marked_and_the_newer_is_told_with_it() -> None:
    reader = FixedReader({"porto": 0.8})
    found = answered(reader, told(1, "back in lisbon", 5), told(2, "i live in porto", 2, newer=0.35))
    assert reader.read_passages == ["i live in porto | back in lisbon"]
    assert found is not None
    assert found.later is not None
    assert (found.statement.text, found.later.text, found.is_open) == (
        "i live in porto",
        "back in lisbon",
        True,
    )


def test_a_message_of_which_a_part_no_longer_holds_is_read_in_parts() -> None:
    reader = FixedReader({"rex": 0.8})
    whole = "My dog is rex. We live in Bonn."
    message = told(3, whole, 2, kind="message")
    parts = [told(4, "My dog is rex.", 2), told(5, "We live in Bonn.", 2, newer=0.9)]
    answered(reader, told(1, "We live in Kiel.", 5), message, *parts)
    assert reader.read_passages == ["My dog is rex. | We live in Bonn. (no longer) | We live in Kiel."]


def test_of_messages_all_is_read_but_what_asks() -> None:
    reader = FixedReader({"lisbon": 0.8}, sorting={"what a mess": NOTHING})
    message = told(1, "what a mess\nwhere do i live?\ni live in lisbon", kind="message")
    answered(reader, message)
    assert reader.read_passages == ["what a mess i live in lisbon"]


def test_a_memory_is_read_in_the_message_that_says_it_once() -> None:
    reader = FixedReader({"0.8": 0.8})
    mine, fenjas = told(1, "0.8 for me.", 5), told(2, "0.4 goes to Fenja.", 5)
    mine, fenjas = (
        Source(one.number, replace(one.passage, said_in="0.4 goes to Fenja. 0.8 for me. Who has the rest?"))
        for one in (mine, fenjas)
    )
    leftover = told(3, "0.8 for me.", 5, kind="message")
    found = answered(reader, mine, fenjas, leftover)
    assert reader.read_passages == ["0.4 goes to Fenja. 0.8 for me."]
    assert found is not None
    assert found.statement.source.number == 1


@pytest.mark.parametrize(("newer", "first"), [(0.4, "im in porto now"), (0.3, "i live in lisbon")])
def test_what_took_the_place_of_the_likeliest_goes_before_it_if_half_as_likely(
    newer: float, first: str
) -> None:
    reader = FixedReader({"lisbon": 0.7, "porto": newer})
    messages = [told(3, "i live in lisbon", 2, kind="message"), told(4, "im in porto now", 5, kind="message")]
    statements = [told(1, "im in porto now", 5), told(2, "i live in lisbon", 2, newer=0.6)]
    found = answered(reader, *messages, *statements)
    assert found is not None
    assert found.statement.text == first
    assert reader.read_passages == ["i live in lisbon (no longer) | im in porto now"]


def test_nothing_told_is_no_answer_and_nothing_found_an_improbable_one() -> None:
    assert answered(FixedReader({"lisbon": 0.8})) is None
    found = answered(FixedReader({"lisbon": 0.8}), told(1, "i like tea"))
    assert found is not None
    assert (found.answer, found.probability) == ("", 0.0)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40)
statements = st.lists(st.builds(Statement, texts.filter(str.strip), st.booleans()), min_size=1, max_size=6)


@given(statements)
def test_every_statement_stands_at_its_place(said: list[Statement]) -> None:
    page = MemoryPage(said)
    for number, statement in enumerate(said):
        start, end = page.places[number]
        assert page.text[start:end] == " ".join(statement.text.split())


def test_a_question_is_read_behind_what_was_said_before_it() -> None:
    assert asked_after("and hers?", said_before(["a", "my bike\nis red", "what colour"])) == (
        "and hers? (after: my bike is red what colour)"
    )
    assert asked_after("where?", said_before([])) == "where?"
