"""Puts the best passages before the chat model and hands on its reply, with the citations checked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

from agents.interfaces import ChatMessage, ChatModel, Exchange, ReplyRequest, Source
from agents.prompts import answer
from stores.records import Passage

_NUMBER = re.compile(r"\[(\d{1,4})\]")
_MAYBE_NUMBER = re.compile(r"\[\d{0,4}$")  # a citation that may go on in the next piece
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Responder:
    """Answers a question from passages."""

    def __init__(self, chat_model: ChatModel, *, keep: int) -> None:
        """keep: how many passages are put before the model."""
        self._chat_model = chat_model
        self._keep = keep

    @property
    def model_name(self) -> str:
        """The name of the chat model, as shown on screen."""
        return self._chat_model.name

    def prepare(
        self,
        message: str,
        question: str,
        passages: Sequence[Passage],
        history: Sequence[Exchange],
        *,
        is_kept: bool,
    ) -> ReplyRequest:
        """What to ask the model. question: the message made standalone. is_kept: it is remembered."""
        sources = tuple(
            Source(number, passage) for number, passage in enumerate(passages[: self._keep], start=1)
        )
        return ReplyRequest(answer.messages(message, sources, history), message, question, sources, is_kept)

    def respond(self, request: ReplyRequest, citations: Citations) -> AsyncIterator[str]:
        """The reply piece by piece, fit for a screen; `citations` gathers what it cites on the way."""
        return _checked(self._chat_model.stream(request), citations)

    def bare_reply(self, text: str) -> AsyncIterator[str]:
        """The model's reply to a text without sources."""
        request = ReplyRequest((ChatMessage("user", text),), text, text)
        return _checked(self._chat_model.stream(request), Citations(()))

    async def aclose(self) -> None:
        """Lets the chat model give back its connections."""
        await self._chat_model.aclose()


class Citations:
    """Which of the numbered sources a reply cites, found while it is being written."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._known = {source.number for source in sources}
        self._held = ""
        self.cited: list[int] = []  # in the order of their first use
        self.invented: list[int] = []  # numbers that stand for no source

    def feed(self, piece: str) -> str:
        """What can be shown of the reply so far; an invented [9] is shown as [9?]."""
        written = self._held + _CONTROL.sub("", piece.replace("\r\n", "\n"))
        unfinished = _MAYBE_NUMBER.search(written)
        cut = unfinished.start() if unfinished else len(written)
        self._held = written[cut:]
        return _NUMBER.sub(self._check, written[:cut])

    def rest(self) -> str:
        """What was held back, once the reply has ended."""
        held, self._held = self._held, ""
        return held

    def _check(self, match: re.Match[str]) -> str:
        number = int(match.group(1))
        if number not in self._known:
            self.invented.append(number)
            return f"[{number}?]"
        if number not in self.cited:
            self.cited.append(number)
        return match.group()


async def _checked(pieces: AsyncIterator[str], citations: Citations) -> AsyncIterator[str]:
    async for piece in pieces:
        if shown := citations.feed(piece):
            yield shown
    if rest := citations.rest():
        yield rest
