"""Nothing that is shown to a user, logged of them or told them as an error holds another user's text.

Users of names that try to break out each keep a secret in every place there is. Then each asks for the
others' by their words, their meaning and their numbers, over every database and index, also one into
which the others' vectors were planted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chroma_server import ChromaServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_fixtures import document

from assistant.process.log import start_log
from benchmarks.durable_worker import QuickAssistant, Specification
from stores.base.errors import VouchError
from stores.base.passages import SHARED, own_space

NAMES = [
    "ann",
    "Ann",
    "ann ",
    "user:1",
    "user:2 OR user:1",
    "shared",
    "' OR 1=1 --",
    "%",
    "../ann",
    "a\u0301nn",
    "\u00e1nn",
    "*",
    '"ann" OR space:shared',
    "1",
]


def secret(user: int) -> str:
    return f"zq{user}zq"  # one word, of this user alone


@dataclass(frozen=True)
class Kept:
    """One user's secrets, and the numbers by which they could be asked for."""

    user_id: int
    passages: list[int]
    turns: list[int]
    sessions: list[int]
    receipts: list[int]
    versions: list[int]


@dataclass(frozen=True)
class House:
    assistant: QuickAssistant
    users: list[Kept]
    log: Path


def keep_secrets(assistant: QuickAssistant, name: str, number: int) -> Kept:
    """A user who says, notes, teaches, reads, forgets and rates; each text holds the secret."""
    user_id = assistant.stores.journal.user_id(name)
    word = secret(number)
    session = assistant.stores.journal.open_session(user_id, title=f"about {word}")
    for message in (f"My cat is called {word}.", f"What is the name {word}?"):
        asyncio.run(play(assistant, user_id, session, message))
    turn = assistant.stores.journal.last_turn(user_id)
    assert turn.id is not None
    assistant.stores.journal.rate(user_id, turn.id, "bad", reason=f"no {word}", correction=f"it is {word}")
    note, _ = assistant.stores.knowledge.remember(user_id, f"note {word}", turn_id=turn.id)
    forgotten, _ = assistant.stores.knowledge.remember(user_id, f"forgotten {word}")
    assistant.stores.knowledge.set_aside(user_id, [forgotten])
    new = document(f"{word}.txt", f"page of {word}", f"another page of {word}", title=f"Title {word}")
    plan = assistant.stores.stored_documents.plan(own_space(user_id), [new])
    receipt = assistant.stores.stored_documents.open_receipt(user_id, own_space(user_id), f"read {word}")
    vectors = assistant.search.encoder.encode_passages(plan.texts_to_encode())
    assistant.stores.stored_documents.store(
        plan, vectors, encoder_version=assistant.search.encoder.version, receipt_id=receipt
    )
    assistant.search.indexer.catch_up()
    lines = assistant.stores.catalogue.lines(user_id, scope="yours")
    with assistant.stores.database.reading() as sql:
        from sqlalchemy import text

        space = own_space(user_id)
        versions = sql.execute(
            text("SELECT id FROM passage_versions WHERE space = :space"), {"space": space}
        ).all()
    return Kept(
        user_id,
        [*(line.passage_id for line in lines), note, forgotten],
        [turn.id, turn.id - 1],
        [session],
        [r.id for r in assistant.stores.knowledge.receipts(user_id) if r.id is not None],
        [row[0] for row in versions],
    )


async def play(assistant: QuickAssistant, user_id: int, session: int, message: str) -> list[Any]:
    return [event async for event in assistant.turns.pipeline.take(user_id, session, message)]


def plant_everything(assistant: QuickAssistant, users: list[Kept]) -> None:
    """Puts the vectors of all users' own passages into the shared index, as a broken one might hold them."""
    searching = assistant.search.searching
    index = assistant.search._indexes.open(searching.encoder, True)
    assert index is not None
    for user in users:
        vectors = searching.encoder.encode_passages([f"planted {i}" for i in user.versions])
        index.upsert(user.versions, vectors)


@pytest.fixture(
    scope="module",
    params=["sqlite exact", "sqlite faiss", "sqlite chroma", "postgresql exact", "postgresql server"],
)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    database, _, index = request.param.partition(" ")
    folder = tmp_path_factory.mktemp("house")
    server = ChromaServer(folder / "server") if index == "server" else None
    if server is not None:
        server.start()
    url = ""
    if database == "postgresql":
        url = request.getfixturevalue("postgres").new_database(template="vouch_empty")
    assistant = QuickAssistant(
        Specification(
            work="chat",
            folder=str(folder),
            store_url=url,
            index_kind="chroma" if server else index,
            index_url=server.url if server else "",
        )
    )
    log = start_log(assistant.given.locations, assistant.given.settings)
    assistant.catch_up()
    librarian = assistant.stores.journal.user_id("librarian")
    pages = [f"shared page {number}" for number in range(120)]  # more than are searched exactly
    plan = assistant.stores.stored_documents.plan(SHARED, [document("shared.txt", *pages)])
    receipt = assistant.stores.stored_documents.open_receipt(librarian, SHARED, "shared pages")
    vectors = assistant.search.encoder.encode_passages(plan.texts_to_encode())
    assistant.stores.stored_documents.store(
        plan, vectors, encoder_version=assistant.search.encoder.version, receipt_id=receipt
    )
    users = [keep_secrets(assistant, name, number) for number, name in enumerate(NAMES)]
    if index != "exact":
        plant_everything(assistant, users)
    yield House(assistant, users, assistant.given.locations.state)
    assistant.close()
    log.close()
    if server is not None:
        server.stop()


