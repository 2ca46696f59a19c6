"""What other programs pay for a door, and what a crowd of them does to a memory.

    PYTHONPATH=tests python -m benchmarks.open_doors [--asked 40]
    PYTHONPATH=tests python -m benchmarks.open_doors --starts 5
    PYTHONPATH=tests python -m benchmarks.open_doors --crowd 64 [--users 32] [--store postgresql]

The first prints the median milliseconds of `search` and `ask` through the Python call, an agent's tools (MCP)
in the process and over HTTP, and OpenAI's protocol in the process and over HTTP, in turn, in one run.
With --starts the median seconds of a Python program with one answer, with two, and of `vouch ask`, in turn.
With --crowd so many programs ask at once over HTTP, some of them leaving amid a reply: every message must be
there once, under its user, and no answer may hold a word of another user. Prints how many are lost or
crossed, and p50 and p95 of a turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
from cli_helpers import Vouch as Command
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from assistant.doors.mcp_tools import mcp_server
from assistant.doors.openai_api import Api
from assistant.settings.locations import find_locations
from benchmarks.doors import store
from stores.database.database import Database
from vouch import Vouch

_FACTS = 30
_TOLD = 3  # things that each program of a crowd says, and asks for
_LEAVES = 0.2  # of the replies
_ROOT = Path(__file__).parent.parent

Calls = dict[str, Callable[[str], Awaitable[object]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--asked", type=int, default=40)
    parser.add_argument("--starts", type=int, default=0)
    parser.add_argument("--crowd", type=int, default=0)
    parser.add_argument("--users", type=int, default=32)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    given = parser.parse_args()
    encoders = find_locations(os.environ).cache / "encoders"
    with tempfile.TemporaryDirectory(prefix="vouch-open-") as place, store(given.store) as settings:
        command = Command(Path(place), encoders)
        (Path(place) / "settings.toml").write_text(settings())
        os.environ.update({k: v for k, v in command.environment.items() if k.startswith("XDG_")})
        if given.starts:
            print(starts(given.starts))
        elif given.crowd:
            print(asyncio.run(crowd(command, given.crowd, given.users)))
        else:
            print(asyncio.run(overhead(command, given.asked)))


def starts(times: int) -> str:
    """A row a way to an answer."""
    ask = "v.ask('How many keys does the north hall hold?')"
    program = "from vouch import Vouch\nwith Vouch(user='ann') as v:\n    "
    ways = {
        "Python, one answer": ("-c", f"{program}{ask}"),
        "Python, two answers": ("-c", f"{program}{ask}\n    {ask}"),
        "vouch ask": (
            "-m",
            "assistant.cli",
            "ask",
            "--user",
            "ann",
            "How many keys does the north hall hold?",
        ),
    }
    with Vouch(user="ann") as vouch:
        vouch.add("The north hall holds 37 keys.")
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(times):
        for name, words in ways.items():
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-P", *words],
                env={**os.environ, "PYTHONPATH": str(_ROOT)},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            took[name].append(time.perf_counter() - began)
    rows = [f"| {name} | {statistics.median(each):.2f} |" for name, each in took.items()]
    return "\n".join(["| way | seconds |", "| --- | ---: |", *rows])


async def overhead(command: Command, asked: int) -> str:
    """A row a door."""
    settings = command.folder / "settings.toml"
    async with AsyncExitStack() as opened:
        vouch = opened.enter_context(Vouch(user="ann", settings=settings))
        for number in range(_FACTS):
            vouch.add(f"Locker {number} of the north hall holds {number * 37} keys.")
        stores = vouch._assistant.stores
        key = stores.api_keys.give(stores.journal.user_id("ann"))
        api = Api(stores.api_keys.user_of, lambda user, _: Vouch.of(vouch._assistant, user))
        agent = await opened.enter_async_context(Client(mcp_server(vouch, version="1")))
        head = {"Authorization": f"Bearer {key}"}
        inside = httpx2.ASGITransport(app=api.app(host="127.0.0.1"))
        near = await opened.enter_async_context(
            httpx2.AsyncClient(transport=inside, headers=head, timeout=60)
        )
        far = await opened.enter_async_context(httpx2.AsyncClient(headers=head, timeout=60))
        address = await opened.enter_async_context(_Served(command, "serve", "--api", "0"))
        at, token = (
            await opened.enter_async_context(_Served(command, "mcp", "--http", "0", "--user", "ann"))
        ).split()
        over = await opened.enter_async_context(
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
        )
        distant = await opened.enter_async_context(Client(streamable_http_client(at, http_client=over)))
        ways: dict[str, Calls] = {
            "Python": {"search": _threaded(vouch.search), "ask": _threaded(vouch.ask)},
            "MCP, in the process": _tools(agent),
            "MCP over HTTP": _tools(distant),
            "OpenAI's, in the process": {"ask": _posts(near, "http://127.0.0.1/v1")},
            "OpenAI's over HTTP": {"ask": _posts(far, address)},
        }
        took: dict[tuple[str, str], list[float]] = {}
        dice = random.Random(0)
        for number in range(asked):
            for name, calls in dice.sample(
                list(ways.items()), len(ways)
            ):  # what was read is kept for a moment
                for what, call in calls.items():
                    began = time.perf_counter()
                    await call(f"How many keys does locker {number % _FACTS} of the north hall hold?")
                    if number:  # the first loads
                        took.setdefault((name, what), []).append(time.perf_counter() - began)
    rows = ["| door | search, ms | ask, ms |", "| --- | ---: | ---: |"]
    for name in ways:
        cells = [
            f"{1000 * statistics.median(took[name, what]):.0f}" if (name, what) in took else ""
            for what in ("search", "ask")
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _threaded(work: Callable[[str], object]) -> Callable[[str], Awaitable[object]]:
    return lambda text: asyncio.to_thread(work, text)


def _tools(agent: Client) -> Calls:
    return {
        "search": lambda text: agent.call_tool("search", {"query": text}),
        "ask": lambda text: agent.call_tool("ask", {"question": text}),
    }


def _posts(http: httpx2.AsyncClient, address: str) -> Callable[[str], Awaitable[object]]:
    def posted(text: str) -> Awaitable[object]:
        return http.post(f"{address}/chat/completions", json=_body(text))

    return posted


def _body(text: str, **more: object) -> dict[str, object]:
    return {"model": "vouch", "messages": [{"role": "user", "content": text}], **more}


class _Served:
    """A server of the command in a process of its own; gives what it printed as its address."""

    def __init__(self, command: Command, *words: str) -> None:
        self._words = [*words, "--settings", str(command.folder / "settings.toml")]

    async def __aenter__(self) -> str:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "assistant.cli", *self._words),
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        address = (await self._process.stdout.readline()).decode().strip()
        if self._words[0] == "mcp":
            return f"{address} {(await self._process.stdout.readline()).decode().split()[-1]}"
        return address

    async def __aexit__(self, *_: object) -> None:
        self._process.terminate()
        await self._process.wait()


async def crowd(command: Command, programs: int, users: int) -> str:
    """What is lost, doubled or crossed, and how long turns take."""
    settings = command.folder / "settings.toml"
    with Vouch(user="owner", settings=settings) as vouch:
        stores = vouch._assistant.stores
        keys = [stores.api_keys.give(stores.journal.user_id(_name(n))) for n in range(users)]
        url = stores.database.url
    said: Counter[tuple[str, str]] = Counter()
    took: list[float] = []
    crossed = failed = left = 0

    async def program(number: int, address: str) -> None:
        nonlocal crossed, failed, left
        user, dice = number % users, random.Random(number)
        headers = {"Authorization": f"Bearer {keys[user]}"}
        async with httpx2.AsyncClient(headers=headers, timeout=600) as http:
            for text in _lines(user, number):
                said[_name(user), text] += 1
                began = time.perf_counter()
                if dice.random() < _LEAVES:
                    left += 1
                    body = _body(text, stream=True)
                    async with http.stream("POST", f"{address}/chat/completions", json=body) as stream:
                        async for _ in stream.aiter_lines():
                            break
                    continue
                answer = await http.post(f"{address}/chat/completions", json=_body(text))
                took.append(time.perf_counter() - began)
                failed += answer.status_code != 200
                crossed += any(_mark(other) in answer.text for other in range(users) if other != user)

    async with _Served(command, "serve", "--api", "0") as address:
        began = time.perf_counter()
        await asyncio.gather(*(program(number, address) for number in range(programs)))
        seconds = time.perf_counter() - began
    database = Database(url)
    with database.reading() as sql:
        rows = sql.connection().exec_driver_sql(
            "SELECT users.name, message, COUNT(*) FROM turns JOIN users ON users.id = turns.user_id"
            " GROUP BY users.name, message"
        )
        kept = Counter({(name, message): count for name, message, count in rows})
    database.close()
    took.sort()
    told: dict[str, Any] = {
        "turns": said.total(),
        "left amid a reply": left,
        "lost": (said - kept).total(),
        "doubled": (kept - said).total(),
        "crossed": crossed,
        "failed": failed,
        "p50 s": round(statistics.median(took), 2),
        "p95 s": round(took[int(0.95 * len(took))], 2),
        "seconds": round(seconds, 1),
    }
    return json.dumps(told)


def _name(user: int) -> str:
    return f"user{user}"


def _mark(user: int) -> str:
    return f"zq{user:03d}q"


def _lines(user: int, number: int) -> list[str]:
    told = [f"My locker {_mark(user)}{number}{n} is in hall {n + 1}." for n in range(_TOLD)]
    return told + [f"In which hall is my locker {_mark(user)}{number}{n}?" for n in range(_TOLD)]


if __name__ == "__main__":
    main()
