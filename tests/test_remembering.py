"""What follows a turn, over real stores and fakes of those who decide."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from store_fixtures import DIMENSION, ENCODER, Stores, document, fake_encode, findable

from agents.base.claim_interfaces import Claim, Curation, Evidence, Said, Weighed
from agents.base.interfaces import Candidate, Vectors
from agents.memory.classifier import Classifier
from agents.retrieval.retriever import Fusion, Retriever
from assistant.background.priority import AnswerBegan, AnswersFirst
from assistant.remembering.remembering import Remembering
from assistant.remembering.weighing import Agents
from assistant.search.searching import Searching
from stores.base.clock import now
from stores.base.errors import MalformedReply, ModelUnreachable
from stores.base.passages import SHARED
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims
from stores.claims.decisions import Learned
from stores.claims.proposals import Proposals
from stores.conversation.claim_jobs import ClaimJobs
from stores.conversation.journal import Outcome

LOCKER = Claim("My locker number is 214.", "My locker number is 214.", "fact", "user")
OPENS = Claim("The room opens at ten.", "The room opens at ten.", "fact", "world")


class Encoder:
    """The fake encoding of the stores' tests."""

    version = ENCODER
    dimension = DIMENSION

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return fake_encode(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return fake_encode(texts)


@dataclass
class Fakes:
    """Agents that find these claims in messages that hold them, and say this of them."""

    claims: Sequence[Claim] = (LOCKER, OPENS)
    status: str = "unknown"
    shared_action: str = "add"
    fail: Callable[[str], None] = lambda step: None  # may raise
    said: list[Said] = field(default_factory=list)
    evidence: list[tuple[str, ...]] = field(default_factory=list)
    nearest: list[tuple[str, ...]] = field(default_factory=list)

    name = "fake"

    async def summarize(self, said: Said) -> list[Claim]:
        self.fail("summarize")
        self.said.append(said)
        return [claim for claim in self.claims if claim.quote in said.message]

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        self.fail("weigh")
        self.evidence.append(tuple(candidate.passage.text for candidate in candidates))
        evidence = tuple(Evidence(c.passage, c.dense, 0.9, 0.05) for c in candidates)
        return Weighed(self.status, 0.95, evidence, by="fake")  # type: ignore[arg-type]

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        self.fail("curate")
        self.nearest.append(tuple(candidate.passage.text for candidate in nearest))
        changed = next((c.passage for c in nearest if c.passage.is_shared), None)
        if changed is not None and self.shared_action != "add":
            return Curation(self.shared_action, changed, text=claim.text)  # type: ignore[arg-type]
        return Curation("add", text=claim.text, reason="new")

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        self.fail("curate")
        self.nearest.append(tuple(candidate.passage.text for candidate in nearest))
        return []


class JoiningFakes(Fakes):
    """Takes several messages at once."""

    async def summarize_together(self, said: Sequence[Said]) -> list[list[Claim]]:
        self.fail(f"together {len(said)}")
        return [await self.summarize(each) for each in said]


class House:
    """Stores, fakes, and remembering over them."""

    def __init__(
        self, stores: Stores, fakes: Fakes, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.stores, self.fakes = stores, fakes
        self.learned: list[Learned] = []
        self.answers_first = AnswersFirst()
        encoder, spaces, indexer = Encoder(), stores.spaces(), stores.indexer(exact_up_to=10_000)
        retriever = Retriever(encoder, keep=10, pool=10, fusion=Fusion(0.5, 0.0, 0.4))
        self.searching = Searching(
            encoder, spaces, retriever, indexer, stores.shared_index(None, exact_up_to=10_000)
        )
        self.remembering = Remembering(
            claims=Claims(stores.database),
            jobs=ClaimJobs(stores.database),
            agents=lambda: Agents(fakes, fakes, Classifier(shared_from=0.9), fakes),
            searching=lambda: self.searching,
            answers_first=self.answers_first,
            sleep=sleep,
        )

    def tell(self, user: int, message: str) -> int:
        session = self.stores.journal.open_session(user)
        turn = self.stores.journal.accept(user, session, message, parts=[message], learns=True).turn_id
        self.stores.journal.finish(turn, Outcome(state="done", answer="I see."))
        return turn

    async def run(self, user: int) -> int:
        return await self.remembering.run_due(user, self.learned.append)


@pytest.fixture
def house(stores: Stores) -> House:
    return House(stores, Fakes())


async def test_what_was_stated_is_found_weighed_and_kept(house: House, ann: int) -> None:
    turn = house.tell(ann, "My locker number is 214. Thanks!")
    assert await house.run(ann) == 2  # found, and weighed
    [learned] = house.learned
    assert (learned.turn_id, learned.text, learned.scope) == (turn, LOCKER.text, "yours")
    assert [line.text for line in house.stores.catalogue.lines(ann, kind="fact")] == [LOCKER.text]
    assert house.stores.indexer(exact_up_to=10_000).waiting() == 0


async def test_what_an_answer_interrupts_is_asked_with_what_was_said_meanwhile(
    stores: Stores, ann: int
) -> None:
    asked: list[str] = []

    def begins(step: str) -> None:
        asked.append(step)
        if asked == ["summarize"]:  # another message comes, and is answered
            house.tell(ann, OPENS.text)
            raise AnswerBegan

    house = House(stores, JoiningFakes(fail=begins))
    house.tell(ann, LOCKER.text)
    assert await house.run(ann) == 4  # two found, and two weighed
    assert asked[:2] == ["summarize", "together 2"]
    assert {learned.text for learned in house.learned} == {LOCKER.text, OPENS.text}


async def test_a_message_that_failed_is_tried_alone(stores: Stores, ann: int) -> None:
    asked: list[str] = []

    def fails(step: str) -> None:
        asked.append(step)
        if asked == ["together 2"]:
            raise MalformedReply("tea")

    house = House(stores, JoiningFakes(fail=fails))
    for claim in (LOCKER, OPENS):
        house.tell(ann, claim.text)
    await house.run(ann)
    ClaimJobs(stores.database).retry_now(ann)
    await house.run(ann)
    assert [step for step in asked if step != "weigh" and step != "curate"] == [
        "together 2",
        "summarize",
        "summarize",
    ]
    assert len(house.learned) == 2


async def test_running_again_changes_nothing(house: House, ann: int) -> None:
    house.tell(ann, LOCKER.text)
    await house.run(ann)
    before = findable(house.stores.database)
    assert await house.run(ann) == 0
    assert findable(house.stores.database) == before


async def test_evidence_is_shared_and_never_a_users_own(house: House, ann: int, bob: int) -> None:
    house.stores.add(bob, document("rules", "The room opens at ten on Saturdays."))
    house.stores.knowledge.remember(ann, "The room opens at ten, I say.")
    house.stores.knowledge.remember(bob, "The room opens at ten, he says.")
    house.tell(ann, OPENS.text)
    await house.run(ann)
    assert house.fakes.evidence == [("The room opens at ten on Saturdays.",)]


async def test_what_is_about_the_user_is_weighed_by_no_model(house: House, ann: int) -> None:
    house.tell(ann, LOCKER.text)
    await house.run(ann)
    assert house.fakes.evidence == []
    assert house.learned[0].status == "unknown"


async def test_hearsay_is_weighed_by_no_model_and_keeps_who_said_it(stores: Stores, ann: int) -> None:
    heard = Claim("The cellar floods.", "My boss says the cellar floods.", "fact", "world", is_hearsay=True)
    house = House(stores, Fakes(claims=(heard,), status="correct"))
    stores.add(ann, document("rules", "The cellar floods every spring."))
    house.tell(ann, heard.quote)
    await house.run(ann)
    assert house.fakes.evidence == []
    assert [line.text for line in stores.catalogue.lines(ann, scope="yours", kind="fact")] == [heard.quote]
    receipt, _ = stores.knowledge.undo(ann, house.learned[0].receipt_id)
    assert receipt.summary == heard.quote  # an undo does not tell it as if the user had stated it


@pytest.mark.parametrize("action", ["modify", "delete"])
async def test_hearsay_takes_the_place_of_nothing_whatever_a_curator_says(
    stores: Stores, ann: int, action: str
) -> None:
    heard = Claim("The cellar is dry.", "My boss says the cellar is dry.", "fact", "world", is_hearsay=True)
    fakes = Fakes(claims=(heard,))

    async def change_all(claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        return Curation(action, nearest[0].passage, claim.text if action == "modify" else "")  # type: ignore[arg-type]

    fakes.curate = change_all  # type: ignore[method-assign]
    house = House(stores, fakes)
    note = "The cellar floods. The attic does not. I have the key."
    stores.knowledge.remember(ann, note)
    stores.indexer(exact_up_to=10_000).catch_up()
    house.tell(ann, heard.quote)
    await house.run(ann)
    assert stores.own_texts(ann) >= {note, heard.quote}


async def test_the_curator_sees_memories_of_the_user_and_neither_messages_nor_documents(
    house: House, ann: int, bob: int
) -> None:
    house.stores.add(ann, document("book", "A document of Ann's."), space=f"user:{ann}")
    house.stores.knowledge.remember(ann, "A note of Ann's.")
    house.stores.knowledge.remember(bob, "A note of Bob's.")
    house.stores.indexer(exact_up_to=10_000).catch_up()
    house.tell(ann, LOCKER.text)
    await house.run(ann)
    assert house.fakes.nearest == [("A note of Ann's.",)]


async def test_a_verified_fact_goes_to_the_shared_memory(stores: Stores, ann: int) -> None:
    house = House(stores, Fakes(status="correct"))
    stores.add(ann, document("rules", "The room opens at ten on Saturdays."))
    house.tell(ann, OPENS.text)
    await house.run(ann)
    assert OPENS.text in stores.texts(SHARED).values()
    assert house.learned[0].scope == "shared"


@pytest.mark.parametrize("action", ["modify", "delete"])
async def test_no_claim_changes_what_all_rely_on_by_itself(stores: Stores, ann: int, action: str) -> None:
    house = House(stores, Fakes(status="correct", shared_action=action))
    stores.add(ann, document("rules", "The room opens at nine on Saturdays."))
    shared = stores.texts(SHARED)
    house.tell(ann, OPENS.text)
    await house.run(ann)
    assert stores.texts(SHARED) == shared
    [proposal] = Proposals(stores.database).open()
    assert (proposal.reason, proposal.action) == ("change", action)
    nine = "The room opens at nine on Saturdays."
    assert (proposal.text, proposal.replaces, proposal.because) == (
        (OPENS.text, nine, "") if action == "modify" else (nine, "", OPENS.text)
    )
    assert (house.learned[0].scope, house.learned[0].state) == ("yours", "stored")
    assert [line.text for line in stores.catalogue.lines(ann, scope="yours", kind="fact")] == [OPENS.text]


async def test_a_wrong_claim_changes_the_shared_memory_in_nothing(stores: Stores, ann: int) -> None:
    house = House(stores, Fakes(status="incorrect"))
    stores.add(ann, document("rules", "The room opens at nine on Saturdays."))
    shared = stores.texts(SHARED)
    house.tell(ann, OPENS.text)
    await house.run(ann)
    assert stores.texts(SHARED) == shared
    assert (house.learned[0].state, house.fakes.nearest) == ("rejected", [])
    assert stores.own_texts(ann) == set()


@pytest.mark.parametrize("step", ["summarize", "weigh", "curate"])
@pytest.mark.parametrize("error", [ModelUnreachable("it is down"), MalformedReply("no JSON")])
async def test_a_model_that_fails_delays_and_loses_nothing(
    stores: Stores, ann: int, step: str, error: Exception
) -> None:
    is_down = True

    def fail(at: str) -> None:
        if is_down and at == step:
            raise error

    house = House(stores, Fakes(fail=fail))
    house.tell(ann, OPENS.text)
    await house.run(ann)
    assert house.learned == []
    [waiting] = ClaimJobs(stores.database).waiting(ann)
    assert (waiting.error, waiting.attempts) == (str(error), 1)
    is_down = False
    assert await house.run(ann) == 0  # it waits
    ClaimJobs(stores.database).retry_now(ann)
    await house.run(ann)
    assert [learned.text for learned in house.learned] == [OPENS.text]


async def test_a_defect_is_raised_and_the_claim_still_pending(stores: Stores, ann: int) -> None:
    def fail(step: str) -> None:
        if step == "weigh":
            raise ZeroDivisionError

    house = House(stores, Fakes(fail=fail))
    house.tell(ann, OPENS.text)
    with pytest.raises(ZeroDivisionError):
        await house.run(ann)
    assert [claim.text for claim in Claims(stores.database).pending(ann)] == [OPENS.text]
    assert ClaimJobs(stores.database).due(ann) == 0  # it waits, and does not fail in a circle


async def test_a_defect_in_one_job_stops_none_behind_it(stores: Stores, ann: int) -> None:
    failed: list[str] = []

    def fail(step: str) -> None:
        if step == "weigh" and len(failed) < 2:
            failed.append(step)
            raise ZeroDivisionError(len(failed))

    said = tuple(Claim(text, text, "fact", "world") for text in ("It is one.", "It is two.", "It is three."))
    house = House(stores, Fakes(claims=said, fail=fail))
    for claim in said:
        house.tell(ann, claim.text)
    with pytest.raises(ZeroDivisionError, match="1"):  # the first of them
        await house.run(ann)
    assert [learned.text for learned in house.learned] == ["It is three."]
    assert [claim.text for claim in Claims(stores.database).pending(ann)] == ["It is one.", "It is two."]


async def test_a_cancelled_run_gives_its_job_back(stores: Stores, ann: int) -> None:
    def fail(step: str) -> None:
        raise asyncio.CancelledError

    house = House(stores, Fakes(fail=fail))
    house.tell(ann, OPENS.text)
    with pytest.raises(asyncio.CancelledError):
        await house.run(ann)
    [waiting] = ClaimJobs(stores.database).waiting(ann)
    assert (waiting.not_before, waiting.attempts) == (None, 0)


async def test_nothing_is_done_while_an_answer_is_given(house: House, ann: int) -> None:
    house.tell(ann, LOCKER.text)
    with house.answers_first.answering():
        running = asyncio.create_task(house.run(ann))
        done, _ = await asyncio.wait([running], timeout=0.2)
        assert not done
        assert house.fakes.said == []
    assert await running == 2


async def test_earlier_turns_and_answers_are_context_and_never_the_message(house: House, ann: int) -> None:
    session = house.stores.journal.open_session(ann)
    for message in ("My locker number is 214.", "Thanks."):
        turn = house.stores.journal.accept(ann, session, message, parts=[message], learns=True).turn_id
        house.stores.journal.finish(turn, Outcome(state="done", answer=f"You said: {message}"))
    await house.run(ann)
    last = house.fakes.said[-1]
    assert (last.message, last.answer) == ("Thanks.", "You said: Thanks.")
    assert [exchange.answer for exchange in last.earlier] == ["You said: My locker number is 214."]
    assert len(house.learned) == 1


@pytest.mark.parametrize(
    ("status", "expected"), [("correct", "new evidence"), ("incorrect", None), ("unknown", None)]
)
async def test_new_evidence_proposes_and_shares_nothing_by_itself(
    stores: Stores, ann: int, status: str, expected: str | None
) -> None:
    house = House(stores, Fakes())
    house.tell(ann, OPENS.text)
    await house.run(ann)
    house.fakes.status = status
    await house.run(ann)  # nothing new is shared: it is not weighed again
    assert len(house.fakes.evidence) == 1
    stores.add(ann, document("rules", "The room opens at ten on Saturdays."))
    shared = stores.texts(SHARED)
    await house.run(ann)
    await house.run(ann)
    assert len(house.fakes.evidence) == 2
    assert stores.texts(SHARED) == shared
    assert [p.reason for p in Proposals(stores.database).open()] == ([expected] if expected else [])
    told = [(learned.status, learned.receipt_id) for learned in house.learned[1:]]
    assert told == ([] if status == "unknown" else [(status, None)])
    assert OPENS.text in stores.own_texts(ann)


async def test_new_evidence_against_another_shared_passage_proposes_the_change(
    stores: Stores, ann: int
) -> None:
    house = House(stores, Fakes(shared_action="modify"))
    house.tell(ann, OPENS.text)
    await house.run(ann)
    house.fakes.status = "correct"
    stores.add(ann, document("rules", "The room opens at nine."))
    shared = stores.texts(SHARED)
    await house.run(ann)
    [proposal] = Proposals(stores.database).open()
    assert (proposal.reason, proposal.action, proposal.replaces) == (
        "change",
        "modify",
        "The room opens at nine.",
    )
    assert stores.texts(SHARED) == shared
    assert house.learned[-1].proposed_action == "modify"


async def test_a_model_that_fails_at_a_second_look_spoils_nothing(stores: Stores, ann: int) -> None:
    house = House(stores, Fakes())
    house.tell(ann, OPENS.text)
    await house.run(ann)
    stores.add(ann, document("rules", "The room opens at ten on Saturdays."))

    def fail(step: str) -> None:
        if step == "weigh":
            raise ModelUnreachable("it is down")

    house.fakes.fail = fail
    house.tell(ann, LOCKER.text)
    assert await house.run(ann) == 2  # what is new is remembered all the same
    again = House(stores, Fakes(status="correct"))  # the next process
    await again.run(ann)
    assert [learned.status for learned in again.learned] == ["correct"]


class Clock:
    """A time that passes only when it is told to; who sleeps by it does something between two sleeps."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment
        self._asleep: list[tuple[datetime, asyncio.Future[None]]] = []
        self._fell_asleep = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        waking: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asleep.append((self.moment + timedelta(seconds=seconds), waking))
        self._fell_asleep.set()
        await waking

    async def passes(self, minutes: int) -> None:
        for _ in range(minutes):
            await asyncio.sleep(0.01)
            self.moment += timedelta(minutes=1)
            due = [waking for until, waking in self._asleep if until <= self.moment and not waking.done()]
            self._asleep = [one for one in self._asleep if one[1] not in due]
            self._fell_asleep.clear()
            for waking in due:
                waking.set_result(None)
            if due:
                await self._fell_asleep.wait()


async def test_a_job_that_takes_longer_than_its_lease_stays_with_who_does_it(
    stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(now())
    monkeypatch.setattr("stores.conversation.claim_jobs.now", lambda: clock.moment)
    others: list[object] = []
    fakes = Fakes()

    async def weigh_long(claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        await clock.passes(minutes=17)
        others.append(ClaimJobs(stores.database).take(ann, lease=timedelta(minutes=5)))
        return Weighed("unknown", 0.5, by="slow")

    fakes.weigh = weigh_long  # type: ignore[method-assign]
    house = House(stores, fakes, sleep=clock.sleep)
    house.tell(ann, OPENS.text)
    assert await house.run(ann) == 2
    assert others == [None]
    assert [learned.text for learned in house.learned] == [OPENS.text]


async def test_a_job_whose_process_was_lost_is_free_when_its_lease_ends(
    stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(now())
    monkeypatch.setattr("stores.conversation.claim_jobs.now", lambda: clock.moment)
    house, jobs = House(stores, Fakes()), ClaimJobs(stores.database)
    house.tell(ann, OPENS.text)
    lost = jobs.take(ann, lease=timedelta(minutes=5))
    assert lost is not None
    await clock.passes(minutes=6)
    taken = jobs.take(ann, lease=timedelta(minutes=5))
    assert taken is not None
    jobs.renew(lost, lease=timedelta(hours=5))  # it comes back too late, and holds nothing any more
    await clock.passes(minutes=6)
    assert jobs.take(ann, lease=timedelta(minutes=5)) is not None


async def test_a_job_that_was_given_back_is_not_taken_again_by_a_late_renewal(
    stores: Stores, ann: int
) -> None:
    house, jobs = House(stores, Fakes()), ClaimJobs(stores.database)
    house.tell(ann, OPENS.text)
    job = jobs.take(ann, lease=timedelta(minutes=5))
    assert job is not None
    jobs.release(job)
    jobs.renew(job, lease=timedelta(minutes=5))
    assert jobs.due(ann) == 1


async def test_the_curator_sees_the_newest_statements_however_far_off(house: House, ann: int) -> None:
    house.stores.knowledge.remember(ann, "Something said just before.", kind="fact")
    for number in range(20):
        house.stores.knowledge.remember(ann, f"My locker number is {number}.", kind="note")
    house.stores.knowledge.remember(ann, "Something said since.", kind="fact")
    house.stores.indexer(exact_up_to=10_000).catch_up()
    house.tell(ann, LOCKER.text)
    await house.run(ann)
    assert "Something said since." in house.fakes.nearest[-1]
    assert 12 < len(house.fakes.nearest[-1]) <= 12 + 6
