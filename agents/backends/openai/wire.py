"""The protocol of chat completions: what is sent, and what comes back.

The client does not check the types of what a server sends, so that is done here.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from agents.backends.openai.streams import error_words
from agents.base.chat_interfaces import ChatMessage, ContinuationScore, Image, Thought, Tokens
from stores.base.secrets import secret_words

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")  # as one server or another calls them
_LAST_WORDS_SECONDS = 0.5  # what may follow a finished reply: token counts and the end mark


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
    messages: Sequence[ChatMessage], *, instructions: str = "system", images: Sequence[Image] = ()
) -> list[ChatCompletionMessageParam]:
    """Messages in the form of a request.

    instructions: the role of what is system here; with "user" it stands before the first other message.
    images: go with the last message.
    """
    plain: list[dict[str, Any]] = [
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
    if images:
        text = {"type": "text", "text": plain[-1]["content"]}
        plain[-1]["content"] = [
            text,
            *({"type": "image_url", "image_url": {"url": _data_url(each)}} for each in images),
        ]
    return cast("list[ChatCompletionMessageParam]", plain)


def _data_url(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


def first_choice(reply: object) -> object:
    """The only choice of a reply or chunk; None where it has none, as in a count of tokens."""
    choices = getattr(reply, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def read_chunk(chunk: object) -> tuple[list[str | Thought], str | None]:
    """A chunk's thoughts and words, and why the model is done if it is."""
    choice = first_choice(chunk)
    finish = getattr(choice, "finish_reason", None)
    return _said(getattr(choice, "delta", None)), finish if isinstance(finish, str) and finish else None


def called_tools(chunk: object) -> str:
    """The tools that a chunk asks for, as text: names and arguments, which come in pieces."""
    calls = getattr(getattr(first_choice(chunk), "delta", None), "tool_calls", None) or []
    asked = [getattr(call, "function", None) for call in calls if isinstance(calls, list)]
    parts = [(getattr(each, "name", None), getattr(each, "arguments", None)) for each in asked]
    return "".join(f"{f' {name}: ' if name else ''}{arguments or ''}" for name, arguments in parts)


class ToolCalls:
    """The calls of tools in a stream, whose parts come in pieces, by their place."""

    def __init__(self) -> None:
        self._calls: dict[int, dict[str, Any]] = {}

    def hear(self, chunk: object) -> None:
        """Takes in what a chunk has of them."""
        calls = getattr(getattr(first_choice(chunk), "delta", None), "tool_calls", None) or []
        for call in calls if isinstance(calls, list) else []:
            place = getattr(call, "index", None)
            place = place if isinstance(place, int) else len(self._calls)
            known = self._calls.setdefault(
                place, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            )
            known["id"] = known["id"] or str(getattr(call, "id", None) or "")
            for name in ("name", "arguments"):
                said = getattr(getattr(call, "function", None), name, None)
                known["function"][name] += well_formed(said) if isinstance(said, str) else ""

    @property
    def whole(self) -> list[dict[str, Any]]:
        """Those that name a tool, each with an id."""
        named = [call for _, call in sorted(self._calls.items()) if call["function"]["name"]]
        return [{**call, "id": call["id"] or f"call_{number}"} for number, call in enumerate(named)]


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


def told_error(completion: object) -> str:
    """The server's words where an answer is an error and no reply; else empty."""
    if getattr(completion, "choices", None):
        return ""
    words = said = error_words(getattr(completion, "model_extra", None))
    while (words := error_words(words)) is not None:
        said = words
    return str(said or "")
