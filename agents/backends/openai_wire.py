"""OpenAI's protocol, as a chat model reads and writes it: what is sent, and what comes back.

The client does not check the types of what a server sends, so that is done here. A stream may hold events
that only keep the connection up, on which the client fails, and gateways answer a request for one with a
single JSON body, which it overlooks: `Events` makes a plain stream of both.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from agents.base.chat_interfaces import ChatMessage, ContinuationScore, Thought, Tokens
from stores.base.secrets import secret_words

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")  # as one server or another calls them
_OLLAMA_USUAL = 4096  # tokens that Ollama gives a model which names no other length
_NAMED = re.compile(r"^num_ctx\s+(\d{2,8})\s*$", re.MULTILINE)
_LAST_WORDS_SECONDS = 0.5  # what may follow a finished reply: token counts and the end mark
_KEEPS_UP = ("ping", "heartbeat", "keepalive", "keep-alive")  # names of events that say nothing
_WORDS_OF_ERRORS = ("error", "errors", "detail", "message")  # where servers put them
_MOST_BYTES = 50_000_000  # of a whole reply
_BLANK = b"\xef\xbb\xbf \t\r\n"
_HALF_AT_END = re.compile(r'\\u[dD][89abAB][0-9a-fA-F]{2}"')  # the first half of a character, in JSON


@dataclass(frozen=True)
class ListedModel:
    """What a server's list says of a model."""

    context_tokens: int = 0  # 0: nothing
    owner: str = ""  # which tells some kinds of servers apart

    @classmethod
    def read(cls, model: object) -> ListedModel:
        """From an entry of the list."""
        length = getattr(model, "max_model_len", None)  # vLLM's; llama.cpp tells it in `meta`
        if length is None and isinstance(meta := getattr(model, "meta", None), dict):
            length = meta.get("n_ctx")
        if not isinstance(length, int) or isinstance(length, bool) or length < 0:
            length = 0
        return cls(length, str(getattr(model, "owned_by", "")))

    @property
    def is_vllm(self) -> bool:
        return self.owner == "vllm"


def split_credentials(base_url: str) -> tuple[str, list[str]]:
    """The address as it may be shown, and what was in it that may not: the password, values of the query."""
    try:
        parts = urlsplit(base_url)
    except ValueError:  # brackets that do not close; the client says more
        return "the server named by base_url", []
    secrets = [unquote(parts.password or ""), *secret_words([value for _, value in parse_qsl(parts.query)])]
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", "")), secrets


def as_sent(
    messages: Sequence[ChatMessage], *, instructions: str = "system"
) -> list[ChatCompletionMessageParam]:
    """Messages in the form of a request.

    instructions: the role of what is system here; with "user" it stands before the first other message.
    """
    plain = [
        {
            "role": instructions if message.role == "system" else message.role,
            "content": well_formed(message.content),
        }
        for message in messages
    ]
    if (
        instructions == "user"
        and len(plain) > 1
        and messages[0].role == "system"
        and messages[1].role == "user"
    ):
        first, second, *others = plain
        plain = [{"role": "user", "content": f"{first['content']}\n\n{second['content']}"}, *others]
    return cast("list[ChatCompletionMessageParam]", plain)


