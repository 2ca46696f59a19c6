"""A chat model from a GGUF file, run by llama.cpp in a child process.

    request -> the child, started if it does not run -> control tokens written in texts broken up
            -> OpenAI's protocol over loopback -> pieces

llama.cpp comes with `xllamacpp`, an extra: `pip install 'vouch[local]'`. A child that was killed is started
again by the next request. Leaving a reply ends the work on it, and the child ends with this process.
"""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from agents.backends.llamacpp_child import LOADING_SECONDS, end, killed_by, start
from agents.backends.openai.chat import OpenAIChat
from agents.backends.served_tokens import ServedTokens
from agents.base.chat_interfaces import ChatMessage, ContinuationScore, Piece, ReplyRequest
from agents.base.token_budget import estimated_tokens
from stores.base.errors import ModelError, ReplyCut

_USUAL_CONTEXT_TOKENS = 8192  # or the model's own, if that is less: more would take gigabytes
_LONGEST_SILENCE_SECONDS = 600.0  # of a child that lives: a long prompt takes minutes on one core


@dataclass(frozen=True)
class _Child:
    """llama.cpp, ready to write."""

    process: subprocess.Popen[str]
    chat: OpenAIChat
    context_tokens: int
    tokens: ServedTokens


class LlamaCppChat:
    """Writes replies with the model of one GGUF file.

    context_tokens: of prompt and reply together; 0 takes the model's own length, up to 8,192.
    loading_seconds: the longest that the model may take to load.
    parameters: further ones of a request, by the protocol's names, such as top_p.
    One reply is written at a time.
    Belongs to the event loop of its first request.
    """

    can_score = False

    def __init__(
        self,
        path: Path,
        *,
        threads: int = 1,
        max_tokens: int = 1024,
        temperature: float = 0.2,
        context_tokens: int = 0,
        loading_seconds: float = LOADING_SECONDS,
        parameters: Mapping[str, object] | None = None,
    ) -> None:
        self._path = path
        self._threads = threads
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._wanted_context_tokens = context_tokens or _USUAL_CONTEXT_TOKENS
        self._loading_seconds = loading_seconds
        self._parameters = dict(parameters or {})
        self._starting = threading.Lock()
        self._loading: subprocess.Popen[str] | None = None  # while its model is
        self._kept: _Child | None = None

    @property
    def name(self) -> str:
        return self._path.stem

    @property
    def context_tokens(self) -> int:
        """See `ChatModel.context_tokens`; starts the child."""
        return self._child().context_tokens

    def count_tokens(self, text: str) -> int:
        """A high estimate: asking the child for each text would take longer than it spares."""
        return estimated_tokens(text)

    async def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        """The reply piece by piece; see `ChatModel.stream`."""
        chat, harmless = await self._asked(request.messages)
        request, child = replace(request, messages=harmless), self._kept
        try:
            async with aclosing(chat.stream(request)) as pieces:  # type: ignore[type-var]  # a generator
                async for piece in pieces:
                    yield piece
        except ModelError as error:
            if child and (killed := await asyncio.to_thread(killed_by, child.process)):
                raise ReplyCut(
                    f"llama.cpp, which wrote the reply of {self.name}, was ended by {killed}",
                    hint="Ask again, name a smaller model in model.path, or lower model.context_tokens.",
                ) from error
            raise

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that llama.cpp holds to the schema while it is written; see `ChatModel.structured`."""
        chat, harmless = await self._asked(messages)
        return await chat.structured(harmless, schema)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """See `ChatModel.choose`."""
        chat, harmless = await self._asked(messages)
        return await chat.choose(harmless, choices)

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """Raises `NoLogProbabilities`: llama.cpp tells none of a given reply."""
        chat, harmless = await self._asked(messages)
        return await chat.log_probability(harmless, continuation)

    async def aclose(self) -> None:
        """Ends the child and gives back its memory, also while it loads. The next request starts another."""
        if (loading := self._loading) is not None:
            loading.kill()
        kept = await asyncio.to_thread(self._taken)
        if kept is not None:
            await kept.chat.aclose()
            await asyncio.to_thread(end, kept.process)

    async def _asked(self, messages: Sequence[ChatMessage]) -> tuple[OpenAIChat, tuple[ChatMessage, ...]]:
        """Who is asked, and the messages, in which no text names a control token."""
        before = self._kept
        child = await asyncio.to_thread(self._child)
        if before is not None and before is not child:
            await before.chat.aclose()
        harmless = await asyncio.to_thread(child.tokens.harmless_messages, messages)
        await asyncio.to_thread(child.tokens.require_template, harmless)
        return child.chat, harmless

    def _child(self) -> _Child:
        """The child, started by whichever thread asks first; takes as long as the model loads."""
        with self._starting:
            if self._kept is not None and self._kept.process.poll() is not None:  # it was killed
                end(self._kept.process)
                self._kept = None
            if self._kept is None:
                self._kept = self._start()
            return self._kept

    def _taken(self) -> _Child | None:
        with self._starting:  # one that is being started meanwhile is ended too
            kept, self._kept = self._kept, None
            return kept

    def _start(self) -> _Child:
        started = start(
            self._path,
            context_tokens=self._wanted_context_tokens,
            threads=self._threads,
            seconds=self._loading_seconds,
            loading=self._loads,
        )
        chat = OpenAIChat(
            base_url=f"{started.address}/v1",
            model=self.name,
            api_key=started.key,
            timeout_seconds=_LONGEST_SILENCE_SECONDS,
            max_retries=1,  # a connection that was kept may be closed just as it is used
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            context_tokens=started.context_tokens,
            parameters=self._parameters,
        )
        return _Child(started.process, chat, started.context_tokens, ServedTokens(started))

    def _loads(self, process: subprocess.Popen[str] | None) -> None:
        self._loading = process
