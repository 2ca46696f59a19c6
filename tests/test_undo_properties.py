"""Any writes, by two users: undo gives back each state, and what is forgotten never comes back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect, text
from store_fixtures import (
    ENCODER,
    Stores,
    assert_words_are_exact,
    document,
    fake_encode,
    findable,
    fresh_database,
    state_hash,
)
from test_claims import LEASE, tell

from stores.base.errors import CannotUndo
from stores.base.passages import SHARED, own_space
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims, NewClaim
from stores.claims.decisions import Decision
from stores.conversation.claim_jobs import ClaimJobs
from stores.database.database import Database
from stores.forgetting.forgetting import Forgetting
from stores.vectors.chroma_index import ChromaVectors
from stores.vectors.exact import VectorIndex

# Exact search on either database; an index of the shared space.
KINDS = ("sqlite", "postgresql", pytest.param("chroma", marks=pytest.mark.slow))
PROPERTY = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WORDS = st.sampled_from(["cat", "dog", "owl", "elk"])
QUERIES = ("cat", "the owl and the dog", "elk page")

DOCUMENT = st.tuples(
    st.just("document"),
    st.sampled_from(["a.txt", "b.txt"]),
    st.lists(WORDS, min_size=1, max_size=3),
    st.booleans(),
)
REMEMBER = st.tuples(st.just("remember"), WORDS)
IMPORT = st.tuples(st.just("import"), st.lists(WORDS, min_size=1, max_size=2, unique=True))
ASIDE = st.tuples(st.just("set aside"), st.integers(0, 9))
LEARN = st.tuples(st.just("learn"), WORDS, st.sampled_from(["yours", "shared"]), st.integers(0, 9))
WRITES = st.lists(
    st.tuples(st.integers(0, 1), st.one_of(DOCUMENT, REMEMBER, IMPORT, ASIDE, LEARN), st.booleans()),
    min_size=1,
    max_size=6,
)


class World:
    """Two users over one database, each text of a user's own naming its owner."""

    def __init__(self, stores: Stores, index: VectorIndex | None) -> None:
        self.stores, self.index = stores, index
        self.users = [stores.journal.user_id(name) for name in ("ann", "bob")]
        self.written = 0
        self._vectors: dict[tuple[int, str], bytes] = {}  # every one that was ever seen

    def write(self, user: int, action: tuple[Any, ...]) -> int | None:
        """Does it and returns the receipt; None where there was nothing to do."""
        stores, kind = self.stores, action[0]
        self.written += 1
        mark = f"u{user} w{self.written}"
        if kind == "document":
            _, source, words, is_shared = action
            space = SHARED if is_shared else own_space(user)
            texts = [f"{word} page {number} of {mark}" for number, word in enumerate(words)]
            # a shared document is replaced by its owner alone: what another does cannot be undone before
            receipt, _ = stores.add(user, document(f"{user} {source}", *texts, title="T"), space=space)
            return receipt
        if kind == "remember":
            return stores.knowledge.remember(user, f"{action[1]} {mark}")[1]
        if kind == "import":
            stores.import_notes(user, *(f"{word} {mark}" for word in action[1]))
            return stores.knowledge.receipts(user)[0].id
        if kind == "learn":
            return self._learn(user, mark, *action[1:])
        mine = stores.catalogue.own_passages(user)
        return stores.knowledge.set_aside(user, [mine[action[1] % len(mine)]]).receipt_id if mine else None

    def say(self, user: int, words: str) -> int:
        """A message with a claim that is to be weighed; returns the job's id."""
        claims, jobs = Claims(self.stores.database), ClaimJobs(self.stores.database)
        turn = tell(self.stores, user, words)
        found = jobs.take(user, lease=LEASE)
        assert found is not None
        claim = NewClaim(text=f"says: {words}", quote=words, kind="fact", about="world")
        claims.put(user, found.id, turn, [claim], by="test")
        job = jobs.take(user, lease=LEASE)
        assert job is not None
        self.settle()
        return job.id

    def _learn(
        self, user: int, mark: str, word: str, scope: Literal["yours", "shared"], which: int
    ) -> int | None:
        claims = Claims(self.stores.database)
        [claim] = claims.pending(user)
        space = SHARED if scope == "shared" else own_space(user)
        facts = [row for row in self.texts() if row["space"] == space and f"u{user} " in row["text"]]
        facts = [row for row in facts if row["document"] is None]
        links = []
        if facts and which % 2 and scope == "yours":
            links = [NewLink(facts[which % len(facts)]["passage"], False, "replaces", 0.9, "test")]
        decision = Decision(
            status="correct",
            confidence=1,
            scope=scope,
            action="add",
            text=f"{word} is {mark}",
            links=links,
        )
        learned = claims.decide(user, self.job, claim.id or 0, decision)
        assert learned is not None
        return learned.receipt_id

    job = 0

    def prepare(self, user: int, action: tuple[Any, ...]) -> None:
        """What comes before the write, and is not undone with it: the message that states it."""
        if action[0] == "learn":
            self.job = self.say(user, f"{action[1]} said by u{user} as {self.written}")

    def settle(self) -> None:
        """Brings the indexes up to the truth, and looks whether anything else moved."""
        self.stores.indexer(self.index).catch_up()
        for row in findable(self.stores.database)["vectors"]:
            kept = self._vectors.setdefault((row[0], row[2]), bytes(row[3]))
            assert kept == bytes(row[3]), f"the vector of version {row[0]} changed"
        if self.index is not None:
            shared = {row["version"] for row in self.texts() if row["space"] == SHARED}
            assert self.index.version_ids() == shared

    def undo(self, user: int, receipt: int) -> None:
        self.stores.knowledge.undo(user, receipt)
        self.settle()

    def texts(self) -> list[dict[str, Any]]:
        return list(findable(self.stores.database)["texts"])

    def seen(self) -> dict[str, Any]:
        """The hashes of what is known, and what each user is answered; of nobody else's."""
        database = self.stores.database
        spaces = self.stores.spaces(self.index, exact_up_to=0 if self.index is not None else 10_000)
        told: dict[str, Any] = {"all": state_hash(database)}
        for user in self.users:
            told[f"hash {user}"] = state_hash(database, user)
            for query in QUERIES:
                found = spaces.of(user).found(query, fake_encode([query])[0], 50)
                allowed = {SHARED, own_space(user)}
                assert {passage.space for passage in found.passages.values()} <= allowed
                told[f"{user} {query}"] = {
                    i: (
                        passage.text,
                        passage.replaced_by,
                        pytest.approx(found.dense[i], abs=1e-6),
                        pytest.approx(found.lexical[i], abs=1e-12),
                    )
                    for i, passage in found.passages.items()
                }
        return told


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "postgresql":
        request.getfixturevalue("postgres")
    return str(request.param)