def first_choice(reply: object) -> object:
    """The only choice of a reply or chunk; None where it has none, as in a count of tokens."""
    choices = getattr(reply, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def read_chunk(chunk: object) -> tuple[list[str | Thought], str | None]:
    """A chunk's thoughts and words, and why the model is done if it is."""
    choice = first_choice(chunk)
    finish = getattr(choice, "finish_reason", None)
    return _said(getattr(choice, "delta", None)), finish if isinstance(finish, str) and finish else None


def read_message(choice: object) -> tuple[str, bool]:
    """The words of a whole reply, and whether the model refuses with them."""
    message = getattr(choice, "message", None)
    words = "".join(part for part in _said(message) if isinstance(part, str))
    return words, bool(getattr(message, "refusal", None))


def _said(message: object) -> list[str | Thought]:
    """A refusal is an answer in the model's words; the client does not check the types of any."""
    thought = next(filter(None, (getattr(message, name, None) for name in _THOUGHTS)), "")
    words = getattr(message, "content", None) or getattr(message, "refusal", None)
    return [
        *([Thought(well_formed(thought))] if isinstance(thought, str) and thought else []),
        *([well_formed(words)] if isinstance(words, str) and words else []),
    ]


def well_formed(text: str) -> str:
    """Text that can be sent and stored: JSON and terminals may carry half a character, which UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def read_score(answer: object, reply: Sequence[int]) -> ContinuationScore:
    """The score of the last tokens of a prompt. Raises ValueError where the answer does not hold it."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    places = choices[0].get("prompt_logprobs") if isinstance(choices, list) and choices else None
    if not isinstance(places, list) or len(places) <= len(reply):
        raise ValueError("no log-probabilities")
    try:
        found: list[dict[str, Any]] = [
            place[str(token)] for place, token in zip(places[len(places) - len(reply) :], reply, strict=True)
        ]
        return ContinuationScore(
            tuple(str(token["decoded_token"]) for token in found),
            tuple(float(token["logprob"]) for token in found),
        )
    except (KeyError, TypeError) as error:
        raise ValueError("log-probabilities of another form") from error


async def read_last_words(chunks: openai.AsyncStream[ChatCompletionChunk]) -> Tokens:
    """Reads what follows a finished reply, so that the connection serves again: the count of its tokens."""
    import openai

    counted = Tokens()
    with suppress(TimeoutError, openai.APIError, ValueError):
        async with asyncio.timeout(_LAST_WORDS_SECONDS):
            async for chunk in chunks:
                counted = counted_tokens(chunk) or counted
    return counted


def counted_tokens(answer: object) -> Tokens:
    """What a reply, or a part of one, says of its tokens; nothing where it says nothing."""
    usage = getattr(answer, "usage", None)
    found = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    return Tokens(*(number if isinstance(number, int) and number > 0 else 0 for number in found))


async def told_length(client: openai.AsyncOpenAI, root: str, model: str, listed: ListedModel) -> int:
    """How long a model's context is, in tokens; 0 where the server tells nothing, or fails.

    vLLM tells it in its list, llama.cpp at /props, Ollama at /api/ps of a model that is loaded, and
    at /api/show of one that is not. root: the address without /v1.
    """
    import openai

    with suppress(openai.APIError, ValueError):
        if listed.owner == "llamacpp":
            props = _mapping(await client.get(f"{root}/props", cast_to=object))
            return (
                _length(_mapping(props.get("default_generation_settings")).get("n_ctx"))
                or listed.context_tokens
            )
        if listed.owner == "library":
            return await _of_ollama(client, root, model)
    return listed.context_tokens


async def _of_ollama(client: openai.AsyncOpenAI, root: str, model: str) -> int:
    running = _mapping(await client.get(f"{root}/api/ps", cast_to=object)).get("models")
    for each in running if isinstance(running, list) else ():
        if _mapping(each).get("name") in (model, f"{model}:latest") and (
            length := _length(_mapping(each).get("context_length"))
        ):
            return length
    shown = _mapping(await client.post(f"{root}/api/show", cast_to=object, body={"model": model}))
    named = _NAMED.search(str(shown.get("parameters", "")))
    of_model = [
        _length(value)
        for name, value in _mapping(shown.get("model_info")).items()
        if name.endswith(".context_length")
    ]
    return int(named[1]) if named else min([_OLLAMA_USUAL, *filter(None, of_model)])


def _mapping(answer: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", answer) if isinstance(answer, Mapping) else {}


def _length(told: object) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0


# Streams: a whole reply or an error in JSON becomes an event, events without data go, halves of a character
# in two events are joined


@dataclass(frozen=True)
class Event:
    """As the client reads it."""

    data: str
    event: str | None = None

    def json(self) -> Any:
        """Its data, decoded."""
        return json.loads(self.data)


@cache
def client_class() -> type[openai.AsyncOpenAI]:
    """The class of clients that read such streams too; `openai` is imported with the first call."""
    import openai

    class Client(openai.AsyncOpenAI):
        """A client whose streams are read by `Events`."""

        def _make_sse_decoder(self) -> Any:
            return Events(super()._make_sse_decoder())

    return Client


class Events:
    """Reads one stream."""

    def __init__(self, decoder: Any) -> None:
        """decoder: of streams as the standard has them."""
        self._decoder = decoder
        self._held: dict[str, str] = {}  # first halves of characters, by the part of the reply they end

    async def aiter_bytes(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[Event]:
        """The events that say something."""
        read = b""
        async for piece in pieces:
            read += piece
            if read.strip(_BLANK):
                break
        if read.strip(_BLANK)[:1] in (b"{", b"["):
            async for piece in pieces:
                read += piece
                if len(read) > _MOST_BYTES:
                    return
            if told := _whole(read.strip(_BLANK)):
                yield Event(json.dumps(told))
            return
        async for event in self._decoder.aiter_bytes(_chained(read, pieces)):
            if event.data.strip() and event.event not in _KEEPS_UP:
                yield Event(self._joined(_as_error(event)), event.event)

    def _joined(self, data: str) -> str:
        """The event, with a character whose first half came before whole, and without a half at its end."""
        if not self._held and not _HALF_AT_END.search(data):
            return data
        try:
            told = json.loads(data)
            choice = told["choices"][0]
            delta = choice["delta"]
        except (ValueError, LookupError, TypeError):
            return data
        if not isinstance(delta, dict):
            return data
        is_last = bool(choice.get("finish_reason"))
        for name in {*delta, *(self._held if is_last else ())}:
            said = delta.get(name)
            if said is not None and not isinstance(said, str):
                continue
            if said or is_last:
                said = self._held.pop(name, "") + (said or "")
            if said and not is_last and "\ud800" <= said[-1] <= "\udbff":
                said, self._held[name] = said[:-1], said[-1]
            delta[name] = said
        return json.dumps(told)


async def _chained(read: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield read
    async for piece in pieces:
        yield piece


def _as_error(event: Any) -> str:
    """The data of an event; of one that is called an error, in the form that the client takes for one."""
    data: str = event.data
    if event.event != "error":
        return data
    try:
        told = json.loads(data)
    except ValueError:
        told = data
    has_form = isinstance(told, dict) and told.get("error")
    return data if has_form else json.dumps({"error": told})


def _whole(body: bytes) -> dict[str, Any] | None:
    """A whole reply as the one chunk of a stream, or an error; None where it is neither."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    told = told[0] if isinstance(told, list) and told else told
    if not isinstance(told, dict):
        return None
    choices = told.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        words = error_words(told)
        return {"error": words} if words else None
    finish = choice.get("finish_reason") or "stop"
    return {**told, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": finish}]}


def error_words(told: object) -> object:
    """What an answer without a reply says of why; None where it says nothing."""
    return (
        next((told[n] for n in _WORDS_OF_ERRORS if told.get(n)), None) if isinstance(told, Mapping) else None
    )


def told_error(completion: object) -> str:
    """The server's words where an answer is an error and no reply; else empty."""
    if getattr(completion, "choices", None):
        return ""
    words = said = error_words(getattr(completion, "model_extra", None))
    while (words := error_words(words)) is not None:
        said = words
    return str(said or "")
