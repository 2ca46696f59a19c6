"""`OpenAIChat` by the protocol of responses, against a server on loopback that does as each test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from scripted_server import (
    Behaviour,
    Call,
    ScriptedServer,
    answers_json,
    cuts,
    ends_unfinished,
    garbles,
    hangs,
    refuses,
    response,
    says,
)

from agents.backends.openai.chat import OpenAIChat
from agents.backends.openai.habits import KnownHabits
from agents.base.chat_interfaces import ChatMessage, CutAtLimit, Piece, ReplyRequest, Thought, Tokens
from stores.base.errors import (
    ContextTooLong,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
    ReplyCut,
    UnknownModel,
)

MESSAGES = (
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "Which city?"),
    ChatMessage("assistant", "Lima."),
    ChatMessage("user", "Why?"),
)
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
ONLY_RESPONSES = refuses(404, "This model is only supported in v1/responses and not in v1/chat/completions.")
SPENT = answers_json(429, {"error": {"message": "no quota", "code": "insufficient_quota"}})

MakeChat = Callable[..., OpenAIChat]


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.backends.openai.failures.FIRST_PAUSE", 0.01)


@pytest.fixture
async def make_chat() -> AsyncIterator[MakeChat]:
    """Makes chats, and closes them."""
    chats: list[OpenAIChat] = []

    def make(server: ScriptedServer, **settings: Any) -> OpenAIChat:
        plain: dict[str, Any] = {"model": "scripted", "protocol": "responses", "max_retries": 2}
        chats.append(OpenAIChat(base_url=server.base_url, **(plain | settings)))
        return chats[-1]

    yield make
    for chat in chats:
        await chat.aclose()


async def read(chat: OpenAIChat) -> list[Piece]:
    return [piece async for piece in chat.stream(ReplyRequest(MESSAGES))]


def events(*kinds_and_told: tuple[str, dict[str, Any]]) -> Behaviour:
    """A stream of these events."""

    def behave(call: Call) -> None:
        call.open_stream()
        for kind, told in kinds_and_told:
            call.send_event(kind, **told)
        call.close_stream()

    return behave


def ended(status: str, **told: object) -> tuple[str, dict[str, Any]]:
    return f"response.{status}", {"response": response("") | {"status": status} | told}


async def test_a_reply_arrives_in_pieces_and_its_tokens_are_counted(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Because", " of gold.")]) as server:
        chat = make_chat(server)
        assert await read(chat) == ["Because", " of gold."]
        assert chat.used == Tokens(11, 7)


async def test_the_request_has_instructions_and_input_and_asks_to_store_nothing(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Gold.")]) as server:
        chat = make_chat(server, max_tokens=9, parameters={"reasoning_effort": "low"}, counts_tokens=True)
        await read(chat)
        assert server.requests[0].body == {
            "model": "scripted",
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": "Which city?"},
                {"role": "assistant", "content": "Lima."},
                {"role": "user", "content": "Why?"},
            ],
            "max_output_tokens": 9,
            "reasoning": {"effort": "low"},
            "store": False,
            "stream": True,
        }


async def test_a_reply_cut_at_its_longest_length_says_so_last(make_chat: MakeChat) -> None:
    with ScriptedServer([says("Because", finish="length")]) as server:
        assert await read(make_chat(server, max_tokens=5)) == ["Because", CutAtLimit(5)]


async def test_thoughts_come_apart_and_a_refusal_is_the_answer(make_chat: MakeChat) -> None:
    thinks = ("response.reasoning_summary_text.delta", {"delta": "gold"})
    refusal = ("response.refusal.delta", {"delta": "I cannot."})
    with ScriptedServer([events(thinks, refusal, ended("completed"))]) as server:
        assert await read(make_chat(server)) == [Thought("gold"), "I cannot."]


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_response_that_comes_whole_is_the_reply(make_chat: MakeChat, is_streamed: bool) -> None:
    whole = response("Gold.")
    behave = events(("response.completed", {"response": whole})) if is_streamed else answers_json(200, whole)
    with ScriptedServer([behave]) as server:
        assert await read(make_chat(server)) == ["Gold."]


async def test_halves_of_a_character_in_two_events_are_one_and_a_named_event_in_a_text_is_text(
    make_chat: MakeChat,
) -> None:
    said = ('"response.failed" \ud83d', "\ude00")
    deltas = [("response.output_text.delta", {"delta": each}) for each in said]
    with ScriptedServer([events(*deltas, ended("completed"))]) as server:
        assert "".join(map(str, await read(make_chat(server)))) == '"response.failed" \U0001f600'


async def test_a_model_that_asks_for_a_tool_is_told_of_and_nothing_is_run(make_chat: MakeChat) -> None:
    call = {"type": "function_call", "name": "rm", "arguments": "{}"}
    with (
        ScriptedServer([events(ended("completed", output=[call]))]) as server,
        pytest.raises(ReplyCut, match="asked for a tool"),
    ):
        await read(make_chat(server))
    assert "tools" not in server.requests[0].body


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        (events(ended("failed", error={"code": "server_error", "message": "no GPU"})), ReplyCut, "no GPU"),
        (events(ended("failed", error=None)), ReplyCut, "failed"),
        (events(("error", {"code": "x", "message": "overloaded"})), ReplyCut, "overloaded"),
        (
            events(ended("failed", error={"code": "context_length_exceeded", "message": "long"})),
            ContextTooLong,
            "More text",
        ),
        (
            events(ended("incomplete", incomplete_details={"reason": "content_filter"})),
            ReplyCut,
            "filter",
        ),
        (events(ended("incomplete", incomplete_details=None)), ReplyCut, "ended before"),
        (ends_unfinished("Go"), ReplyCut, "ended before"),
        (cuts(after=["Go"]), ReplyCut, "broke off"),
        (garbles("Go", data='{"type": "response.'), ReplyCut, "not part of a reply"),
        (SPENT, ModelRefused, "no more requests"),
    ],
)
async def test_what_goes_wrong_is_told(
    make_chat: MakeChat, behaviour: Behaviour, kind: type[ModelError], words: str
) -> None:
    with ScriptedServer([behaviour]) as server, pytest.raises(kind, match=words):
        await read(make_chat(server, max_retries=2))
    assert len(server.requests) == 1


async def test_passing_trouble_is_not_noticed_and_lasting_trouble_is_told(make_chat: MakeChat) -> None:
    with ScriptedServer([refuses(503, "loading"), says("Gold.")], then=refuses(503, "loading")) as server:
        assert await read(make_chat(server)) == ["Gold."]
        with pytest.raises(ModelBusy):
            await read(make_chat(server))


async def test_a_silent_server_is_given_up_by_the_time_to_the_first_word(make_chat: MakeChat) -> None:
    with ScriptedServer([hangs()]) as server, pytest.raises(ModelUnreachable):
        await read(make_chat(server, first_word_seconds=0.2))


async def test_leaving_a_reply_disconnects(make_chat: MakeChat) -> None:
    with ScriptedServer([hangs(after=["Go"])]) as server:
        async with aclosing(make_chat(server).stream(ReplyRequest(MESSAGES))) as pieces:
            assert await anext(pieces) == "Go"
        assert await asyncio.to_thread(server.wait_for_disconnects)


async def test_a_structured_reply_is_held_to_its_schema(make_chat: MakeChat) -> None:
    with ScriptedServer([says('{"city": "Lima"}')]) as server:
        assert await make_chat(server).structured(MESSAGES, CITY) == {"city": "Lima"}
        form = {"type": "json_schema", "name": "reply", "schema": CITY, "strict": True}
        assert server.requests[0].body["text"] == {"format": form}


async def test_a_refused_parameter_is_left_out(make_chat: MakeChat) -> None:
    refused = refuses(400, "Unsupported parameter: 'temperature' is not supported with this model.")
    with ScriptedServer([refused], then=says("Gold.")) as server:
        assert await read(make_chat(server, temperature=0.2)) == ["Gold."]
        assert "temperature" not in server.requests[1].body


async def test_a_server_that_has_only_responses_for_a_model_is_asked_so_from_then_on(
    make_chat: MakeChat, tmp_path: Path
) -> None:
    habits = KnownHabits(tmp_path / "servers.json")
    with ScriptedServer([ONLY_RESPONSES], then=says("Gold.")) as server:
        assert await read(make_chat(server, protocol="auto", habits=habits)) == ["Gold."]
        assert await read(make_chat(server, protocol="auto", habits=habits)) == ["Gold."]
        assert [request.is_to_respond for request in server.requests] == [False, True, True]


async def test_a_protocol_that_was_set_is_not_taken_for_a_learned_one(
    make_chat: MakeChat, tmp_path: Path
) -> None:
    habits = KnownHabits(tmp_path / "servers.json")
    with ScriptedServer([refuses(400, "Unknown parameter: 'stop'.")], then=says("Gold.")) as server:
        await read(make_chat(server, habits=habits, parameters={"stop": ["END"]}))
        await read(make_chat(server, protocol="auto", habits=habits, parameters={"stop": ["END"]}))
        assert [request.is_to_respond for request in server.requests] == [True, True, False]
        assert "stop" not in server.requests[-1].body


async def test_a_protocol_that_is_set_is_kept_to(make_chat: MakeChat) -> None:
    with ScriptedServer([ONLY_RESPONSES], has_responses=False) as server:
        with pytest.raises(UnknownModel, match="only supported in v1/responses"):
            await read(make_chat(server, protocol="chat"))
        with pytest.raises(UnknownModel) as caught:
            await read(make_chat(server))
        assert 'set model.protocol to "chat"' in caught.value.hint
