"""What remembering costs, and when: the timeline of a conversation with the built-in reader and encoder.

    python -m benchmarks.remembering_cost
    python -m benchmarks.remembering_cost --turns 20 --seed 7

Four of ten turns state something, the others ask. After every second turn the next message comes at once;
else who types waits until all is remembered. A step is one call on the thread of remembering, or one of the
reader's. Processor time is that of the step's own thread, with one thread for each model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from assistant.background.steps import BackgroundSteps
from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.remembering.remembering import Remembering
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.turns.events import Accepted, Event, Finished, Wrote
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED
from stores.conversation.claim_jobs import ClaimJob

USER = "ann"
STATED_OF_TEN = (0, 2, 5, 8)  # which of ten turns state something
HOUSES = "Alder Birch Cedar Elm Hazel Juniper Larch Maple Oak Pine Rowan Spruce Walnut Willow Yew".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
COLOURS = "red green blue yellow white black grey brown".split()


@dataclass
class Step:
    """One call that remembering made, in seconds of time.monotonic."""

    name: str
    job: ClaimJob | None  # None: a look at the queue
    handed_over: float  # by the event loop
    began: float = 0.0
    ended: float = 0.0
    cpu: float = 0.0  # seconds of its thread


@dataclass
class Played:
    """One turn, in seconds of time.monotonic."""

    message: str
    states: bool
    is_at_once: bool  # the message came while the turn before may still have been remembered
    sent: float
    turn_id: int = 0
    accepted: float = 0.0
    first_word: float = 0.0
    finished: float = 0.0
    steps: list[Step] = field(default_factory=list)


class Watch:
    """Sees every step of remembering begin and end."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._is_remembering: ContextVar[bool] = ContextVar("remembering", default=False)
        self._job: ContextVar[ClaimJob | None] = ContextVar("job", default=None)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Wraps the calls for as long as it is open."""
        whole = Remembering.run_due, Remembering._do, BackgroundSteps.run, asyncio.to_thread
        run_due, do, run, to_thread = whole

        async def watched_run(*args: Any, **kwargs: Any) -> Any:
            self._is_remembering.set(True)
            return await run_due(*args, **kwargs)

        async def watched_do(remembering: Remembering, user_id: int, jobs: Sequence[ClaimJob]) -> Any:
            token = self._job.set(jobs[-1])  # messages of one pause: the latest is noted for all
            try:
                return await do(remembering, user_id, jobs)
            finally:
                self._job.reset(token)

        async def watched_step(steps: BackgroundSteps, work: Any, *args: Any, **kwargs: Any) -> Any:
            await steps.may_begin()
            return await run(steps, self._step(work), *args, **kwargs)

        async def watched_to_thread(work: Any, *args: Any, **kwargs: Any) -> Any:
            work = self._step(work) if self._is_remembering.get() else work
            return await to_thread(work, *args, **kwargs)

        places = zip((Remembering, Remembering, BackgroundSteps, asyncio), whole, strict=True)
        watched = (watched_run, watched_do, watched_step, watched_to_thread)
        before = [(owner, call.__name__, call) for owner, call in places]
        for (owner, name, _), call in zip(before, watched, strict=True):
            setattr(owner, name, call)
        try:
            yield
        finally:
            for owner, name, call in before:
                setattr(owner, name, call)

    def _step(self, work: Callable[..., Any]) -> Callable[..., Any]:
        name = getattr(work, "__qualname__", type(work).__name__)
        name = "ClaimJobs.take" if "_take" in name else name.lstrip("_")
        name = "what searches" if "<lambda>" in name else name
        step = Step(name, self._job.get(), time.monotonic())
        self.steps.append(step)

        def timed(*args: Any, **kwargs: Any) -> Any:
            step.began, cpu = time.monotonic(), time.thread_time()
            try:
                return work(*args, **kwargs)
            finally:
                step.ended, step.cpu = time.monotonic(), time.thread_time() - cpu

        return timed


def documents() -> list[PreparedDocument]:
    """The house rules of each house: when its reading room opens, and the colour of its door."""
    made = []
    for number, house in enumerate(HOUSES):
        texts = (
            f"The reading room of {house} House opens at {8 + number % 4}:00 on {DAYS[number % 7]}s.",
            f"The front door of {house} House is painted {COLOURS[number % 8]}.",
            f"The archive of {house} House keeps {120 + 7 * number} maps of the old harbour.",
        )
        passages = tuple(PreparedPassage(f"{house} House", text) for text in texts)
        made.append(
            PreparedDocument(
                source=f"{house.lower()}.md",
                title=f"{house} House",
                content_hash=house,
                passages=passages,
                external_id="",
            )
        )
    return made


def messages(count: int, seed: int) -> list[tuple[str, bool]]:
    """So many messages, and whether each states something."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        house, day = chance.choice(HOUSES), chance.choice(DAYS)
        states = number % 10 in STATED_OF_TEN
        said = (
            chance.choice(
                (
                    f"My locker in {house} House is number {100 + number}.",
                    f"I am a member of the {day} choir of {house} House.",
                    f"The front door of {house} House is painted {chance.choice(COLOURS)}.",
                    f"The librarian of {house} House is called {chance.choice(HOUSES)} Brown.",
                    f"I prefer to read at {house} House on {day}s.",
                )
            )
            if states
            else chance.choice(
                (
                    f"When does the reading room of {house} House open?",
                    f"What colour is the front door of {house} House?",
                    f"How many maps does the archive of {house} House keep?",
                    f"What is the number of my locker in {house} House?",
                )
            )
        )
        found.append((said, states))
    return found


