"""`OpenAIChat` against a server on loopback that does what each test's script says."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scripted_server import (
    Behaviour,
    Call,
    ScriptedServer,
    answers_json,
    cuts,
    echoes,
    ends_unfinished,
    garbles,
    hangs,
    refuses,
    says,
    says_between,
    unused_url,
)

from agents.backends.openai.chat import OpenAIChat
from agents.backends.openai.habits import Habits, KnownHabits
from agents.backends.openai.wire import split_credentials
from agents.base.chat_interfaces import ChatMessage, CutAtLimit, Piece, ReplyRequest, Thought, Tokens
from stores.base.errors import (
    BackendMissing,
    ContextTooLong,
    MalformedReply,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
    NoLogProbabilities,
    ReplyCut,
    UnknownModel,
    WrongKey,
)

KEY = "sk-secret-0123456789"
QUESTION = (ChatMessage("system", "Be brief."), ChatMessage("user", "What is the capital of Peru?"))
REQUEST = ReplyRequest(messages=QUESTION, question="What is the capital of Peru?")
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

SILENCE = hangs()

MakeChat = Callable[..., OpenAIChat]


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.backends.openai.failures.FIRST_PAUSE", 0.01)


@pytest.fixture
async def make_chat() -> AsyncIterator[MakeChat]:
    """Makes chats that give up soon, and closes them."""
    chats: list[OpenAIChat] = []

    def make(base_url: str, **settings: Any) -> OpenAIChat:
        plain: dict[str, Any] = {
            "model": "scripted",
            "api_key": KEY,
            "timeout_seconds": 60.0,
            "max_retries": 2,
        }
        chats.append(OpenAIChat(base_url=base_url, **(plain | settings)))
        return chats[-1]

    yield make
    for chat in chats:
        await chat.aclose()


async def read(chat: OpenAIChat) -> list[Piece]:
    return [piece async for piece in chat.stream(REQUEST)]


async def failure(chat: OpenAIChat, kind: type[ModelError]) -> ModelError:
    """The error of this kind, and no other, with which a reply ends."""
    with pytest.raises(kind) as caught:
        await read(chat)
    assert type(caught.value) is kind
    return caught.value


async def failure_of_any_kind(chat: OpenAIChat) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await read(chat)
    return caught.value


def assert_nowhere(secret: str, error: ModelError) -> None:
    """Not in what is told, and not in what a traceback would print."""
    assert secret not in error.hint
    assert secret not in "".join(traceback.format_exception(error))


# Whole replies


async def test_a_reply_arrives_in_the_pieces_the_server_sent(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Lima", ", of", " course")]) as server:
        assert await read(make_chat(server.base_url)) == ["Lima", ", of", " course"]


async def test_a_piece_is_handed_on_before_the_next_one_exists(make_chat: MakeChat) -> None:
    with ScriptedServer([hangs(after=["Li"])]) as server:
        async with aclosing(make_chat(server.base_url).stream(REQUEST)) as pieces:
            assert await asyncio.wait_for(anext(pieces), 60) == "Li"


async def test_slow_pieces_within_the_timeout_make_a_whole_reply(make_chat: MakeChat) -> None:
    with ScriptedServer([says("a", "b", "c", "d", "e", pause_seconds=0.6)]) as server:
        assert await read(make_chat(server.base_url, timeout_seconds=2.5)) == ["a", "b", "c", "d", "e"]


async def test_the_server_is_sent_the_messages_the_model_and_the_key(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Lima")]) as server:
        await read(make_chat(server.base_url, max_tokens=7, temperature=0.0))
        sent = server.requests[0]
    assert sent.body["messages"] == [{"role": m.role, "content": m.content} for m in QUESTION]
    assert (sent.body["model"], sent.body["max_tokens"], sent.body["temperature"]) == ("scripted", 7, 0.0)
    assert sent.headers["authorization"] == f"Bearer {KEY}"


async def test_what_is_not_set_is_not_sent(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Lima")]) as server:
        await read(make_chat(server.base_url))
        assert set(server.requests[0].body) == {"model", "messages", "stream"}


async def test_no_key_or_organization_is_taken_from_the_environment(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(variable, "from-the-environment")
    with ScriptedServer([says("Lima")]) as server:
        await read(make_chat(server.base_url, api_key=""))
        assert "from-the-environment" not in str(server.requests[0].headers)


@pytest.mark.parametrize("longest", [7, None], ids=["ours", "the server's"])
async def test_a_reply_cut_at_its_longest_length_says_so_last(
    make_chat: MakeChat, longest: int | None
) -> None:
    with ScriptedServer([says("Lim", finish="length")]) as server:
        pieces = await read(make_chat(server.base_url, max_tokens=longest))
    assert pieces == ["Lim", CutAtLimit(longest)]


@pytest.mark.parametrize("stays_seconds", [300.0, 0.0], ids=["stays silent", "breaks the connection"])
async def test_a_finished_reply_is_whole_whatever_the_server_does_then(
    make_chat: MakeChat, stays_seconds: float
) -> None:
    def behave(call: Call) -> None:
        call.open_stream()
        call.send_delta({"content": "Lima"})
        call.send_delta({}, finish="stop")
        call.pause(stays_seconds)
        call.break_connection()

    with ScriptedServer([behave]) as server:
        assert await asyncio.wait_for(read(make_chat(server.base_url)), 60) == ["Lima"]


async def test_two_replies_can_be_read_at_once(make_chat: MakeChat) -> None:
    with ScriptedServer(then=says("Li", "ma", pause_seconds=0.05)) as server:
        chat = make_chat(server.base_url)
        assert await asyncio.gather(read(chat), read(chat)) == [["Li", "ma"], ["Li", "ma"]]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
async def test_thoughts_that_a_server_parts_come_apart(make_chat: MakeChat, name: str) -> None:
    def behave(call: Call) -> None:
        call.open_stream()
        call.send_delta({name: "Peru, so"})
        call.send_delta({"content": "Lima"})
        call.send_delta({}, "stop")
        call.close_stream()

    with ScriptedServer([behave]) as server:
        assert await read(make_chat(server.base_url)) == [Thought("Peru, so"), "Lima"]


async def test_a_refusal_is_the_answer_and_no_schema_fits_it(make_chat: MakeChat) -> None:
    def streamed(call: Call) -> None:
        call.open_stream()
        call.send_delta({"refusal": "I can't help"})
        call.send_delta({"refusal": " with that."}, "stop")
        call.close_stream()

    message = {"role": "assistant", "content": None, "refusal": "I can't help."}
    whole = answers_json(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    with ScriptedServer([streamed, whole]) as server:
        assert await read(make_chat(server.base_url)) == ["I can't help", " with that."]
        with pytest.raises(ModelRefused, match=r"refuses: I can't help\."):
            await make_chat(server.base_url).structured(QUESTION, CITY)


async def test_half_a_character_never_comes_out(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Lima \ud83d", "!"), says("Lima \ud83d"), says("\udf89!")]) as server:
        chat = make_chat(server.base_url)
        assert await read(chat) == ["Lima ", "\ufffd!"]
        assert await read(chat) == ["Lima ", "\ufffd"]
        assert await read(chat) == ["\ufffd!"]


@pytest.mark.parametrize("pieces", [("Lima \ud83c", "\udf89!"), ("Lima \ud83c", "", "\udf89!")])
async def test_halves_of_a_character_in_two_pieces_are_one(
    make_chat: MakeChat, pieces: tuple[str, ...]
) -> None:
    with ScriptedServer([says(*pieces)]) as server:
        assert "".join(map(str, await read(make_chat(server.base_url)))) == "Lima 🎉!"


@pytest.mark.parametrize(
    "event",
    [
        b"retry: 3000\n\n",
        b"id: 7\n\n",
        b"event: ping\n\n",
        b"event: ping\ndata: still here\n\n",
        b"data:\n\n",
        b"data: \r\n\r\n",
        b": PROCESSING\n\n",
    ],
)
async def test_an_event_that_says_nothing_is_passed_over(make_chat: MakeChat, event: bytes) -> None:
    with ScriptedServer([says_between(event, "Warm ", "tea.")]) as server:
        assert await read(make_chat(server.base_url)) == ["Warm ", "tea."]


async def test_a_whole_reply_in_place_of_a_stream_is_the_reply(make_chat: MakeChat) -> None:
    message = {"role": "assistant", "content": "Lima.", "reasoning_content": "Peru?"}
    body = {"choices": [{"message": message}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    with ScriptedServer([answers_json(200, body)]) as server:
        chat = make_chat(server.base_url)
        assert await read(chat) == [Thought("Peru?"), "Lima."]
    assert chat.used == Tokens(7, 2)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "insufficient credits", "code": 402}},
        {"error": "insufficient credits"},
        [{"error": {"message": "insufficient credits"}}],
        {"object": "error", "message": "insufficient credits"},
        {"detail": "insufficient credits"},
    ],
)
async def test_an_error_in_place_of_a_reply_is_told_in_the_servers_words(
    make_chat: MakeChat, body: object
) -> None:
    with ScriptedServer(then=answers_json(200, body)) as server:
        chat = make_chat(server.base_url)
        assert "insufficient credits" in str(await failure(chat, ReplyCut))
        if isinstance(body, dict):
            with pytest.raises(ModelRefused, match="insufficient credits"):
                await chat.structured(QUESTION, CITY)


async def test_an_event_called_error_is_told_in_the_servers_words(make_chat: MakeChat) -> None:
    event = b'event: error\ndata: {"message": "out of memory"}\n\n'
    with ScriptedServer([says_between(event, "Li")]) as server:
        assert "out of memory" in str(await failure(make_chat(server.base_url), ReplyCut))


async def test_half_a_character_in_a_message_does_not_stop_it(make_chat: MakeChat) -> None:
    request = ReplyRequest(messages=(ChatMessage("user", "Per\udcfa"),), question="")
    with ScriptedServer([echoes()]) as server:
        assert [piece async for piece in make_chat(server.base_url).stream(request)] == ["Per\ufffd"]


async def test_a_chat_works_again_after_it_was_closed(make_chat: MakeChat) -> None:
    with ScriptedServer(then=says("Lima")) as server:
        chat = make_chat(server.base_url)
        await read(chat)
        await chat.aclose()
        assert await read(chat) == ["Lima"]


def test_importing_the_backend_does_not_import_openai() -> None:
    script = "import sys, agents.backends.openai.chat; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


# Replies that are not whole


@pytest.mark.parametrize(
    "behaviour",
    [
        cuts(after=["Li", "ma"]),
        ends_unfinished("Li", "ma"),
        ends_unfinished("Li", "ma", done=True),
        garbles("Li", "ma"),
        garbles("Li", "ma", data="[1, 2]"),
        garbles("Li", "ma", data='{"choices": "none"}'),
        garbles("Li", "ma", data='{"choices": [null]}'),
        garbles("Li", "ma", data=b"\xff\xfe"),
        garbles("Li", "ma", data='{"error": {"message": "out of memory"}}'),
        garbles("Li", "ma", data='{"error": "out of memory"}'),
        hangs(after=["Li", "ma"]),
        says("Li", "ma", finish="content_filter"),
    ],
    ids=[
        "connection closed",
        "no finish_reason, no end mark",
        "no finish_reason, but an end mark",
        "invalid JSON",
        "a list",
        "choices of the wrong type",
        "a choice of null",
        "invalid UTF-8",
        "an error object",
        "an error as text",
        "silence",
        "a filter",
    ],
)
async def test_a_reply_that_breaks_off_gives_its_pieces_and_then_an_error(
    make_chat: MakeChat, behaviour: Behaviour
) -> None:
    pieces: list[str] = []

    async def keep_pieces() -> None:
        async for piece in make_chat(server.base_url, timeout_seconds=3.0).stream(REQUEST):
            pieces.append(piece)

    with ScriptedServer([behaviour]) as server:
        with pytest.raises(ReplyCut) as caught:
            await keep_pieces()
        assert server.base_url in str(caught.value)
        assert len(server.requests) == 1  # once a piece has arrived, nothing is tried again
    assert pieces == ["Li", "ma"]
    assert caught.value.hint


async def test_an_error_within_the_stream_is_told_in_the_servers_words(make_chat: MakeChat) -> None:
    with ScriptedServer([garbles("Li", data='{"error": "out of memory"}')]) as server:
        assert "out of memory" in str(await failure(make_chat(server.base_url), ReplyCut))


async def test_a_stream_that_opens_with_a_complaint_about_length_is_context_too_long(
    make_chat: MakeChat,
) -> None:
    data = '{"error": {"message": "The maximum context length is 256 tokens", "code": 400}}'
    with ScriptedServer([garbles(data=data)]) as server:
        await failure(make_chat(server.base_url), ContextTooLong)


async def test_a_server_of_another_kind_is_told_by_a_hint_at_its_address(make_chat: MakeChat) -> None:
    with ScriptedServer([answers_json(200, {"hello": "world"})]) as server:
        error = await failure(make_chat(server.base_url), ReplyCut)
    assert "base_url" in error.hint


# Cancelling


async def test_cancelling_the_reader_disconnects_from_the_server(make_chat: MakeChat) -> None:
    with ScriptedServer([hangs(after=["Li"])]) as server:
        has_begun = asyncio.Event()

        async def reader() -> None:
            async for _ in make_chat(server.base_url).stream(REQUEST):
                has_begun.set()

        task = asyncio.create_task(reader())
        await asyncio.wait_for(has_begun.wait(), 60)
        assert server.disconnects == 0
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_for_disconnects, 1)


async def test_cancelling_before_the_first_byte_disconnects_from_the_server(make_chat: MakeChat) -> None:
    with ScriptedServer([hangs()]) as server:
        task = asyncio.create_task(read(make_chat(server.base_url)))
        assert await asyncio.to_thread(server.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_for_disconnects, 1)
        assert len(server.requests) == 1


async def test_closing_the_stream_early_disconnects_from_the_server(make_chat: MakeChat) -> None:
    with ScriptedServer([hangs(after=["Li"])]) as server:
        pieces = make_chat(server.base_url).stream(REQUEST)
        assert await anext(pieces) == "Li"
        await pieces.aclose()  # type: ignore[attr-defined]
        assert await asyncio.to_thread(server.wait_for_disconnects, 1)


async def test_cancelling_while_waiting_to_try_again_ends_the_wait(make_chat: MakeChat) -> None:
    with ScriptedServer(then=refuses(429, "slow down", headers={"Retry-After": "60"})) as server:
        task = asyncio.create_task(read(make_chat(server.base_url)))
        assert await asyncio.to_thread(server.wait_for_requests, 1)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 30)  # of the 60


async def test_the_next_reply_is_whole_after_a_cancelled_one(make_chat: MakeChat) -> None:
    with ScriptedServer([hangs(after=["Li"]), says("Lima")]) as server:
        chat = make_chat(server.base_url)
        async with aclosing(chat.stream(REQUEST)) as pieces:
            await anext(pieces)
        assert await read(chat) == ["Lima"]


async def test_a_reply_that_was_read_to_its_end_counts_as_no_disconnect(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Lima")]) as server:
        await read(make_chat(server.base_url))
        assert not await asyncio.to_thread(server.wait_for_disconnects, 1, 0.1)


# Trying again


@pytest.mark.parametrize(
    "trouble",
    [refuses(429, "slow down"), refuses(500, "oops"), refuses(503, "loading"), cuts()],
    ids=["429", "500", "503", "no answer"],
)
async def test_passing_trouble_is_not_noticed(make_chat: MakeChat, trouble: Behaviour) -> None:
    with ScriptedServer([trouble, trouble, says("Lima")]) as server:
        assert await read(make_chat(server.base_url, max_retries=2)) == ["Lima"]
        assert len(server.requests) == 3


async def test_the_pause_that_the_server_asks_for_is_kept(make_chat: MakeChat) -> None:
    script = [refuses(429, "slow down", headers={"Retry-After": "1"}), says("Lima")]
    with ScriptedServer(script) as server:
        await read(make_chat(server.base_url))
        first, second = server.requests
    assert second.at_seconds - first.at_seconds >= 1.0


async def test_pauses_grow(make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.backends.openai.failures.FIRST_PAUSE", 0.1)
    with ScriptedServer([refuses(500, "oops")] * 3 + [says("Lima")]) as server:
        await read(make_chat(server.base_url, max_retries=3))
        times = [request.at_seconds for request in server.requests]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert all(pause >= planned for pause, planned in zip(pauses, (0.1, 0.2, 0.4), strict=True))


async def test_no_retries_means_one_request(make_chat: MakeChat) -> None:
    with ScriptedServer(then=refuses(500, "oops")) as server:
        await failure(make_chat(server.base_url, max_retries=0), ModelBusy)
        assert len(server.requests) == 1


# Errors


async def test_a_lasting_rate_limit_is_busy_and_says_when_to_return(make_chat: MakeChat) -> None:
    with ScriptedServer(then=refuses(429, "slow down", headers={"Retry-After": "20"})) as server:
        error = await failure(make_chat(server.base_url, max_retries=0), ModelBusy)
    assert error.retry_after_seconds == 20.0
    assert "20 seconds" in error.hint


async def test_a_time_to_return_given_as_a_date_is_understood(make_chat: MakeChat) -> None:
    date = formatdate(time.time() + 900, usegmt=True)
    with ScriptedServer(then=refuses(429, "slow down", headers={"Retry-After": date})) as server:
        error = await failure(make_chat(server.base_url, max_retries=0), ModelBusy)
    assert error.retry_after_seconds == pytest.approx(900, abs=90)


async def test_a_lasting_failure_of_the_server_is_busy_without_a_time(make_chat: MakeChat) -> None:
    with ScriptedServer(then=refuses(500, "out of memory")) as server:
        error = await failure(make_chat(server.base_url), ModelBusy)
        assert len(server.requests) == 3
    assert error.retry_after_seconds is None
    assert "out of memory" in str(error)


async def test_a_server_that_is_not_there_is_unreachable(make_chat: MakeChat) -> None:
    url = unused_url()
    error = await failure(make_chat(url), ModelUnreachable)
    assert url in str(error)
    assert error.hint


async def test_a_server_that_does_not_answer_in_time_is_unreachable(make_chat: MakeChat) -> None:
    with ScriptedServer(then=hangs()) as server:
        error = await failure(make_chat(server.base_url, first_word_seconds=0.2), ModelUnreachable)
        assert len(server.requests) == 1
    assert "0.2 seconds" in str(error)
    assert "model.first_word_seconds" in error.hint


async def test_a_first_word_may_take_longer_than_the_next_ones(make_chat: MakeChat) -> None:
    def loads_first(call: Call) -> None:
        call.pause(0.4)
        says("Li", "ma")(call)

    with ScriptedServer([loads_first, hangs(after=["Li"])]) as server:
        chat = make_chat(server.base_url, timeout_seconds=0.2, first_word_seconds=60.0)
        assert await read(chat) == ["Li", "ma"]
        error = await failure(chat, ReplyCut)
    assert "nothing more came for 0.2 seconds" in str(error)


async def test_a_server_that_is_gone_is_asked_once_more_at_most(make_chat: MakeChat) -> None:
    began = time.monotonic()
    await failure(make_chat(unused_url(), max_retries=4), ModelUnreachable)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(("status", "code"), [(402, None), (429, "insufficient_quota")])
async def test_a_key_without_credit_is_refused_at_once(
    make_chat: MakeChat, status: int, code: str | None
) -> None:
    with ScriptedServer(then=refuses(status, "You exceeded your current quota", code=code)) as server:
        error = await failure(make_chat(server.base_url, max_retries=4), ModelRefused)
        assert len(server.requests) == 1
    assert "You exceeded your current quota" in str(error)


async def test_a_stream_that_opens_and_says_nothing_is_unreachable(make_chat: MakeChat) -> None:
    with ScriptedServer(then=hangs(after=[""])) as server:
        await failure(make_chat(server.base_url, first_word_seconds=0.2), ModelUnreachable)


@pytest.mark.parametrize("url", ["http://127.0.0.1:port/v1", "http://[::1/v1", "127.0.0.1:8000/v1", ""])
async def test_an_address_that_is_none_is_unreachable(make_chat: MakeChat, url: str) -> None:
    assert (await failure(make_chat(url), ModelUnreachable)).hint


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "socks://127.0.0.1:9"])
async def test_a_proxy_that_cannot_be_used_is_told_and_not_even_looked_at_where_it_is_not_meant(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "")
    with ScriptedServer([says("Lima")]) as server:
        with pytest.raises((BackendMissing, ModelUnreachable), match="The proxy of the environment"):
            await read(make_chat(server.base_url))
        monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
        assert await read(make_chat(server.base_url)) == ["Lima"]


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_not_accepted_names_its_variable(make_chat: MakeChat, status: int) -> None:
    with ScriptedServer([refuses(status, "Incorrect API key provided")]) as server:
        error = await failure(make_chat(server.base_url), WrongKey)
        assert server.base_url in str(error)
    assert "VOUCH_API_KEY" in error.hint


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-ſecret"])
async def test_a_key_that_cannot_be_sent_is_wrong_before_it_is_sent(make_chat: MakeChat, key: str) -> None:
    error = await failure(make_chat(unused_url(), api_key=key), WrongKey)
    assert key not in str(error)


async def test_an_unknown_model_is_named_with_those_there_are(make_chat: MakeChat) -> None:
    models = ("llama", "qwen", "mistral", "phi", "gemma", "olmo")
    with ScriptedServer([refuses(404, "no such model")], models=models) as server:
        error = await failure(make_chat(server.base_url, model="gtp-4"), UnknownModel)
    assert "gtp-4" in str(error)
    assert error.hint == "It has: llama, qwen, mistral, phi, gemma and more."


async def test_an_unknown_model_is_told_also_where_the_others_are_not(make_chat: MakeChat) -> None:
    with ScriptedServer([refuses(404, "no such model")], models=None) as server:
        error = await failure(make_chat(server.base_url, model="gtp-4"), UnknownModel)
    assert "base_url" in error.hint


@pytest.mark.parametrize(
    "behaviour",
    [
        refuses(400, "No.", code="context_length_exceeded"),
        refuses(400, "This model's maximum context length is 8192 tokens."),
        refuses(400, "the request exceeds the available context size, try increasing it"),
        refuses(413, "Payload too large"),
    ],
    ids=["code", "vLLM", "llama.cpp", "413"],
)
async def test_too_much_text_is_context_too_long(make_chat: MakeChat, behaviour: Behaviour) -> None:
    with ScriptedServer([behaviour]) as server:
        await failure(make_chat(server.base_url), ContextTooLong)


async def test_another_refusal_has_the_servers_words(make_chat: MakeChat) -> None:
    with ScriptedServer([refuses(400, "temperature must be below 2")]) as server:
        assert "temperature must be below 2" in str(await failure(make_chat(server.base_url), ModelRefused))


async def test_a_refusal_in_another_form_has_the_servers_words_too(make_chat: MakeChat) -> None:
    with ScriptedServer([answers_json(422, {"detail": "field required"})]) as server:
        assert "field required" in str(await failure(make_chat(server.base_url), ModelRefused))


async def test_the_servers_words_are_cut_and_cannot_steer_the_terminal(make_chat: MakeChat) -> None:
    with ScriptedServer([refuses(400, "\x1b[2J\x07\u202e\n" + "no " * 1000)]) as server:
        text = str(await failure(make_chat(server.base_url), ModelRefused))
    assert text.isprintable()
    assert len(text) < 450


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
async def test_a_key_that_the_server_repeats_is_in_no_error(make_chat: MakeChat, status: int) -> None:
    with ScriptedServer(then=refuses(status, f"{KEY} is no good"), models=(KEY,)) as server:
        error = await failure_of_any_kind(make_chat(server.base_url, max_retries=0))
    assert_nowhere(KEY, error)


async def test_a_key_that_the_stream_repeats_is_in_no_error(make_chat: MakeChat) -> None:
    with ScriptedServer([garbles("Li", data=json.dumps({"error": f"{KEY} is no good"}))]) as server:
        error = await failure_of_any_kind(make_chat(server.base_url))
    assert_nowhere(KEY, error)


@pytest.mark.parametrize("behaviour", [refuses(400, "no pass-word, hunter2"), cuts(), hangs()])
async def test_a_password_in_the_address_is_in_no_error(make_chat: MakeChat, behaviour: Behaviour) -> None:
    with ScriptedServer(then=behaviour) as server:
        url = server.base_url.replace("http://", "http://someone:hunter2@")
        error = await failure_of_any_kind(make_chat(url, first_word_seconds=0.2, max_retries=0))
        assert server.base_url in str(error)
    assert_nowhere("hunter2", error)


async def test_what_is_sent_beside_a_request_is_in_no_error(make_chat: MakeChat) -> None:
    said = refuses(400, "no sk-in-header, sk-in-body and sk-in-list, but top_k 20")
    beside = {"top_k": 20, "user": {"key": "sk-in-body", "keys": ["sk-in-list"]}}
    with ScriptedServer(then=said) as server:
        error = await failure_of_any_kind(
            make_chat(
                server.base_url,
                headers={"Authorization": "Bearer sk-in-header"},
                parameters=beside,
                max_retries=0,
            )
        )
    assert "top_k 20" in str(error)
    assert_nowhere("sk-in", error)
    address = "http://ann:hunter2@host/v1?key=sk-in-query"
    assert split_credentials(address) == ("http://host/v1", ["hunter2", "sk-in-query"])


async def test_a_proxy_whose_address_is_none_is_told_without_its_password(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://ann:hun#ter2@127.0.0.1:9")  # read as a port
    monkeypatch.setenv("NO_PROXY", "")
    error = await failure(make_chat("http://127.0.0.1:9/v1"), ModelUnreachable)
    assert str(error).startswith("The proxy of the environment")
    assert_nowhere("hun", error)


# What a server does not take

NO_LIMIT = refuses(
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
)
NO_TEMPERATURE = refuses(
    400,
    "Unsupported value: 'temperature' does not support 0.2 with this model. "
    "Only the default (1) value is supported.",
)


async def test_what_a_server_refuses_is_put_otherwise_and_not_sent_again(
    make_chat: MakeChat, tmp_path: Path
) -> None:
    habits = KnownHabits(tmp_path / "habits.json")
    settings = {"max_tokens": 50, "temperature": 0.2, "habits": habits}
    with ScriptedServer([NO_LIMIT, NO_TEMPERATURE, says("Lima")], then=says("Cusco")) as server:
        assert await read(make_chat(server.base_url, **settings)) == ["Lima"]
        assert await read(make_chat(server.base_url, **settings)) == ["Cusco"]  # as after a restart
        await read(make_chat(server.base_url, **settings, model="other"))
    bodies = [request.body for request in server.requests]
    assert [("max_tokens" in b, "max_completion_tokens" in b, "temperature" in b) for b in bodies] == [
        (True, False, True),
        (False, True, True),
        (False, True, False),
        (False, True, False),
        (True, False, True),
    ]


@pytest.mark.parametrize(
    ("refusals", "roles"),
    [
        (["Unsupported role: 'system'. Use 'developer' instead."], ["developer", "user"]),
        (["System role not supported"], ["user"]),
        (["'system': use the role developer", "no role 'developer' here"], ["user"]),
    ],
)
async def test_instructions_go_in_the_role_that_a_server_takes(
    make_chat: MakeChat, refusals: list[str], roles: list[str]
) -> None:
    with ScriptedServer([*(refuses(400, words) for words in refusals), says("Lima")]) as server:
        assert await read(make_chat(server.base_url)) == ["Lima"]
    sent = server.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == roles
    assert "Be brief." in sent[0]["content"]


async def test_further_parameters_are_sent_until_they_are_refused(make_chat: MakeChat) -> None:
    given = {"parameters": {"top_p": 0.5, "reasoning_effort": "low"}}
    refused = refuses(400, "Unrecognized request argument supplied: reasoning_effort")
    with ScriptedServer([refused, says("Lima")]) as server:
        assert await read(make_chat(server.base_url, **given)) == ["Lima"]
    first, second = (request.body for request in server.requests)
    assert (first["top_p"], first["reasoning_effort"]) == (0.5, "low")
    assert (second["top_p"], "reasoning_effort" in second) == (0.5, False)


async def test_a_server_that_refuses_everything_is_not_asked_for_ever(make_chat: MakeChat) -> None:
    with ScriptedServer(then=NO_TEMPERATURE) as server:
        assert (
            "temperature"
            in (await failure(make_chat(server.base_url, temperature=0.2), ModelRefused)).message
        )
    assert len(server.requests) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"SERVER scripted": {"limit": 3, "left_out": 7}}'])
def test_habits_that_cannot_be_read_are_learned_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "habits.json").write_text(content)
    known = KnownHabits(tmp_path / "habits.json")
    assert known.of("SERVER", "scripted") == Habits()
    known.learn("SERVER", "scripted", Habits(("seed",)))
    assert KnownHabits(tmp_path / "habits.json").of("SERVER", "scripted") == Habits(("seed",))


# Structured replies


async def test_a_structured_reply_is_asked_for_by_its_schema(make_chat: MakeChat) -> None:
    with ScriptedServer([says('{"city": "Lima"}')]) as server:
        assert await make_chat(server.base_url).structured(QUESTION, CITY) == {"city": "Lima"}
        form = server.requests[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert (form["json_schema"]["schema"], form["json_schema"]["strict"]) == (CITY, True)


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"city": "Lima"}\n```',
        'Gladly! Here it is:\n\n{"city": "Lima"}\n\nAnything else?',
        ' \n{"city":\n "Lima"} ',
    ],
    ids=["in a fence", "among words", "over lines"],
)
async def test_a_structured_reply_may_be_wrapped(make_chat: MakeChat, reply: str) -> None:
    with ScriptedServer([says(reply)]) as server:
        assert await make_chat(server.base_url).structured(QUESTION, CITY) == {"city": "Lima"}


async def test_a_server_that_rejects_response_format_gets_the_schema_in_words(make_chat: MakeChat) -> None:
    script = [refuses(400, "response_format is not supported"), says('{"city": "Lima"}')]
    with ScriptedServer(script) as server:
        assert await make_chat(server.base_url).structured(QUESTION, CITY) == {"city": "Lima"}
        again = server.requests[1].body
    assert "response_format" not in again
    assert [message["role"] for message in again["messages"]] == ["system", "user"]
    assert again["messages"][0]["content"].startswith("Be brief.")
    assert json.dumps(CITY) in again["messages"][0]["content"]


async def test_response_format_is_not_sent_again_to_a_server_that_rejects_it(make_chat: MakeChat) -> None:
    with ScriptedServer([refuses(400, "no response_format")], then=says('{"city": "Lima"}')) as server:
        chat = make_chat(server.base_url)
        await chat.structured(QUESTION, CITY)
        await chat.structured(QUESTION, CITY)
        assert ["response_format" in request.body for request in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    "bad",
    [
        "Lima",
        "",
        '{"city": "Lima"',
        '{"city": 7}',
        '["Lima"]',
        '{"a": {"city": "Lima"}',
        '{"city": "\\ud83d"}',
        '{"a":' * 100_000 + "}",
    ],
    ids=["prose", "nothing", "torn", "type", "list", "inner object", "half a character", "depth"],
)
async def test_a_structured_reply_that_does_not_fit_is_repaired_once(make_chat: MakeChat, bad: str) -> None:
    with ScriptedServer([says(bad), says('{"city": "Lima"}')]) as server:
        assert await make_chat(server.base_url).structured(QUESTION, CITY) == {"city": "Lima"}
        assert len(server.requests) == 2


async def test_not_a_number_is_no_json(make_chat: MakeChat) -> None:
    with ScriptedServer([says('{"age": NaN}'), says('{"age": 7}')]) as server:
        assert await make_chat(server.base_url).structured(QUESTION, {"type": "object"}) == {"age": 7}


async def test_the_repair_shows_the_reply_and_what_is_wrong_with_it(make_chat: MakeChat) -> None:
    with ScriptedServer([says('{"city": 7}'), says('{"city": "Lima"}')]) as server:
        await make_chat(server.base_url).structured(QUESTION, CITY)
        *before, reply, complaint = server.requests[1].body["messages"]
    assert len(before) == len(QUESTION)
    assert reply == {"role": "assistant", "content": '{"city": 7}'}
    assert "$.city" in complaint["content"]
    assert "7 is not of type 'string'" in complaint["content"]


async def test_a_reply_that_does_not_fit_twice_is_malformed(make_chat: MakeChat) -> None:
    with ScriptedServer(then=says("Lima")) as server:
        with pytest.raises(MalformedReply) as caught:
            await make_chat(server.base_url).structured(QUESTION, CITY)
        assert len(server.requests) == 2
    assert "scripted" in str(caught.value)
    assert caught.value.hint


async def test_a_reply_too_long_to_be_repaired_is_malformed(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Lima " * 1000), refuses(400, "maximum context length")]) as server:
        with pytest.raises(MalformedReply) as caught:
            await make_chat(server.base_url).structured(QUESTION, CITY)
        assert len(server.requests) == 2
    assert "model.max_tokens" in caught.value.hint


@pytest.mark.parametrize(
    ("behaviour", "kind", "requests"),
    [
        (refuses(401, "no"), WrongKey, 1),
        (refuses(404, "no"), UnknownModel, 1),
        (refuses(400, "maximum context length"), ContextTooLong, 1),
        (refuses(400, "no"), ModelRefused, 2),  # it might have been the response_format
        (refuses(429, "no"), ModelBusy, 3),
        (SILENCE, ModelUnreachable, 1),
        (cuts(), ModelUnreachable, 3),
    ],
    ids=["401", "404", "too long", "400", "429", "silence", "cut"],
)
async def test_a_structured_reply_fails_as_a_streamed_one_does(
    make_chat: MakeChat, behaviour: Behaviour, kind: type[ModelError], requests: int
) -> None:
    with ScriptedServer(then=behaviour) as server:
        chat = make_chat(server.base_url, first_word_seconds=0.2 if behaviour is SILENCE else 60.0)
        with pytest.raises(kind):
            await chat.structured(QUESTION, CITY)
        assert await asyncio.to_thread(server.wait_for_requests, requests)
        assert len(server.requests) == requests


async def test_a_server_is_told_nothing_about_this_machine(make_chat: MakeChat) -> None:
    with ScriptedServer([says("hello")]) as server:
        await read(make_chat(server.base_url))
        told = server.requests[0].headers.keys()
    assert not told & {"x-stainless-os", "x-stainless-arch", "x-stainless-runtime-version"}


async def test_a_model_that_asks_for_a_tool_is_told_of(make_chat: MakeChat) -> None:
    with (
        ScriptedServer([says(finish="tool_calls")]) as server,
        pytest.raises(ReplyCut, match="asked for a tool"),
    ):
        await read(make_chat(server.base_url))


async def test_the_tool_that_a_model_asks_for_is_shown_as_text_beside_its_words(make_chat: MakeChat) -> None:
    def asks(call: Call) -> None:
        call.open_stream()
        call.send_delta({"content": "Let me look."})
        for function in ({"name": "shell", "arguments": '{"cmd": '}, {"arguments": '"ls"}'}):
            call.send_delta({"tool_calls": [{"index": 0, "type": "function", "function": function}]})
        call.send_delta({}, finish="tool_calls")
        call.close_stream()

    with ScriptedServer([asks]) as server:
        error = await failure(make_chat(server.base_url), ReplyCut)
    assert 'runs none: shell: {"cmd": "ls"}' in error.message


# The length of the context


@pytest.mark.parametrize("told", [{"max_model_len": 4096}, {"meta": {"n_ctx": 4096}}])  # vLLM, llama.cpp
async def test_the_context_is_as_long_as_the_server_says(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]
) -> None:
    for seconds in ("_LISTING_SECONDS", "_LAST_LOOK_SECONDS"):
        monkeypatch.setattr(f"agents.backends.openai.chat.{seconds}", 60.0)
    with ScriptedServer([says("Lima")], about_models=told) as server:
        chat = make_chat(server.base_url)
        assert chat.context_tokens == 8192  # before the server was ever asked
        await read(chat)
        await chat.aclose()  # gives the look its time
    assert chat.context_tokens == 4096


async def test_a_reply_does_not_wait_for_the_servers_list_of_models(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer([says("Lima"), says("Quito")]) as server:
        chat = make_chat(server.base_url)
        never = asyncio.Event()
        asked: list[bool] = []

        async def models() -> list[object]:
            asked.append(True)
            await never.wait()
            return []

        monkeypatch.setattr(chat, "_models", models)
        assert await asyncio.wait_for(read(chat), 20) == ["Lima"]
        assert await asyncio.wait_for(read(chat), 20) == ["Quito"]
        await asyncio.sleep(0)
        assert asked == [True]  # once, also while it lasts
        await asyncio.wait_for(chat.aclose(), 20)


@pytest.mark.parametrize("said", [None, "many", -1, True])
async def test_a_length_that_is_none_is_not_believed(make_chat: MakeChat, said: object) -> None:
    with ScriptedServer([says("Lima")], about_models={"max_model_len": said}) as server:
        chat = make_chat(server.base_url)
        await read(chat)
        await chat.aclose()
    assert chat.context_tokens == 8192


async def test_the_length_set_by_hand_wins_over_the_servers(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Lima")], about_models={"max_model_len": 4096}) as server:
        chat = make_chat(server.base_url, context_tokens=2048)
        await read(chat)
    assert chat.context_tokens == 2048


async def test_the_length_is_known_also_after_a_message_was_too_long(make_chat: MakeChat) -> None:
    with ScriptedServer([refuses(413, "no")], about_models={"max_model_len": 4096}) as server:
        chat = make_chat(server.base_url)
        await failure(chat, ContextTooLong)
    assert chat.context_tokens == 4096


OLLAMA = {
    "/api/ps": {"models": []},
    "/api/show": {"parameters": 'stop "x"', "model_info": {"qwen3.context_length": 40960}},
}


@pytest.mark.parametrize(
    ("owner", "tells", "length"),
    [
        ("llamacpp", {"/props": {"default_generation_settings": {"n_ctx": 4096}}}, 4096),
        ("llamacpp", {}, 8192),  # it does not tell
        ("library", OLLAMA, 4096),  # as Ollama does without being told otherwise
        ("library", OLLAMA | {"/api/show": {"parameters": "num_ctx 16384"}}, 16384),
        ("library", {"/api/ps": {"models": [{"name": "scripted", "context_length": 2048}]}}, 2048),
        ("library", {"/api/ps": [], "/api/show": None}, 4096),
    ],
)
async def test_the_length_is_asked_for_before_the_first_reply_by_the_kind_of_server(
    make_chat: MakeChat, tmp_path: Path, owner: str, tells: dict[str, object], length: int
) -> None:
    habits = KnownHabits(tmp_path / "servers.json")
    with ScriptedServer(then=says("Lima"), about_models={"owned_by": owner}, tells=tells) as server:
        chat = make_chat(server.base_url, habits=habits)
        await chat.get_ready()
        assert chat.context_tokens == length
        assert server.requests == []
        assert make_chat(server.base_url, habits=habits).context_tokens == length  # it is kept


@pytest.mark.parametrize(
    "refusal",
    [
        refuses(400, "This model's maximum context length is 4,096 tokens, and you asked for more."),
        answers_json(400, {"error": {"message": "exceeds the available context size", "n_ctx": 4096}}),
    ],
)
async def test_a_refusal_tells_the_length(make_chat: MakeChat, refusal: Behaviour) -> None:
    with ScriptedServer([refusal]) as server:
        chat = make_chat(server.base_url)
        await failure(chat, ContextTooLong)
    assert chat.context_tokens == 4096


async def test_how_many_tokens_a_text_has_is_learned_from_what_the_server_counts(
    make_chat: MakeChat,
) -> None:
    text = "an ordinary English text about something or other " * 40

    def counts(call: Call) -> None:
        call.open_stream()
        call.send_delta({"content": "Lima"})
        call.send_delta({}, "stop")
        usage = {"prompt_tokens": len(text) // 5, "completion_tokens": 1}
        call.send_data(
            json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": usage})
        )
        call.send_data("[DONE]")
        call.close_stream()

    with ScriptedServer(then=counts) as server:
        chat = make_chat(server.base_url, context_tokens=9_000, counts_tokens=True)
        before = chat.count_tokens(text)
        for _ in range(30):
            async for _piece in chat.stream(ReplyRequest((ChatMessage("user", text),))):
                pass
    assert len(text) // 5 <= chat.count_tokens(text) < 0.8 * before


# Choices


async def test_a_vllm_server_holds_the_model_to_the_choices_themselves(make_chat: MakeChat) -> None:
    with ScriptedServer([says("no")], about_models={"owned_by": "vllm"}) as server:
        assert await make_chat(server.base_url).choose(QUESTION, ["yes", "no"]) == "no"
        assert server.requests[0].body["structured_outputs"] == {"choice": ["yes", "no"]}


async def test_another_server_is_asked_for_an_object_that_names_the_choice(make_chat: MakeChat) -> None:
    with ScriptedServer([says('{"choice": "no"}')]) as server:
        assert await make_chat(server.base_url).choose(QUESTION, ["yes", "no"]) == "no"
        body = server.requests[0].body
    assert "structured_outputs" not in body
    assert body["response_format"]["json_schema"]["schema"]["properties"]["choice"]["enum"] == ["yes", "no"]


@pytest.mark.parametrize("owner", ["vllm", "test"])
async def test_a_choice_that_was_not_offered_is_malformed(make_chat: MakeChat, owner: str) -> None:
    says_maybe = ScriptedServer(then=says('{"choice": "maybe"}'), about_models={"owned_by": owner})
    with says_maybe as server, pytest.raises(MalformedReply) as caught:
        await make_chat(server.base_url).choose(QUESTION, ["yes", "no"])
    assert caught.value.hint


# Log-probabilities


async def test_a_reply_is_scored_where_a_reply_would_begin(make_chat: MakeChat) -> None:
    with ScriptedServer(log_probability=lambda byte: -byte / 100) as server:
        score = await make_chat(server.base_url).log_probability(QUESTION, "AB")
        path, sent = server.beside[-1]
    assert score.tokens == ("A", "B")
    assert score.log_probabilities == (-0.65, -0.66)
    assert path == "/v1/completions"
    assert bytes(sent["prompt"]).decode().endswith("Peru?\nAB")


async def test_a_server_without_log_probabilities_is_asked_once(make_chat: MakeChat) -> None:
    with ScriptedServer() as server:
        chat = make_chat(server.base_url)
        assert chat.can_score
        for _ in range(2):
            with pytest.raises(NoLogProbabilities) as caught:
                await chat.log_probability(QUESTION, "Lima")
            assert server.base_url in str(caught.value)
        assert len(server.beside) == 1
    assert not chat.can_score


async def test_a_server_that_is_away_is_not_taken_for_one_without(make_chat: MakeChat) -> None:
    chat = make_chat(unused_url(), max_retries=0)
    with pytest.raises(ModelUnreachable):
        await chat.log_probability(QUESTION, "Lima")
    assert chat.can_score
