"""The chat model as what follows a turn has it: no request of its goes on while an answer is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from agents.base.chat_interfaces import ChatMessage, ChatModel, ContinuationScore, Piece, ReplyRequest
from assistant.background.priority import AnswersFirst


class BackgroundChat:
    """A chat model whose requests give way: one that runs when an answer begins is asked anew behind it.

    A server may have one request at a time in hand, and a model in this process one thread: a person who
    writes the next message does not wait for what is remembered of the last.
    """

    def __init__(self, chat: ChatModel, answers_first: AnswersFirst, *, again: bool = True) -> None:
        """again: if not, a structured reply that gives way raises `AnswerBegan` and is not asked for anew."""
        self._again = again
        self._chat = chat
        self._answers_first = answers_first

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def can_score(self) -> bool:
        return self._chat.can_score

    @property
    def context_tokens(self) -> int | None:
        return self._chat.context_tokens

    def count_tokens(self, text: str) -> int:
        return self._chat.count_tokens(text)

    async def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        """See `ChatModel.stream`; whole before its first piece, since it may have to be asked for anew."""

        async def whole() -> list[Piece]:
            return [piece async for piece in self._chat.stream(request)]

        for piece in await self._answers_first.between(whole):
            yield piece

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        return await self._answers_first.between(
            lambda: self._chat.structured(messages, schema), again=self._again
        )

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        return await self._answers_first.between(lambda: self._chat.choose(messages, choices))

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        return await self._answers_first.between(lambda: self._chat.log_probability(messages, continuation))

    async def aclose(self) -> None:
        await self._chat.aclose()