def play(assistant: Assistant, watch: Watch, said: Sequence[tuple[str, bool]]) -> list[Played]:
    """The whole conversation."""
    user_id = assistant.stores.journal.user_id(USER)
    assistant.catch_up()
    for _ in assistant.turns.ingest.run(user_id, SHARED, documents(), summary="house rules"):
        pass
    session = assistant.stores.journal.open_session(user_id)
    host = assistant.turns.host
    for warm_up in (
        "When does the reading room of Alder House open?",
        "My hat is green.",
    ):  # loads the models
        host.play(user_id, session, warm_up, watch=lambda event: None)
        host.remember(user_id, lambda learned: None)
        host.settle()
    watch.steps.clear()
    session = assistant.stores.journal.open_session(user_id)
    played: list[Played] = []
    for number, (message, states) in enumerate(said):
        turn = Played(message, states, is_at_once=number % 2 == 1, sent=time.monotonic())
        played.append(turn)

        def note(event: Event, turn: Played = turn) -> None:
            moment = time.monotonic()
            if isinstance(event, Accepted):
                turn.turn_id, turn.accepted = event.turn_id, moment
            elif isinstance(event, Wrote) and not turn.first_word:
                turn.first_word = moment
            elif isinstance(event, Finished):
                turn.finished = moment

        host.play(user_id, session, message, watch=note)
        host.remember(user_id, lambda learned: None)
        if turn.is_at_once:  # so the next one does not come at once
            host.settle()
    host.settle()
    by_id = {turn.turn_id: turn for turn in played}
    for step in watch.steps:
        if step.job is not None:
            of = step.job.subject_id
            turn_id = (
                of if step.job.kind == "summarize" else assistant.stores.claims.claim(user_id, of).turn_id
            )
            by_id[turn_id or 0].steps.append(step)
    return played


# What is told


def early(played: Sequence[Played], steps: Sequence[Step]) -> list[tuple[Played, Step]]:
    """Steps that the loop began between a message and its first word."""
    return [
        (turn, step) for turn in played for step in steps if turn.sent <= step.handed_over < turn.first_word
    ]


def under_way(played: Sequence[Played], steps: Sequence[Step]) -> list[float]:
    """Of each message that came during a step: for how many seconds the step went on, to the first word."""
    return [
        min(step.ended, turn.first_word) - turn.sent
        for turn in played
        for step in steps
        if step.handed_over < turn.sent < step.ended
    ]


