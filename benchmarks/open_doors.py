"""What other programs pay for a door, and what a program takes to start.

    PYTHONPATH=tests python -m benchmarks.open_doors [--asked 40]
    PYTHONPATH=tests python -m benchmarks.open_doors --starts 5

The first prints the median milliseconds of `search` and `ask` through the Python call, an agent's tools (MCP)
in the process and over HTTP, and OpenAI's protocol in the process and over HTTP, in turn, in one run.
With --starts the median seconds of a Python program with one answer, with two, and of `vouch ask`, in turn.
What a crowd of them does is measured by `benchmarks.crowd`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
from cli_helpers import Vouch as Command
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from assistant.doors.mcp_tools import mcp_server
from assistant.doors.openai_api import Api
from assistant.settings.locations import find_locations
from vouch import Vouch

_FACTS = 30
_ROOT = Path(__file__).parent.parent

Calls = dict[str, Callable[[str], Awaitable[object]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--asked", type=int, default=40)
    parser.add_argument("--starts", type=int, default=0)
    given = parser.parse_args()
    encoders = find_locations(os.environ).cache / "encoders"
    with tempfile.TemporaryDirectory(prefix="vouch-open-") as place:
        command = Command(Path(place), encoders)
        (Path(place) / "settings.toml").write_text("")
        os.environ.update({k: v for k, v in command.environment.items() if k.startswith("XDG_")})
        if given.starts:
            print(starts(given.starts))
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


if __name__ == "__main__":
    main()
