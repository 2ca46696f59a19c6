"""Conversations: a message is kept before anything else, an answer whole or not at all."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from store_fixtures import Stores, document, fake_encode, findable, fresh_database

import stores.database.database
from stores.base.errors import NotFound
from stores.base.passages import own_space
from stores.conversation.journal import FoundPassage, Judged, Outcome
from stores.database.database import Database


@pytest.fixture
def stores_(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def ann(stores_: Stores) -> int:
    return stores_.journal.user_id("ann")


@pytest.fixture
def bob(stores_: Stores) -> int:
    return stores_.journal.user_id("bob")


def count(database: Database, table: str) -> int:
    with database.reading() as sql:
        return int(sql.execute(text(f"SELECT count(*) FROM {table}")).scalar() or 0)


def found_passage(version_id: int, *, rank: int = 1, citation: int | None = None) -> FoundPassage:
    return FoundPassage(
        version_id=version_id,
        found_rank=rank,
        dense=0.5,
        lexical=1.5,
        lift=0.25,
        score=0.75,
        final_rank=rank,
        citation=citation,
    )


def judged(version_id: int) -> Judged:
    return Judged(
        version_id=version_id, judge="j", label="answer", score=1.0, found_rank=1, tokens_in=9, tokens_out=1
    )


# Messages


def test_a_message_is_searchable_by_its_words_before_any_answer(stores_: Stores, ann: int) -> None:
    accepted = stores_.say(ann, "my cat is called Tom", "she is old")
    space = stores_.spaces().of(ann)
    assert space.matching("what is my cat called?", 5) == [accepted[0]]
    passage = space.passages(accepted)[accepted[0]]
    assert (passage.text, passage.kind, passage.scope) == ("my cat is called Tom", "message", "yours")
    assert stores_.journal.last_turn(ann).state == "accepted"
    stores_.indexer().catch_up()
    assert space.nearest(fake_encode(["she is old"])[0], 1) == [(accepted[1], 1.0)]


def test_a_message_outlives_the_process_that_accepted_it(tmp_path: Path) -> None:
    fresh_database(tmp_path).close()
    killed = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(
                """
                import os, signal, sys
                from pathlib import Path
                from stores.database.database import Database
                from stores.conversation.journal import Journal
                journal = Journal(Database.at(Path(sys.argv[1])))
                user = journal.user_id("ann")
                journal.accept(user, journal.open_session(user), "my cat is Tom", parts=["my cat is Tom"])
                os.kill(os.getpid(), signal.SIGKILL)
