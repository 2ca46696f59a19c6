"""A chat model that is right exactly when the passages put before it hold the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from agents.base.chat_interfaces import ChatMessage, ContinuationScore, ReplyRequest
from agents.base.token_budget import estimated_tokens
from assistant.replay.simulation.participants import SimulatedAnswerer
from assistant.replay.storage.data_set_store import Names
from assistant.replay.streams.datasets import ReplayQuestion
from stores.base.errors import ModelRefused, NoLogProbabilities

_REFUSAL = "the simulated answerer only answers the questions of its stream"


class SimulatedChat:
    """`SimulatedAnswerer` in the place of a chat model."""

    name = "simulated answerer"
    can_score = False
    context_tokens = None

    def __init__(self, questions: Iterable[ReplayQuestion], names: Names) -> None:
        self._questions = {question.text: question for question in questions}
        self._names = names
        self._answerer = SimulatedAnswerer()

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The first right answer where the passages hold it, and else that it is not known."""
        question = self._questions.get(request.message)
        if question is None:
            yield SimulatedAnswerer.NOT_KNOWN
            return
        passages = [self._names.named(source.passage) for source in request.sources]
        yield self._answerer.answer(question, passages)

    def count_tokens(self, text: str) -> int:
        """A high estimate; nothing is decided by it."""
        return estimated_tokens(text)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """Always refused."""
        raise ModelRefused(_REFUSAL)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """Always refused."""
        raise ModelRefused(_REFUSAL)

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """Always refused."""
        raise NoLogProbabilities(_REFUSAL)

    async def aclose(self) -> None:
        """Nothing to give back."""
