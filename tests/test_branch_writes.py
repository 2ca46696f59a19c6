"""Keeping a message: at its place in one transaction, in no deleted session, and quickly in a long one."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import on_screen
from sqlalchemy import event, text
from store_fixtures import Stores

from stores.base.errors import NotFound
from stores.conversation.branches import BranchPlace
from stores.conversation.journal import Outcome
from stores.conversation.sessions import Sessions
from stores.database.database import Database


@pytest.fixture
def stores_(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def ann(stores_: Stores) -> int:
    return stores_.journal.user_id("ann")


def says(stores: Stores, user: int, session: int, message: str, instead_of: int | None = None) -> int:
    accepted = stores.journal.accept(user, session, message, parts=[message], instead_of=instead_of)
    stores.journal.finish(accepted.turn_id, Outcome(state="done", answer=f"re {message}"))
    return accepted.turn_id


def shown(stores: Stores, user: int, session: int) -> list[str]:
    return [turn.message for turn in stores.journal.turns(user, session)]


# In place of another


def test_a_message_in_place_of_another_begins_a_branch_at_once(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    one, two = says(stores_, ann, session, "1"), says(stores_, ann, session, "2")
    says(stores_, ann, session, "2b", instead_of=two)
    assert shown(stores_, ann, session) == ["1", "2b"]
    says(stores_, ann, session, "3")
    assert shown(stores_, ann, session) == ["1", "2b", "3"]
    says(stores_, ann, session, "1b", instead_of=one)
    assert shown(stores_, ann, session) == ["1b"]
    assert Sessions(stores_.database).branch(ann, session) == BranchPlace(3, 3)


def test_what_another_window_says_meanwhile_stays_in_its_own_branch(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    says(stores_, ann, session, "1")
    two = says(stores_, ann, session, "2")
    assert [turn.message for turn in stores_.journal.turns_before(ann, two)] == ["1"]  # this one begins
    says(stores_, ann, session, "3 of the other window")
    says(stores_, ann, session, "2b", instead_of=two)
    assert shown(stores_, ann, session) == ["1", "2b"]
    Sessions(stores_.database).switch_branch(ann, session, 1)
    assert shown(stores_, ann, session) == ["1", "2", "3 of the other window"]


def test_only_a_turn_of_ones_own_session_is_replaced(stores_: Stores, ann: int) -> None:
    bob = stores_.journal.user_id("bob")
    mine, other, his = (stores_.journal.open_session(user) for user in (ann, ann, bob))
    turn = says(stores_, ann, mine, "1")
    for user, session, replaced in ((ann, other, turn), (bob, his, turn), (ann, mine, 999)):
        with pytest.raises(NotFound):
            says(stores_, user, session, "x", instead_of=replaced)
    with pytest.raises(NotFound):
        stores_.journal.turns_before(bob, turn)
    with stores_.database.reading() as sql:
        assert sql.execute(text("SELECT count(*) FROM turns")).scalar() == 1


async def test_the_chat_sends_a_changed_message_in_one_transaction(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"], ["3"]]) as chat:
        await chat.asks("one")
        await chat.asks("two")
        assistant = chat.app.chat.desk._known_assistant
        kept: list[tuple[object, int]] = []
        accept = assistant.stores.journal.accept

        def between(*args: object, **how: object) -> object:
            """Another window speaks just before the changed message is kept."""
            user, session = args[:2]
            kept.append((session, accept(user, session, "from elsewhere", parts=[]).turn_id))  # type: ignore[arg-type]
            return accept(*args, **how)  # type: ignore[arg-type]

        assistant.stores.journal.accept = between  # type: ignore[method-assign,assignment]
        await chat.presses("escape", "k", "e")
        await chat.types("b")
        await chat.presses("enter")
        await chat.shows("branch 2 of 2")
        [(session, elsewhere)] = kept
        assert [turn.message for turn in assistant.stores.journal.turns_before(1, elsewhere)] == [
            "one",
            "two",
        ]
        assert [turn.message for turn in assistant.stores.journal.turns(1, int(str(session)))] == [
            "one",
            "twob",
        ]


# Deleted sessions


def test_a_deleted_session_takes_no_message_until_it_is_brought_back(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    says(stores_, ann, session, "1")
    Sessions(stores_.database).delete(ann, session)
    with pytest.raises(NotFound, match=f"session {session} is deleted"):
        says(stores_, ann, session, "2")
    assert stores_.own_texts(ann) == {"1"}
    Sessions(stores_.database).bring_back(ann, session)
    says(stores_, ann, session, "2")
    assert shown(stores_, ann, session) == ["1", "2"]


async def test_a_message_to_a_session_deleted_in_another_window_stands_in_the_prompt_again(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["1"]]) as chat:
        await chat.asks("one")
        chat.app.chat.desk._known_assistant.stores.sessions.delete(1, chat.app.chat.talk.session_id)
        await chat.sends("two")
        await chat.shows("is deleted")
        await chat.until(lambda: chat.prompt == "two")
        assert "F5" in chat.text


# Long sessions


def test_asking_the_same_again_reads_a_long_session_once(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    first, *_ = [says(stores_, ann, session, "ok") for _ in range(12)]
    statements: list[str] = []
    engine = stores_.database._engine

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    before = says(stores_, ann, session, "ok", instead_of=first)
    event.remove(engine, "before_cursor_execute", note)
    whole_session = [each for each in statements if each.startswith("SELECT turns.id, turns.parent_id")]
    assert 1 <= len(whole_session) <= 2  # its place, and what else was said there
    assert [turn.id for turn in stores_.journal.turns(ann, session)] == [before]
