"""Many chats at once on one PostgreSQL database and one Chroma server, also while the model server fails.

    python -m benchmarks.load [--chats 50] [--turns 6] [--processes 5] [--fault 429] [--share 0.1] [--seed 1]
    python -m benchmarks.load --every-fault

Starts a PostgreSQL server, a Chroma server and a scripted model server on loopback; each process holds some
of the chats, all at once. Every user tells the numbers of lockers and asks for them. The model server
repeats the last message, and looks at each prompt for the lockers of anybody else. Afterwards every message
must be in the database once, with its own answer or, where the server failed, as a failed turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from assistant.settings.config import IndexSettings, ModelSettings, Settings, StoreSettings
from assistant.settings.locations import Locations
from assistant.turns.events import Event, Finished
from assistant.wiring.assistant import Assistant
from stores.conversation.journal import Journal
from stores.database.database import Database
from tests.chroma_server import ChromaServer
from tests.postgres_server import MISSING, find_programs, running_server
from tests.scripted_server import (
    Behaviour,
    Call,
    Request,
    ScriptedServer,
    computes,
    cuts,
    garbles,
    hangs,
    refuses,
)

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "docs" / "manual"
FAULTS: dict[str, Behaviour] = {
    "429": refuses(429, "slow down", headers={"retry-after": "0.2"}),
    "503": refuses(503, "overloaded"),
    "hang": hangs(seconds=30.0),
    "garbage": garbles("The lock"),
    "cut": cuts(("The lock", "er")),
}
PATIENCE_SECONDS = 10.0  # for a model server that says nothing; a busy machine is not a hanging server


@dataclass(frozen=True, kw_only=True)
class Part:
    """The chats of one process."""

    store_url: str
    index_url: str
    model_url: str
    cache: str
    folder: str
    users: list[int]
    turns: int


def settings_of(part: Part) -> Settings:
    return replace(
        Settings(),
        store=StoreSettings(url=part.store_url),
        index=IndexSettings(kind="chroma", url=part.index_url),
        retrieval=replace(Settings().retrieval, exact_up_to=0),
        model=ModelSettings(
            backend="openai",
            base_url=part.model_url,
            name="scripted",
            timeout_seconds=PATIENCE_SECONDS,
            retries=2,
            max_tokens=64,
        ),
        encoder=replace(Settings().encoder, threads=1),
    )


def assistant_of(part: Part) -> Assistant:
    folder = Path(part.folder)
    return Assistant(
        settings_of(part),
        Locations(
            data=folder / "data", settings=folder / "none", cache=Path(part.cache), state=folder / "state"
        ),
    )


def messages_of(user: int, turns: int) -> list[str]:
    """A statement and the question about it, in turn; each holds the user's own number."""
    told = [
        (f"The number of locker {user}-{n} is blue {n}.", f"Which number has locker {user}-{n}?")
        for n in range((turns + 1) // 2)
    ]
    return [message for pair in told for message in pair][:turns]


async def chat(assistant: Assistant, user: int, turns: int) -> list[dict[str, Any]]:
    user_id = assistant.stores.journal.user_id(f"user-{user}")
    session = assistant.stores.journal.open_session(user_id)
    results = []
    for message in messages_of(user, turns):
        began = time.monotonic()
        finished: Finished | None = None
        async for event in assistant.turns.pipeline.take(user_id, session, message):
            event_: Event = event
            if isinstance(event_, Finished):
                finished = event_
                seconds = time.monotonic() - began  # until the answer is durable; indexing comes after it
        assert finished is not None
        results.append({"user": user, "state": finished.state, "seconds": seconds})
    return results


async def all_chats(assistant: Assistant, part: Part) -> list[dict[str, Any]]:
    chats = (chat(assistant, user, part.turns) for user in part.users)
    try:
        return [result for results in await asyncio.gather(*chats) for result in results]
    finally:
        await assistant.turns.pipeline.aclose()


def work(written: str) -> None:
    """One process: waits for the word, chats, and gives its results as one line."""
    part = Part(**json.loads(written))
    assistant = assistant_of(part)
    assistant.catch_up()
    _ = assistant.turns.pipeline.model_name
    print("ready", flush=True)
    sys.stdin.readline()
    used = time.process_time()
    results = asyncio.run(all_chats(assistant, part))
    print(json.dumps({"turns": results, "cpu": time.process_time() - used}), flush=True)
    assistant.close()


class Lockers:
    """The model server's replies, and whose lockers it has seen in one prompt."""

    def __init__(self, fault: str, share: float, seed: int) -> None:
        self._fault, self._share = fault, share
        self._chance = random.Random(seed)
        self._lock = threading.Lock()
        self.mixed_up: list[str] = []
        self.injected = 0

    def __call__(self, call: Call) -> None:
        prompt = " ".join(str(message["content"]) for message in call.request.body["messages"])
        users = set(re.findall(r"locker (\d+)-", prompt))
        with self._lock:
            if len(users) > 1:
                self.mixed_up.append(prompt)
            fails = bool(self._fault) and self._chance.random() < self._share
            self.injected += fails
        behaviour = FAULTS[self._fault] if fails else computes(_repeat, pause_seconds=0.01)
        behaviour(call)


def _repeat(request: Request) -> tuple[str, ...]:
    said = request.last_message.rpartition("Message: ")[2]
    return tuple(re.findall(r"\S+\s*", said))


def measure(
    *, chats: int, turns: int, processes: int, fault: str, share: float, seed: int, cache: Path
) -> dict[str, Any]:
    """One run with servers of its own; the figures, and what was not as it must be."""
    programs = find_programs()
    if programs is None:
        raise SystemExit(MISSING)
    lockers = Lockers(fault, share, seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(running_server(programs))
        chroma = ChromaServer(folder / "chroma")
        chroma.start()
        stack.callback(chroma.stop)
        models = stack.enter_context(ScriptedServer(then=lockers))
        part = Part(
            store_url=postgres.new_database(),
            index_url=chroma.url,
            model_url=models.base_url,
            cache=str(cache),
            folder=str(folder / "first"),
            users=[],
            turns=turns,
        )
        _fill_library(part)
        parts = [
            replace(part, folder=str(folder / str(n)), users=list(range(n, chats, processes)))
            for n in range(processes)
        ]
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.load", "--work", json.dumps(asdict(each))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            for each in parts
        ]
        for worker in workers:
            assert worker.stdout is not None
            if worker.stdout.readline() != "ready\n":
                raise SystemExit("a process did not start")
        began = time.monotonic()
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("\n")
            worker.stdin.flush()
        outputs = [worker.communicate()[0] for worker in workers]
        seconds = time.monotonic() - began
        told = [json.loads(output) for output in outputs]
        kept = _kept(part.store_url, chats)
        problems = _problems(kept, chats, turns, failures_allowed=lockers.injected)
        problems += [f"another user's locker in a prompt: {prompt[-200:]}" for prompt in lockers.mixed_up]
    times = sorted(turn["seconds"] for each in told for turn in each["turns"])
    states = Counter(turn["state"] for each in told for turn in each["turns"])
    return {
        "fault": fault or "none",
        "chats": chats,
        "turns": len(times),
        "turns_per_second": round(len(times) / seconds, 2),
        "p50_seconds": round(statistics.median(times), 3),
        "p95_seconds": round(times[int(0.95 * (len(times) - 1))], 3),
        "cpu_ms_per_turn": round(1000 * sum(each["cpu"] for each in told) / len(times), 1),
        "states": dict(states),
        "injected": lockers.injected,
        "problems": problems,
    }


def _fill_library(part: Part) -> None:
    """The shared memory: the manual, so that every turn searches the Chroma server too."""
    from assistant.library.documents import find_documents, read_documents
    from stores.base.passages import SHARED

    assistant = assistant_of(part)
    assistant.catch_up()
    documents = (d for path in find_documents([str(LIBRARY)]).files for d in read_documents(path))
    user_id = assistant.stores.journal.user_id("librarian")
    for _ in assistant.turns.ingest.run(user_id, SHARED, documents, summary="the manual"):
        pass
    assistant.close()


def _kept(url: str, chats: int) -> dict[int, list[tuple[str, str, str]]]:
    """Message, state and answer of every turn, by the number of its user."""
    database = Database(url)
    journal = Journal(database)
    kept: dict[int, list[tuple[str, str, str]]] = {}
    for user in range(chats):
        user_id = journal.known_user_id(f"user-{user}")
        kept[user] = [
            (turn.message, turn.state, turn.answer)
            for session in journal.sessions(user_id)
            for turn in journal.turns(user_id, session.session_id, limit=1_000)
        ]
    database.close()
    return kept


def _problems(
    kept: dict[int, list[tuple[str, str, str]]], chats: int, turns: int, *, failures_allowed: int
) -> list[str]:
    """What is not as it must be. failures_allowed: how many requests met the fault; each fails one turn."""
    problems = []
    for user in range(chats):
        messages = [message for message, _, _ in kept[user]]
        if messages != messages_of(user, turns):
            problems.append(f"user {user}: kept {len(messages)} of {turns} messages, or in another order")
        for message, state, answer in kept[user]:
            if state == "done" and answer.strip() != message:
                problems.append(f"user {user}: {message!r} was answered {answer!r}")
            if state not in ("done", "failed"):
                problems.append(f"user {user}: {message!r} is {state}")
    failures = sum(state == "failed" for turns_ in kept.values() for _, state, _ in turns_)
    if failures > failures_allowed:
        problems.append(f"{failures} turns failed, but only {failures_allowed} requests met the fault")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chats", type=int, default=50)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--fault", default="", choices=["", *FAULTS])
    parser.add_argument("--share", type=float, default=0.1, help="of the requests that meet the fault")
    parser.add_argument("--every-fault", action="store_true", help="one run without and one with each fault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
        return
    from assistant.settings.locations import find_locations

    failed = False
    for fault in ["", *FAULTS] if arguments.every_fault else [arguments.fault]:
        figures = measure(
            chats=arguments.chats,
            turns=arguments.turns,
            processes=arguments.processes,
            fault=fault,
            share=arguments.share,
            seed=arguments.seed,
            cache=find_locations(os.environ).cache,
        )
        failed = failed or bool(figures["problems"])
        print(json.dumps(figures), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
