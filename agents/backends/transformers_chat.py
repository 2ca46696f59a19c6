"""A chat model that runs in this process, with torch: a folder, or a name on the Hugging Face hub.

    messages -> tokens -> one thread that writes, token by token -> pieces on the event loop

Only safetensors are read, and no code that comes with a model is run. torch and transformers are imported
and the model is loaded by the first request, on that thread: it takes seconds to minutes, and the
interpreter is busy with imports for some of them. Requests take turns; one that nobody reads any more
ends at its next token.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agents.backends.prompt_tokens import PieceDecoder, PromptTokenizer
from agents.base.chat_interfaces import ChatMessage, ContinuationScore, CutAtLimit, Piece, ReplyRequest
from agents.prompts.structured_replies import check_choices, fitting_reply, in_short, with_instructions
from stores.base.errors import ContextTooLong, ModelRefused, ReplyCut, UnknownModel
from stores.base.shortages import shortage

if TYPE_CHECKING:
    import torch

R = TypeVar("R")

_SCORED_TOGETHER = 8  # continuations in one pass; more take more memory and are no faster on a CPU
_UNBOUNDED = 10**9  # tokenizers that know no longest text say 10^30


@dataclass(frozen=True)
class _Loaded:
    """A model ready to write."""

    tokenizer: PromptTokenizer
    model: Any
    context_tokens: int
    ends: tuple[int, ...]  # the tokens that end a reply


class TransformersChat:
    """Writes replies with one model in this process.

    source: a folder (with / or ~ or . before it, or that exists), or a name on the hub.
    max_tokens: of one reply. temperature: 0 always takes the likeliest token.
    context_tokens: fewer than the model was made for, where memory is short; 0 leaves it to the model.
    offline: the hub is not asked; what was fetched from it before is used.
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
    ) -> None:
        self._source = source
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._context_tokens = context_tokens
        self._offline = offline
        self._loading = threading.Lock()
        self._kept: _Loaded | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._running: set[threading.Event] = set()  # set one to stop its reply

    @property
    def name(self) -> str:
        return Path(self._source).name if _is_folder(self._source) else self._source

    @property
    def context_tokens(self) -> int:
        """See `ChatModel.context_tokens`; loads the model."""
        return self._loaded().context_tokens

    def count_tokens(self, text: str) -> int:
        """By the model's tokenizer; loads the model."""
        return self._loaded().tokenizer.count(text)

    async def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        """The reply piece by piece; see `ChatModel.stream`."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        stop = threading.Event()

        def hand_over(piece: str | None) -> None:
            with suppress(RuntimeError):  # the loop was closed: nobody reads
                loop.call_soon_threadsafe(pieces.put_nowait, piece)

        writing = self._submit(lambda: self._write(request.messages, hand_over, stop))
        writing.add_done_callback(lambda _: hand_over(None))
        self._running.add(stop)
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            try:
                cut = writing.result()
            except CancelledError:  # of the thread's queue, by `aclose`
                raise _closed(self.name) from None
            if cut is not None:
                yield cut
        finally:
            self._running.discard(stop)
            stop.set()
            writing.cancel()

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that fits the schema, which the model is asked for in words; see `ChatModel.structured`."""

        async def complete(asked: Sequence[ChatMessage]) -> str:
            request = ReplyRequest(with_instructions(asked, schema))
            return "".join([piece async for piece in self.stream(request) if isinstance(piece, str)])

        return await fitting_reply(complete, messages, schema, writer=self.name, pruned=in_short)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """The reply that the model finds most probable of these, each taken as the whole reply."""
        check_choices(choices)

        def choose() -> str:
            scored = self._scored(messages, choices)
            return max(zip(choices, scored, strict=True), key=lambda pair: pair[1].total_as_whole)[0]

        return await self._on_thread(choose)

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        return (await self.log_probabilities(messages, [continuation]))[0]

    async def log_probabilities(
        self, messages: Sequence[ChatMessage], continuations: Sequence[str]
    ) -> list[ContinuationScore]:
        """The same of several replies, of which those of equal length go through the model together."""
        scored = await self._on_thread(lambda: self._scored(messages, continuations))
        return [reply.score for reply in scored]

    async def aclose(self) -> None:
        """Stops what is being written and lets go of the thread and the model's memory."""
        worker, self._worker = self._worker, None
        for stop in self._running:
            stop.set()
        if worker is not None:
            await asyncio.to_thread(worker.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._let_go)

    def _let_go(self) -> None:
        with self._loading:  # one that is being loaded meanwhile is let go of too
            self._kept = None

    # On the thread

    def _write(
        self,
        messages: Sequence[ChatMessage],
        hand_over: Callable[[str | None], None],
        stop: threading.Event,
    ) -> CutAtLimit | None:
        """Writes one reply; says when it was cut at its longest length."""
        loaded = self._loaded()
        import torch

        prompt = loaded.tokenizer.prompt(messages)
        room = min(self._max_tokens, loaded.context_tokens - len(prompt))
        if room < 1:
            raise _too_long(self.name, len(prompt), loaded.context_tokens)
        streamer = _Streamer(loaded.tokenizer, hand_over)
        device = loaded.model.device
        sampling = {"temperature": self._temperature} if self._temperature > 0 else {}

        def is_stopped(ids: torch.Tensor, scores: object) -> torch.Tensor:
            return torch.full((len(ids),), stop.is_set(), dtype=torch.bool, device=ids.device)

        with torch.inference_mode(), _enough_memory(self.name):
            ids = torch.tensor([prompt], device=device)
            loaded.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=room,
                do_sample=self._temperature > 0,
                eos_token_id=list(loaded.ends) or None,
                pad_token_id=loaded.ends[0] if loaded.ends else 0,
                streamer=streamer,
                stopping_criteria=[is_stopped],
                **sampling,
            )
        if stop.is_set():
            raise _closed(self.name)
        streamer.finish()
        is_cut = len(streamer.written) >= room and streamer.written[-1] not in loaded.ends
        return CutAtLimit(len(streamer.written)) if is_cut else None

    def _scored(self, messages: Sequence[ChatMessage], replies: Sequence[str]) -> list[_ScoredReply]:
        """How probable each reply is, in the order given."""
        loaded = self._loaded()
        import torch

        prompt = loaded.tokenizer.prompt(messages)
        tokens = [loaded.tokenizer.continuation(reply) for reply in replies]
        longest = len(prompt) + max(map(len, tokens), default=0)
        if longest > loaded.context_tokens:
            raise _too_long(self.name, longest, loaded.context_tokens)
        scored: dict[int, _ScoredReply] = {}
        with torch.inference_mode(), _enough_memory(self.name):
            for batch in _of_equal_length(tokens):
                rows = torch.tensor([prompt + tokens[i] for i in batch], device=loaded.model.device)
                found = _log_probabilities(loaded.model, rows, len(tokens[batch[0]]) + 1)  # (B, n + 1, V)
                for row, i in zip(found, batch, strict=True):
                    own = [float(row[place, token]) for place, token in enumerate(tokens[i])]
                    end = float(row[-1, list(loaded.ends)].logsumexp(0)) if loaded.ends else 0.0
                    texts = loaded.tokenizer.token_texts(tokens[i])
                    scored[i] = _ScoredReply(ContinuationScore(texts, tuple(own)), end)
        return [scored[i] for i in range(len(replies))]

    def _loaded(self) -> _Loaded:
        """The model, loaded on first use by whichever thread asks first."""
        with self._loading:
            if self._kept is None:
                self._kept = self._load()
            return self._kept

    def _load(self) -> _Loaded:
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging as remarks

        # neither its remarks nor its progress bars belong on the screen
        remarks.set_verbosity_error()
        remarks.disable_progress_bar()
        is_folder = _is_folder(self._source)
        source = str(Path(self._source).expanduser()) if is_folder else self._source
        if is_folder and not Path(source, "config.json").is_file():
            raise UnknownModel(
                f"There is no model in {source}: it has no config.json",
                hint="Set model.name to a folder with a model as transformers saves it.",
            )
        told = {"trust_remote_code": False, "local_files_only": is_folder or self._offline}
        try:
            with _enough_memory(self.name):
                tokenizer = AutoTokenizer.from_pretrained(source, **told)
                model: Any = AutoModelForCausalLM.from_pretrained(
                    source, use_safetensors=True, dtype="auto", **told
                )
                model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
            raise UnknownModel(
                f"The model {source} cannot be loaded: {in_short(str(error))}",
                hint="It must be a causal language model in safetensors, without code of its own.",
            ) from error
        lengths = (
            self._context_tokens,
            getattr(model.config.get_text_config(), "max_position_embeddings", 0),
            tokenizer.model_max_length,
        )
        known = [int(length) for length in lengths if length and 0 < length < _UNBOUNDED]
        ends = model.generation_config.eos_token_id
        if ends is None:
            ends = tokenizer.eos_token_id
        return _Loaded(
            PromptTokenizer(tokenizer),
            model,
            min(known, default=_UNBOUNDED),
            () if ends is None else (ends,) if isinstance(ends, int) else tuple(ends),
        )

    def _submit(self, work: Callable[[], R]) -> Future[R]:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="transformers")
        return self._worker.submit(work)

    async def _on_thread(self, work: Callable[[], R]) -> R:
        return await asyncio.wrap_future(self._submit(work))


