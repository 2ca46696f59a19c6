"""What a user said of themselves goes first where it gives what is asked for, whatever was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FixedJudge, passage
from store_fixtures import Stores

from agents.interfaces import Candidate, Vector
from agents.own_statements import GIVEN, OwnStatements
from agents.reranker import Order, Reranker
from agents.retriever import Retrieved
from stores.changes import NewVersion, add_versions, remove_versions
from stores.passages import SHARED, Passage, own_space
from stores.statements import newest_statements, replaced_statements

QUERY: Vector = np.array([1, 0, 0, 0], dtype=np.float32)
MOVED = "I moved to Brussels last month."
HEARSAY = "My brother says that I live in Oslo."


class ToldSpace:
    """What one user stated, by version id; the newest has the largest. Every cosine is 0.5, every BM25 3."""

    def __init__(self, *told: str) -> None:
        self.told = dict(enumerate(told, start=100))
        self.replaced: Sequence[str] = ()  # earlier versions
        self.read: list[int] = []  # how many were asked for, each time

    def statements(self, most: int) -> list[tuple[int, str]]:
        self.read.append(most)
        return sorted(self.told.items(), reverse=True)[:most]

    def replaced_statements(self, most: int) -> list[Passage]:
        gone = [passage(i, text, kind="fact", space="user:1") for i, text in enumerate(self.replaced, 900)]
        return [replace(each, is_live=False) for each in gone]

    def passages(self, version_ids: Sequence[int]) -> dict[int, Passage]:
        return {i: passage(i, self.told[i], kind="fact", space="user:1") for i in version_ids}

    def similarities(self, vector: Vector, version_ids: Sequence[int]) -> dict[int, float]:
        return dict.fromkeys(version_ids, 0.5)

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        return dict.fromkeys(version_ids, 3.0)


def found(*texts: str) -> Retrieved:
    """Documents that a search came upon, the best with a score of 1, the next with 1/2."""
    candidates = [
        Candidate(passage(i, text), 0.9, 1.0, 0.0, 1 / i, i) for i, text in enumerate(texts, start=1)
    ]
    return Retrieved("the query", QUERY, "fixed-1", tuple(candidates))


def first(question: str, *told: str, keep: int = 3) -> list[str]:
    """What is put before one document, in its order."""
    put = OwnStatements(keep=keep).put_first(question, found("A document."), ToldSpace(*told))
    return [candidate.passage.text for candidate in put.candidates if candidate.given]


def test_a_statement_that_gives_what_is_asked_for_goes_before_what_was_found() -> None:
    put = OwnStatements().put_first("Where do I live?", found("Homes.", "Towns."), ToldSpace(MOVED))
    assert [c.passage.text for c in put.candidates] == [MOVED, "Homes.", "Towns."]
    assert [c.found_rank for c in put.candidates] == [1, 2, 3]
    told = put.candidates[0]
    assert (told.dense, told.lexical, told.lift, told.given) == (0.5, 3.0, 0.0, GIVEN)
    assert told.score == 0.5 + GIVEN  # as much as the last one found, and what it gives
    assert put.candidates[1:] == tuple(
        replace(c, found_rank=c.found_rank + 1) for c in found("Homes.", "Towns.").candidates
    )


def test_what_was_found_stays_in_its_order() -> None:
    before = found("Homes.", "Where do I live?")
    asked_only = replace(before.candidates[1], score=5.0)  # a question comes last, however alike
    before = replace(before, candidates=(before.candidates[0], asked_only))
    put = OwnStatements().put_first("Where do I live?", before, ToldSpace(MOVED))
    assert [c.passage.text for c in put.candidates] == [MOVED, "Homes.", "Where do I live?"]


def test_a_statement_that_was_found_keeps_its_scores() -> None:
    before = found("Homes.", MOVED)
    space = ToldSpace()
    space.told = {2: MOVED}
    put = OwnStatements().put_first("Where do I live?", before, space)
    assert [c.passage.version_id for c in put.candidates] == [2, 1]
    assert put.candidates[0] == replace(before.candidates[1], given=GIVEN, score=0.5 + GIVEN, found_rank=1)


def test_the_newest_come_first_and_no_more_than_are_kept() -> None:
    told = [f"I moved to {town}." for town in ("Rome", "Bonn", "Turin", "Ghent")]
    assert first("Where do I live?", *told, keep=2) == ["I moved to Ghent.", "I moved to Turin."]


def test_hearsay_is_put_first_only_where_the_user_never_said_so() -> None:
    assert first("Where do I live?", MOVED, HEARSAY) == [MOVED]
    assert first("Where do I live?", HEARSAY) == [HEARSAY]


def test_who_is_named_in_passing_on_is_named_by_the_user() -> None:
    told = "My daughter Giulia says that it rains."
    assert first("What is my daughter's name?", "My aunt says my daughter Ida sings.", told) == [told]


@pytest.mark.parametrize(
    "question", ["Where do my friends live?", "When does the pool open?", "I live in Bonn.", "Brussels"]
)
def test_other_questions_are_left_as_they_are_and_nothing_is_read(question: str) -> None:
    before, space = found("Homes."), ToldSpace(MOVED)
    assert OwnStatements().put_first(question, before, space) is before
    assert space.read == []


def test_who_stated_nothing_of_it_gets_what_was_found_as_it_is() -> None:
    before = found("Homes.")
    assert OwnStatements().put_first("Where do I live?", before, ToldSpace()) is before
    told = ToldSpace("My mother lives in Bonn.", "I like Bonn.")
    assert OwnStatements(read=7).put_first("Where do I live?", before, told) is before
    assert told.read == [7]


def test_a_note_of_several_sentences_gives_what_one_of_them_gives() -> None:
    note = "The boiler is old. My name is Robin.\nI moved to Brussels."
    assert first("Where do I live?", note) == first("What is my name?", note) == [note]


@pytest.mark.parametrize("order", ["mixed", "classes"])
def test_it_stays_first_whatever_the_judge_says(order: Order) -> None:
    put = OwnStatements().put_first("Where do I live?", found("A", "B", "C"), ToldSpace(MOVED)).candidates
    judge = FixedJudge({3: "answer", 1: "irrelevant", 2: "relevant"})
    ranked = Reranker(judge, schedule="every_5", budget=4, min_judged=4, order=order).rerank("q", put).order
    bare = Reranker(judge, schedule="every_5", budget=4, min_judged=4, order=order).rerank(
        "q", found("A", "B", "C").candidates
    )
    assert ranked[0].passage.text == MOVED
    assert [c.passage.text for c in ranked[1:]] == [c.passage.text for c in bare.order]


def test_what_was_replaced_is_put_first_for_who_asks_what_held_before() -> None:
    space = ToldSpace("My phone number is 222.", "I like tea.")
    space.replaced = ["I like milk.", "My phone number is 111.", "My phone number is 000.", "My phone is 99."]
    put = OwnStatements(keep=3).put_first("What was my old phone number?", found("A document."), space)
    assert [(c.passage.text, c.passage.is_live) for c in put.candidates if c.given] == [
        ("My phone number is 222.", True),
        ("My phone number is 111.", False),
        ("My phone number is 000.", False),
    ]
    now = OwnStatements().put_first("What is my phone number?", found("A document."), space)
    assert [c.passage.text for c in now.candidates if c.given] == ["My phone number is 222."]


@pytest.mark.parametrize("question", ["Which pets did I have before?", "Which pets did I have?"])
def test_what_was_replaced_of_a_group_is_put_first_too(question: str) -> None:
    space = ToldSpace("I have two cats. Bruno died yesterday.", "I like tea.")
    space.replaced = ["I like milk.", "I have two cats and a dog called Bruno."]
    put = OwnStatements().put_first(question, found("A document."), space)
    assert [(c.passage.text, c.passage.is_live) for c in put.candidates if c.given] == [
        ("I have two cats. Bruno died yesterday.", True),
        ("I have two cats and a dog called Bruno.", False),
    ]
    now = OwnStatements().put_first("Which pets do I have?", found("A document."), space)
    assert [c.passage.is_live for c in now.candidates if c.given] == [True]


def test_an_exchange_is_put_first_where_nothing_else_tells_what_was_had_before() -> None:
    space = ToldSpace("I swapped my Volvo for a Kia.", "I like tea.")
    put = OwnStatements().put_first("Which car did I have before?", found("A document."), space)
    assert [c.passage.text for c in put.candidates if c.given] == ["I swapped my Volvo for a Kia."]
    space.replaced = ["I drive a Volvo."]
    put = OwnStatements().put_first("Which car did I have before?", found("A document."), space)
    assert [c.passage.text for c in put.candidates if c.given] == ["I drive a Volvo."]


def test_what_took_the_place_of_what_gave_it_goes_first_beside_that() -> None:
    space = ToldSpace("I swapped my Skoda for a Fiat.", "I like the Skoda museum.")
    space.replaced = ["I drive a Skoda.", "I like milk."]
    put = OwnStatements().put_first("What car do I have?", found("A document."), space)
    assert {(c.passage.text, c.passage.is_live) for c in put.candidates if c.given} == {
        ("I swapped my Skoda for a Fiat.", True),
        ("I drive a Skoda.", False),
    }


def test_what_took_its_place_may_share_no_more_than_a_name_with_a_number() -> None:
    space = ToldSpace("I moved from O2 to Vodafone.")
    space.replaced = ["My mobile provider is O2."]
    put = OwnStatements().put_first("What is my mobile provider?", found("A document."), space)
    assert len([c for c in put.candidates if c.given]) == 2


def test_what_was_replaced_stays_away_where_what_holds_is_known_or_nothing_took_its_place() -> None:
    space = ToldSpace("I drive a Fiat.")
    space.replaced = ["I drive a Skoda."]
    put = OwnStatements().put_first("What car do I have?", found("A document."), space)
    assert [c.passage.text for c in put.candidates if c.given] == ["I drive a Fiat."]
    space = ToldSpace("I like tea.")
    space.replaced = ["I drive a Skoda."]
    before = found("A document.")
    assert OwnStatements().put_first("What car do I have?", before, space) is before


# The store


def test_statements_are_the_newest_live_ones_of_ones_own(stores: Stores, ann: int) -> None:
    bob = stores.journal.user_id("bob")
    with stores.database.writing() as sql:

        def add(space: str, *told: tuple[str, str]) -> list[int]:
            new = [NewVersion(text=text, kind=kind) for kind, text in told]
            return add_versions(sql, space, new, author="user", receipt_id=None)

        add(own_space(ann), ("fact", "one"), ("preference", "two"), ("message", "three"), ("note", "four"))
        (gone,) = add(own_space(ann), ("fact", "five"))
        add(own_space(ann), ("correction", "six"), ("document", "seven"))
        add(own_space(bob), ("fact", "eight"))
        add(SHARED, ("fact", "nine"))
        remove_versions(sql, [gone], receipt_id=None)
    with stores.database.reading() as sql:
        told = [text for _, text in newest_statements(sql, own_space(ann), 100)]
        newest = [text for _, text in newest_statements(sql, own_space(ann), 2)]
    assert told == ["six", "four", "two", "one"]
    assert newest == ["six", "four"]  # what is gone counts for nothing


def test_replaced_statements_are_of_the_newest_statements_alone(stores: Stores, ann: int) -> None:
    known, _ = stores.knowledge.remember(ann, "My number is 1.", kind="fact")
    stores.knowledge.edit(ann, known, "My number is 2.")
    stores.knowledge.remember(ann, "My pin is 1.", kind="fact")
    with stores.database.reading() as sql:
        told = [len(replaced_statements(sql, own_space(ann), most)) for most in (1, 2)]
    assert told == [0, 1]  # so that the first word of a reply waits no longer in a larger memory


def test_replaced_statements_are_the_earlier_versions_of_what_is_live(stores: Stores, ann: int) -> None:
    def number(text: str) -> str:
        return f"My number is {text}."

    known, _ = stores.knowledge.remember(ann, number("1"), kind="fact")
    stores.knowledge.edit(ann, known, number("2"))
    stores.knowledge.edit(ann, known, number("3"))
    undone, _ = stores.knowledge.remember(ann, "My pin is 1.", kind="fact")
    stores.knowledge.undo(ann, stores.knowledge.edit(ann, undone, "My pin is 2."))
    gone, _ = stores.knowledge.remember(ann, "My code is 1.", kind="fact")
    stores.knowledge.edit(ann, gone, "My code is 2.")
    stores.knowledge.set_aside(ann, [gone])
    others, _ = stores.knowledge.remember(stores.journal.user_id("bob"), "My hat is 1.", kind="fact")
    stores.knowledge.edit(stores.journal.user_id("bob"), others, "My hat is 2.")
    with stores.database.reading() as sql:
        told = replaced_statements(sql, own_space(ann), 10)
    assert [(p.text, p.kind, p.is_live) for p in told] == [
        (number("2"), "fact", False),
        (number("1"), "fact", False),
    ]
