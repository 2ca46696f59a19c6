"""What statements do to each other: derived, said by a person, and made of versions of earlier releases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession
from store_fixtures import Stores, assert_words_are_exact
from test_claims import LOCKER, UNKNOWN, state

import stores.database.database as database_module
from stores.base.errors import NotFound, WrongUsage
from stores.base.statement_links import LINK_KINDS, PERHAPS_FROM, READ_FROM, Link, NewLink, replaced_by
from stores.database.database import Database, before_links
from stores.forgetting.forgetting import Forgetting
from stores.memory.statement_links import StatementLinks
from stores.words.lexical import add_words

kinds = st.sampled_from(LINK_KINDS)
links = st.lists(
    st.builds(
        Link,
        newer=st.integers(5, 7),
        older=st.integers(1, 3),
        kind=kinds,
        probability=st.floats(0, 1),
        by=st.just("reader"),
        id=st.integers(1, 50),
    ),
    max_size=8,
)


@given(links)
def test_standing_is_of_each_pair_alone_and_a_probability(found: list[Link]) -> None:
    standing = replaced_by(found)
    for older, newer in standing.items():
        assert all(PERHAPS_FROM <= one.probability <= 1 for one in newer)
        assert [one.probability for one in newer] == sorted((one.probability for one in newer), reverse=True)
        for one in newer:
            pair = [link for link in found if (link.older, link.newer) == (older, one.passage_id)]
            assert replaced_by(pair) == {older: (one,)}


@given(links, kinds)
def test_what_a_person_said_last_of_a_pair_counts_alone(found: list[Link], kind: Any) -> None:
    said = [Link(5, 1, "replaces", 1.0, "user", 100), Link(5, 1, kind, 1.0, "user", 101)]
    standing = {one.passage_id for one in replaced_by([*found, *said]).get(1, ())}
    assert (5 in standing) == (kind in ("replaces", "ends"))


def test_replacing_and_ending_are_one_chance_that_it_no_longer_holds() -> None:
    both = [Link(2, 1, "replaces", 0.3, "reader", 1), Link(2, 1, "ends", 0.25, "reader", 2)]
    [one] = replaced_by(both)[1]
    assert one.probability == pytest.approx(0.55)
    assert one.probability >= READ_FROM


# What a person says


@pytest.fixture
def pair(stores: Stores, ann: int) -> tuple[int, int]:
    """A statement, and one that took its place."""
    older = state(stores, ann, LOCKER).passage_id or 0
    link = NewLink(older, False, "replaces", 0.9, "test")
    return older, state(
        stores, ann, "My locker number is 310.", replace(UNKNOWN, links=[link])
    ).passage_id or 0


def holding(stores: Stores, user: int) -> set[str]:
    space = stores.spaces().of(user)
    found = space.passages([version for version, _ in space.statements(100)])
    return {passage.text for passage in found.values() if passage.holds}


@pytest.mark.parametrize("named", [0, 1])
def test_both_hold_once_a_person_says_so_until_that_is_undone(
    stores: Stores, ann: int, pair: tuple[int, int], named: int
) -> None:
    receipt, [other] = StatementLinks(stores.database).keep_both(ann, pair[named])
    assert other.passage_id == pair[1 - named]
    assert len(holding(stores, ann)) == 2
    with pytest.raises(NotFound, match="takes the place of nothing"):
        StatementLinks(stores.database).keep_both(ann, pair[named])
    stores.knowledge.undo(ann, receipt)
    assert holding(stores, ann) == {"My locker number is 310."}


def test_a_person_links_what_no_reader_did(stores: Stores, ann: int, bob: int) -> None:
    one, other = (state(stores, ann, said).passage_id or 0 for said in ("It is red.", "It is blue."))
    said = StatementLinks(stores.database)
    receipt = said.say(ann, other, one, "ends")
    assert holding(stores, ann) == {"It is blue."}
    [linked] = said.of(ann, one)
    assert (linked.passage.text, linked.link.kind, linked.is_newer, linked.counts) == (
        "It is blue.",
        "ends",
        True,
        True,
    )
    assert said.of(bob, one) == []
    for user, ends in ((bob, (one, other)), (ann, (one, 999))):
        with pytest.raises(NotFound):
            said.say(user, *ends, "ends")
    with pytest.raises(WrongUsage, match="between two statements"):
        said.say(ann, one, one, "ends")
    stores.knowledge.undo(ann, receipt)
    assert holding(stores, ann) == {"It is red.", "It is blue."}


def test_what_a_person_writes_takes_the_place_of_a_statement(stores: Stores, ann: int, bob: int) -> None:
    said, noor = StatementLinks(stores.database), "no, I meant Noor"
    nora = state(stores, ann, "My sister is called Nora.").passage_id or 0
    noted, receipt = said.instead(ann, nora, noor)
    assert holding(stores, ann) == {noor}
    stores.knowledge.undo(ann, receipt)
    assert holding(stores, ann) == {"My sister is called Nora."}
    heard = state(stores, ann, noor).passage_id
    assert said.instead(ann, nora, noor)[0] == heard != noted  # what was said since is not kept twice
    assert stores.knowledge.receipts(ann, limit=1)[0].summary == f"{heard} in the place of {nora}"
    for user, older in ((bob, nora), (ann, 999)):
        with pytest.raises(NotFound):
            said.instead(user, older, noor)
    with pytest.raises(WrongUsage, match="nothing is written"):
        said.instead(ann, nora, "  ")


def test_what_is_set_aside_takes_no_place(stores: Stores, ann: int, pair: tuple[int, int]) -> None:
    aside = stores.knowledge.set_aside(ann, [pair[1]])
    assert holding(stores, ann) == {LOCKER}
    stores.knowledge.undo(ann, aside.receipt_id)
    assert holding(stores, ann) == {"My locker number is 310."}


# The versions of earlier releases

_WHEN = "2026-03-0{} 09:00:00"


class Earlier:
    """A database of the schema before links, written row by row as that release did."""

    def __init__(self, sql: Any) -> None:
        self._sql = sql
        self.put("users", id=1, name="ann", created_at=_WHEN.format(1))
        self.put("sessions", id=1, user_id=1, title="", draft="", is_private=False,
            created_at=_WHEN.format(1),
        )  # fmt: skip

    def put(self, table: str, **values: Any) -> None:
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        self._sql.execute(text(f"INSERT INTO {table}({names}) VALUES ({marks})"), values)

    def receipt(self, number: int, action: str, *, reason: str = "", is_undone: bool = False) -> None:
        self.put(
            "receipts", id=number, public_id=f"{number:032}", user_id=1, action=action, space="user:1",
            summary="s", grounds=f'{{"reason": "{reason}"}}', created_at=_WHEN.format(1),
            undone_at=_WHEN.format(9) if is_undone else None,
        )  # fmt: skip

    def passage(self, number: int) -> None:
        self.put(
            "passages", id=number, public_id=f"{number:032}", space="user:1", kind="fact", external_id="",
            created_at=_WHEN.format(1),
        )  # fmt: skip

    def version(
        self, number: int, of: int, at: int, said: str, by: int, gone: int | None = None, author: str = ""
    ) -> None:
        """at: its number in the passage. by, gone: the receipts that added and removed it."""
        self.put(
            "passage_versions", id=number, passage_id=of, position=0, space="user:1", number=at, title="",
            text=said, text_hash="", author=author or "remembering", created_at=_WHEN.format(min(9, 1 + at)),
            added_by=by, removed_by=gone, removed_at=None if gone is None else _WHEN.format(2 + at),
        )  # fmt: skip

    def claim(self, number: int, of: int, receipt: int | None, said: str, day: int) -> None:
        self.put(
            "turns", id=number, public_id=f"{number:032}", session_id=1, user_id=1, message=said,
            state="done", answer="", material="", standalone="", model="", failure="", details="{}",
            accepted_at=_WHEN.format(day),
        )  # fmt: skip
        self.put(
            "claims", id=number, user_id=1, turn_id=number, origin="turn", number=1, text=said, text_key="",
            quote=said, kind="fact", about="user", is_hearsay=False, passage_id=of, receipt_id=receipt,
            state="confirmed" if receipt is None else "stored", status="unknown", confidence=1, scope="yours",
            action="add", grounds="{}", created_at=_WHEN.format(9),
        )  # fmt: skip


@pytest.fixture(params=["sqlite", "postgresql"])
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of the release before, with statements that replaced each other."""
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    url = server.new_database() if server else f"sqlite:///{tmp_path / 'old.db'}"
    engine = database_module._engine(url)
    database_module._migrate(engine, "0008")
    with engine.execution_options(vouch_writes=True, vouch_migrates=True).begin() as sql:
        old = Earlier(sql)
        for number, action in enumerate(("add", "modify", "modify", "modify", "modify"), start=1):
            old.receipt(
                number, action, reason="it ends 'x', with a probability of 0.80" if number == 2 else ""
            )
        old.passage(10)  # Ghent, then not Ghent; edited by hand; Lyon, told before both, learned last
        old.version(100, 10, 1, "I live in Ghent.", 1, gone=4)
        old.version(101, 10, 2, "I left Ghent.", 2, gone=3)
        old.version(102, 10, 3, "I left Ghent in May.", 3, author="user")
        old.version(103, 10, 4, "I live in Lyon.", 4, gone=2)
        old.claim(1, 10, 1, "I live in Ghent.", 4)
        old.claim(2, 10, 2, "I left Ghent.", 6)
        old.claim(3, 10, 4, "I live in Lyon.", 5)
        old.claim(4, 10, None, "I have left Ghent.", 7)
        for number, action in ((11, "add"), (12, "modify"), (13, "delete")):
            old.receipt(number, action)
        old.passage(20)  # set aside, with what it had replaced
        old.version(200, 20, 1, "My cat is Tom.", 11, gone=12)
        old.version(201, 20, 2, "My cat is Kit.", 12, gone=13)
        old.receipt(21, "add")
        old.receipt(22, "modify", is_undone=True)
        old.passage(30)  # a change that was undone
        old.version(300, 30, 1, "I like tea.", 21)
        old.version(301, 30, 2, "I like milk.", 22, gone=22)
        add_words(SqlSession(sql), "user:1", {102: "I left Ghent in May.", 300: "I like tea."})
    engine.dispose()
    yield url
    if server:
        server.drop(url)


