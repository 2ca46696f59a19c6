"""Many users over several servers of one memory, of which one is killed every so often, while it learns.

    PYTHONPATH=tests python -m benchmarks.crowd [--minutes 10] [--users 50] [--servers 4]
    PYTHONPATH=tests python -m benchmarks.crowd --servers 1 --pause 0 --kill-every 9999 --store sqlite
    PYTHONPATH=tests python -m benchmarks.crowd --model 0.05   # a chat model, which refuses one request of 20

Starts a PostgreSQL server, a Chroma server, four `vouch serve --api` and one `vouch train --watch`, which
share the database, the index and the manual as their library. Each user holds to one server, tells in which
hall a locker is, asks for it, asks the manual, rates the answers, waits between them, leaves some amid the
reply. Every minute one of the five processes, drawn at random, is killed with SIGKILL and begun again; what
was not answered is said once more. Afterwards, of what was said or acknowledged:

lost     a message that is not there, or an answer that is not there as its user got it
doubled  a message that is there more often than it was said, or a statement more often than the message
crossed  an answer, a memory or a request to the model of one user that holds a word of another
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
from cli_helpers import Vouch as Command

from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.doors import store
from tests.chroma_server import ChromaServer
from tests.scripted_server import Call, ScriptedServer, computes, refuses
from vouch import Vouch

_ROOT = Path(__file__).parent.parent
_MANUAL = _ROOT / "docs" / "manual"
_QUESTIONS = (
    "How do I undo the last change?",
    "Where is the database kept?",
    "How do I name a Chroma server?",
    "What does --read-only do?",
    "How long may an answer take?",
    "How are documents read again?",
    "Which models can answer?",
    "How do I export my memory?",
)
_MARKED = re.compile(r"zq\d{3}q")
_RATED = 0.7  # of the answers
_LEAVES = 0.1  # of the replies
_PATIENCE_SECONDS = 300.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--pause", type=float, default=10, help="seconds between a user's turns, on average")
    parser.add_argument("--kill-every", type=float, default=60, help="seconds")
    parser.add_argument(
        "--model", type=float, metavar="SHARE", help="with a chat model, which fails so often"
    )
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="postgresql")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vouch-crowd-")))
        written = stack.enter_context(store(given.store))()
        if given.store == "postgresql":
            chroma = ChromaServer(place / "chroma")
            chroma.start()
            stack.callback(chroma.stop)
            written += f'[index]\nkind = "chroma"\nurl = "{chroma.url}"\n[retrieval]\nexact_up_to = 0\n'
        model = _Model(given.model or 0.0)
        if given.model is not None:
            url = stack.enter_context(ScriptedServer(then=model)).base_url
            written += f'[model]\nbackend = "openai"\nbase_url = "{url}"\nname = "scripted"\n'
            written += '[memory]\nagents = "reader"\n'
        command = Command(place, find_locations(os.environ).cache / "encoders")
        (place / "settings.toml").write_text(
            f"{written}[encoder]\nthreads = 1\n[learning]\nfewest_lessons = 40\nnew_lessons = 40\n"
        )
        os.environ.update({k: v for k, v in command.environment.items() if k.startswith("XDG_")})
        print(json.dumps(asyncio.run(Crowd(place, given, model).run())))


class Crowd:
    """One run: the processes, what users were acknowledged, and what came of it."""

    def __init__(self, place: Path, given: argparse.Namespace, model: _Model) -> None:
        self._place, self._given, self._model = place, given, model
        self._said: Counter[tuple[str, str]] = Counter()
        self._acknowledged: Counter[tuple[str, str, str]] = Counter()  # with the answer
        self._heard: Counter[tuple[str, str]] = Counter()  # messages whose answer began
        self._took: list[float] = []
        self._crossed = self._again = self._failed = 0

    async def run(self) -> dict[str, Any]:
        """Figures by name."""
        given = self._given
        with Vouch(user="owner", settings=self._place / "settings.toml") as owner:
            assistant = owner._assistant
            _read_manual(assistant)
            journal = assistant.stores.journal
            keys = [assistant.stores.api_keys.give(journal.user_id(_name(n))) for n in range(given.users)]
            processes = [
                _Process(self._place, f"server-{n}", "serve", "--api", "0") for n in range(given.servers)
            ]
            processes.append(_Process(self._place, "learner", "train", "--watch"))
            await asyncio.gather(*(each.begin() for each in processes))
            began = time.monotonic()
            killer = asyncio.create_task(_kills(processes, given.kill_every, random.Random(given.seed)))
            servers = processes[: given.servers]
            ends = began + 60 * given.minutes
            users = (
                self._user(n, keys[n], servers[n % len(servers)], owner, ends) for n in range(given.users)
            )
            await asyncio.gather(*users)
            seconds = time.monotonic() - began
            killer.cancel()
            for each in processes:
                await each.end()
            assistant.catch_up()  # remembers what is left to be remembered
            owner._remembered()
            rounds = Counter(f"{row.recipe}: {row.state}" for row in assistant.stores.rounds.latest(1000))
            return self._figures(assistant) | {
                "kills": dict(Counter({each.name: each.kills for each in processes if each.kills})),
                "rounds": dict(rounds),
                "seconds": round(seconds),
            }

    async def _user(self, number: int, key: str, server: _Process, owner: Vouch, ends: float) -> None:
        dice, name = random.Random(number), _name(number)
        user = Vouch.of(owner._assistant, name)
        await asyncio.sleep(dice.uniform(0, self._given.pause))
        async with httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}"}, timeout=_PATIENCE_SECONDS
        ) as http:
            for turn, text in enumerate(_lines(number, dice)):
                if time.monotonic() > ends:
                    return
                if dice.random() < _LEAVES:
                    await self._leave(http, server, name, text)
                    continue
                told = await self._say(http, server, name, text)
                content = told["choices"][0]["message"]["content"]
                self._acknowledged[name, text, content] += 1
                whole = json.dumps(told)
                self._crossed += any(_mark(n) in whole for n in range(self._given.users) if n != number)
                if turn % 3 == 2 and dice.random() < _RATED:
                    await asyncio.to_thread(user.feedback, told["vouch"]["turn"], good=dice.random() < 0.7)
                await asyncio.sleep(dice.uniform(0, 2 * self._given.pause))

    async def _leave(self, http: httpx2.AsyncClient, server: _Process, name: str, text: str) -> None:
        """Says it, and hears the beginning of the answer."""
        address, is_heard = await server.address(), False
        with suppress(httpx2.TransportError):
            async with http.stream(
                "POST", f"{address}/chat/completions", json=_body(text, stream=True)
            ) as stream:
                async for _ in stream.aiter_lines():
                    is_heard = True
                    break
        self._said[name, text] += 1
        self._heard[name, text] += is_heard

    async def _say(self, http: httpx2.AsyncClient, server: _Process, name: str, text: str) -> dict[str, Any]:
        """Until it is answered: who gets none says it again, to the server that was begun anew."""
        while True:
            address, began = await server.address(), time.monotonic()
            self._said[name, text] += 1
            try:
                answer = await http.post(f"{address}/chat/completions", json=_body(text))
            except httpx2.TransportError:
                self._again += 1
                await asyncio.sleep(0.5)
                continue
            if answer.status_code != 200 and self._given.model:  # the model's, after its tries
                self._failed += 1
                await asyncio.sleep(0.5)
                continue
            if answer.status_code != 200:
                raise SystemExit(f"{answer.status_code}: {answer.text}")
            self._heard[name, text] += 1
            self._took.append(time.monotonic() - began)
            told: dict[str, Any] = answer.json()
            return told

    def _figures(self, assistant: Assistant) -> dict[str, Any]:
        with assistant.stores.database.reading() as sql:
            sql_rows = sql.connection().exec_driver_sql(
                "SELECT users.name, message, answer FROM turns JOIN users ON users.id = turns.user_id"
            )
            turns = [tuple(row) for row in sql_rows]
            sql_rows = sql.connection().exec_driver_sql(
                "SELECT users.name, v.text FROM passage_versions AS v"
                " JOIN users ON v.space = 'user:' || users.id JOIN passages AS p ON p.id = v.passage_id"
                " WHERE v.removed_at IS NULL AND p.kind = 'fact'"
            )
            facts = Counter(tuple(row) for row in sql_rows)
        kept = Counter((name, message) for name, message, _ in turns)
        lost = self._acknowledged - Counter(turns)
        crossed = [
            (name, text)
            for name, text in facts
            if any(_mark(n) in text for n in range(self._given.users) if _name(n) != name)
        ]
        self._took.sort()
        return {
            "turns": len(self._took),
            "said again": self._again,
            "lost": lost.total() + (self._heard - kept).total(),
            "doubled": (kept - self._said).total() + (facts - kept).total(),
            "crossed": self._crossed + len(crossed) + self._model.mixed,
            "failed": self._failed,
            "statements": sum(text.startswith("My locker") for _, text, _ in self._acknowledged),
            "remembered": len(facts),
            "p50 s": round(statistics.median(self._took), 2),
            "p95 s": round(self._took[int(0.95 * len(self._took))], 2),
        }


class _Model:
    """A chat model that says what it was last told, fails now and then, and looks whose words it is sent."""

    def __init__(self, fails: float) -> None:
        self._fails, self._dice, self.mixed = fails, random.Random(0), 0

    def __call__(self, call: Call) -> None:
        self.mixed += len(set(_MARKED.findall(json.dumps(call.request.body)))) > 1
        if self._dice.random() < self._fails:
            refuses(503, "overloaded")(call)
        else:
            computes(lambda request: [request.last_message.rpartition("Message: ")[2]])(call)


class _Process:
    """A command of Vouch, begun again when it was killed."""

    def __init__(self, place: Path, name: str, *words: str) -> None:
        self.name, self.kills = name, 0
        self._words = [*words, "--settings", str(place / "settings.toml")]
        self._is_server = words[0] == "serve"
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def begin(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "assistant.cli", *self._words),
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        if self._is_server:
            self._address.set_result((await self._process.stdout.readline()).decode().strip())

    async def address(self) -> str:
        return await self._address

    async def kill(self) -> None:
        self._address = asyncio.get_running_loop().create_future()
        self._process.kill()
        await self._process.wait()
        self.kills += 1
        await self.begin()

    async def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        await self._process.wait()


async def _kills(processes: list[_Process], every: float, dice: random.Random) -> None:
    while True:
        await asyncio.sleep(every)
        await dice.choice(processes).kill()


def _read_manual(assistant: Assistant) -> None:
    """Into the shared memory."""
    from assistant.library.documents import find_documents, read_documents
    from stores.base.passages import SHARED

    documents = (d for path in find_documents([str(_MANUAL)]).files for d in read_documents(path))
    user = assistant.stores.journal.user_id("owner")
    for _ in assistant.turns.ingest.run(user, SHARED, documents, summary="the manual"):
        pass


def _body(text: str, **more: object) -> dict[str, object]:
    return {"model": "vouch", "messages": [{"role": "user", "content": text}], **more}


def _name(user: int) -> str:
    return f"user{user}"


def _mark(user: int) -> str:
    return f"zq{user:03d}q"


def _lines(user: int, dice: random.Random) -> Any:
    """What a user says, without end: a statement, the question for it, a question for the manual."""
    turn = 0
    while True:
        locker = f"{_mark(user)}{turn}"
        yield f"My locker {locker} is in hall {dice.randrange(1, 90)}."
        yield f"In which hall is my locker {locker}?"
        yield dice.choice(_QUESTIONS)
        turn += 1


if __name__ == "__main__":
    main()
