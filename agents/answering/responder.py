"""Puts the best passages before the chat model and hands on its reply, with the citations checked.

    message, passages, earlier turns -> what fits -> request -> reply, piece by piece -> citations checked

What fits is decided by counting tokens, here and before the model is asked; `agents/base/token_budget.py`
says by which rule. What did not fit is named in the request.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol

from agents.base.chat_interfaces import (
    ChatMessage,
    ChatModel,
    CitingText,
    CutAtLimit,
    LeftOut,
    Piece,
    ReplyRequest,
    Source,
    Thought,
    Tokens,
)
from agents.base.citations import Citations
from agents.base.interfaces import Exchange
from agents.base.memory_page import last_said
from agents.base.thinking import ThinkMarks
from agents.base.token_budget import MESSAGE_TOKENS, TEMPLATE_TOKENS, fit
from agents.prompts import answer
from stores.base.errors import ContextTooLong, EmptyReply
from stores.base.passages import Passage


class Prompt(Protocol):
    """How a chat model is asked: a message under its sources, behind earlier exchanges."""

    def __call__(
        self, question: str, sources: Sequence[Source], history: Sequence[Exchange], *, system: str
    ) -> tuple[ChatMessage, ...]:
        """All that is sent."""


class Responder:
    """Answers a question from passages."""

    def __init__(
        self,
        chat_model: ChatModel,
        *,
        keep: int,
        reply_tokens: int = 1024,
        system: Callable[[], str] = lambda: "",
        prompt: Prompt = answer.messages,
    ) -> None:
        """keep: how many passages the model sees, at most. reply_tokens: kept free for the reply.

        system: what the user asks of all answers, asked for with each. prompt: how the model is asked.
        """
        self._system = system
        self._prompt = prompt
        self._chat_model = chat_model
        self._keep = keep
        self._reply_tokens = reply_tokens

    @property
    def model_name(self) -> str:
        """The name of the chat model, as shown on screen."""
        return self._chat_model.name

    @property
    def used(self) -> Tokens:
        """What the model's server has counted so far, of other requests too; nothing where there is none."""
        return getattr(self._chat_model, "used", Tokens())

    def prepare(
        self,
        message: str,
        question: str,
        passages: Sequence[Passage],
        history: Sequence[Exchange],
        *,
        is_kept: bool,
        at_least: int = 0,
        useless: Collection[int] = (),
    ) -> ReplyRequest:
        """What to ask the model. question: the message made standalone. is_kept: it is remembered.

        history: earlier exchanges, oldest first. at_least: so many passages are put before the model, however
        few are kept, and the others behind them. useless: versions that hardly help; a model that writes gets
        none of them, and nothing that stands in the earlier exchanges word for word.
        Raises `ContextTooLong` where the message alone is too long. Asks no server; may load a model that
        runs in this process, so not for the event loop.
        """
        turns = [exchange for exchange in history if exchange.answer]
        front, found = list(passages[:at_least]), list(passages[at_least:])
        if (most := self._chat_model.context_tokens) is not None:
            front = [passage for passage in front if not _stands_in(passage, turns)]
            found = [p for p in found if p.version_id not in useless and not _stands_in(p, turns)]
        kept = [*front, *found[: self._keep]]
        sources = tuple(Source(number, passage) for number, passage in enumerate(kept, start=1))
        left_out: tuple[LeftOut, ...] = ()
        if most is not None:
            sources, turns, left_out = self._fitting(message, sources, turns, most)
        messages = self._prompt(message, sources, turns, system=self._system())
        before = last_said(history)
        return ReplyRequest(messages, message, question, sources, is_kept, left_out, before, tuple(turns))

    def shortened(self, request: ReplyRequest) -> ReplyRequest | None:
        """The same with half of its sources and turns, for a server that took it for too long.

        None where there is nothing to be left out. What is left out is counted as in `prepare`.
        """
        if not request.sources and not request.history:
            return None
        kept = request.sources[: len(request.sources) // 2]
        turns = request.history[(len(request.history) + 1) // 2 :]
        count = self._chat_model.count_tokens
        sources = request.sources[len(kept) :]
        earlier = request.history[: len(request.history) - len(turns)]
        left_out = (
            *request.left_out,
            *(LeftOut("passage", s.passage.version_id, count(answer.entry(s))) for s in sources),
            *(LeftOut("turn", t.turn_id, count(t.message) + count(t.answer)) for t in earlier),
        )
        messages = self._prompt(request.message, kept, turns, system=self._system())
        return replace(request, messages=messages, sources=kept, history=turns, left_out=left_out)

    def respond(self, request: ReplyRequest, citations: Citations) -> AsyncIterator[Piece]:
        """The reply piece by piece, fit for a screen; `citations` gathers what it cites on the way.

        Raises `EmptyReply` where nothing was answered, whatever was thought.
        """
        return _checked(self._chat_model.stream(request), citations, self.model_name)

    async def bare_reply(self, text: str) -> str:
        """The model's reply to a text without sources."""
        request = ReplyRequest((ChatMessage("user", text),), text, text)
        pieces = self.respond(request, Citations(()))
        return "".join([piece async for piece in pieces if isinstance(piece, str)])

    def _fitting(
        self, message: str, sources: Sequence[Source], turns: Sequence[Exchange], most: int
    ) -> tuple[tuple[Source, ...], list[Exchange], tuple[LeftOut, ...]]:
        """The sources and turns that the model can read beside the message, and those that it cannot."""
        count = self._chat_model.count_tokens
        needed = TEMPLATE_TOKENS + sum(
            MESSAGE_TOKENS + count(part.content)
            for part in self._prompt(message, (), (), system=self._system())
        )
        budget = most - self._reply_tokens - needed
        if budget < 0:
            raise ContextTooLong(
                f"The message takes {needed} tokens with its instructions, and {self.model_name} has"
                f" {max(0, most - self._reply_tokens)}: {most}, less {self._reply_tokens} for the reply",
                hint="Shorten the message, lower model.max_tokens, or choose a model with a longer context.",
            )
        of_sources = [count(answer.entry(source)) + 1 for source in sources]  # 1: the line between two
        newest_first = turns[::-1]
        of_turns = [2 * MESSAGE_TOKENS + count(turn.message) + count(turn.answer) for turn in newest_first]
        fitted = fit(budget=budget, passages=of_sources, turns=of_turns)
        left_out = (
            *(
                LeftOut("passage", source.passage.version_id, tokens)
                for source, tokens in list(zip(sources, of_sources, strict=True))[fitted.passages :]
            ),
            *(
                LeftOut("turn", turn.turn_id, tokens)
                for turn, tokens in list(zip(newest_first, of_turns, strict=True))[fitted.turns :]
            ),
        )
        return tuple(sources[: fitted.passages]), list(newest_first[: fitted.turns])[::-1], left_out

    async def aclose(self) -> None:
        await self._chat_model.aclose()


def _stands_in(passage: Passage, turns: Sequence[Exchange]) -> bool:
    """Whether the model sees these words of the user already, in an earlier exchange."""
    if passage.kind == "document" or passage.is_shared or not passage.holds:
        return False
    words = _folded(passage.text)
    return any(words in _folded(turn.message) for turn in turns)


def _folded(text: str) -> str:
    """Its words alone, each with a blank on both sides: "a cat" does not stand in "a catalogue"."""
    return " ".join(["", *re.findall(r"\w+", text.casefold()), ""])


async def _checked(pieces: AsyncIterator[Piece], citations: Citations, model: str) -> AsyncIterator[Piece]:
    cut: CutAtLimit | None = None
    thinks = answers = False
    async for piece in _parted(pieces):
        if isinstance(piece, CutAtLimit):
            cut = piece
        elif isinstance(piece, Thought):
            thinks, answers = True, answers and not piece.is_all
            if piece.is_all:
                citations.begin_anew()
            yield piece
        elif shown := citations.feed(piece):
            answers = answers or bool(shown.strip())
            yield shown
    if rest := citations.rest():
        answers = True
        yield rest
    if not answers:
        raise _empty(model, thinks=thinks, is_cut=cut is not None)
    if cut is not None:
        yield cut


async def _parted(pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    """The same with what stands in marks of thinking apart."""
    marks = ThinkMarks()
    async for piece in pieces:
        if isinstance(piece, CitingText) or not isinstance(piece, str):
            for held in marks.rest():
                yield held
            yield piece
            continue
        for part in marks.feed(piece):
            yield part
    for part in marks.rest():
        yield part


def _empty(model: str, *, thinks: bool, is_cut: bool) -> EmptyReply:
    if is_cut:
        return EmptyReply(
            f"{model} reached its longest length before it answered",
            hint="Raise model.max_tokens, or lower model.reasoning_effort.",
        )
    what = "thought about it, but wrote no answer" if thinks else "wrote an empty reply"
    return EmptyReply(f"{model} {what}", hint="Ask again, in other words if need be.")
