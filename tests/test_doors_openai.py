"""vouch serve --api: the memory of whoever has the key, by OpenAI's protocol, and of nobody else."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from openai import AsyncOpenAI, AuthenticationError, BadRequestError, NotFoundError, OpenAI
from scripted_server import Call, ScriptedServer, hangs, says

from assistant.process.log import StreamLog
from assistant.settings.config import Settings
from stores.base.errors import ModelBusy
from stores.checks.counts import counts
from stores.conversation.api_keys import ApiKeys
from stores.database.database import Database
from vouch import Vouch

pytest.importorskip("uvicorn")
from assistant.doors.guard import Guard
from assistant.doors.metrics import Metrics
from assistant.doors.openai_api import Api

ROOT = Path(__file__).parent.parent
MIA, ASKED = "My sister Mia lives in Porto.", "Where does my sister Mia live?"


@pytest.fixture
def ann(place: Path) -> Iterator[Vouch]:
    with Vouch(user="ann", data=place / "data") as vouch:
        yield vouch


@pytest.fixture
def keys(ann: Vouch) -> ApiKeys:
    return ann._assistant.stores.api_keys


@pytest.fixture
def app(ann: Vouch, keys: ApiKeys) -> Guard:
    api = Api(keys.user_of, lambda user, _: Vouch.of(ann._assistant, user, patience=5.0))
    return api.app(host="127.0.0.1")


def of(vouch: Vouch, name: str) -> str:
    """A new key of this user."""
    stores = vouch._assistant.stores
    return stores.api_keys.give(stores.journal.user_id(name))


def client(app: Guard, key: str) -> AsyncOpenAI:
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app))
    return AsyncOpenAI(base_url="http://127.0.0.1/v1", api_key=key, http_client=http, max_retries=0)


async def test_what_was_said_is_answered_with_its_sources(ann: Vouch, app: Guard) -> None:
    program = client(app, of(ann, "ann"))
    said: list[Any] = [{"role": "user", "content": MIA}]
    first = await program.chat.completions.create(model="vouch", messages=said)
    explained = first.model_extra["vouch"]
    assert [receipt["text"] for receipt in explained["receipts"]] == [MIA]
    said += [{"role": "assistant", "content": first.choices[0].message.content}]
    said += [{"role": "user", "content": ASKED}]
    second = await program.chat.completions.create(model="vouch", messages=said, temperature=0.2)
    told = second.model_extra["vouch"]
    assert "Porto" in (second.choices[0].message.content or "")
    assert (told["session"], told["sure"]) == (explained["session"], True)
    assert any(source["is_cited"] for source in told["sources"])
    assert second.usage is None  # nobody counted
    named = await program.chat.completions.create(
        model="vouch",
        messages=[{"role": "user", "content": "Thanks!"}],
        metadata={"session": str(told["session"])},
    )
    assert named.model_extra["vouch"]["session"] == told["session"]


async def test_a_stream_holds_the_same_and_ends_with_what_explains_it(ann: Vouch, app: Guard) -> None:
    ann.add(MIA)
    program = client(app, of(ann, "ann"))
    stream = await program.chat.completions.create(
        model="vouch",
        messages=[{"role": "user", "content": ASKED}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert "Porto" in text
    [last] = [chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason]
    assert last.model_extra["vouch"]["sure"]
    assert len({chunk.id for chunk in chunks}) == 1


async def test_the_key_alone_says_who_asks(ann: Vouch, app: Guard, keys: ApiKeys) -> None:
    ann.add(MIA)
    bobs = client(app, of(ann, "bob"))
    turn = ann.ask(ASKED)
    for more in ({"user": "ann"}, {"metadata": {"user": "ann", "user_id": "1"}}):
        answer = await bobs.chat.completions.create(
            model="vouch", messages=[{"role": "user", "content": ASKED}], **more
        )
        assert "Porto" not in (answer.choices[0].message.content or "")
    with pytest.raises(NotFoundError):
        await bobs.chat.completions.create(
            model="vouch",
            messages=[{"role": "user", "content": ASKED}],
            metadata={"session": str(turn.session)},
        )
    copied: list[Any] = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": turn.text},
        {"role": "user", "content": "Where did I say she lives?"},
    ]
    answer = await bobs.chat.completions.create(model="vouch", messages=copied)
    assert answer.model_extra["vouch"]["session"] != turn.session


async def test_a_key_that_is_missing_wrong_or_taken_back_is_refused(
    ann: Vouch, app: Guard, keys: ApiKeys
) -> None:
    key = of(ann, "ann")
    assert [line.ends_on for line in keys.lines()] == [key[-4:]]
    await client(app, key).models.list()
    keys.revoke(keys.lines()[0].key_id)
    for wrong in (key, key[:-1], "vouch-", "no key"):
        with pytest.raises(AuthenticationError, match="key"):
            await client(app, wrong).models.list()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http:
        assert (await http.get("http://127.0.0.1/v1/models")).status_code == 401


def test_only_a_digest_of_a_key_is_kept(ann: Vouch, place: Path) -> None:
    key = of(ann, "ann")
    assert key.encode() not in b"".join(file.read_bytes() for file in (place / "data").glob("vouch.db*"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"model": "vouch"}, "messages"),
        ({"messages": [{"role": "user", "content": "x"}]}, "model"),
        ({"model": "vouch", "messages": []}, "messages"),
        ({"model": "vouch", "messages": "x"}, "messages"),
        ({"model": "vouch", "messages": [{"role": "user", "content": " "}]}, "no text"),
        ({"model": "vouch", "messages": [{"role": "tool", "content": "x"}]}, "the user's"),
        ({"model": "vouch", "messages": [{"role": "user", "content": "x"}], "as_user": "ann"}, "as_user"),
        ({"model": "vouch", "messages": [{"role": "user", "content": "x"}], "n": 2}, "n"),
        ({"model": "vouch", "messages": [{"role": "user", "content": "x"}], "tools": [{}]}, "no tools"),
        (
            {
                "model": "vouch",
                "messages": [{"role": "user", "content": "x"}],
                "metadata": {"session": "1; --"},
            },
            "session",
        ),
        (
            {
                "model": "vouch",
                "messages": [{"role": "user", "content": "x"}],
                "metadata": {"session": "1" + "9" * 5000},
            },
            "session",
        ),
        (
            {
                "model": "vouch",
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "What is it?"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    }
                ],
            },
            "image",
        ),
    ],
)
async def test_a_body_that_is_wrong_is_told_what_is(ann: Vouch, app: Guard, body: Any, said: str) -> None:
    headers = {"Authorization": f"Bearer {of(ann, 'ann')}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers=headers) as http:
        answer = await http.post("http://127.0.0.1/v1/chat/completions", json=body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


async def test_what_is_no_request_is_refused(ann: Vouch, app: Guard) -> None:
    headers = {"Authorization": f"Bearer {of(ann, 'ann')}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers=headers) as http:

        async def posted(content: Any, path: str = "chat/completions", **more: str) -> int:
            answer = await http.post(f"http://127.0.0.1/v1/{path}", content=content, headers=more)
            assert answer.json()["error"]["message"]
            return answer.status_code

        for broken in (b"{", b"", b"[" * 100_000, b"\xff", b"null", b"[]"):
            assert await posted(broken) == 400
        assert await posted(b" " * 20_000_001) == 413

        async def in_pieces() -> Any:
            for _ in range(25):
                yield b" " * 1_000_000

        assert await posted(in_pieces()) == 413
        assert await posted(b"{}", "completions") == 404
        assert await posted(b"{}", Host="vouch.example") == 403
        assert await posted(b"{}", Origin="https://page.example") == 403


async def test_models_and_vectors(ann: Vouch, app: Guard) -> None:
    program = client(app, of(ann, "ann"))
    assert [model.id async for model in program.models.list()] == ["vouch"]
    assert (await program.models.retrieve("vouch")).id == "vouch"
    with pytest.raises(NotFoundError, match="no model"):
        await program.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "x"}])
    packed = await program.embeddings.create(model="vouch", input=[MIA, ASKED])
    plain = await program.embeddings.create(model="vouch", input=MIA, encoding_format="float")
    assert np.allclose(packed.data[0].embedding, plain.data[0].embedding, atol=1e-6)
    assert abs(float(np.linalg.norm(plain.data[0].embedding)) - 1) < 1e-3
    for wrong in ([], "", ["x"] * 300):
        with pytest.raises(BadRequestError, match="input"):
            await program.embeddings.create(model="vouch", input=wrong)


async def test_a_model_that_is_busy_is_told_with_when_to_come_again(
    ann: Vouch, app: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise ModelBusy("it is busy", retry_after_seconds=3.2)

    monkeypatch.setattr(Vouch, "stream", busy)
    headers = {"Authorization": f"Bearer {of(ann, 'ann')}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers=headers) as http:
        body = {"model": "vouch", "messages": [{"role": "user", "content": "x"}]}
        answer = await http.post("http://127.0.0.1/v1/chat/completions", json=body)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "4")


def run(place: Path, *more: str, **streams: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-m", "assistant.cli", *more, "--data", str(place / "data")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **streams)


@contextmanager
def served(place: Path, *more: str) -> Iterator[str]:
    with run(place, "serve", "--api", "0", *more, "--settings", str(place / "settings.toml")) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            assert process.wait(20) in (0, 143, -15)


def test_a_program_that_leaves_amid_a_reply_stops_it_and_its_part_is_kept(place: Path) -> None:
    reply = [hangs(["It opens ", "at "]), says("At ten.")]
    with ScriptedServer(reply) as server:
        model = f'backend = "openai"\nbase_url = "{server.base_url}"\nname = "s"\nretries = 0\n'
        (place / "settings.toml").write_text(
            f'[model]\nbackend = "extractive"\n[models.big]\n{model}[memory]\nagents = "reader"\n'
        )
        with run(place, "keys", "add", "ann", "--json") as adding:
            key = json.loads(adding.communicate()[0])["key"]
        with served(place, "--metrics") as address:
            program = OpenAI(base_url=address, api_key=key, max_retries=0)
            assert [model.id for model in program.models.list()] == ["vouch", "vouch/big"]
            asked: list[Any] = [{"role": "user", "content": "When does it open?"}]
            stream = program.chat.completions.create(model="vouch/big", messages=asked, stream=True)
            for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
            stream.close()
            assert server.wait_for_disconnects()
            answer = program.chat.completions.create(model="vouch/big", messages=asked)
            assert answer.choices[0].message.content == "At ten."
            told = httpx2.get(address.replace("/v1", "/metrics")).text
            assert re.search(r'vouch_turns_total\{model="s",state="done"\} 1\.0', told)
    for _ in range(50):
        turns = kept(place)
        if all(state != "accepted" for _, state, _ in turns):
            break
        time.sleep(0.1)
    assert turns[0][:2] == ("When does it open?", "stopped")
    assert turns[0][2].startswith("It opens")


WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def calls_the_weather(call: Call) -> None:
    call.open_stream()
    for function in ({"name": "weather", "arguments": '{"in": '}, {"arguments": '"Porto"}'}):
        call.send_delta({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]})
    call.send_delta({}, finish="tool_calls")
    call.close_stream()


async def test_tools_of_a_program_are_offered_to_the_model_and_called_by_the_program(place: Path) -> None:
    behaviours = [calls_the_weather, says("It rains in Porto."), calls_the_weather, says("Bye.")]
    with ScriptedServer(behaviours) as server:
        model = f'backend = "openai"\nbase_url = "{server.base_url}"\nname = "s"\nretries = 0\n'
        (place / "settings.toml").write_text(f'[model]\n{model}[memory]\nagents = "reader"\n')
        with Vouch(user="ann", data=place / "data", settings=place / "settings.toml") as ann:
            api = Api(
                ann._assistant.stores.api_keys.user_of,
                lambda user, _: Vouch.of(ann._assistant, user, patience=5.0),
            )
            program = client(api.app(host="127.0.0.1"), of(ann, "ann"))
            ask = program.chat.completions.create
            said: list[Any] = [{"role": "user", "content": f"{MIA} What is the weather there?"}]
            first = await ask(model="vouch", messages=said, tools=[WEATHER], tool_choice="auto")
            assert first.choices[0].finish_reason == "tool_calls"
            [called] = first.choices[0].message.tool_calls or []
            assert (called.id, called.function.name, called.function.arguments) == (
                "c1",
                "weather",
                '{"in": "Porto"}',
            )
            assert [each["function"]["name"] for each in server.requests[0].body["tools"]] == ["weather"]

            calls = [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]
            said += [{"role": "assistant", "content": None, "tool_calls": calls}]
            said += [{"role": "tool", "tool_call_id": "c1", "content": "rain"}]
            second = await ask(model="vouch", messages=said, tools=[WEATHER])
            assert second.choices[0].message.content == "It rains in Porto."
            assert [each["role"] for each in server.requests[1].body["messages"][-3:]] == [
                "user",
                "assistant",
                "tool",
            ]
            assert len([found for found in ann.search("sister Mia Porto") if found.kind == "fact"]) == 1

            said += [
                {"role": "assistant", "content": "It rains in Porto."},
                {"role": "user", "content": "And?"},
            ]
            stream = await ask(model="vouch", messages=said, tools=[WEATHER], stream=True)
            chunks = [chunk async for chunk in stream]
            assert chunks[-1].choices[0].finish_reason == "tool_calls"
            parts = [part for chunk in chunks for part in chunk.choices[0].delta.tool_calls or []]
            assert [part.function.name for part in parts if part.function] == ["weather"]
            with pytest.raises(BadRequestError, match="last message"):
                await ask(model="vouch", messages=said[:3])

            session = second.model_extra["vouch"]["session"]
            last = [{**each, "content": each["content"] or "And?"} for each in said[-1:]]
            results = [said[1], said[2]]
            await ask(
                model="vouch", messages=[*last, *results], tools=[WEATHER], metadata={"session": str(session)}
            )
            turns = ann._assistant.stores.sessions.tree(ann._user_id, session)
            assert [turn.message for turn in turns.turns if turn.id in turns.branch][-1] == "And?"
            assert len(turns.branch) == 2


async def test_what_is_not_to_be_stored_is_answered_and_not_remembered(ann: Vouch, app: Guard) -> None:
    ann.add(MIA)
    program = client(app, of(ann, "ann"))
    said: list[Any] = [
        {"role": "user", "content": "My locker is 4711."},
        {"role": "assistant", "content": "Yes."},
    ]
    said += [{"role": "user", "content": ASKED}]
    answer = await program.chat.completions.create(model="vouch", messages=said, store=False)
    assert "Porto" in (answer.choices[0].message.content or "")
    told = await program.chat.completions.create(
        model="vouch", messages=[{"role": "user", "content": "My dog is called Rex."}], store=False
    )
    assert told.model_extra["vouch"]["receipts"] == []
    assert not any("Rex" in found.text or "4711" in found.text for found in ann.search("Rex dog locker 4711"))
    with pytest.raises(NotFoundError):
        await program.chat.completions.create(
            model="vouch",
            messages=[{"role": "user", "content": "What is my dog called?"}],
            metadata={"session": str(told.model_extra["vouch"]["session"])},
        )
    with pytest.raises(BadRequestError, match="session"):
        await program.chat.completions.create(
            model="vouch", messages=said, store=False, metadata={"session": "1"}
        )


async def test_a_server_goes_by_further_names_only_where_they_are_given(ann: Vouch, keys: ApiKeys) -> None:
    api = Api(keys.user_of, lambda user, _: Vouch.of(ann._assistant, user))
    headers = {"Authorization": f"Bearer {of(ann, 'ann')}"}
    for names, status in (((), 403), (("Vouch.example",), 200)):
        transport = httpx2.ASGITransport(app=api.app(host="0.0.0.0", names=names))
        async with httpx2.AsyncClient(transport=transport, headers=headers) as http:
            assert (await http.get("http://vouch.example:8486/v1/models")).status_code == status
            assert (await http.get("http://vouch.example.evil.example/v1/models")).status_code == 403


async def test_metrics_tell_counts_and_nobodys_words(ann: Vouch, keys: ApiKeys) -> None:
    database = ann._assistant.stores.database
    with closing(Metrics(lambda: counts(database))) as metrics:
        api = Api(
            keys.user_of,
            lambda user, _: Vouch.of(ann._assistant, user),
            metrics=metrics.text,
        )
        ann.ask(MIA)
        transport = httpx2.ASGITransport(app=api.app(host="127.0.0.1"))
        async with httpx2.AsyncClient(transport=transport) as http:
            told = (await http.get("http://127.0.0.1/metrics")).text
            assert (
                await http.get("http://127.0.0.1/metrics", headers={"Host": "x.example"})
            ).status_code == 403
    assert re.search(r'vouch_turns_total\{model="[^"]+",state="done"\} 1\.0', told)
    assert 'vouch_step_seconds_count{step="retrieve"} 1.0' in told
    assert "Mia" not in told
    with_none = Api(keys.user_of, lambda user, _: Vouch.of(ann._assistant, user)).app(host="127.0.0.1")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=with_none)) as http:
        assert (await http.get("http://127.0.0.1/metrics")).status_code == 404


def test_jobs_and_rounds_are_counted(ann: Vouch) -> None:
    journal = ann._assistant.stores.journal
    session = journal.open_session(ann._user_id)
    ann._assistant.turns.pipeline.keep(ann._user_id, session, MIA, "Noted.")
    told = counts(ann._assistant.stores.database)
    assert told.jobs.get("summarize") == 1
    assert told.rounds == {}


def test_the_log_goes_to_standard_error_as_lines_of_json(
    ann: Vouch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with closing(StreamLog(Settings())):
        logging.getLogger("assistant").setLevel("INFO")
        ann.ask(MIA)
    lines = [json.loads(line) for line in capfdbinary.readouterr().err.splitlines() if line.startswith(b"{")]
    assert any(line["event"].startswith("turn ") and line["fields"]["state"] == "done" for line in lines)
    assert not any("Mia" in json.dumps(line) for line in lines)


def kept(place: Path) -> list[tuple[str, str, str]]:
    database = Database.at(place / "data")
    try:
        with database.reading() as sql:
            rows = sql.connection().exec_driver_sql("SELECT message, state, answer FROM turns ORDER BY id")
            return [tuple(row) for row in rows]
    finally:
        database.close()
