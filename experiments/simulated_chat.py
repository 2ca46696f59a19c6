"""A chat model that is right exactly when the passages put before it hold the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

from agents.base.chat_interfaces import ReplyRequest
from agents.base.quoting_only import QuotingOnly
from assistant.replay.methods.simulated_judge import holds_gold
from assistant.replay.storage.data_set_store import Names
from assistant.replay.streams.datasets import ReplayQuestion
from stores.base.passages import Passage


class SimulatedAnswerer:
    """Is right exactly when the passages that it reads hold the answer."""

    NOT_KNOWN = "I do not know."

    def __init__(self, *, depth: int = 5) -> None:
        """depth: how many passages it reads."""
        self._depth = depth

    def answer(self, question: ReplayQuestion, passages: Sequence[Passage]) -> str:
        """The first right answer, or `NOT_KNOWN`. passages: best first."""
        read = passages[: self._depth]
        if question.needs_all and question.gold:
            is_known = question.gold <= {passage.external_id for passage in read}
        else:
            is_known = any(holds_gold(question, passage) for passage in read)
        return question.answers[0] if is_known and question.answers else self.NOT_KNOWN


class SimulatedChat(QuotingOnly):
    """`SimulatedAnswerer` in the place of a chat model."""

    name = "simulated answerer"
    refusal, hint = "the simulated answerer only answers the questions of its stream", ""

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
