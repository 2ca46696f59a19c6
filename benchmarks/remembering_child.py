"""Processes that remember and die, for tests/test_remembering_kills.py and benchmarks/remembering_kills.py.

    python -m benchmarks.remembering_child

It imports everything once and then forks a process for each line that comes, so that what is killed is the
work and not the imports. Each line is a `Life`; what happens in it is told on standard output, one JSON
object a line. A life kills itself at the point that is named: before or after a call of a store, in a call of
an agent, before or after a commit, or before a statement that changes something.

All is as in a chat, but for what decides: fakes with fixed answers, and an encoder that knows a subject.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any

import numpy as np
from sqlalchemy import Engine, event
from sqlalchemy.orm import Session as SqlSession

from agents.base.claim_interfaces import Claim, Curation, Said, Weighed
from agents.base.interfaces import Candidate, Vectors
from agents.memory.classifier import Classifier
from assistant.remembering import weighing
from assistant.remembering.weighing import Agents
from assistant.turns import host, pipeline  # noqa: F401 - imported before the fork
from benchmarks.durable_worker import QuickAssistant, Specification
from stores.base.errors import ModelUnreachable
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims
from stores.claims.decisions import Learned
from stores.conversation.claim_jobs import ClaimJobs
from stores.conversation.journal import Journal
from stores.memory import documents  # noqa: F401 - imported before the fork
from stores.search import shared_index  # noqa: F401 - imported before the fork
from stores.search.indexer import Indexer
from stores.words import full_text  # noqa: F401 - imported before the fork

USERS = ("ann", "bob")
SCENES = {  # who says what; # stands for a number that no other life uses
    "new value": (
        ("ann", "My locker in hall # is 12. The door of hall # is surely open."),
        ("ann", "My locker in hall # is 13."),
    ),
    "wrong and proposed": (
        ("ann", "I am off. The desk of hall # is wrongly red."),
        ("bob", "The gate of hall # is green."),
        ("ann", "The gate of hall # is green."),
    ),
    "failed and cancelled": (
        ("ann", "My bag in hall # is shaky. My hat in hall # is blue."),
        ("ann", "My coat in hall # is slow."),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Life:
    """What a process does until it ends or dies."""

    folder: str
    store_url: str = ""
    scene: str = ""  # what is said; without one only what is due is done
    number: int = 0  # in place of #
    point: str = ""  # at which it dies
    occasion: int = 1  # how often that point has to come
    is_told: bool = False  # tells every point that it passes
    agents: str = "fake"  # or reader

    @classmethod
    def read(cls, written: str) -> Life:
        """From what `write` gave."""
        return cls(**json.loads(written))

    def write(self) -> str:
        """On one line."""
        return json.dumps(asdict(self)) + "\n"


def stated(message: str) -> list[str]:
    """What a message states, by these fakes."""
    sentences = [f"{sentence.strip(' .')}." for sentence in message.split(". ")]
    return [sentence for sentence in sentences if " is " in sentence]


def subject(text: str) -> str:
    """What a statement is about."""
    return text.partition(" is ")[0]


class SubjectEncoder:
    """Statements about the same are near each other, all others at random."""

    version = "subject-1"
    dimension = 16

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_passages(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        rows = [_direction(subject(text)) + 0.1 * _direction(text) for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def _direction(text: str) -> Any:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(SubjectEncoder.dimension)


class Fakes:
    """Agents that decide by single words: wrongly, surely, shaky, slow."""

    name = "fake"

    def __init__(self, point: Callable[[str], None], *, is_shaky: bool) -> None:
        """is_shaky: a model is down for what is shaky, and takes for ever for what is slow."""
        self._point = point
        self._is_shaky = is_shaky
        self.is_slow = threading.Event()

    async def summarize(self, said: Said) -> list[Claim]:
        await self._ask("summarize", said.message)
        return [
            Claim(text, text, "fact", "user" if text.startswith("My ") else "world")
            for text in stated(said.message)
        ]

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        await self._ask("weigh", claim.text)
        if " wrongly " in claim.text:
            return Weighed("incorrect", 0.95, by=self.name)
        return Weighed("correct" if " surely " in claim.text else "unknown", 0.95, by=self.name)

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        await self._ask("curate", claim.text)
        same = [c.passage for c in nearest if subject(c.passage.text) == subject(claim.text)]
        if not same:
            return Curation("add", text=claim.text, reason="new")
        if same[0].text == claim.text:
            return Curation("nothing", same[0], reason="known")
        return Curation("modify", same[0], text=claim.text, reason="a new value")

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        await self._ask("curate", claim.text)
        met = [c.passage for c in nearest if subject(c.passage.text) == subject(claim.text)]
        return [NewLink(p.passage_id, p.version_id in later, "replaces", 0.9, self.name) for p in met]

    async def _ask(self, step: str, text: str) -> None:
        self._point(f"asking the agent to {step}")
        await asyncio.sleep(0.002)  # as a model is awaited
        self._point(f"in the agent's {step}")
        if self._is_shaky and "shaky" in text and step == "curate":
            raise ModelUnreachable("it is down")
        if self._is_shaky and "slow" in text and step == "summarize":
            self.is_slow.set()
            await asyncio.sleep(60)
        self._point(f"the agent's {step} is told")


class Points:
    """Passes the points of a life, and dies at one."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._passed: Counter[str] = Counter()
        self._calls = threading.local()

    def __call__(self, name: str) -> None:
        self._passed[name] += 1
        if self._life.is_told:
            say(point=name, occasion=self._passed[name])
        if name == self._life.point and self._passed[name] == self._life.occasion:
            say(died_at=name)
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """From now on calls of stores, commits and changing statements are points."""
        for owner, names in (
            (ClaimJobs, ("take", "release", "postpone")),
            (Claims, ("told", "put", "claim", "decide")),
            (Journal, ("accept", "finish")),
            (Indexer, ("catch_up",)),
        ):
            for name in names:
                setattr(owner, name, self._call(f"{owner.__name__}.{name}", getattr(owner, name)))
        for name in ("_find_evidence", "_nearest"):
            setattr(weighing, name, self._call(name.strip("_"), getattr(weighing, name)))
        event.listen(SqlSession, "before_commit", lambda sql: self._of_call("before the commit of"))
        event.listen(SqlSession, "after_commit", lambda sql: self._of_call("after the commit of"))
        event.listen(Engine, "before_cursor_execute", self._statement)

    def _call(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def whole(*args: Any, **kwargs: Any) -> Any:
            self(f"before {name}")
            with self._inside(name):
                result = call(*args, **kwargs)
            self(f"after {name}")
            return result

        return whole

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        before = getattr(self._calls, "name", "")
        self._calls.name = name
        try:
            yield
        finally:
            self._calls.name = before

    def _of_call(self, what: str) -> None:
        if name := getattr(self._calls, "name", ""):
            self(f"{what} {name}")

    def _statement(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        words = statement.replace('"', "").replace("(", " ").split()
        if getattr(self._calls, "name", "").startswith("Claims.") and words[0] in ("INSERT", "UPDATE"):
            self._of_call(f"before {words[0]} {words[2] if words[0] == 'INSERT' else words[1]} in")


class RememberingAssistant(QuickAssistant):
    """The parts of a running Vouch, with fakes of those who decide."""

    def __init__(self, life: Life, points: Points) -> None:
        super().__init__(
            Specification(work="", folder=life.folder, store_url=life.store_url, index_kind="exact")
        )
        self.fakes = fakes = Fakes(points, is_shaky=bool(life.scene))
        self.search.__dict__.update(wanted_encoder=SubjectEncoder(), _loaded=lambda live: SubjectEncoder())
        if life.agents != "reader":
            agents = Agents(fakes, fakes, Classifier(shared_from=0.9), fakes)
            self.turns.__dict__["_remembering_agents"] = agents


def live(life: Life) -> None:
    """Talks, or works off what is due."""
    points = Points(life)
    points.watch()
    assistant = RememberingAssistant(life, points)
    users = {name: assistant.stores.journal.user_id(name) for name in USERS}
    assistant.catch_up()
    if not life.scene:
        for user_id in users.values():
            assistant.turns.host.remember(user_id, tell)
            assistant.turns.host.settle()
    sessions: dict[str, int] = {}
    for name, message in SCENES[life.scene] if life.scene else ():
        user_id = users[name]
        session = sessions.get(name) or assistant.stores.journal.open_session(user_id)
        sessions[name] = session
        message = message.replace("#", str(life.number))
        assistant.turns.host.play(user_id, session, message, watch=lambda event: None)
        say(answered=message)
        assistant.turns.host.remember(user_id, tell)
        if "slow" in message and life.agents == "fake":
            assistant.fakes.is_slow.wait()
        else:
            assistant.turns.host.settle()
    assistant.close()


def tell(learned: Learned) -> None:
    """What a person is told is acknowledged."""
    say(learned=learned.claim_id, state=learned.state, receipt=learned.receipt_id)


def say(**told: Any) -> None:
    """One line on standard output, at once and whole."""
    os.write(1, (json.dumps(told) + "\n").encode())


def main() -> None:
    say(ready=os.getpid())
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                live(Life.read(line))
            except BaseException:
                say(failed=traceback.format_exc())
                raise
            os._exit(0)
        say(born=pid)
        _, status = os.waitpid(pid, 0)
        say(ended=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