USERS = st.integers(0, len(NAMES) - 1)


def shown_by(house: House, user: int, ask: Callable[[Any, int], Any]) -> str:
    """All that one request shows its user: its result, or what its error says."""
    try:
        found = ask(house.assistant, house.users[user].user_id)
    except VouchError as error:
        return f"{error.message} {error.hint}"
    return str(list(found) if isinstance(found, Iterator) else found)


def assert_no_others(shown: str, user: int) -> None:
    others = [secret(other) for other in range(len(NAMES)) if other != user and secret(other) in shown]
    assert not others, f"user {user} was shown {others}"


def test_users_of_all_these_names_are_different_users(house: House) -> None:
    assert len({user.user_id for user in house.users}) == len(NAMES)


@given(user=USERS, other=USERS, words=st.sampled_from(["", "My cat is called ", "planted ", "user1 "]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_search_by_words_and_meaning_finds_nothing_of_others(
    house: House, user: int, other: int, words: str
) -> None:
    assistant = house.assistant
    searching = assistant.search.searching
    space = searching.spaces.of(house.users[user].user_id)
    for query in (words + secret(other), f"planted {house.users[other].versions[0]}"):
        vector = searching.encoder.encode_queries([query])[0]
        ids = [*(i for i, _ in space.nearest(vector, 50)), *space.matching(query, 50)]
        found = searching.retriever.retrieve(query, space)
        assert_no_others(str([space.passages(ids), found.candidates]), user)
        theirs = house.users[other].versions
        if other != user:
            assert space.passages(theirs) == {}
            assert space.similarities(vector, theirs) == {}
            assert set(space.neighbours(theirs).values()) == {(None, None)}
            assert set(space.word_scores(query, theirs).values()) == {0.0}


@given(user=USERS, other=USERS, which=st.integers(0, 20))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_asking_by_number_shows_nothing_of_others(house: House, user: int, other: int, which: int) -> None:
    theirs = house.users[other]
    passage = theirs.passages[which % len(theirs.passages)]
    turn = theirs.turns[which % len(theirs.turns)]
    session = theirs.sessions[0]
    receipt = theirs.receipts[which % len(theirs.receipts)]
    if user == other:
        return
    asks: list[Callable[[Any, int], Any]] = [
        lambda a, me: a.stores.catalogue.line(me, passage),
        lambda a, me: a.stores.catalogue.history(me, passage),
        lambda a, me: a.stores.catalogue.passages_of(me, theirs.versions),
        lambda a, me: a.stores.catalogue.said_in(me, turn),
        lambda a, me: a.stores.journal.turn(me, turn),
        lambda a, me: a.stores.journal.turns(me, session),
        lambda a, me: a.stores.journal.found_in(me, turn),
        lambda a, me: a.stores.journal.check_session(me, session),
        lambda a, me: a.stores.journal.rate(me, turn, "good"),
        lambda a, me: a.stores.journal.accept(me, session, "hello", parts=["hello"]),
        lambda a, me: a.stores.knowledge.set_aside(me, [passage]),
        lambda a, me: a.stores.knowledge.undo(me, receipt),
    ]
    before = whole(house, other)
    for ask in asks:
        assert_no_others(shown_by(house, user, ask), user)
    assert whole(house, other) == before  # and nothing of theirs was changed


def whole(house: House, user: int) -> str:
    """All that is kept of a user."""
    user_id = house.users[user].user_id
    assistant = house.assistant
    return json.dumps(
        [
            list(assistant.stores.memory_export.lines(user_id)),
            [str(receipt) for receipt in assistant.stores.knowledge.receipts(user_id)],
            [str(turn) for turn in assistant.stores.journal.turns(user_id, house.users[user].sessions[0])],
        ]
    )


@pytest.mark.parametrize("scope", ["yours", "shared", "all"])
def test_lists_and_exports_hold_the_users_own_secret_and_no_others(house: House, scope: Any) -> None:
    for user, kept in enumerate(house.users):
        catalogue, journal = house.assistant.stores.catalogue, house.assistant.stores.journal
        shown = str(
            [
                list(house.assistant.stores.memory_export.lines(kept.user_id, scope=scope)),
                catalogue.lines(kept.user_id, scope=scope),
                journal.sessions(kept.user_id),
                journal.last_turn(kept.user_id),
                house.assistant.stores.knowledge.receipts(kept.user_id),
            ]
        )
        assert secret(user) in shown
        assert_no_others(shown, user)
        for other in range(len(NAMES)):
            if other != user:
                assert catalogue.lines(kept.user_id, scope=scope, query=secret(other)) == []


@given(user=USERS, other=USERS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_turn_cites_and_tells_nothing_of_others(house: House, user: int, other: int) -> None:
    kept = house.users[user]
    session = house.assistant.stores.journal.open_session(kept.user_id, is_private=True)
    events = asyncio.run(
        play(house.assistant, kept.user_id, session, "What is in the note about the cat and the page?")
    )
    assert_no_others(str(events), user)
    turn = house.assistant.stores.journal.last_turn(kept.user_id)
    assert turn.id is not None
    found = house.assistant.stores.journal.found_in(kept.user_id, turn.id)
    theirs = {
        version for number, each in enumerate(house.users) if number != user for version in each.versions
    }
    assert not {each.version_id for each in found} & theirs


def test_the_log_holds_no_secret_of_anybody(house: House) -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in house.log.rglob("*") if path.is_file())
    assert "finished" in written  # something was logged
    assert [secret(user) for user in range(len(NAMES)) if secret(user) in written] == []