@contextmanager
def world(request: pytest.FixtureRequest, kind: str, within: Path | None = None) -> Iterator[World]:
    """An empty one, for one example. within: the folder of its files; else one that goes with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = within or Path(name)
        url, index = "", None
        if kind == "postgresql":
            server = request.getfixturevalue("postgres")
            url = server.new_database(template="vouch_empty")
        database = Database(url) if url else fresh_database(folder)
        if kind == "chroma":
            index = ChromaVectors(folder / "chroma", ENCODER, writes=True)
        try:
            yield World(Stores.over(database), index)
        finally:
            if index is not None:
                index.close()
            database.close()
            if url:
                server.drop(url)


def test_undo_gives_back_the_state_and_the_answers_of_before(
    request: pytest.FixtureRequest, kind: str
) -> None:
    @given(writes=WRITES)
    @PROPERTY
    def holds(writes: list[tuple[int, tuple[Any, ...], bool]]) -> None:
        with world(request, kind) as the:
            standing: list[tuple[int, int, dict[str, Any]]] = []
            for who, action, is_undone in writes:
                user = the.users[who]
                the.prepare(user, action)
                if action[0] == "learn":
                    standing.clear()  # a message is no write: the states before it cannot come back
                before = the.seen()
                receipt = the.write(user, action)
                the.settle()
                if receipt is None:
                    continue
                if is_undone:
                    the.undo(user, receipt)
                    assert the.seen() == before
                else:
                    standing.append((user, receipt, before))
            for user, receipt, before in reversed(standing):
                the.undo(user, receipt)
                assert the.seen() == before
            assert_words_are_exact(the.stores.database)

    holds()


def test_what_is_forgotten_never_comes_back_and_moves_nothing_else(
    request: pytest.FixtureRequest, kind: str
) -> None:
    @given(writes=WRITES, chosen=st.lists(st.integers(0, 50), min_size=1, max_size=3))
    @PROPERTY
    def holds(writes: list[tuple[int, tuple[Any, ...], bool]], chosen: list[int]) -> None:
        with world(request, kind) as the:
            receipts: list[tuple[int, int]] = []
            for who, action, _ in writes:
                the.prepare(the.users[who], action)
                receipt = the.write(the.users[who], action)
                if receipt is not None:
                    receipts.append((the.users[who], receipt))
            the.settle()
            gone: set[str] = set()
            for number in chosen:
                user = the.users[number % 2]
                gone |= forget_one(the, user, number)
            for user, receipt in reversed(receipts):
                try:
                    the.undo(user, receipt)
                except CannotUndo:  # nothing of it is left, or another's write is in its place
                    continue
                assert not gone & {row["text"] for row in the.texts()}
                assert_words_are_exact(the.stores.database)
            the.seen()

    holds()


def forget_one(the: World, user: int, number: int) -> set[str]:
    """Forgets one of a user's own live passages; returns the texts that are gone."""
    before = {row["passage"]: row for row in the.texts()}
    mine = [line.passage_id for line in the.stores.catalogue.lines(user, scope="yours")]
    if not mine:
        return set()
    forgotten = Forgetting(the.stores.database).forget(user, [mine[number % len(mine)]])
    the.settle()
    lines = {line.passage_id: line.text for line in (*forgotten.lines, *forgotten.with_them)}
    left = {passage: row for passage, row in before.items() if passage not in lines}
    assert {row["passage"]: row for row in the.texts()} == left  # everything else is as it was
    assert_words_are_exact(the.stores.database)
    for written in lines.values():
        assert not rows_with(the.stores.database, written)
    return set(lines.values())


def rows_with(database: Database, written: str) -> list[str]:
    """The tables in which a text stands whole."""
    with database.reading() as sql:
        names = inspect(sql.connection()).get_table_names()
        return [
            name
            for name in names
            if any(written in str(cell) for row in sql.execute(text(f"SELECT * FROM {name}")) for cell in row)
        ]
