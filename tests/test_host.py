"""The host's promises: what interrupts it, what comes through it, and what it leaves when it closes.

Remembering is begun while no answer is given, whatever the host plays next.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from agent_fakes import FakeChat, FixedEncoder
from store_fixtures import DIMENSION, ENCODER, Stores, fake_encode

from agents.answering.responder import Responder
from agents.base.chat_interfaces import ReplyRequest
from agents.base.claim_interfaces import Claim, Curation, Said, Weighed
from agents.base.interfaces import Candidate
from agents.memory.classifier import Classifier
from agents.retrieval.query_augmenter import QueryAugmenter
from agents.retrieval.reranker import Reranker
from agents.retrieval.retriever import Fusion, Retriever
from agents.retrieval.score_judge import ScoreJudge
from assistant.background.priority import AnswersFirst
from assistant.remembering.remembering import Remembering
from assistant.remembering.weighing import Agents
from assistant.search.searching import Searching
from assistant.turns.events import Event, Wrote
from assistant.turns.host import Sending, TurnHost
from assistant.turns.memory_talk import MemoryTalk
from assistant.turns.pipeline import TurnPipeline
from stores.base.errors import ModelUnreachable, OverTime
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims
from stores.claims.decisions import Learned, Outdated
from stores.conversation.claim_jobs import ClaimJob, ClaimJobs, WaitingJob
from stores.database.tables import Turn

LONG = 90.0  # seconds: whoever waits for them has missed something
LOCKER = "My locker number is 214."

Reply = Callable[[ReplyRequest], AsyncIterator[str]]


class Encoder(FixedEncoder):
    """The fake encoding of the stores' tests."""

    version = ENCODER
    dimension = DIMENSION

    def __init__(self) -> None:
        super().__init__({})

    def encode_queries(self, texts: Sequence[str]) -> Any:
        return fake_encode(texts)


async def at_once(_step: str) -> None:
    """An agent that does not wait."""


class Fakes:
    """Agents that take every message for one claim; `step` is awaited in each of their calls."""

    name = "fake"

    def __init__(self) -> None:
        self.step: Callable[[str], Awaitable[None]] = at_once
        self.replaces = False  # what is there already

    async def summarize(self, said: Said) -> list[Claim]:
        await self.step("summarize")
        return [Claim(said.message, said.message, "fact", "world")]

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        await self.step("weigh")
        return Weighed("unknown", 0.95, by="fake")

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        return Curation("add", text=claim.text, reason="new")

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        await self.step("curate")
        met = [candidate.passage for candidate in nearest[:1] if self.replaces]
        return [NewLink(p.passage_id, p.version_id in later, "replaces", 0.9, "") for p in met]


async def ten(_request: ReplyRequest) -> AsyncIterator[str]:
    yield "At "
    yield "ten."


async def never_ends(_request: ReplyRequest) -> AsyncIterator[str]:
    yield "At "
    await asyncio.sleep(LONG)


class House:
    """Real stores, a pipeline and remembering over them, and a host; the models are fakes."""

    def __init__(self, folder: Path) -> None:
        self.stores = Stores.fresh(folder)
        self.jobs = ClaimJobs(self.stores.database)
        self.fakes = Fakes()
        self.reply: Reply = ten
        self.made = 0  # times that remembering was made
        self.learned: list[Learned] = []
        self.ann = self.stores.journal.user_id("ann")
        self.session = self.stores.journal.open_session(self.ann)
        encoder = Encoder()
        searching = Searching(
            encoder,
            self.stores.spaces(),
            Retriever(encoder, keep=10, pool=10, fusion=Fusion(0.5, 0.0, 0.4)),
            self.stores.indexer(exact_up_to=10_000),
            self.stores.shared_index(None, exact_up_to=10_000),
        )
        self.answers_first = AnswersFirst()
        self.chat = FakeChat(lambda request: self.reply(request))
        memory = MemoryTalk(
            self.stores.journal,
            augmenter=QueryAugmenter(),
            reranker=Reranker(ScoreJudge(), schedule="multi", budget=10, min_judged=1),
            cut=lambda text: [text],
            history_turns=3,
        )
        pipeline = TurnPipeline(
            journal=self.stores.journal,
            searching=lambda: searching,
            memory=memory,
            responder=Responder(self.chat, keep=3, reply_tokens=16),
            cut=lambda text: [text],
            answers_first=self.answers_first,
        )

        def make() -> Remembering:
            self.made += 1
            return Remembering(
                claims=Claims(self.stores.database),
                jobs=self.jobs,
                agents=lambda: Agents(self.fakes, self.fakes, Classifier(shared_from=0.9), self.fakes),
                searching=lambda: searching,
                answers_first=self.answers_first,
                lease=timedelta(minutes=5),
            )

        self.host = TurnHost(pipeline, make)

    def play(
        self, message: str = "When?", watch: Callable[[Event], None] = lambda event: None, **more: Any
    ) -> Any:
        return self.host.play(self.ann, self.session, message, watch=watch, **more)

    def remember(self) -> None:
        self.host.remember(self.ann, self.learned.append)

    def last_turn(self) -> Turn:
        return self.stores.journal.last_turn(self.ann)

    def waiting(self) -> list[WaitingJob]:
        return self.jobs.waiting(self.ann)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    if not made.host.loop.is_closed():
        made.host.close()
    made.stores.database.close()


