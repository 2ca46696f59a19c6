"""Claims: found once, weighed once, written once with a receipt, and taken back whole."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col
from store_fixtures import Stores, document, findable

from stores.base.errors import NotFound, WrongUsage
from stores.base.passages import SHARED
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims, NewClaim, text_key
from stores.claims.decisions import Decision, Learned
from stores.claims.proposals import Proposals
from stores.conversation.claim_jobs import FIRST_WAIT, LONGEST_WAIT, ClaimJob, ClaimJobs
from stores.conversation.journal import Journal, Outcome
from stores.database.tables import Job, Receipt
from stores.memory.statement_links import StatementLinks
from stores.versions.provenance import messages_behind

LOCKER = "My locker number is 214."
LEASE = timedelta(minutes=5)
UNKNOWN = Decision(status="unknown", confidence=1.0, scope="yours", action="add")


def tell(stores: Stores, user: int, message: str, *, ends: bool = True) -> int:
    """A turn in a session of its own; returns its id."""
    session = stores.journal.open_session(user)
    accepted = stores.journal.accept(user, session, message, parts=[message], learns=True)
    if ends:
        stores.journal.finish(accepted.turn_id, Outcome(state="done", answer="Noted."))
    return accepted.turn_id


def taken(stores: Stores, user: int) -> ClaimJob:
    job = ClaimJobs(stores.database).take(user, lease=LEASE)
    assert job is not None
    return job


def new(text: str, **given: Any) -> NewClaim:
    return NewClaim(**({"text": text, "quote": text, "kind": "fact", "about": "user"} | given))


def state(stores: Stores, user: int, text: str, decision: Decision = UNKNOWN, **given: Any) -> Learned:
    """A claim from its turn to its end."""
    claims = Claims(stores.database)
    turn = tell(stores, user, text)
    claims.put(user, taken(stores, user).id, turn, [new(text, **given)], by="test")
    job = taken(stores, user)
    learned = claims.decide(user, job.id, job.subject_id, decision)
    assert learned is not None
    return learned


def receipt(stores: Stores, receipt_id: int | None) -> Receipt:
    with stores.database.reading() as sql:
        return sql.get_one(Receipt, receipt_id)


# The queue


def test_a_turn_is_summarized_once_it_has_ended(stores: Stores, ann: int) -> None:
    jobs = ClaimJobs(stores.database)
    turn = tell(stores, ann, LOCKER, ends=False)
    assert jobs.take(ann, lease=LEASE) is None
    stores.journal.finish(turn, Outcome(state="stopped"))
    job = jobs.take(ann, lease=LEASE)
    assert job is not None
    assert (job.kind, job.subject_id, job.attempts) == ("summarize", turn, 1)


def test_a_turn_whose_process_has_died_is_summarized_at_once(stores: Stores, ann: int) -> None:
    journal = Journal(stores.database, process=lambda: "p1")
    stores = replace(stores, journal=journal)
    turn = tell(stores, ann, LOCKER, ends=False)
    living = ClaimJobs(stores.database, has_died=lambda process: False)
    assert living.take(ann, lease=LEASE) is None
    job = ClaimJobs(stores.database, has_died=lambda process: process == "p1").take(ann, lease=LEASE)
    assert job is not None
    assert (job.kind, job.subject_id, job.attempts) == ("summarize", turn, 1)


def test_what_waits_for_another_reason_waits_although_its_process_has_died(stores: Stores, ann: int) -> None:
    stores = replace(stores, journal=Journal(stores.database, process=lambda: "p1"))
    tell(stores, ann, LOCKER)
    jobs = ClaimJobs(stores.database, has_died=lambda process: True)
    jobs.postpone(taken(stores, ann), "no model")
    assert jobs.take(ann, lease=LEASE) is None


def test_a_private_session_leaves_nothing_to_remember(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann, is_private=True)
    turn = stores.journal.accept(ann, session, LOCKER, parts=[LOCKER], learns=True).turn_id
    stores.journal.finish(turn, Outcome(state="done"))
    assert ClaimJobs(stores.database).waiting(ann) == []


def test_a_job_has_one_owner_until_its_lease_ends(stores: Stores, ann: int) -> None:
    jobs = ClaimJobs(stores.database)
    tell(stores, ann, LOCKER)
    first = jobs.take(ann, lease=timedelta(0))  # ended as soon as it began
    second = jobs.take(ann, lease=LEASE)
    assert first is not None
    assert second is not None
    assert (first.id, second.attempts) == (second.id, 2)
    assert jobs.take(ann, lease=LEASE) is None


def test_a_job_given_back_is_due_at_once_and_counts_no_attempt(stores: Stores, ann: int) -> None:
    jobs = ClaimJobs(stores.database)
    tell(stores, ann, LOCKER)
    jobs.release(taken(stores, ann))
    assert taken(stores, ann).attempts == 1


@pytest.mark.parametrize("ended", ["released", "postponed"])
def test_whose_lease_ended_takes_no_job_from_its_new_owner(stores: Stores, ann: int, ended: str) -> None:
    jobs = ClaimJobs(stores.database)
    tell(stores, ann, LOCKER)
    first = jobs.take(ann, lease=timedelta(0))  # ended as soon as it began
    assert first is not None
    second = taken(stores, ann)
    if ended == "released":
        jobs.release(first)
    else:
        jobs.postpone(first, "no model")
    assert jobs.take(ann, lease=LEASE) is None
    assert [(one.id, one.attempts, one.error) for one in jobs.waiting(ann)] == [(second.id, 2, "")]


def test_a_failed_job_waits_longer_each_time_and_keeps_its_reason(stores: Stores, ann: int) -> None:
    jobs = ClaimJobs(stores.database)
    tell(stores, ann, LOCKER)
    job = taken(stores, ann)
    waits = []
    for attempts in (1, 2, 20):
        before = stores.journal.turn(ann, job.subject_id).accepted_at
        with stores.database.writing() as sql:
            sql.execute(update(Job).where(col(Job.id) == job.id).values(attempts=attempts))
        waits.append(jobs.postpone(ClaimJob(job.id, job.kind, job.subject_id, attempts), "no model") - before)
    assert waits[0] >= FIRST_WAIT
    assert waits[1] >= 2 * FIRST_WAIT
    assert waits[2] >= LONGEST_WAIT
    assert waits[2] < LONGEST_WAIT + timedelta(minutes=5)
    assert [waiting.error for waiting in jobs.waiting(ann)] == ["no model"]
    assert jobs.take(ann, lease=LEASE) is None
    assert jobs.retry_now(ann) == 1
    assert taken(stores, ann).id == job.id


def test_a_user_takes_no_other_users_jobs(stores: Stores, ann: int, bob: int) -> None:
    turn = tell(stores, ann, LOCKER)
    claims = Claims(stores.database)
    assert ClaimJobs(stores.database).take(bob, lease=LEASE) is None
    claim = claims.put(ann, taken(stores, ann).id, turn, [new(LOCKER)], by="test")[0]
    with pytest.raises(NotFound):
        claims.claim(bob, claim)
    with pytest.raises(NotFound):
        claims.told(bob, turn)
    assert claims.pending(bob) == claims.of_turn(bob, turn) == []
    assert claims.decide(bob, taken(stores, ann).id, claim, UNKNOWN) is None


# Writing


def test_what_cannot_be_decided_is_the_users_own_with_a_receipt(stores: Stores, ann: int, bob: int) -> None:
    learned = state(stores, ann, LOCKER, quote="My locker number is 214")
    assert (learned.state, learned.scope, learned.action) == (
        "stored",
        "yours",
        "add",
    )
    kept = receipt(stores, learned.receipt_id)
    assert (kept.action, kept.summary, kept.turn_id) == ("add", LOCKER, learned.turn_id)
    assert kept.grounds["quote"] == "My locker number is 214"
    assert [line.text for line in stores.catalogue.lines(ann, kind="fact")] == [LOCKER]
    assert stores.catalogue.lines(bob) == []


def test_the_same_work_done_twice_writes_once(stores: Stores, ann: int) -> None:
    claims = Claims(stores.database)
    turn = tell(stores, ann, LOCKER)
    summarize = taken(stores, ann)
    assert len(claims.put(ann, summarize.id, turn, [new(LOCKER)], by="test")) == 1
    assert claims.put(ann, summarize.id, turn, [new(LOCKER)], by="test") == []
    weigh = taken(stores, ann)
    assert claims.decide(ann, weigh.id, weigh.subject_id, UNKNOWN) is not None
    before = findable(stores.database)
    assert claims.decide(ann, weigh.id, weigh.subject_id, UNKNOWN) is None
    assert findable(stores.database) == before
    assert len(stores.knowledge.receipts(ann)) == 1


def test_what_is_said_again_is_kept_again(stores: Stores, ann: int) -> None:
    first, again = state(stores, ann, LOCKER), state(stores, ann, LOCKER)
    assert (again.state, again.action) == ("stored", "add")
    assert again.passage_id != first.passage_id


def test_what_no_longer_holds_stays_with_a_link_that_undo_takes_away(stores: Stores, ann: int) -> None:
    first = state(stores, ann, LOCKER)
    assert first.passage_id is not None
    link = NewLink(first.passage_id, False, "replaces", 0.9, "test")
    newer = state(stores, ann, "My locker number is 310.", replace(UNKNOWN, links=[link]))
    assert [(passage.text, passage.holds) for passage in newer.instead_of] == [(LOCKER, False)]
    assert holding(stores, ann) == {LOCKER: False, "My locker number is 310.": True}
    stores.knowledge.undo(ann)
    assert holding(stores, ann) == {LOCKER: True}


def holding(stores: Stores, user: int) -> dict[str, bool]:
    """Whether each statement of a user still holds."""
    space = stores.spaces().of(user)
    found = space.passages([version for version, _ in space.statements(100)])
    return {passage.text: passage.holds for passage in found.values()}


def test_what_was_told_first_and_weighed_last_replaces_nothing(stores: Stores, ann: int) -> None:
    claims, turn = Claims(stores.database), tell(stores, ann, LOCKER)
    claims.put(ann, taken(stores, ann).id, turn, [new(LOCKER)], by="test")
    weigh = taken(stores, ann)
    newer = state(stores, ann, "My locker number is 310.")
    version_ids = [version for version, _ in stores.spaces().of(ann).statements(9)]
    assert claims.told_later(ann, weigh.subject_id, version_ids) == set(version_ids)
    link = NewLink(newer.passage_id or 0, True, "replaces", 0.9, "test")
    learned = claims.decide(ann, weigh.id, weigh.subject_id, replace(UNKNOWN, links=[link]))
    assert learned is not None
    assert learned.is_earlier
    assert holding(stores, ann) == {LOCKER: False, "My locker number is 310.": True}


def test_no_link_reaches_into_another_space(stores: Stores, ann: int, bob: int) -> None:
    his = state(stores, bob, LOCKER)
    link = NewLink(his.passage_id or 0, False, "ends", 1.0, "test")
    with pytest.raises(IntegrityError):
        state(stores, ann, "I have no locker.", replace(UNKNOWN, links=[link]))
    assert holding(stores, bob) == {LOCKER: True}
    assert holding(stores, ann) == {}
    with pytest.raises(NotFound):
        StatementLinks(stores.database).say(ann, his.passage_id or 0, 1, "ends")


def test_undoing_what_was_learned_withdraws_the_lesson(stores: Stores, ann: int) -> None:
    before = findable(stores.database)["texts"]
    learned = state(stores, ann, LOCKER)
    assert learned is not None
    stores.knowledge.undo(ann, learned.receipt_id)
    said = [row for row in findable(stores.database)["texts"] if row not in before]
    assert [row["text"] for row in said] == [LOCKER]  # the message alone
    assert Claims(stores.database).claim(ann, learned.claim_id).state == "withdrawn"


def test_words_that_became_knowledge_are_settled_and_stay_so_when_that_is_undone(
    stores: Stores, ann: int, bob: int
) -> None:
    learned = state(stores, ann, LOCKER)
    [message] = [i for i, text in stores.texts(f"user:{ann}").items() if text == LOCKER][:1]
    claims = Claims(stores.database)
    assert claims.settled_words(ann, [message]) == {message: [LOCKER]}
    assert claims.settled_words(bob, [message]) == {}
    stores.knowledge.undo(ann, learned.receipt_id)
    assert claims.settled_words(ann, [message]) == {message: [LOCKER]}


def test_a_memory_has_its_message_behind_it(stores: Stores, ann: int, bob: int) -> None:
    state(stores, ann, LOCKER)
    texts = stores.texts(f"user:{ann}")
    [(version_id, behind)] = messages_behind(stores.database, ann, list(texts)).items()
    assert (texts[version_id], [(m.text, m.holds) for m in behind]) == (LOCKER, [(LOCKER, True)])
    assert messages_behind(stores.database, bob, list(texts)) == {}


def test_words_that_were_set_aside_as_wrong_answer_again_once_that_is_undone(
    stores: Stores, ann: int
) -> None:
    learned = state(stores, ann, LOCKER, WRONG)
    assert learned is not None
    stores.knowledge.undo(ann, learned.receipt_id)
    [message] = [i for i, text in stores.texts(f"user:{ann}").items() if text == LOCKER]
    assert Claims(stores.database).settled_words(ann, [message]) == {}


# What was found wrong

WRONG = Decision(status="incorrect", confidence=0.95, scope="yours", action="nothing")


def test_wrong_words_are_logged_and_taken_out_of_their_message(stores: Stores, ann: int) -> None:
    message = "I am off to lunch. The room opens at nine."
    claims = Claims(stores.database)
    turn = tell(stores, ann, message)
    claim = new("The room opens at nine.", about="world")
    claims.put(ann, taken(stores, ann).id, turn, [claim], by="test")
    job = taken(stores, ann)
    learned = claims.decide(ann, job.id, job.subject_id, WRONG)
    assert learned is not None
    assert (learned.state, learned.action) == ("rejected", "nothing")
    assert stores.own_texts(ann) == {"I am off to lunch."}
    stores.knowledge.undo(ann, learned.receipt_id)
    assert stores.own_texts(ann) == {message}
    assert claims.claim(ann, learned.claim_id).state == "withdrawn"


def test_a_message_of_nothing_but_wrong_words_is_found_no_more(stores: Stores, ann: int) -> None:
    state(stores, ann, "The room opens at nine.", WRONG, about="world")
    assert stores.own_texts(ann) == set()
    assert stores.journal.last_turn(ann).message == "The room opens at nine."  # the transcript stays


# Proposals


def test_a_second_user_who_states_it_raises_a_proposal_and_nothing_more(
    stores: Stores, ann: int, bob: int
) -> None:
    stores.add(ann, document("rules", "The room opens at ten."))
    shared = stores.texts(SHARED)
    text = "The east door is closed in winter."
    first = state(stores, ann, text, about="world")
    assert first.proposal_id is None
    assert state(stores, ann, text, about="world").proposal_id is None
    second = state(stores, bob, "the east DOORS is closed, in winter", about="world")
    assert second.proposal_id is not None
    assert stores.texts(SHARED) == shared
    [proposal] = Proposals(stores.database).open()
    assert (proposal.id, proposal.reason) == (second.proposal_id, "second user")


def test_what_nobody_offered_is_read_by_its_users_and_by_who_may_decide_alone(
    stores: Stores, ann: int, bob: int
) -> None:
    eve, proposals = stores.journal.user_id("eve"), Proposals(stores.database)
    for user in (ann, bob):
        state(stores, user, "The plumber comes on Friday.", about="world")
    read = {user: bool(proposals.shown_to(user, is_curator=False)) for user in (ann, bob, eve, 0)}
    assert read == {ann: True, bob: True, eve: False, 0: False}
    assert len(proposals.shown_to(eve, is_curator=True)) == 1
    stores.add(ann, document("rules", "The room opens at ten."))
    [line] = stores.catalogue.lines(ann, scope="shared", kind="document")
    removal = proposals.propose_removal(ann, line.passage_id)  # meant for everybody
    assert [proposal.id for proposal in proposals.shown_to(eve, is_curator=False)] == [removal]


@pytest.mark.parametrize("given", [{"about": "user"}, {"is_hearsay": True}, {"kind": "preference"}])
def test_nothing_about_a_user_and_no_hearsay_is_proposed(
    stores: Stores, ann: int, bob: int, given: dict[str, Any]
) -> None:
    for user in (ann, bob):
        state(stores, user, "The east door is closed in winter.", **({"about": "world"} | given))
    assert Proposals(stores.database).open() == []


def test_who_stated_it_cannot_accept_it_and_another_can(stores: Stores, ann: int, bob: int) -> None:
    for user in (ann, bob):
        learned = state(stores, user, "The east door is closed in winter.", about="world")
    assert learned.proposal_id is not None
    proposals = Proposals(stores.database)
    for user in (ann, bob):
        with pytest.raises(WrongUsage):
            proposals.accept(user, learned.proposal_id)
    eve = stores.journal.user_id("eve")
    _, receipt_id = proposals.accept(eve, learned.proposal_id)
    assert set(stores.texts(SHARED).values()) == {"The east door is closed in winter."}
    stores.knowledge.undo(eve, receipt_id)
    assert stores.texts(SHARED) == {}


def test_what_was_refused_is_not_proposed_again(stores: Stores, ann: int, bob: int) -> None:
    for user in (ann, bob):
        learned = state(stores, user, "The east door is closed in winter.", about="world")
    assert learned.proposal_id is not None
    proposals = Proposals(stores.database)
    proposals.refuse(stores.journal.user_id("eve"), learned.proposal_id)
    state(stores, stores.journal.user_id("dan"), "The east door is closed in winter.", about="world")
    assert proposals.open() == []
    with pytest.raises(NotFound):
        proposals.accept(stores.journal.user_id("eve"), learned.proposal_id)


# The key by which the same claim of two users is found


def test_the_key_sees_through_inflection_and_not_through_negation_or_numbers() -> None:
    assert text_key("The east door is closed.") == text_key("the east doors is CLOSED")
    assert text_key("The east door is closed.") != text_key("The east door is not closed.")
    assert text_key("The east door isn't closed.") == text_key("The east door is not closed.")
    assert text_key("It opens at 9.") != text_key("It opens at 10.")
    pairs = (Path(__file__).parent.parent / "data/lookalikes/opposites.jsonl").read_text("utf-8").splitlines()
    for pair in map(json.loads, pairs):
        assert text_key(pair["first"]) != text_key(pair["second"]), pair


def test_what_a_summarizer_is_told_is_the_turn_and_its_session_alone(stores: Stores, ann: int) -> None:
    tell(stores, ann, "another session")
    session = stores.journal.open_session(ann)
    for message in ("first", "second"):
        accepted = stores.journal.accept(ann, session, message, parts=[message], learns=True)
        stores.journal.finish(accepted.turn_id, Outcome(state="done", answer=f"answer to {message}"))
    told = Claims(stores.database).told(ann, accepted.turn_id)
    assert (told.message, told.answer) == ("second", "answer to second")
    assert [turn.message for turn in told.earlier] == ["first"]
    assert told.recalled == ()