"""
            ),
            str(tmp_path),
        ],
        cwd=Path(stores.database.database.__file__).parents[2],
    )
    assert killed.returncode == -9
    opened = Stores.over(Database.at(tmp_path))
    ann = opened.journal.user_id("ann")
    assert opened.journal.last_turn(ann).message == "my cat is Tom"
    assert len(opened.spaces().of(ann).matching("tom", 5)) == 1
    assert opened.indexer().waiting() == 1
    opened.database.close()


def test_a_message_that_cannot_be_kept_whole_is_not_kept(
    stores_: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    session = stores_.journal.open_session(ann)
    before = findable(stores_.database)
    monkeypatch.setattr("stores.versions.changes.ask_to_index", fail)
    with pytest.raises(OSError, match="no space"):
        stores_.journal.accept(ann, session, "my cat", parts=["my cat"])
    assert findable(stores_.database) == before
    assert count(stores_.database, "turns") == 0
    assert stores_.journal.sessions(ann) == []


def test_the_words_of_the_assistant_and_of_material_are_kept_but_not_searched(
    stores_: Stores, ann: int
) -> None:
    session = stores_.journal.open_session(ann)
    turn = stores_.journal.accept(ann, session, "a cat", parts=["a cat"], material="an owl").turn_id
    stores_.journal.finish(turn, Outcome(state="done", answer="a dog"))
    stores_.indexer().catch_up()
    kept = stores_.journal.turn(ann, turn)
    assert (kept.message, kept.material, kept.answer) == ("a cat", "an owl", "a dog")
    assert stores_.own_texts(ann) == {"a cat"}
    assert stores_.spaces().of(ann).matching("dog owl", 5) == []


def test_a_private_session_makes_no_passages(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann, is_private=True)
    accepted = stores_.journal.accept(ann, session, "my secret cat", parts=["my secret cat"])
    assert accepted.version_ids == ()
    for table in ("passages", "passage_versions", "documents", "jobs", "word_counts", "space_statistics"):
        assert count(stores_.database, table) == 0
    assert stores_.journal.turn(ann, accepted.turn_id).message == "my secret cat"


def test_positions_in_a_conversation_are_consecutive(stores_: Stores, ann: int) -> None:
    session, other = stores_.journal.open_session(ann), stores_.journal.open_session(ann)
    stores_.journal.accept(ann, session, "a b", parts=["a", "b"])
    stores_.journal.accept(ann, other, "x", parts=["x"])
    [said] = stores_.journal.accept(ann, session, "c", parts=["c"]).version_ids
    stores_.journal.accept(ann, session, "", parts=[])
    passage = stores_.spaces().of(ann).passages([said])[said].passage_id
    stores_.knowledge.set_aside(ann, [passage])
    stores_.journal.accept(ann, session, "d e", parts=["d", "e"])
    with stores_.database.reading() as sql:
        rows = sql.execute(
            text("SELECT document_id, text, position FROM passage_versions ORDER BY document_id, id")
        ).all()
    documents = sorted({row[0] for row in rows})
    assert [(documents.index(row[0]), row[1], row[2]) for row in rows] == [
        (0, "a", 0),
        (0, "b", 1),
        (0, "c", 2),  # forgotten, and its place is not given again
        (0, "d", 3),
        (0, "e", 4),
        (1, "x", 0),
    ]


# Outcomes


def test_an_outcome_is_kept_with_all_that_explains_it(stores_: Stores, ann: int) -> None:
    one, two = stores_.say(ann, "a cat", "a dog")
    turn = stores_.journal.last_turn(ann).id
    assert turn is not None
    outcome = Outcome(
        state="done",
        answer="Tom [1]",
        model="m",
        standalone="whose cat?",
        query="cat",
        found=[found_passage(two, rank=2), found_passage(one, citation=1)],
        judged=[judged(one)],
        details={"invented": [7]},
    )
    stores_.journal.finish(turn, outcome)
    kept = stores_.journal.turn(ann, turn)
    assert (kept.state, kept.answer, kept.model, kept.standalone) == ("done", "Tom [1]", "m", "whose cat?")
    assert kept.details == {"invented": [7]}
    assert kept.answered_at is not None
    assert kept.answered_at >= kept.accepted_at
    assert stores_.journal.found_in(ann, turn) == [
        found_passage(one, citation=1),
        found_passage(two, rank=2),
    ]
    assert count(stores_.database, "judgements") == 1


@pytest.mark.parametrize(
    "torn", [{"found": [found_passage(1), found_passage(999)]}, {"judged": [judged(1), judged(999)]}]
)
def test_an_outcome_is_kept_whole_or_not_at_all(stores_: Stores, ann: int, torn: dict[str, Any]) -> None:
    stores_.say(ann, "a cat")
    turn = stores_.journal.last_turn(ann).id
    assert turn is not None
    with pytest.raises(IntegrityError):  # there is no version 999
        stores_.journal.finish(turn, Outcome(state="done", answer="half", query="cat", **torn))
    kept = stores_.journal.turn(ann, turn)
    assert (kept.state, kept.answer, kept.answered_at) == ("accepted", "", None)
    for table in ("retrievals", "retrieved_passages", "judgements"):
        assert count(stores_.database, table) == 0


def test_what_was_found_outlives_the_forgetting_of_it(stores_: Stores, ann: int) -> None:
    stores_.add(ann, document("a.txt", "cat"))
    [version] = stores_.texts()
    stores_.say(ann, "cats?")
    turn = stores_.journal.last_turn(ann).id
    assert turn is not None
    stores_.journal.finish(turn, Outcome(state="done", query="cats?", found=[found_passage(version)]))
    stores_.add(ann, document("a.txt", "dog"))
    assert stores_.journal.found_in(ann, turn) == [found_passage(version)]


# Whose it is


def test_sessions_and_turns_of_others_are_not_there(stores_: Stores, ann: int, bob: int) -> None:
    session = stores_.journal.open_session(ann)
    turn = stores_.journal.accept(ann, session, "my secret", parts=["my secret"]).turn_id
    journal = stores_.journal
    looks: list[Callable[[], object]] = [
        lambda: journal.check_session(bob, session),
        lambda: journal.turns(bob, session),
        lambda: journal.accept(bob, session, "hello", parts=["hello"]),
        lambda: journal.turn(bob, turn),
        lambda: journal.found_in(bob, turn),
        lambda: journal.rate(bob, turn, "bad"),
        lambda: journal.last_turn(bob),
        lambda: journal.check_session(ann, 999),
        lambda: journal.turn(ann, 999),
    ]
    for look in looks:
        with pytest.raises(NotFound) as refused:
            look()
        assert "secret" not in str(refused.value)
    assert journal.sessions(bob) == []
    assert journal.last_session(bob) is None
    assert count(stores_.database, "turns") == 1
    assert count(stores_.database, "feedback") == 0


def test_a_name_is_one_user_also_when_first_used_by_several_at_once(tmp_path: Path) -> None:
    several = [Stores.over(database) for database in (fresh_database(tmp_path), Database.at(tmp_path))]
    barrier = threading.Barrier(2)
    ids: list[int] = []

    def ask(each: Stores) -> None:
        barrier.wait()
        ids.append(each.journal.user_id("ann"))

    threads = [threading.Thread(target=ask, args=(each,)) for each in several]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ids[0] == ids[1]
    assert several[0].journal.user_id("ann") == ids[0]
    assert several[0].journal.user_id("Ann") != ids[0]
    for each in several:
        each.database.close()


# Lists


def test_sessions_are_listed_by_their_last_turn_with_a_title_from_the_first_message(
    stores_: Stores, ann: int
) -> None:
    journal = stores_.journal
    first, second = journal.open_session(ann), journal.open_session(ann, title="named")
    journal.open_session(ann)  # says nothing
    journal.accept(ann, first, "hello  there\n" + "x" * 100, parts=[])
    journal.accept(ann, second, "two", parts=[])
    journal.accept(ann, first, "three", parts=[])
    lines = journal.sessions(ann)
    assert [(line.session_id, line.turns) for line in lines] == [(first, 2), (second, 1)]
    assert [line.title for line in lines] == ["hello there " + "x" * 48, "named"]
    assert journal.last_session(ann) == first
    assert journal.sessions(ann, limit=1) == lines[:1]


def test_the_last_turns_of_a_session_come_oldest_first(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    for number in range(5):
        stores_.journal.accept(ann, session, str(number), parts=[])
    assert [turn.message for turn in stores_.journal.turns(ann, session, limit=3)] == ["2", "3", "4"]
    assert stores_.journal.last_turn(ann).message == "4"


def test_a_rating_is_kept(stores_: Stores, ann: int) -> None:
    [version] = stores_.say(ann, "a cat")
    turn = stores_.journal.last_turn(ann).id
    assert turn is not None
    first = stores_.journal.rate(ann, turn, "bad", reason="wrong", correction="a dog", version_id=version)
    assert stores_.journal.rate(ann, turn, "good") == first + 1
    with stores_.database.reading() as sql:
        rows = sql.execute(text("SELECT rating, reason, correction, version_id FROM feedback ORDER BY id"))
        assert [tuple(row) for row in rows] == [("bad", "wrong", "a dog", version), ("good", "", "", None)]


def test_text_of_every_kind_comes_back_as_it_was(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    odd = "tab\t nul\0 \u202eright to left\u202c 🙂 'quote\" %s :name \r\n" + "x" * 100_000
    [version] = stores_.journal.accept(ann, session, odd, parts=[odd]).version_ids
    kept = odd.replace("\0", "\ufffd")  # the one character that no PostgreSQL can hold
    assert stores_.journal.last_turn(ann).message == kept
    assert stores_.texts(own_space(ann)) == {version: kept}


def test_what_a_database_cannot_hold_costs_itself_and_not_the_answer(stores_: Stores, ann: int) -> None:
    odd, kept = "a\0b caf\udce9", "a\ufffdb caf?"
    session = stores_.journal.open_session(ann, title=odd)
    accepted = stores_.journal.accept(ann, session, odd, parts=[odd])
    outcome = Outcome(
        state="failed",
        answer=odd,
        failure=odd,
        model=odd,
        standalone=odd,
        query=odd,
        found=[found_passage(accepted.version_ids[0])],
    )
    stores_.journal.finish(accepted.turn_id, outcome)
    turn = stores_.journal.turn(ann, accepted.turn_id)
    assert [turn.answer, turn.failure, turn.model, turn.standalone] == [kept] * 4
    assert stores_.journal.found_in(ann, accepted.turn_id) == list(outcome.found)
    assert [line.title for line in stores_.journal.sessions(ann)] == [kept]
    with stores_.database.reading() as sql:
        assert sql.execute(text("SELECT query FROM retrievals")).scalar() == kept
    named = stores_.journal.user_id(odd)
    assert stores_.journal.known_user_id(odd) == named
    assert stores_.journal.user_id(odd) == named


def test_half_a_character_costs_itself_and_not_the_message(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    accepted = stores_.journal.accept(ann, session, "caf\udce9", parts=["caf\udce9"])
    assert stores_.journal.turn(ann, accepted.turn_id).message == "caf?"