# What is raised in the thread that waits


@pytest.fixture(params=[KeyboardInterrupt, SystemExit])
def interruption(request: pytest.FixtureRequest) -> Iterator[type[BaseException]]:
    """What SIGUSR1 raises, wherever the main thread is."""

    def leave(_number: int, _frame: object) -> None:
        raise request.param

    before = signal.signal(signal.SIGUSR1, leave)
    yield request.param
    signal.signal(signal.SIGUSR1, before)


def handed_over(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Is released each time that work was handed to an event loop."""
    hand_over, counted = asyncio.run_coroutine_threadsafe, threading.Semaphore(0)

    def telling(work: Any, loop: asyncio.AbstractEventLoop) -> Any:
        running = hand_over(work, loop)
        counted.release()
        return running

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", telling)
    return counted


def to_the_process() -> None:
    os.kill(os.getpid(), signal.SIGUSR1)


def to_this_thread() -> None:
    """As the system may choose; it is the loop's, where this is called in a turn."""
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)


@pytest.mark.parametrize("interrupt", [to_the_process, to_this_thread])
def test_interrupted_the_reply_stops_and_its_part_is_kept(
    house: House, interruption: type[BaseException], interrupt: Callable[[], None]
) -> None:
    house.reply = never_ends

    def watch(event: Event) -> None:
        if isinstance(event, Wrote):
            interrupt()

    with pytest.raises(interruption):
        house.play(watch=watch)
    turn = house.last_turn()
    assert (turn.state, turn.answer, turn.failure) == ("stopped", "At ", "")


@pytest.mark.parametrize("interrupt", [to_the_process, to_this_thread])
def test_interrupted_settling_leaves_what_is_remembered_to_go_on(
    house: House, interruption: type[BaseException], interrupt: Callable[[], None]
) -> None:
    may_go_on = threading.Event()

    async def step(name: str) -> None:
        if name == "summarize":
            interrupt()
            await asyncio.to_thread(may_go_on.wait, LONG)

    house.fakes.step = step
    house.play(LOCKER)
    house.remember()
    with pytest.raises(interruption):
        house.host.settle()
    may_go_on.set()
    assert house.host.settle()
    assert [learned.text for learned in house.learned] == [LOCKER]


