"""When something was told decides, and not when it was learned: any order ends with the same live facts."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from agent_fakes import ENDS, REPLACES, SAME, UNRELATED, FixedReader
from sqlalchemy import Engine, event, select
from sqlmodel import col
from store_fixtures import DIMENSION, ENCODER, Stores, fake_encode, fresh_database
from test_remembering import Fakes, House

from agents.base.claim_interfaces import Claim, Said
from agents.base.interfaces import Candidate, Relation, Vectors
from agents.base.sentences import sentences
from agents.memory.reader_curator import ReaderCurator
from agents.retrieval.retriever import Fusion, Retriever
from assistant.search.searching import Searching
from assistant.terminal.facts.memory_history import history_as_json, history_lines
from assistant.turns.notices import learned_line
from stores.base.passages import Passage
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims
from stores.claims.decisions import Learned
from stores.conversation.imported_sessions import SessionImport, ToldSession, ToldTurn
from stores.database.database import Database
from stores.database.tables import PassageVersion, Turn, known_id
from stores.memory.statement_links import StatementLinks
from stores.versions.claim_passages import AUTHOR
from stores.versions.told_at import claim_told

Dated = tuple[int, str]  # the year in which it was told, and what


class TopicReader(FixedReader):
    """What is on the topic of an earlier statement ends it where it says "no longer", or else replaces it."""

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        return [relation(said, earlier) for said, earlier in pairs]


def relation(said: str, earlier: str) -> Relation:
    if said == earlier:
        return SAME
    if not topic(said) or topic(said) != topic(earlier):
        return UNRELATED
    return ENDS if "no longer" in said else REPLACES


class Rules(Fakes):
    """Every sentence is a statement about the user, and its topic decides what it changes."""

    async def summarize(self, said: Said) -> list[Claim]:
        return [Claim(one.text, one.text, "fact", "user") for one in sentences(said.message)]

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        return await ReaderCurator(TopicReader()).relate(claim, nearest, later)


class TopicEncoder:
    """Statements on one topic are near each other, all others are not."""

    version = ENCODER
    dimension = DIMENSION

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return encoded(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return encoded(texts)


def encoded(texts: Sequence[str]) -> Vectors:
    """(N, D), unit length; two texts of a topic have a cosine of about 0.7, equal ones of 1."""
    rows = fake_encode([topic(text) for text in texts]) + 0.6 * fake_encode(texts)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def topic(text: str) -> str:
    return next(word for word in ("live", "locker", "cat", "choir", "") if word in text)


class Teller:
    """A user whose conversations of other years are taken in, one after the other."""

    def __init__(self, stores: Stores) -> None:
        self.stores = stores
        self.house = House(stores, Rules())
        encoder, spaces = TopicEncoder(), stores.spaces()
        retriever = Retriever(encoder, keep=10, pool=10, fusion=Fusion(0.5, 0.0, 0.4))
        indexer = stores.indexer(exact_up_to=10_000, encode=encoded)
        shared = stores.shared_index(None, exact_up_to=10_000)
        searching = Searching(encoder, spaces, retriever, indexer, shared)
        self.indexer = indexer
        self.house.searching = searching
        self.user = stores.journal.user_id("ann")

    def learn(self, dated: Dated) -> list[Learned]:
        """What became of it."""
        year, said = dated
        turn = ToldTurn(key="1", follows="", message=said, answer="", at=datetime(year, 5, 1, tzinfo=UTC))
        session = ToldSession(origin="ChatGPT", key=f"{year} {said}", title="t", turns=[turn])
        SessionImport(self.stores.database).take_in(self.user, [session], cut=lambda message: [message])
        return self._work()

    def say(self, said: str) -> list[Learned]:
        """Says it today."""
        self.house.tell(self.user, said)
        return self._work()

    def _work(self) -> list[Learned]:
        before = len(self.house.learned)
        asyncio.run(self.house.run(self.user))
        return self.house.learned[before:]

    @property
    def statements(self) -> list[Passage]:
        space = self.stores.spaces().of(self.user)
        return list(space.passages([version for version, _ in space.statements(100)]).values())

    @property
    def facts(self) -> set[str]:
        """What holds."""
        return {passage.text for passage in self.statements if passage.holds}

    def undo(self, learned: Learned) -> None:
        self.stores.knowledge.undo(self.user, learned.receipt_id)
        self.indexer.catch_up()


@pytest.fixture
def teller(database: Database) -> Teller:
    return Teller(Stores.over(database))


GHENT, LYON, PARIS = "I live in Ghent.", "I live in Lyon.", "I live in Paris."
NOT_GHENT = "I no longer live in Ghent."


def test_what_was_told_years_ago_replaces_nothing_of_today(teller: Teller) -> None:
    teller.say(GHENT)
    [learned] = teller.learn((2023, LYON))
    assert teller.facts == {GHENT}
    assert learned.is_earlier
    assert {passage.text for passage in teller.statements} == {GHENT, LYON}  # both stay


def ends(told: Sequence[Dated]) -> set[str]:
    """What holds once these were learned in this order; all of it stays."""
    with TemporaryDirectory() as folder:
        stores = Stores.over(fresh_database(Path(folder)))
        teller = Teller(stores)
        for dated in told:
            teller.learn(dated)
        facts = teller.facts
        assert {passage.text for passage in teller.statements} == {said for _, said in told}
        stores.database.close()
        return facts


MY_12, MY_13, NO_LOCKER = "My locker is 12.", "My locker is 13.", "I no longer have a locker."
QUIT = "I quit the choir."
CATS, NOT_KIT = "I have three cats: Tom, Jerry and Kit.", "I no longer have Kit."


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ([(2021, LYON), (2023, PARIS), (2026, GHENT)], {GHENT}),
        ([(2020, GHENT), (2023, LYON), (2026, GHENT)], {GHENT}),
        ([(2020, GHENT), (2024, NOT_GHENT)], {NOT_GHENT}),
        ([(2019, LYON), (2020, GHENT), (2024, NOT_GHENT)], {NOT_GHENT}),
        ([(2020, GHENT), (2023, NOT_GHENT), (2024, GHENT)], {GHENT}),
        ([(2020, MY_12), (2024, NO_LOCKER)], {NO_LOCKER}),
        ([(2020, MY_12), (2022, MY_12), (2024, NO_LOCKER)], {NO_LOCKER}),
        ([(2020, MY_12), (2022, MY_13), (2024, NO_LOCKER)], {NO_LOCKER}),
        ([(2020, MY_12), (2022, NO_LOCKER), (2024, MY_13)], {MY_13}),
        ([(2020, MY_12), (2022, NO_LOCKER), (2024, MY_12)], {MY_12}),
        ([(2018, MY_12), (2020, MY_13), (2022, NO_LOCKER), (2024, MY_12)], {MY_12}),
        ([(2020, CATS), (2024, NOT_KIT)], None),
        ([(2020, "I sing in the choir."), (2021, LYON), (2022, QUIT), (2023, PARIS)], {QUIT, PARIS}),
        ([(2021, MY_12), (2021, LYON), (2022, MY_13), (2022, GHENT)], {MY_13, GHENT}),
    ],
)
def test_any_order_of_learning_ends_the_same(told: list[Dated], left: set[str] | None) -> None:
    in_their_order = ends(told)
    assert left is None or in_their_order == left
    for order in list(permutations(told))[:: 1 if len(told) < 4 else 5]:
        assert (order, ends(order)) == (order, in_their_order)


def test_an_old_message_of_two_facts_takes_the_place_of_neither_newer_one(teller: Teller) -> None:
    said = {"My locker is 13.", "I live in Ghent, in a flat on the third floor."}
    for each in sorted(said):
        teller.say(each)
    teller.learn((2023, "My locker is 12 and I live in Lyon."))
    assert teller.facts == said


# Undo


def in_order(teller: Teller, *dated: Dated) -> list[Learned]:
    """Learns each; returns what became of it."""
    return [learned for each in dated for learned in teller.learn(each)]


def test_undoing_what_came_last_brings_back_what_was_told_before_it_and_not_what_was_learned_before(
    teller: Teller,
) -> None:
    first, last, middle = in_order(teller, (2020, LYON), (2026, GHENT), (2023, PARIS))
    teller.undo(last)
    assert teller.facts == {PARIS}
    teller.undo(middle)
    assert teller.facts == {LYON}
    teller.undo(first)
    assert teller.facts == set()


def test_undoing_what_was_kept_as_earlier_changes_nothing_of_today(teller: Teller) -> None:
    _, last, middle = in_order(teller, (2020, LYON), (2026, GHENT), (2023, PARIS))
    teller.undo(middle)
    assert teller.facts == {GHENT}
    teller.undo(last)
    assert teller.facts == {LYON}  # what the earlier one stood between is joined again


def test_undoing_an_earlier_statement_leaves_what_ended_it(teller: Teller) -> None:
    _, earlier = in_order(teller, (2024, NO_LOCKER), (2020, MY_12))
    assert teller.facts == {NO_LOCKER}
    teller.undo(earlier)
    assert teller.facts == {NO_LOCKER}


def test_each_undo_gives_back_what_was_live_before_its_write(teller: Teller) -> None:
    told = [(2024, NOT_GHENT), (2019, LYON), (2020, GHENT), (2022, MY_13), (2021, MY_12), (2025, PARIS)]
    before: list[tuple[Learned, set[str]]] = []
    for each in told:
        facts = teller.facts
        before += [(learned, facts) for learned in teller.learn(each) if learned.receipt_id is not None]
    assert len(before) == len(told)
    for learned, facts in reversed(before):
        teller.undo(learned)
        assert teller.facts == facts


def test_the_notice_says_that_it_is_earlier_and_why(teller: Teller) -> None:
    _, learned = in_order(teller, (2026, GHENT), (2023, LYON))
    assert learned_line(learned, "/undo") == (
        f"Kept as earlier, yours, as {learned.passage_id}: “{LYON}”: you have said something newer since. "
        f"/undo {learned.receipt_id} takes it back."
    )


def test_the_notice_names_in_full_what_no_longer_holds_and_how_both_are_kept(teller: Teller) -> None:
    _, learned = in_order(teller, (2023, LYON), (2026, GHENT))
    assert learned_line(learned, "/undo") == (
        f"Learned, yours, as {learned.passage_id}: “{GHENT}”. Instead of: “{LYON}”. "
        f"/both {learned.passage_id} keeps both. /undo {learned.receipt_id} takes it back."
    )
    StatementLinks(teller.stores.database).keep_both(teller.user, learned.passage_id or 0)
    assert teller.facts == {LYON, GHENT}
    teller.stores.knowledge.undo(teller.user)
    assert teller.facts == {GHENT}


def test_a_date_to_come_is_no_later_than_the_day_on_which_it_was_taken_in(teller: Teller) -> None:
    teller.learn((2999, "I live in Rome."))
    teller.say("I live in Bonn.")
    assert teller.facts == {"I live in Bonn."}


def test_a_message_told_today_is_the_newest_of_all(teller: Teller) -> None:
    in_order(teller, (2023, LYON))
    teller.say(GHENT)
    assert teller.facts == {GHENT}
    in_order(teller, (2024, PARIS))
    assert teller.facts == {GHENT}


def test_no_step_beside_what_was_told_later_begins_while_an_answer_is_given(
    teller: Teller, monkeypatch: pytest.MonkeyPatch
) -> None:
    teller.say("I live in Bonn.")
    answers = teller.house.answers_first
    relate, asked, is_answering = Rules.relate, 0, False

    async def answer() -> None:
        nonlocal is_answering
        with answers.answering():
            is_answering = True
            await asyncio.sleep(0.05)
            is_answering = False

    async def relate_beside_an_answer(
        rules: Rules, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        nonlocal asked
        assert not is_answering
        asked += 1
        decided = await relate(rules, claim, nearest, later)
        answering.append(asyncio.create_task(answer()))
        await asyncio.sleep(0)  # the answer begins
        return decided

    answering: list[asyncio.Task[None]] = []
    monkeypatch.setattr(Rules, "relate", relate_beside_an_answer)
    teller.learn((2021, "I live in Rome."))
    assert asked == 1
    assert teller.facts == {"I live in Bonn."}


# What is told of a date ---------------------------------------------------------------------------


def dates(teller: Teller, kind: str) -> dict[str, datetime]:
    """When what the user may search was told, as an answer reads it."""
    space = teller.stores.spaces().of(teller.user)
    lines = teller.stores.catalogue.lines(teller.user, kind=kind)
    ids = [
        version.id or 0
        for line in lines
        for version in teller.stores.catalogue.history(teller.user, line.passage_id).versions
    ]
    return {passage.text: passage.created_at for passage in space.passages(ids).values()}


def test_a_message_taken_in_and_what_it_taught_were_told_when_it_was_written(teller: Teller) -> None:
    teller.learn((2020, LYON))
    then = datetime(2020, 5, 1, tzinfo=UTC)
    assert dates(teller, "message") == {LYON: then}
    assert dates(teller, "fact") == {LYON: then}
    teller.say(LYON)  # again, today
    assert {passage.created_at > then for passage in teller.statements} == {False, True}


def test_a_message_of_a_date_to_come_was_told_when_it_was_taken_in(teller: Teller) -> None:
    teller.learn((2999, LYON))
    assert {at.year for at in dates(teller, "message").values()} != {2999}


def test_the_history_names_the_date_of_what_was_told_years_ago(teller: Teller) -> None:
    teller.say(GHENT)
    teller.learn((2020, LYON))
    [lyon] = [passage for passage in teller.statements if passage.text == LYON]
    history = teller.stores.catalogue.history(teller.user, lyon.passage_id)
    [version] = [line for line in history_lines(history) if line.startswith("Version")]
    assert "told 01 May 2020" in version
    [link] = [line for line in history_lines(history) if line.startswith("Link")]
    assert f"“{GHENT}”" in link
    [told] = history_as_json(history)["versions"]
    assert told["told_at"] == datetime(2020, 5, 1, tzinfo=UTC).isoformat()


def test_of_many_statements_as_few_queries_tell_when_they_were_told_as_of_one(teller: Teller) -> None:
    for year, liked in enumerate(("tea", "rain", "jazz", "chess", "Rome"), start=2001):
        teller.learn((year, f"I like {liked}."))
    lines = sorted(teller.stores.catalogue.lines(teller.user, kind="fact"), key=lambda line: line.passage_id)
    claims = Claims(teller.stores.database)
    (newest,) = claims.of_passage(teller.user, lines[-1].passage_id)
    with teller.stores.database.reading() as sql:
        versions = sql.scalars(select(PassageVersion).where(col(PassageVersion.author) == AUTHOR)).all()
        ids = [known_id(version.id) for version in versions]
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        asked.append(statement)

    def asked_for(some: list[int]) -> int:
        asked.clear()
        assert not claims.told_later(teller.user, newest.id or 0, some)
        return len(asked)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert asked_for(ids[:1]) == asked_for(ids) > 0
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert len(ids) == len(lines) == 5


def test_a_claim_of_a_turn_was_told_with_the_turn_and_one_that_was_taught_when_it_was_made() -> None:
    early, late = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC)
    turn: Any = SimpleNamespace(accepted_at=early)
    sql: Any = SimpleNamespace(get=lambda table, key: turn if (table, key) == (Turn, 7) else None)

    def told(origin: str, turn_id: int | None, at: datetime) -> tuple[datetime, int, int]:
        claim: Any = SimpleNamespace(origin=origin, turn_id=turn_id, number=2, created_at=at)
        return claim_told(sql, claim)

    assert told("turn", 7, late) == (early, 7, 2)
    assert told("turn", 7, early - (late - early)) == (early - (late - early), 7, 2)
    assert told("taught", 7, late) == (late, 7, 2)
    assert told("turn", None, late) == (late, 0, 2)
