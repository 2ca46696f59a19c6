"""The statements of a user that the reader is to read for a question go before what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FixedJudge, passage
from store_fixtures import Stores
from test_listing import Asking

from agents.base.interfaces import Candidate, Vector
from agents.retrieval.own_statements import GIVEN, OwnStatements
from agents.retrieval.reranker import Order, Reranker
from agents.retrieval.retriever import Retrieved
from stores.base.passages import SHARED, Passage, own_space
from stores.base.statement_links import ReplacedBy
from stores.versions.changes import NewVersion, add_versions, remove_versions
from stores.versions.statements import newest_statements

QUERY: Vector = np.array([1, 0, 0, 0], dtype=np.float32)


class ToldSpace:
    """What one user stated with its cosine, the newest last."""

    def __init__(self, *told: tuple[str, float]) -> None:
        self.told = dict(enumerate(told, start=100))
        self.replaced: dict[int, str] = {}  # what a statement replaced, by its number

    def statements(self, most: int) -> list[tuple[int, str]]:
        return [(i, text) for i, (text, _) in sorted(self.told.items(), reverse=True)][:most]

    def linked(self, passages: Iterable[Passage]) -> dict[int, Passage]:
        gone = {
            900 + one.passage_id: passage(900 + one.passage_id, text, kind="fact", space="user:1")
            for one in passages
            if (text := self.replaced.get(one.passage_id))
        }
        return {
            i: replace(one, replaced_by=(ReplacedBy(one.passage_id - 900, 0.9),)) for i, one in gone.items()
        }

    def passages(self, version_ids: Sequence[int]) -> dict[int, Passage]:
        return {i: passage(i, self.told[i][0], kind="fact", space="user:1") for i in version_ids}

    def similarities(self, vector: Vector, version_ids: Sequence[int]) -> dict[int, float]:
        return {i: self.told[i][1] for i in version_ids if i in self.told}

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        return dict.fromkeys(version_ids, 3.0)


def found(*texts: str) -> Retrieved:
    """Documents that a search came upon, the best with a score of 1, the next with 1/2."""
    candidates = [
        Candidate(passage(i, text), 0.6, 1.0, 0.0, 1 / i, i) for i, text in enumerate(texts, start=1)
    ]
    return Retrieved("the query", QUERY, "fixed-1", tuple(candidates))


def first(space: ToldSpace, near: int = 8, newest: int = 1) -> set[str]:
    """What is put before one document."""
    put = OwnStatements(near=near, newest=newest).put_first(found("A document."), space, [QUERY])
    return {candidate.passage.text for candidate in put.candidates if candidate.given}


def test_the_near_and_the_newest_go_before_what_was_found() -> None:
    space = ToldSpace(("i moved to porto", 0.5), ("i like tea", 0.1), ("ana is in braga", 0.1))
    assert first(space, near=1) == {"i moved to porto", "ana is in braga"}
    assert first(space, near=1, newest=2) == {"i moved to porto", "i like tea", "ana is in braga"}


def test_no_more_are_near_than_are_read() -> None:
    assert first(ToldSpace(("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.0)), near=2) == {"a", "b", "d"}


def test_what_they_replaced_comes_with_them() -> None:
    space = ToldSpace(("i like tea", 0.0), ("back in lisbon", 0.5))
    space.replaced = {100: "i like milk", 101: "i live in porto"}
    put = OwnStatements(newest=1).put_first(found("A document."), space, [QUERY])
    assert {(c.passage.text, c.passage.holds) for c in put.candidates if c.given} == {
        ("i like tea", True),
        ("back in lisbon", True),
        ("i like milk", False),
        ("i live in porto", False),
    }


def test_where_several_are_asked_for_more_are_read_and_those_of_the_days_that_are_named() -> None:
    told = [("dentist on 4 march 2026", 0.0), *((f"near {n}", 0.9) for n in range(30))]
    query = replace(found("A document.", "coffee"), query="what is on in march 2026?")
    message = replace(query.candidates[1].passage, kind="message", space="user:1", version_id=50)
    space = ToldSpace(*told)
    space.told[50] = ("coffee", 0.0)
    found_too = (query.candidates[0], replace(query.candidates[1], passage=message))
    put = OwnStatements(newest=1, languages=Asking("all")).put_first(
        replace(query, candidates=found_too), space, [QUERY]
    )
    given = {candidate.passage.text for candidate in put.candidates if candidate.given}
    assert {"dentist on 4 march 2026", "coffee"} < given
    assert len(given) == 20  # 18 near, the newest among them, and these two


def test_without_statements_all_stays_as_it_was_found() -> None:
    before = found("Homes.")
    assert OwnStatements().put_first(before, ToldSpace(), [QUERY]) is before


def test_a_statement_that_was_found_keeps_its_scores() -> None:
    before = found("Homes.", "i moved to porto")
    space = ToldSpace()
    space.told = {2: ("i moved to porto", 0.5)}
    put = OwnStatements().put_first(before, space, [QUERY])
    assert [c.passage.version_id for c in put.candidates] == [2, 1]
    assert put.candidates[0] == replace(before.candidates[1], given=GIVEN, score=0.5 + GIVEN, found_rank=1)


@pytest.mark.parametrize("order", ["mixed", "classes"])
def test_it_stays_first_whatever_the_judge_says(order: Order) -> None:
    put = OwnStatements().put_first(found("A", "B", "C"), ToldSpace(("porto", 0.5)), [QUERY]).candidates
    judge = FixedJudge({3: "answer", 1: "irrelevant", 2: "relevant"})
    ranked = Reranker(judge, schedule="every_5", budget=4, min_judged=4, order=order).rerank("q", put).order
    assert ranked[0].passage.text == "porto"


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