def test_a_turn_that_two_interruptions_left_behind_is_ended_by_closing(house: House) -> None:
    async def stops_slowly(_request: ReplyRequest) -> AsyncIterator[str]:
        yield "At "
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            to_the_process()  # Ctrl+C again, by who waits for the end
            await asyncio.sleep(0.2)
            raise

    def leave(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    def watch(event: Event) -> None:
        if isinstance(event, Wrote):
            to_the_process()

    before = signal.signal(signal.SIGUSR1, leave)
    try:
        house.reply = stops_slowly
        with pytest.raises(KeyboardInterrupt):
            house.play(watch=watch)
        house.host.close()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (house.last_turn().state, house.last_turn().answer) == ("stopped", "At ")


def test_closing_does_not_wait_for_a_turn_that_nobody_waits_for(house: House) -> None:
    house.reply = never_ends
    has_begun = threading.Event()

    def watch(event: Event) -> None:
        if isinstance(event, Wrote):
            has_begun.set()

    playing = house.host.playing(Sending(), house.ann, house.session, "When?", watch=watch)
    asyncio.run_coroutine_threadsafe(playing, house.host.loop)
    assert has_begun.wait(LONG)
    house.host.close()
    assert (house.last_turn().state, house.last_turn().answer) == ("stopped", "At ")


# What comes through


def test_an_error_of_who_watches_comes_through_and_the_turn_is_stopped(house: House) -> None:
    def watch(event: Event) -> None:
        if isinstance(event, Wrote):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        house.play(watch=watch)
    assert house.last_turn().state == "stopped"
    assert house.play().state == "done"


def test_past_its_time_a_turn_is_stopped_and_told(house: House) -> None:
    house.reply = never_ends
    with pytest.raises(OverTime):
        house.play(timeout_seconds=2.0)
    assert (house.last_turn().state, house.last_turn().answer) == ("stopped", "At ")


@pytest.mark.parametrize("error", [ModelUnreachable("it is down"), ZeroDivisionError()])
def test_after_a_turn_that_failed_the_next_one_is_played(house: House, error: Exception) -> None:
    async def breaks(_request: ReplyRequest) -> AsyncIterator[str]:
        yield "At "
        raise error

    house.reply = breaks
    if isinstance(error, ModelUnreachable):
        assert house.play().error is error
    else:
        with pytest.raises(ZeroDivisionError):
            house.play()
    assert (house.last_turn().state, house.last_turn().answer) == ("failed", "At ")
    house.reply = ten
    assert house.play().answer == "At ten."


# Remembering behind it


def test_what_was_stated_is_remembered_behind_the_turn_and_made_once(house: House) -> None:
    for _ in range(2):
        house.play(LOCKER)
        house.remember()
        assert house.host.settle()
    assert [learned.state for learned in house.learned] == ["stored", "stored"]
    assert house.made == 1


def test_settling_waits_no_longer_than_it_may(house: House) -> None:
    may_go_on = threading.Event()

    async def step(_name: str) -> None:
        await asyncio.to_thread(may_go_on.wait, LONG)

    house.fakes.step = step
    house.play(LOCKER)
    house.remember()
    assert not house.host.settle(0.05)
    assert not house.host.settle(0.0)
    may_go_on.set()
    assert house.host.settle()


def test_settling_raises_a_defect_and_no_models_failure(house: House) -> None:
    errors: list[Exception] = [ModelUnreachable("it is down"), ZeroDivisionError()]

    async def step(_name: str) -> None:
        raise errors.pop(0)

    house.fakes.step = step
    house.play(LOCKER)
    house.remember()
    assert house.host.settle()
    assert [job.error for job in house.waiting()] == ["it is down"]
    house.jobs.retry_now(house.ann)
    house.remember()
    with pytest.raises(ZeroDivisionError):
        house.host.settle()
    assert house.host.settle()  # it was told, and the next is not the same again


def test_an_older_statement_that_was_delayed_does_not_replace_a_newer_one(house: House) -> None:
    async def is_down_at_first(name: str) -> None:
        if name == "weigh":
            house.fakes.step = at_once
            raise ModelUnreachable("it is down")

    house.fakes.replaces = True
    house.fakes.step = is_down_at_first
    for message in (LOCKER, "My locker number is 310."):
        house.play(message)
        house.remember()
        assert house.host.settle()
    house.jobs.retry_now(house.ann)
    house.remember()
    assert house.host.settle()
    assert house.waiting() == []
    facts = house.stores.catalogue.lines(house.ann, kind="fact")
    assert {fact.text for fact in facts} == {"My locker number is 310.", LOCKER}
    assert [(learned.text, learned.is_earlier, learned.instead_of) for learned in house.learned] == [
        ("My locker number is 310.", False, ()),
        (LOCKER, True, ()),
    ]


def test_closing_gives_back_the_job_that_runs(house: House) -> None:
    runs = threading.Event()

    async def step(_name: str) -> None:
        runs.set()
        await asyncio.sleep(LONG)

    house.fakes.step = step
    house.play(LOCKER)
    house.remember()
    assert runs.wait(LONG)
    house.host.close()
    assert [(job.kind, job.not_before, job.attempts) for job in house.waiting()] == [("summarize", None, 0)]


def test_closing_gives_back_a_job_that_is_just_being_taken(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, closes = threading.Event(), threading.Event()
    handed = handed_over(monkeypatch)
    take = ClaimJobs.take

    def slow_take(self: ClaimJobs, user_id: int, *, lease: timedelta, kind: str = "") -> ClaimJob | None:
        job = take(self, user_id, lease=lease, kind=kind)
        taken.set()
        assert closes.wait(LONG)
        assert handed.acquire(timeout=LONG)  # so that it is cancelled before it hands the job on
        return job

    monkeypatch.setattr(ClaimJobs, "take", slow_take)
    house.play(LOCKER)
    house.remember()
    assert taken.wait(LONG)
    while handed.acquire(blocking=False):
        """That was handed over before."""
    closes.set()
    house.host.close()
    assert [(job.kind, job.not_before, job.attempts) for job in house.waiting()] == [("summarize", None, 0)]


def test_no_step_begins_between_a_message_and_its_first_word(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the step before ends in between, and the next would follow at once."""
    happened: list[str] = []
    may_end: asyncio.Event

    async def step(name: str) -> None:
        nonlocal may_end
        happened.append(name)
        if name == waits_in and not is_begun.is_set():
            may_end = asyncio.Event()
            is_begun.set()
            await may_end.wait()

    async def answers(_request: ReplyRequest) -> AsyncIterator[str]:
        if is_begun.is_set():
            may_end.set()
            await asyncio.sleep(0.1)
        yield "Ten."

    def told(call: Callable[..., Any]) -> Callable[..., Any]:
        def telling(*args: Any, **kwargs: Any) -> Any:
            happened.append(call.__name__)
            return call(*args, **kwargs)

        return telling

    for owner, names in (
        (ClaimJobs, ("take", "release", "postpone")),
        (Claims, ("told", "put", "claim", "decide")),
    ):
        for name in names:
            monkeypatch.setattr(owner, name, told(getattr(owner, name)))
    house.fakes.step = step
    house.reply = answers
    for waits_in in ("summarize", "weigh", "curate"):
        is_begun = threading.Event()
        house.play(f"{LOCKER} {waits_in}")
        house.remember()
        assert is_begun.wait(LONG)
        happened.append("message")
        house.play("When?", watch=lambda event: happened.append("word") if isinstance(event, Wrote) else None)
        assert house.host.settle()
        place = happened.index("message")
        assert happened[place : place + 2] == ["message", "word"], happened
        happened.clear()
    assert len(house.learned) > 3


def test_no_step_begins_before_the_loop_has_come_to_a_message_that_is_sent(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    take = ClaimJobs.take

    def telling(self: ClaimJobs, user_id: int, *, lease: timedelta, kind: str = "") -> ClaimJob | None:
        happened.append("take")
        return take(self, user_id, lease=lease, kind=kind)

    monkeypatch.setattr(ClaimJobs, "take", telling)
    house.play(LOCKER)
    handed = handed_over(monkeypatch)

    def is_busy() -> None:
        """Both come while it is."""
        for _ in range(2):
            assert handed.acquire(timeout=LONG)

    house.host.loop.call_soon_threadsafe(is_busy)
    house.remember()
    house.play("When?", watch=lambda event: happened.append("word") if isinstance(event, Wrote) else None)
    assert house.host.settle()
    assert happened[0] == "word"
    assert "take" in happened


async def test_who_waits_for_quiet_is_not_told_of_it_when_the_next_answer_has_begun() -> None:
    answers_first = AnswersFirst()
    with answers_first.answering():
        waiting = asyncio.create_task(answers_first.wait())
        await asyncio.sleep(0)
    with answers_first.answering():  # before the one who waits has run
        await asyncio.sleep(0.01)
        assert not waiting.done()
    await waiting


def test_a_decision_that_is_outdated_again_and_again_waits(house: House) -> None:
    async def step(name: str) -> None:
        if name == "curate":
            raise Outdated("passage 1 has changed")

    house.fakes.step = step
    house.play(LOCKER)
    house.remember()
    assert house.host.settle()
    assert [job.error for job in house.waiting()] == ["what it would change was changed meanwhile"]
