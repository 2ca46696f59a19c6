"""A chat model in a vLLM engine that this process starts and drives.

    messages -> tokens -> engine, in a process of its own -> pieces on the event loop, many replies at once

vLLM is an extra: `pip install 'vouch[vllm]'`. It is imported and the engine started by the first request,
which takes a minute or more. The engine holds a model to a JSON schema or to choices while it writes, and
tells the log-probabilities of a given reply. Cancelling a reader aborts its request in the engine.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.backends.prompt_tokens import PromptTokenizer
from agents.base.chat_interfaces import ChatMessage, ContinuationScore, CutAtLimit, Piece, ReplyRequest
from agents.prompts.structured_replies import check_choices, fitting_reply, in_short, with_instructions
from stores.base.errors import (
    BackendMissing,
    ContextTooLong,
    MalformedReply,
    ModelRefused,
    ModelUnreachable,
    ReplyCut,
    UnknownModel,
)

# Read by the engine's process too, which knows nothing else of this one: no usage reports, nothing on
# the screen but errors, and no fork of a process that has threads.
_ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}


@dataclass(frozen=True)
class _Started:
    """An engine ready to write."""

    engine: Any
    tokenizer: PromptTokenizer
    context_tokens: int


class VllmChat:
    """Writes replies with one model in a vLLM engine of its own.

    source: a folder, or a name on the Hugging Face hub. max_tokens: of one reply. temperature: 0 always
    takes the likeliest token. context_tokens: fewer than the model was made for, where memory is short;
    0 leaves it to the model. offline: the hub is not asked. engine_options: further arguments of vLLM's
    `AsyncEngineArgs`. Belongs to the event loop of its first request.
    """

    can_score = True

    def __init__(
        self,
        source: str,
        *,
        max_tokens: int = 1024,
        temperature: float = 0.2,
        context_tokens: int = 0,
        offline: bool = False,
        engine_options: Mapping[str, object] | None = None,
    ) -> None:
        self._source = source
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._context_tokens = context_tokens
        self._offline = offline
        self._engine_options = dict(engine_options or {})
        self._starting = threading.Lock()
        self._kept: _Started | None = None

    @property
    def name(self) -> str:
        folder = Path(self._source).expanduser()
        return folder.name if folder.is_dir() else self._source

    @property
    def context_tokens(self) -> int:
        """See `ChatModel.context_tokens`; starts the engine."""
        return self._started().context_tokens

    def count_tokens(self, text: str) -> int:
        """By the model's tokenizer; starts the engine."""
        return self._started().tokenizer.count(text)

    async def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        """The reply piece by piece; see `ChatModel.stream`."""
        async with aclosing(self._written(request.messages)) as pieces:
            async for piece in pieces:
                yield piece

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that the engine holds to the schema while it is written; see `ChatModel.structured`.

        A schema that the engine cannot hold a model to is asked for in words alone.
        """

        async def complete(asked: Sequence[ChatMessage]) -> str:
            told = with_instructions(asked, schema)
            try:
                return await self._whole(told, {"json": dict(schema)})
            except _NotPossible:
                return await self._whole(told, None)

        return await fitting_reply(complete, messages, schema, writer=self.name, pruned=in_short)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """A reply that the engine holds to the choices while it is written; see `ChatModel.choose`."""
        check_choices(choices)
        reply = await self._whole(messages, {"choice": list(choices)})
        if reply not in choices:
            raise MalformedReply(
                f"{self.name} chose none of what it was to choose from: {in_short(reply)}",
                hint="Raise model.max_tokens: a choice may be longer than a reply.",
            )
        return reply

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        started = await asyncio.to_thread(self._started)
        from vllm import SamplingParams

        prompt, reply = started.tokenizer.prompt(messages), started.tokenizer.continuation(continuation)
        if len(prompt) + len(reply) >= started.context_tokens:  # the engine writes one token more
            raise self._too_long(len(prompt) + len(reply), started.context_tokens)
        params = SamplingParams(max_tokens=1, prompt_logprobs=0, detokenize=False)
        places: Sequence[Any] = ()
        async with aclosing(self._outputs(started, prompt + reply, params)) as outputs:
            async for output in outputs:
                places = output.prompt_logprobs or places
        found = [place[token] for place, token in zip(places[len(prompt) :], reply, strict=True)]
        return ContinuationScore(
            started.tokenizer.token_texts(reply), tuple(float(token.logprob) for token in found)
        )

    async def aclose(self) -> None:
        """Ends the engine and gives back its memory. The next request starts another."""
        kept = await asyncio.to_thread(self._taken)
        if kept is not None:
            await asyncio.to_thread(kept.engine.shutdown)
            del kept
            gc.collect()  # the engine holds itself; else it complains when the interpreter ends

    async def _whole(self, messages: Sequence[ChatMessage], held_to: Mapping[str, object] | None) -> str:
        async with aclosing(self._written(messages, held_to)) as pieces:
            return "".join([piece async for piece in pieces if isinstance(piece, str)])

    async def _written(
        self, messages: Sequence[ChatMessage], held_to: Mapping[str, object] | None = None
    ) -> AsyncGenerator[Piece]:
        """One reply. held_to: what vLLM's `StructuredOutputsParams` is given."""
        started = await asyncio.to_thread(self._started)
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        prompt = started.tokenizer.prompt(messages)
        room = min(self._max_tokens, started.context_tokens - len(prompt))
        if room < 1:
            raise self._too_long(len(prompt), started.context_tokens)
        params = SamplingParams(
            max_tokens=room,
            temperature=self._temperature,
            output_kind=RequestOutputKind.DELTA,
            structured_outputs=None if held_to is None else StructuredOutputsParams(**held_to),
        )
        finish, written = None, 0
        async with aclosing(self._outputs(started, prompt, params)) as outputs:
            async for output in outputs:
                reply = output.outputs[0]
                finish, written = reply.finish_reason, written + len(reply.token_ids)
                if reply.text:
                    yield reply.text
        if finish == "length":
            yield CutAtLimit(written)
        elif finish != "stop":
            raise ReplyCut(
                f"The reply of {self.name} was stopped before the model was done", hint="Ask again."
            )

    async def _outputs(self, started: _Started, prompt: Sequence[int], params: Any) -> AsyncGenerator[Any]:
        """What the engine makes of a prompt; left in any way, the request ends there too."""
        from vllm.exceptions import VLLMClientError
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        generated = started.engine.generate(
            {"prompt_token_ids": list(prompt)}, params, request_id=uuid.uuid4().hex
        )
        try:
            async with aclosing(generated) as outputs:
                async for output in outputs:
                    yield output
        except VLLMClientError as error:
            raise _NotPossible(
                f"vLLM refused the request to {self.name}: {in_short(str(error))}",
                hint="Check the model's settings against what vLLM says.",
            ) from error
        except (EngineDeadError, EngineGenerateError) as error:
            raise ModelUnreachable(
                f"The vLLM engine of {self.name} failed: {in_short(str(error.__cause__ or error))}",
                hint="Start Vouch again; give the engine more memory, or lower model.context_tokens.",
            ) from error

    def _started(self) -> _Started:
        """The engine, started on first use by whichever thread asks first."""
        with self._starting:
            if self._kept is None:
                self._kept = self._start()
            return self._kept

    def _taken(self) -> _Started | None:
        with self._starting:  # an engine that is being started meanwhile is ended too
            kept, self._kept = self._kept, None
            return kept

    def _start(self) -> _Started:
        for variable, value in _ENVIRONMENT.items():
            os.environ.setdefault(variable, value)
        if self._offline:
            os.environ["HF_HUB_OFFLINE"] = "1"
        # On a thread of its own: an error that vLLM keeps from its import keeps the frames of who imported
        # it, and through them the engine, which then complains when the interpreter ends.
        with ThreadPoolExecutor(max_workers=1) as aside:
            new_engine = aside.submit(_engine_maker).result()

        folder = Path(self._source).expanduser()
        options: dict[str, Any] = {
            "model": str(folder) if folder.is_dir() else self._source,
            "trust_remote_code": False,
            "load_format": "safetensors",
            "disable_log_stats": True,
            "use_tqdm_on_load": False,
            # held to JSON, a small model else writes blanks between its parts until it is cut
            "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
            **({"max_model_len": self._context_tokens} if self._context_tokens else {}),
            **self._engine_options,
        }
        try:
            engine = new_engine(options)
        except (OSError, ValueError, RuntimeError) as error:
            raise UnknownModel(
                f"vLLM did not start with the model {self._source}: {in_short(str(error))}",
                hint="Run it again with VLLM_LOGGING_LEVEL=INFO to see what vLLM says of it.",
            ) from error
        return _Started(engine, PromptTokenizer(engine.get_tokenizer()), engine.model_config.max_model_len)

    def _too_long(self, tokens: int, most: int) -> ContextTooLong:
        return ContextTooLong(
            f"{tokens} tokens are more than {self.name} can read and answer: it has {most} for both",
            hint="Ask with less text, or choose a model with a longer context.",
        )


def _engine_maker() -> Callable[[Mapping[str, Any]], Any]:
    """What makes an engine from vLLM's `AsyncEngineArgs`. Raises `BackendMissing`."""
    try:
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM
    except ImportError as error:
        raise BackendMissing(
            f"model.backend is 'vllm', but vLLM cannot be imported: {in_short(str(error))}",
            hint="Install it with pip install 'vouch[vllm]', or set model.backend to another.",
        ) from None
    return lambda options: AsyncLLM.from_engine_args(AsyncEngineArgs(**options))


class _NotPossible(ModelRefused):
    """The engine refused the request as it was put."""
