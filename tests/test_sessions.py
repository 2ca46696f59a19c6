"""Sessions: listed, named, put away, deleted and brought back, with branches and ratings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from click import UsageError
from sqlalchemy import text
from store_fixtures import Stores

from assistant.invocation import RowId
from assistant.terminal.input.typed_ids import typed_id
from stores.base.clock import time_by
from stores.base.errors import NotFound, WrongUsage
from stores.claims.claims import Claims
from stores.conversation.branches import BranchPlace
from stores.conversation.journal import Outcome
from stores.conversation.ratings import Ratings
from stores.conversation.sessions import Sessions, Shelf
from stores.database.database import Database


@pytest.fixture
def stores_(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def sessions(database: Database) -> Sessions:
    return Sessions(database)


@pytest.fixture
def ann(stores_: Stores) -> int:
    return stores_.journal.user_id("ann")


def says(stores: Stores, user: int, session: int, *messages: str, instead_of: int | None = None) -> list[int]:
    turns = []
    for message in messages:
        accepted = stores.journal.accept(
            user, session, message, parts=[message], learns=True, instead_of=instead_of
        )
        turn, instead_of = accepted.turn_id, None
        stores.journal.finish(turn, Outcome(state="done", answer=f"re {message}"))
        turns.append(turn)
    return turns


def told(stores: Stores, user: int, session: int) -> list[str]:
    return [turn.message for turn in stores.journal.turns(user, session)]


def shelf(sessions: Sessions, user: int, name: Shelf) -> list[int]:
    lines = sessions.lines(user, shelf=name)
    assert sessions.count(user, name) == len(lines)
    return [line.session_id for line in lines]


# Lists


def test_a_session_is_archived_and_deleted_and_brought_back(
    stores_: Stores, sessions: Sessions, ann: int
) -> None:
    one, two, empty = (stores_.journal.open_session(ann) for _ in range(3))
    says(stores_, ann, one, "one")
    says(stores_, ann, two, "two", "three")
    assert empty not in shelf(sessions, ann, "open")
    assert shelf(sessions, ann, "open") == [two, one]
    sessions.archive(ann, two)
    assert (shelf(sessions, ann, "open"), shelf(sessions, ann, "archived")) == ([one], [two])
    sessions.delete(ann, two)
    assert shelf(sessions, ann, "archived") == []
    assert shelf(sessions, ann, "deleted") == [two]
    assert stores_.journal.last_session(ann) == one
    with pytest.raises(NotFound, match="deleted"):
        stores_.journal.check_session(ann, two)
    assert stores_.own_texts(ann) == {"one", "two", "three"}  # what was said stays known
    sessions.bring_back(ann, two)
    assert shelf(sessions, ann, "archived") == [two]
    sessions.archive(ann, two, archived=False)
    assert shelf(sessions, ann, "open") == [two, one]


def test_one_question_of_the_command_stands_apart_until_a_second_thing_is_said(
    stores_: Stores, sessions: Sessions, ann: int
) -> None:
    asked = stores_.journal.open_session(ann, is_asked=True)
    held = stores_.journal.open_session(ann)
    says(stores_, ann, asked, "one")
    says(stores_, ann, held, "two")
    assert (shelf(sessions, ann, "open"), shelf(sessions, ann, "asked")) == ([held], [asked])
    assert (sessions.count(ann, "open"), sessions.count(ann, "asked")) == (1, 1)
    (line,) = sessions.lines(ann, shelf="asked")
    assert (line.is_asked, line.origin) == (True, "")  # nobody's export
    assert {line.session_id for line in stores_.journal.sessions(ann)} == {asked, held}
    sessions.archive(ann, asked)
    assert (shelf(sessions, ann, "asked"), shelf(sessions, ann, "archived")) == ([], [asked])
    sessions.delete(ann, asked)
    assert shelf(sessions, ann, "deleted") == [asked]
    sessions.bring_back(ann, asked)
    sessions.archive(ann, asked, archived=False)
    assert shelf(sessions, ann, "asked") == [asked]
    says(stores_, ann, asked, "and more")
    assert (shelf(sessions, ann, "open"), shelf(sessions, ann, "asked")) == ([asked, held], [])
    assert not any(line.is_asked for line in sessions.lines(ann))


def test_the_session_spoken_in_last_comes_first(stores_: Stores, sessions: Sessions, ann: int) -> None:
    moment = [datetime(2026, 5, 1, tzinfo=UTC)]
    with time_by(lambda: moment[0]):
        one, two = stores_.journal.open_session(ann), stores_.journal.open_session(ann)
        for session in (one, two, one):
            moment[0] += timedelta(hours=1)
            says(stores_, ann, session, "x")
    lines = sessions.lines(ann)
    assert [(line.session_id, line.turns, line.last_at.hour) for line in lines] == [(one, 2, 3), (two, 1, 2)]


def test_a_title_is_changed_and_never_empty(stores_: Stores, sessions: Sessions, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    says(stores_, ann, session, "What is a locker?")
    assert sessions.rename(ann, session, "  Lockers \n and keys\0 ") == "What is a locker?"
    assert sessions.title(ann, session) == "Lockers and keys\ufffd"
    with pytest.raises(WrongUsage):
        sessions.rename(ann, session, " \n")
    sessions.rename(ann, session, "x" * 5_000)
    assert len(sessions.title(ann, session)) == 200


def test_nobody_touches_a_session_of_somebody_else(stores_: Stores, sessions: Sessions, ann: int) -> None:
    bob = stores_.journal.user_id("bob")
    session = stores_.journal.open_session(ann)
    [turn] = says(stores_, ann, session, "mine")
    before = sessions.lines(ann)
    for touch in (
        lambda: sessions.title(bob, session),
        lambda: sessions.rename(bob, session, "his"),
        lambda: sessions.archive(bob, session),
        lambda: sessions.delete(bob, session),
        lambda: sessions.bring_back(bob, session),
        lambda: sessions.branch(bob, session),
        lambda: sessions.switch_branch(bob, session, 1),
        lambda: sessions.show_turn(bob, turn),
        lambda: stores_.journal.accept(bob, session, "his", parts=["his"], instead_of=turn),
        lambda: sessions.tree(bob, session),
        lambda: sessions.is_on(bob, turn),
        lambda: sessions.is_deleted(bob, session),
    ):
        with pytest.raises(NotFound):
            touch()
    assert sessions.lines(ann) == before
    assert sessions.lines(bob) == []
    assert sessions.prompts(bob) == []


@pytest.mark.parametrize("number", [0, -1, 1, 2**31 - 1, 2**31, 2**63])
def test_any_number_that_can_be_named_can_be_asked_for(stores_: Stores, ann: int, number: int) -> None:
    typed = typed_id(str(number))
    try:
        named = RowId().convert(str(number), None, None)
    except UsageError:
        assert not 0 < number < 2**31
        assert typed in (None, 0)
        return
    assert typed == named == number
    for ask in (
        lambda: stores_.journal.turn(ann, named),
        lambda: stores_.catalogue.history(ann, named),
        lambda: Sessions(stores_.database).tree(ann, named),
    ):
        with pytest.raises(NotFound):
            ask()


def test_earlier_prompts_are_all_but_private_and_deleted_ones(
    stores_: Stores, sessions: Sessions, ann: int
) -> None:
    one, two, deleted = (stores_.journal.open_session(ann) for _ in range(3))
    private = stores_.journal.open_session(ann, is_private=True)
    says(stores_, ann, one, "a", "b")
    says(stores_, ann, private, "secret")
    says(stores_, ann, deleted, "gone")
    says(stores_, ann, two, "a", "c")
    sessions.delete(ann, deleted)
    assert sessions.prompts(ann) == ["c", "a", "b"]


# Branches


def test_a_changed_message_begins_a_branch_and_the_old_one_is_kept(
    stores_: Stores, sessions: Sessions, ann: int
) -> None:
    session = stores_.journal.open_session(ann)
    one, two, three = says(stores_, ann, session, "1", "2", "3")
    assert sessions.branch(ann, session) == BranchPlace(1, 1)
    four, five = says(stores_, ann, session, "2b", "3b", instead_of=two)
    assert told(stores_, ann, session) == ["1", "2b", "3b"]
    assert sessions.branch(ann, session) == BranchPlace(2, 2)
    assert sessions.switch_branch(ann, session, 1) == BranchPlace(1, 2)
    assert told(stores_, ann, session) == ["1", "2", "3"]
    says(stores_, ann, session, "4")  # goes on in the branch that is on
    assert told(stores_, ann, session) == ["1", "2", "3", "4"]
    assert sessions.switch_branch(ann, session, -1) == BranchPlace(1, 2)
    assert told(stores_, ann, session) == ["1", "2b", "3b"]
    assert [turn.id for turn in stores_.journal.turns(ann, session, limit=2)] == [four, five]
    sessions.show_turn(ann, three)
    assert told(stores_, ann, session) == ["1", "2", "3", "4"]
    sessions.show_turn(ann, one)  # it is in this branch already
    assert told(stores_, ann, session) == ["1", "2", "3", "4"]
    assert sessions.lines(ann)[0].turns == 6


def test_the_first_message_can_be_changed_too(stores_: Stores, sessions: Sessions, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    [first] = says(stores_, ann, session, "1")
    says(stores_, ann, session, "1b", "2b", instead_of=first)
    assert told(stores_, ann, session) == ["1b", "2b"]
    assert sessions.branch(ann, session) == BranchPlace(2, 2)


def test_what_is_asked_again_is_neither_kept_nor_learned_twice(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    first = stores_.journal.accept(ann, session, "My cat is Ada.", parts=["My cat is Ada."], learns=True)
    stores_.journal.finish(first.turn_id, Outcome(state="done", answer="Noted"))
    again = stores_.journal.accept(
        ann, session, "My cat is Ada.", parts=["My cat is Ada."], learns=True, instead_of=first.turn_id
    )
    assert again.turn_id != first.turn_id
    assert again.version_ids == first.version_ids
    with stores_.database.reading() as sql:
        assert sql.execute(text("SELECT count(*) FROM passages")).scalar() == 1
        assert sql.execute(text("SELECT count(*) FROM jobs WHERE kind = 'summarize'")).scalar() == 1
    says(stores_, ann, session, "My cat is Ada.")  # said once more, later: that counts
    with stores_.database.reading() as sql:
        assert sql.execute(text("SELECT count(*) FROM passages")).scalar() == 2


def test_what_a_turn_is_understood_from_is_its_own_branch(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    _, two = says(stores_, ann, session, "1", "2")
    [changed] = says(stores_, ann, session, "2b", instead_of=two)
    earlier = Claims(stores_.database).told(ann, changed).earlier
    assert [turn.message for turn in earlier] == ["1"]


def test_turns_that_name_one_another_in_a_circle_are_still_told(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    one, two = says(stores_, ann, session, "1", "2")
    with stores_.database.writing() as sql:
        sql.execute(text(f"UPDATE turns SET parent_id = {two} WHERE id = {one}"))
        sql.execute(text(f"UPDATE turns SET parent_id = {two} WHERE id = {two}"))
    assert told(stores_, ann, session) == ["2"]


# Ratings


def test_a_rating_takes_the_place_of_the_one_before_and_undo_brings_that_back(
    stores_: Stores, ann: int
) -> None:
    ratings = Ratings(stores_.database)
    session = stores_.journal.open_session(ann)
    one, two = says(stores_, ann, session, "1", "2")
    for turn, rating in ((one, "good"), (two, "bad"), (one, "bad")):
        stores_.journal.rate(ann, turn, rating)
    assert ratings.of_turns(ann, [one, two]) == {one: "bad", two: "bad"}
    latest = ratings.latest(ann)
    assert latest is not None
    assert (latest.turn_id, latest.rating) == (one, "bad")
    ratings.undo(ann, latest.feedback_id)
    assert ratings.of_turns(ann, [one, two]) == {one: "good", two: "bad"}
    assert ratings.withdraw(ann, one)
    assert not ratings.withdraw(ann, one)
    assert ratings.of_turns(ann, [one, two]) == {two: "bad"}


def test_undo_brings_back_only_the_judgement_that_was_replaced(stores_: Stores, ann: int) -> None:
    ratings = Ratings(stores_.database)
    [turn] = says(stores_, ann, stores_.journal.open_session(ann), "1")
    moment = [datetime(2026, 5, 1, tzinfo=UTC)]
    with time_by(lambda: moment[0]):
        stores_.journal.rate(ann, turn, "good")
        moment[0] += timedelta(hours=1)
        assert ratings.withdraw(ann, turn)  # the person took it back, so nothing replaced it
        moment[0] += timedelta(hours=1)
        stores_.journal.rate(ann, turn, "bad")
        moment[0] += timedelta(hours=1)
        latest = ratings.latest(ann)
        assert latest is not None
        ratings.undo(ann, latest.feedback_id)
    assert ratings.of_turns(ann, [turn]) == {}
    assert ratings.latest(ann) is None


def test_what_a_wrong_row_says_of_another_users_turn_is_not_told(
    stores_: Stores, sessions: Sessions, ann: int
) -> None:
    bob = stores_.journal.user_id("bob")
    session = stores_.journal.open_session(ann)
    mine, his = says(stores_, ann, session, "mine", "his")
    stores_.journal.rate(ann, his, "good")
    with stores_.database.writing() as sql:
        sql.execute(text(f"UPDATE turns SET user_id = {bob} WHERE id = {his}"))
    assert Ratings(stores_.database).of_turns(ann, [mine, his]) == {}
    for ask in (sessions.is_on, sessions.show_turn):
        with pytest.raises(NotFound):
            ask(ann, his)


def test_a_rating_of_a_passage_is_none_of_the_answer_and_of_another_user_nothing(
    stores_: Stores, ann: int
) -> None:
    ratings = Ratings(stores_.database)
    bob = stores_.journal.user_id("bob")
    session = stores_.journal.open_session(ann)
    accepted = stores_.journal.accept(ann, session, "x", parts=["x"])
    stores_.journal.rate(ann, accepted.turn_id, "good")
    stores_.journal.rate(ann, accepted.turn_id, "bad", version_id=accepted.version_ids[0])
    assert ratings.of_turns(ann, [accepted.turn_id]) == {accepted.turn_id: "good"}
    assert ratings.of_turns(bob, [accepted.turn_id]) == {}
    assert ratings.latest(bob) is None
    assert not ratings.withdraw(bob, accepted.turn_id)
    latest = ratings.latest(ann)
    assert latest is not None
    ratings.undo(bob, latest.feedback_id)
    assert ratings.latest(ann) == latest
