"""Two users write, undo and forget through doors drawn at random: each sees one memory through every door,
and nothing of the other."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cli_helpers import Vouch as Command

from vouch import Vouch

pytest.importorskip("mcp")
pytest.importorskip("uvicorn")
from mcp import Client

from assistant.doors.mcp_tools import mcp_server
from assistant.doors.openai_api import Api

USERS = {"ann": "annzq", "bob": "bobzq"}  # with a word that is in all that they say
THINGS = "kettle lamp boat garden bicycle piano tent violin".split()
COLOURS = "green red white blue brown grey yellow black".split()
ALL = " ".join(THINGS)
_STEPS = 16


class Doors:
    """One user's ways in."""

    def __init__(
        self, name: str, python: Vouch, agent: Client, http: httpx2.AsyncClient, command: Command
    ) -> None:
        self.name, self.python, self.agent, self.http, self.command = name, python, agent, http, command

    async def tool(self, name: str, **arguments: Any) -> Any:
        result = await self.agent.call_tool(name, arguments)
        assert not result.is_error, result.content
        found = result.structured_content or {}
        return found["result"] if set(found) == {"result"} else found

    async def say(self, text: str) -> dict[str, Any]:
        body = {"model": "vouch", "messages": [{"role": "user", "content": text}]}
        answer = await self.http.post("http://127.0.0.1/v1/chat/completions", json=body)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def ran(self, *words: str) -> list[dict[str, Any]]:
        return self.command.run(*words, "--user", self.name, "--json", apart=True).objects

    async def write(self, door: str, text: str) -> list[tuple[int, int]]:
        """Receipts, each with its passage."""
        if door == "python":
            made = [self.python.add(text)]
            return [(receipt.id, receipt.passage or 0) for receipt in made]
        if door == "agent":
            receipt = await self.tool("remember", text=text)
            return [(receipt["id"], receipt["passage"])]
        told = await self.say(text)
        return [(each["id"], each["passage"]) for each in told["vouch"]["receipts"]]

    async def undo(self, door: str, receipt: int) -> None:
        if door == "python":
            self.python.undo(receipt)
        elif door == "agent":
            await self.tool("undo", receipt=receipt)
        else:
            self.ran("memory", "undo", str(receipt))

    async def forget(self, door: str, passage: int) -> None:
        if door == "python":
            self.python.forget(passage)
        elif door == "agent":
            token = (await self.tool("forget", passages=[passage]))["token"]
            await self.tool("forget", passages=[passage], token=token)
        else:
            self.ran("memory", "forget", str(passage), "--yes")

    async def seen(self) -> dict[str, set[tuple[int, str]]]:
        """What each door shows of the memory."""
        asked = await self.tool("search", query=ALL, limit=50)
        return {
            "python": {(each.passage, each.text) for each in self.python.search(ALL, 50)},
            "agent": {(each["passage"], each["text"]) for each in asked},
            "command": {(each["passage"], each["text"]) for each in self.ran("memory", "list")},
        }


@asynccontextmanager
async def opened(folder: Path, encoders: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Doors]]:
    command = Command(folder, encoders)
    for name, value in command.environment.items():
        if name.startswith("XDG_"):
            monkeypatch.setenv(name, value)
    async with AsyncExitStack() as open_:
        first = open_.enter_context(Vouch(user="ann"))
        stores = first._assistant.stores
        api = Api(stores.api_keys.user_of, lambda user, _: Vouch.of(first._assistant, user))
        app, made = api.app(host="127.0.0.1"), []
        for name in USERS:
            vouch = Vouch.of(first._assistant, name)
            key = stores.api_keys.give(stores.journal.user_id(name))
            http = httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app=app), headers={"Authorization": f"Bearer {key}"}
            )
            agent = await open_.enter_async_context(Client(mcp_server(vouch, version="1")))
            made.append(Doors(name, vouch, agent, await open_.enter_async_context(http), command))
        yield made


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
async def test_each_sees_one_memory_and_nothing_of_the_other(
    tmp_path: Path, minilm_folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    async with opened(tmp_path, minilm_folder.parent, monkeypatch) as doors:
        await play(doors, random.Random(seed))


async def play(doors: list[Doors], dice: random.Random) -> None:
    written: dict[str, list[tuple[int, int, str]]] = {name: [] for name in USERS}
    gone: dict[str, set[str]] = {name: set() for name in USERS}
    for step in range(_STEPS):
        user = dice.choice(doors)
        mine, what = written[user.name], dice.random()
        if not mine or what < 0.6:
            thing, colour = dice.choice(THINGS), dice.choice(COLOURS)
            text = f"My {thing} {USERS[user.name]}{step} is {colour}."
            for receipt, passage in await user.write(dice.choice(["python", "agent", "api"]), text):
                mine.append((receipt, passage, text))
        else:
            receipt, passage, text = mine.pop(dice.randrange(len(mine)))
            door = dice.choice(["python", "agent", "command"])
            await (user.undo(door, receipt) if what < 0.8 else user.forget(door, passage))
            gone[user.name].add(text)
    for user in doors:
        seen = await user.seen()
        live = {(passage, text) for _, passage, text in written[user.name]}
        other = next(word for name, word in USERS.items() if name != user.name)
        assert seen["command"] == live
        assert seen["python"] == seen["agent"] >= live
        assert not {text for _, text in seen["command"]} & gone[user.name]
        told = await user.say(f"What colour is my {dice.choice(THINGS)}?")
        assert {(each["passage"], each["text"]) for each in told["vouch"]["sources"]} <= seen["python"]
        for shown in (*map(sorted, seen.values()), told, list(user.python.export())):
            assert other not in json.dumps(shown, default=str)
