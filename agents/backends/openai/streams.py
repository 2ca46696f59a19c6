"""Streams of a server as the client reads them, also where they are odd.

A whole reply or an error in JSON becomes an event, events without data go, halves of a character in two
events are joined, and events of a response become chunks.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from agents.backends.openai.responses import ResponseEvents, completion

if TYPE_CHECKING:
    import openai

_KEEPS_UP = ("ping", "heartbeat", "keepalive", "keep-alive")  # names of events that say nothing
_WORDS_OF_ERRORS = ("error", "errors", "detail", "message")  # where servers put them
_MOST_BYTES = 50_000_000  # of a whole reply
_BLANK = b"\xef\xbb\xbf \t\r\n"
_OF_A_RESPONSE = '"response.'  # in the type of its events
_HALF_AT_END = re.compile(r'\\u[dD][89abAB][0-9a-fA-F]{2}"')  # the first half of a character, in JSON


@dataclass(frozen=True)
class Event:
    """As the client reads it."""

    data: str
    event: str | None = None

    def json(self) -> Any:
        """Its data, decoded. Raises ValueError for what is no JSON, or nested too deeply."""
        try:
            return json.loads(self.data)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


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
        self._response = ResponseEvents()
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
                yield Event(self._joined(self._as_chunk(_as_error(event))), event.event)

    def _as_chunk(self, data: str) -> str:
        """The data of an event; of one of a response, as a chunk."""
        if _OF_A_RESPONSE not in data:
            return data
        try:
            told = json.loads(data)
        except (ValueError, RecursionError):
            return data
        is_one = isinstance(told, dict) and str(told.get("type")).startswith("response.")
        return json.dumps(self._response.chunk(told)) if is_one else data

    def _joined(self, data: str) -> str:
        """The event, with a character whose first half came before whole, and without a half at its end."""
        if not self._held and not _HALF_AT_END.search(data):
            return data
        try:
            told = json.loads(data)
            choice = told["choices"][0]
            delta = choice["delta"]
        except (ValueError, LookupError, TypeError, RecursionError):
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
    except (ValueError, RecursionError):
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
    if told.get("object") == "response":
        told = completion(told)
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
