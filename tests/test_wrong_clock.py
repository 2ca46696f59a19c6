"""A clock that was a year ahead and is put right decides no longer."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col
from store_fixtures import Stores, document, passages_by_text
from test_learner import World
from test_learner_background import judge_more, occasions
from test_rounds import only
from test_told_dates import GHENT, LYON, PARIS, Teller, teller

from stores.base.clock import FURTHEST_AHEAD, has_come, time_by
from stores.base.errors import CannotUndo, TryAgain
from stores.base.passages import own_space
from stores.conversation.claim_jobs import LONGEST_WAIT, UNANSWERED_FOR, ClaimJobs
from stores.conversation.journal import Journal, Outcome
from stores.database.tables import Job
from stores.learning.rounds import LEASE, Rounds

__all__ = ["teller"]  # a fixture
WAIT = timedelta(minutes=5)


def a_year_ahead() -> AbstractContextManager[None]:
    return time_by(lambda: datetime.now(UTC) + timedelta(days=365))


def tell(journal: Journal, user: int) -> None:
    turn = journal.accept(user, journal.open_session(user), "My locker is 12.", parts=["12"], learns=True)
    journal.finish(turn.turn_id, Outcome(state="done"))


def test_a_time_has_come_that_is_past_or_further_ahead_than_any_is_set() -> None:
    moment = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    second = timedelta(seconds=1)
    ahead = (-second, 0 * second, second, FURTHEST_AHEAD, FURTHEST_AHEAD + second)
    assert [has_come(moment + each, moment) for each in ahead] == [True, True, False, False, True]
    assert max(LONGEST_WAIT, UNANSWERED_FOR, LEASE) < FURTHEST_AHEAD, "with room for machines a little ahead"


def test_a_lease_ends_though_nobody_knows_what_became_of_its_learner(stores: Stores) -> None:
    with a_year_ahead():
        left = Rounds(stores.database).begin("retriever", {})
    rounds = Rounds(stores.database)
    assert rounds.is_broken_off(only(stores))
    assert rounds.take_over(left) == 1
    with pytest.raises(TryAgain):
        Rounds(stores.database).begin("reader", {})  # by the right clock it holds


def test_a_round_that_rests_goes_on(stores: Stores) -> None:
    with a_year_ahead():
        rounds = Rounds(stores.database)
        rounds.leave(rounds.begin("retriever", {}), "killed", rest=WAIT)
        assert rounds.abandoned("retriever", even_resting=False) is None
    assert rounds.abandoned("retriever", even_resting=False) is not None


def test_what_is_to_be_remembered_is_due(stores: Stores, ann: int) -> None:
    jobs = ClaimJobs(stores.database)
    with a_year_ahead():
        tell(stores.journal, ann)
        tell(stores.journal, ann)
        failed = jobs.take(ann, lease=WAIT)
        assert failed is not None
        jobs.postpone(failed, "the model is down")
        taken = jobs.take(ann, lease=WAIT)
        assert taken is not None
        assert (jobs.take(ann, lease=WAIT), jobs.due(ann)) == (None, 0)
    assert ([job.why for job in jobs.waiting(ann)], jobs.due(ann)) == (["due", "due"], 2)
    again = [jobs.take(ann, lease=WAIT) for _ in range(3)]
    assert [job.id if job else None for job in again] == [failed.id, taken.id, None]


def test_what_waits_for_its_lease_by_a_wrong_clock_is_no_lost_job(stores: Stores, ann: int) -> None:
    """It is due; it is not made due again while somebody does it."""
    with a_year_ahead():
        tell(stores.journal, ann)
        assert ClaimJobs(stores.database, process=lambda: "gone").take(ann, lease=WAIT) is not None
    assert ClaimJobs(stores.database, process=lambda: "here").take(ann, lease=WAIT) is not None
    assert ClaimJobs(stores.database, has_died="gone".__eq__).take(ann, lease=WAIT) is None


def test_the_next_round_is_due_with_few_new_lessons(tmp_path: Path) -> None:
    world = World.fresh(tmp_path)
    with a_year_ahead():
        world.run()
    assert not occasions(world).is_due(), "nothing new"
    judge_more(world, 1)
    assert occasions(world).is_due()
    at = occasions(world).awaited().at
    assert at is not None
    assert at <= datetime.now(UTC)
    world.run()
    judge_more(world, 1)
    assert not occasions(world).is_due(), "that one ended by the right clock"


def test_a_statement_takes_the_place_of_one_that_is_dated_later_than_today(teller: Teller) -> None:
    with a_year_ahead():
        teller.say(GHENT)
    teller.learn((2020, PARIS))
    assert teller.facts == {GHENT}
    teller.say(LYON)
    assert teller.facts == {LYON}
    teller.learn((2021, PARIS))
    assert teller.facts == {LYON}
    with a_year_ahead():
        teller.say(PARIS)
    assert teller.facts == {PARIS}


def test_a_statement_that_is_dated_later_than_today_and_was_told_later_stays(teller: Teller) -> None:
    teller.house.tell(teller.user, LYON)  # and is weighed last of all
    with teller.stores.database.writing() as sql:
        [first] = sql.scalars(select(Job).where(col(Job.kind) == "summarize"))
        first.done_at = first.created_at
    with a_year_ahead():
        teller.say(GHENT)
    with teller.stores.database.writing() as sql:
        sql.get_one(Job, first.id).done_at = None
    teller._work()
    assert {passage.text for passage in teller.statements} == {LYON, GHENT}
    assert teller.facts == {GHENT}


def test_what_was_removed_comes_back_into_its_document(stores: Stores, ann: int) -> None:
    with a_year_ahead():
        stores.add(ann, document("a.txt", "a cat", "a dog"), space=own_space(ann))
    removed = stores.knowledge.set_aside(ann, [passages_by_text(stores)["a cat"]]).receipt_id
    stores.knowledge.undo(ann, removed)
    assert sorted(stores.texts(own_space(ann)).values()) == ["a cat", "a dog"]


def test_what_was_removed_does_not_come_back_into_a_document_that_was_replaced(
    stores: Stores, ann: int
) -> None:
    stores.add(ann, document("a.txt", "a cat", "a dog"), space=own_space(ann))
    with a_year_ahead():
        removed = stores.stored_documents.remove(
            ann, own_space(ann), ["a.txt"], of_space=own_space(ann), summary="removed"
        )
    stores.add(ann, document("a.txt", "a fox"), space=own_space(ann))
    with pytest.raises(CannotUndo, match="was changed since"):
        stores.knowledge.undo(ann, removed)