@dataclass(frozen=True)
class _ScoredReply:
    score: ContinuationScore
    log_probability_of_end: float  # that the reply is over after its last token

    @property
    def total_as_whole(self) -> float:
        return self.score.total + self.log_probability_of_end


class _Streamer:
    """What `generate` hands its tokens to: the prompt first, then each token as it is written."""

    def __init__(self, tokenizer: PromptTokenizer, hand_over: Callable[[str | None], None]) -> None:
        self._decoder = PieceDecoder(tokenizer.decoded)
        self._hand_over = hand_over
        self._has_seen_prompt = False
        self.written: list[int] = []

    def put(self, ids: torch.Tensor) -> None:
        """Takes the next tokens."""
        if not self._has_seen_prompt:
            self._has_seen_prompt = True
            return
        new = [int(token) for token in ids.flatten()]
        self.written.extend(new)
        if piece := self._decoder.feed(new):
            self._hand_over(piece)

    def end(self) -> None:
        """Called by `generate` when it stops, for whatever reason."""

    def finish(self) -> None:
        """Hands over what was held back."""
        if rest := self._decoder.rest():
            self._hand_over(rest)


@contextmanager
def _enough_memory(name: str) -> Iterator[None]:
    """Within it, a machine out of memory is an error for a person."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:  # torch has no class of its own for it on a CPU
        if shortage(error) is None:
            raise
        raise ModelRefused(
            f"There is not enough memory for {name}",
            hint="Choose a smaller model, or lower model.context_tokens.",
        ) from error


def _log_probabilities(model: Any, rows: torch.Tensor, count: int) -> torch.Tensor:
    """(B, count, V): what the model expects at each row's last `count` places, in nats.

    rows: (B, T) token ids, all of the same length, so that no padding changes anything.
    """
    asks = (
        {"logits_to_keep": count} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
    )
    logits: torch.Tensor = model(rows, use_cache=False, **asks).logits
    return logits[:, -count:].float().log_softmax(-1)


def _of_equal_length(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """The places of sequences that can go through the model together."""
    by_length: dict[int, list[int]] = {}
    for place, sequence in enumerate(tokens):
        by_length.setdefault(len(sequence), []).append(place)
    for places in by_length.values():
        for start in range(0, len(places), _SCORED_TOGETHER):
            yield places[start : start + _SCORED_TOGETHER]


def _is_folder(source: str) -> bool:
    return source.startswith(("/", "~", ".")) or Path(source).is_dir()


def _too_long(name: str, tokens: int, most: int) -> ContextTooLong:
    return ContextTooLong(
        f"{tokens} tokens are more than {name} can read and answer: it has {most} for both",
        hint="Ask with less text, or choose a model with a longer context.",
    )


def _closed(name: str) -> ReplyCut:
    return ReplyCut(f"The reply of {name} was stopped before the model was done", hint="Ask again.")