def line(name: str, seconds: Sequence[float]) -> str:
    """Median and 95th percentile, in milliseconds."""
    if len(seconds) < 2:
        return f"{name:<58} {len(seconds):>4}"
    at_95 = quantiles(seconds, n=20, method="inclusive")[-1]
    return f"{name:<58} {len(seconds):>4} {median(seconds) * 1000:>9.1f} {at_95 * 1000:>9.1f}"


def table(played: Sequence[Played], steps: Sequence[Step]) -> Iterator[str]:
    yield f"{'milliseconds':<58} {'n':>4} {'median':>9} {'95 %':>9}"
    for name, some in (
        ("", played),
        (", message at once", [t for t in played if t.is_at_once]),
        (", all remembered before", [t for t in played if not t.is_at_once]),
    ):
        yield line(f"message to accepted{name}", [t.accepted - t.sent for t in some])
        yield line(f"message to first word{name}", [t.first_word - t.sent for t in some])
        yield line(f"message to finished{name}", [t.finished - t.sent for t in some])
    for name, some in (
        ("a statement", [t for t in played if t.states and t.steps]),
        ("a question", [t for t in played if not t.states and t.steps]),
        ("a turn", [t for t in played if t.steps]),
    ):
        yield line(f"finished to remembering begun, {name}", [_began(t) - t.finished for t in some])
        yield line(f"remembering begun to ended, {name}", [_ended(t) - _began(t) for t in some])
        yield line(f"processor time of remembering, {name}", [_cpu(t) for t in some])
    for name in sorted({step.name for step in steps}):
        yield line(f"processor time of a step: {name}", [step.cpu for step in steps if step.name == name])


def timeline(played: Sequence[Played]) -> Iterator[str]:
    """What happened when in each turn, in milliseconds from the first message."""
    zero = played[0].sent

    def at(moment: float) -> str:
        return f"{(moment - zero) * 1000:>8.0f}"

    yield "    sent accepted    first finished    begun    ended   CPU   remembering is of the same turn"
    for turn in played:
        moments = (turn.sent, turn.accepted, turn.first_word, turn.finished)
        remembered = (
            f"{at(_began(turn))} {at(_ended(turn))} {_cpu(turn) * 1000:>5.0f}" if turn.steps else " " * 23
        )
        pace = "at once  " if turn.is_at_once else "in peace "
        yield f"{' '.join(map(at, moments))} {remembered}   {pace}{turn.message}"


def _began(turn: Played) -> float:
    return min(step.began for step in turn.steps)


def _ended(turn: Played) -> float:
    return max(step.ended for step in turn.steps)


def _cpu(turn: Played) -> float:
    return sum(step.cpu for step in turn.steps)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    settings = replace(Settings(), encoder=replace(Settings().encoder, threads=1))
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder, watch.watching():
        locations = replace(
            find_locations(os.environ, data=folder), settings=Path(folder, "none.toml"), state=Path(folder)
        )
        assistant = Assistant(
            settings, locations, offline=True, tell=lambda told: print(told, file=sys.stderr)
        )
        try:
            began = time.process_time()
            played = play(assistant, watch, messages(arguments.turns, arguments.seed))
            whole = time.process_time() - began
            waiting = len(assistant.stores.claim_jobs.waiting(assistant.stores.journal.user_id(USER)))
        finally:
            assistant.close()
    steps = watch.steps
    stated = sum(turn.states for turn in played)
    print(f"{len(played)} turns: {stated} state something, {len(played) - stated} ask; {waiting} jobs left")
    print("\n".join(table(played, steps)))
    print(
        f"processor time of {len(steps)} steps {sum(step.cpu for step in steps):.1f} s "
        f"of the process's {whole:.1f} s (models loaded, documents read and answers given in it too)"
    )
    between = early(played, steps)
    print(f"steps of remembering that began between a message and its first word: {len(between)}")
    for turn, step in between:
        print(
            f"  {step.name}, {(step.handed_over - turn.sent) * 1000:.2f} ms after “{turn.message}” was sent"
        )
    left = under_way(played, steps)
    longest = f", at most {max(left) * 1000:.1f} ms of it" if left else ""
    print(f"messages that came while a step was under way: {len(left)}{longest}")
    print("\n".join(timeline(played)))


if __name__ == "__main__":
    main()