def test_versions_that_replaced_become_statements_with_links(earlier: str) -> None:
    with_links = Database(earlier, migrates=True)
    try:
        _look_through(with_links)
        _look_at_the_copy(with_links)
    finally:
        with_links.close()


def _look_through(with_links: Database) -> None:
    stores, ann = Stores.over(with_links), 1
    lines = {line.text: line.passage_id for line in stores.catalogue.lines(ann, kind="fact")}
    assert lines.keys() == {"I live in Ghent.", "I left Ghent in May.", "I live in Lyon.", "I like tea."}
    assert (lines["I live in Ghent."], lines["I like tea."]) == (10, 30)
    assert holding(stores, ann) == {"I left Ghent in May.", "I like tea."}
    said = StatementLinks(with_links)
    assert {(one.passage.text, one.link.kind, one.link.probability) for one in said.of(ann, 10)} == {
        ("I left Ghent in May.", "ends", 0.8),
        ("I live in Lyon.", "replaces", 0.8),
    }
    history = stores.catalogue.history(ann, lines["I left Ghent in May."])
    assert [(v.number, v.text) for v in history.versions] == [
        (1, "I left Ghent."),
        (2, "I left Ghent in May."),
    ]
    with with_links.reading() as sql:
        claims = dict(sql.execute(text("SELECT id, passage_id FROM claims")).all())
    assert claims == {
        1: 10,
        2: lines["I left Ghent in May."],
        3: lines["I live in Lyon."],
        4: lines["I left Ghent in May."],  # what confirmed it
    }
    stores.indexer().catch_up()
    assert_words_are_exact(with_links)
    assert with_links.rows_without_parents() == {}
    stores.knowledge.undo(ann, 13)  # what had been set aside comes back as it was
    assert holding(stores, ann) == {"I left Ghent in May.", "I like tea.", "My cat is Kit."}
    stores.knowledge.undo(ann, 3)  # the edit
    stores.knowledge.undo(ann, 2)
    assert holding(stores, ann) == {"I live in Lyon.", "I like tea.", "My cat is Kit."}


def _look_at_the_copy(with_links: Database) -> None:
    """The database of before is kept beside it, until something is forgotten."""
    if (file := with_links.file) is None:
        return
    with closing(sqlite3.connect(before_links(file))) as kept:
        assert kept.execute("SELECT version_num FROM alembic_version").fetchone() == ("0008",)
        assert kept.execute("SELECT count(*) FROM passages").fetchone() == (3,)
    assert before_links(file).stat().st_mode & 0o077 == 0
    forgetting = Forgetting(with_links)
    forgetting.forget(1, [30])
    forgetting.compact()
    assert not before_links(file).exists()
