"""Texts that help a question to be searched, written by a chat model.

    question -> messages -> ChatModel.structured -> read -> Written

What a model writes is searched with and nothing else: it is never put before a model again, so nothing in it
can be an instruction, and none of it is shown as an answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Protocol

from agents.base.chat_interfaces import ChatMessage, ChatModel
from assistant.replay.methods.method import Asked
from stores.base.errors import MalformedReply
from stores.base.one_line import one_line

LONGEST_TEXT = 2_000  # characters of a written text that are kept

Schema = Mapping[str, object]


@dataclass(frozen=True)
class Written:
    """What was written for a question, and what that took."""

    texts: tuple[str, ...]  # each one line, none empty; none at all where nothing usable came
    tokens: int = 0  # read and written
    seconds: float = 0.0


class Writer(Protocol):
    """Writes texts for a question."""

    @property
    def name(self) -> str:
        """Names the model, or what is simulated in its place."""

    def write(self, asked: Asked) -> Written:
        """What there is to search with beside the question."""


class ChatWriter:
    """A writer that asks a chat model.

    The chat model belongs to the writer: it is only ever asked on the writer's own event loop, so it must not
    be one that another loop uses.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        messages: Callable[[str], Sequence[ChatMessage]],
        schema: Schema,
        read: Callable[[Mapping[str, object]], Sequence[str]],
    ) -> None:
        """messages: of a question's text. read: the texts of a reply that fits the schema."""
        self._chat = chat
        self._messages = messages
        self._schema = schema
        self._read = read
        self._runner = asyncio.Runner()

    @property
    def name(self) -> str:
        return self._chat.name

    def write(self, asked: Asked) -> Written:
        """See `Writer`. Tokens are those of one prompt and its reply; a repair's are not known.

        Raises a `ModelError` where the model cannot be asked; a reply that does not fit is no text.
        """
        began = time.perf_counter()
        messages = self._messages(asked.text)
        given = sum(self._chat.count_tokens(message.content) for message in messages)
        try:
            reply = self._runner.run(self._chat.structured(messages, self._schema))
        except MalformedReply:
            return Written((), given, time.perf_counter() - began)
        texts = tuple(text for text in map(searched_with, self._read(reply)) if text)
        written = self._chat.count_tokens(dumps(reply, ensure_ascii=False))
        return Written(texts, given + written, time.perf_counter() - began)

    def close(self) -> None:
        with self._runner:
            self._runner.run(self._chat.aclose())


def searched_with(text: str) -> str:
    """A text on one line, cut to `LONGEST_TEXT` characters."""
    return one_line(text)[:LONGEST_TEXT].rstrip()
