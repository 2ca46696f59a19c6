"""Puts the best passages before the chat model and hands on its reply, with the citations checked.

    message, passages, earlier turns -> what fits -> request -> reply, piece by piece -> citations checked

What fits is decided by counting tokens, here and before the model is asked; `agents/base/token_budget.py`
says by which rule. What did not fit is named in the request.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Protocol

from agents.answering.loops import Loop
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
from agents.base.citations import Citations, numbers_in, without_citations
from agents.base.interfaces import Exchange
from agents.base.memory_page import last_said
from agents.base.thinking import ThinkMarks
from agents.base.token_budget import MESSAGE_TOKENS, TEMPLATE_TOKENS, fitting, kept_from
from agents.prompts import answer
from agents.prompts.profile import profile_text
from agents.prompts.summing import summary_text
from stores.base.errors import ContextTooLong, EmptyReply, WrongUsage
from stores.base.passages import Passage

_HISTORY_SHARE = 0.8  # of what a request may take, that earlier turns have at most
_USUAL_NUMBER = 100  # of a source, to count what it takes
_IMAGE_TOKENS = 1_500  # kept free for each: models count a few hundred to a few thousand
_STAMP_TOKENS = 25  # the time of a message, and the words around its sources


class Prompt(Protocol):
    """How a chat model is asked: a message under its sources, behind earlier exchanges."""

    def __call__(
        self,
        question: str,
        sources: Sequence[Source],
        history: Sequence[Exchange],
        *,
        system: str,
        at: datetime | None,
    ) -> tuple[ChatMessage, ...]:
        """All that is sent."""


class Parts(NamedTuple):
    """Of something that may be too long to be sent whole."""

    best: Sequence[Passage]  # first
    of: int  # all there are


class _Room(NamedTuple):
    """Tokens that are left."""

    all: int  # for earlier turns and new sources
    history: int  # of these, for earlier turns: the same from turn to turn


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
        self._image_tokens = 0  # kept free beside the reply

    @property
    def model_name(self) -> str:
        """The name of the chat model, as shown on screen."""
        return self._chat_model.name

    @property
    def used(self) -> Tokens:
        """What the model's server has counted so far, of other requests too; nothing where there is none."""
        return getattr(self._chat_model, "used", Tokens())

    @property
    def keep(self) -> int:
        """How many passages of documents the model sees, at most."""
        return self._keep

    @property
    def quotes(self) -> bool:
        """Whether the model reads its sources one by one, without a limit; else it writes, within one."""
        return self._chat_model.context_tokens is None

    async def get_ready(self) -> None:
        """Has the model find out how much it can read, where it has to ask for that."""
        if (get_ready := getattr(self._chat_model, "get_ready", None)) is not None:
            await get_ready()

    def beside_images(self, count: int) -> Responder:
        """The same, which leaves room for so many images."""
        other = copy(self)
        other._image_tokens = count * _IMAGE_TOKENS
        return other

    def check_tools(self) -> None:
        """Raises `WrongUsage` unless tools of a program can be offered to the model."""
        if not getattr(self._chat_model, "takes_tools", False):
            raise WrongUsage(
                f"{self.model_name} takes no tools",
                hint="Ask without them, or name a chat model on a server that speaks chat completions.",
            )

    async def check_images(self) -> None:
        """Raises `WrongUsage` unless the model is known to take images."""
        takes_images = getattr(self._chat_model, "takes_images", None)
        told = await takes_images() if takes_images else False
        if told is None:
            raise WrongUsage(
                f"the server of {self.model_name} does not say whether it takes images",
                hint='If it does, set model.images to "yes" in settings.toml.',
            )
        if not told:
            raise WrongUsage(
                f"{self.model_name} takes no images",
                hint="Choose a chat model of a server that does: /model.",
            )

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
        whole: Sequence[Passage] = (),
        parts: Callable[[], Parts] = lambda: Parts((), 0),
        holding: Sequence[Passage] = (),
        withheld: Callable[[Sequence[str]], Sequence[str]] = lambda messages: messages,
        system: str | None = None,
        summary: str = "",
        at: datetime | None = None,
    ) -> ReplyRequest:
        """What to ask the model. question: the message made standalone. is_kept: it is remembered.

        passages: best first. at_least: of these, from the start, are kept all, and `keep` of the others.
        useless: versions that hardly help. whole: what the message asks of, in reading order, which is sent
        where all of it fits; else of its `parts` as many as do.
        holding: what always holds of the user and of their answers; what of it was said in the conversation
        that goes along stands there, so that its beginning stays the same.
        withheld: earlier messages without what is sent only where it is asked for.
        summary: of what is not sent any more. system: what is asked of all answers here; None: what is asked
        of those everywhere.
        history: oldest first. A model that writes gets no passage that its history holds.
        Raises `ContextTooLong` where the message alone is too long. Not for the event loop.
        """
        front, found = list(passages[:at_least]), list(passages[at_least:])
        asked = self._system() if system is None else system
        system = _told(asked, [])
        if (most := self._chat_model.context_tokens) is None:
            kept = [*front, *found[: self._keep]]
            sources = tuple(Source(number, passage) for number, passage in enumerate(kept, start=1))
            turns = [exchange for exchange in history if exchange.answer]
            messages = self._prompt(message, sources, turns, system=system, at=at)
            return ReplyRequest(
                messages, message, question, sources, is_kept, (), last_said(history), tuple(turns), at
            )
        room = self._room(message, _told(asked, holding, summary), most, at)
        costs = [self._cost(exchange) for exchange in history]
        start = kept_from(costs, min(room.history, room.all))
        kept_turns = history[start:]
        said = withheld([turn.message for turn in kept_turns])
        turns = [replace(turn, message=text) for turn, text in zip(kept_turns, said, strict=True)]
        budget = room.all - sum(costs[start:])

        def new(some: Sequence[Passage]) -> list[Passage]:
            return [p for p in some if p.version_id not in listed and not _stands_in(p, kept_turns)]

        listed = {s.passage.version_id for turn in turns for s in turn.sources if s.passage.version_id > 0}
        always = [passage for passage in holding if not _stands_in(passage, kept_turns)]
        system = _told(asked, always, summary if start else "")
        found = [p for p in new(found) if p.version_id not in useless][: self._keep]
        asked_of, all_of, missing = self._asked_of(new(whole), parts, budget)
        first = 1 + max([0, *(number for turn in turns for number in _numbers_of(turn))])
        kept = [*asked_of, *new(front), *found]
        sources = tuple(Source(number, passage) for number, passage in enumerate(kept, start=first))
        of_sources = [self._source_cost(source.passage) for source in sources]
        fit = fitting(of_sources, budget)
        left_out = (
            *(
                LeftOut("passage", source.passage.version_id, tokens)
                for source, tokens in list(zip(sources, of_sources, strict=True))[fit:]
            ),
            *(LeftOut("passage", passage.version_id, self._source_cost(passage)) for passage in missing),
            *(
                LeftOut("turn", turn.turn_id, tokens)
                for turn, tokens in list(zip(history, costs, strict=True))[:start][::-1]
            ),
        )
        return ReplyRequest(
            self._prompt(message, sources[:fit], turns, system=system, at=at),
            message,
            question,
            sources[:fit],
            is_kept,
            left_out,
            last_said(history),
            tuple(turns),
            at,
            system,
            asked_of=len(asked_of),
            all_of=all_of,
            gone_to=history[start - 1].turn_id if start else 0,
            seen=tuple(passage.version_id for passage in always),
        )

    def _asked_of(
        self, whole: Sequence[Passage], parts: Callable[[], Parts], budget: int
    ) -> tuple[list[Passage], int, list[Passage]]:
        """What is sent of it, in reading order, of how many parts, and what else of it was found."""
        if sum(map(self._source_cost, whole)) <= budget:
            return list(whole), len(whole), []
        best, count = parts()
        fit = fitting([self._source_cost(passage) for passage in best], budget)
        chosen = sorted(best[:fit], key=lambda passage: (passage.document_id or 0, passage.position))
        return chosen, count, list(best[fit:])

    def _source_cost(self, passage: Passage) -> int:
        """Tokens of a passage as a source, with the line between two."""
        return self._chat_model.count_tokens(answer.entry(Source(_USUAL_NUMBER, passage))) + 1

    def shortened(self, request: ReplyRequest) -> ReplyRequest | None:
        """The same with half of its sources and turns, for a server that took it for too long.

        None where there is nothing to be left out. What is left out is counted as in `prepare`.
        """
        if not request.sources and not request.history:
            return None
        kept = request.sources[: len(request.sources) // 2]
        turns = request.history[(len(request.history) + 1) // 2 :]
        left_out = (
            *request.left_out,
            *(
                LeftOut("passage", s.passage.version_id, self._source_cost(s.passage))
                for s in request.sources[len(kept) :]
            ),
            *(
                LeftOut("turn", t.turn_id, self._cost(t))
                for t in request.history[: len(request.history) - len(turns)]
            ),
        )
        messages = self._prompt(request.message, kept, turns, system=request.system, at=request.at)
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

    def _room(self, message: str, system: str, most: int, at: datetime | None) -> _Room:
        """What is left beside the message, its instructions and the reply."""
        count = self._chat_model.count_tokens
        parts = self._prompt(message, (), (), system=system, at=at)
        needed = TEMPLATE_TOKENS + sum(MESSAGE_TOKENS + count(part.content) for part in parts)
        most -= self._image_tokens
        budget = most - self._reply_tokens - needed
        if budget < 0:
            raise ContextTooLong(
                f"The message takes {needed} tokens with its instructions, and {self.model_name} has"
                f" {max(0, most - self._reply_tokens)}: {most}, less {self._reply_tokens} for the reply"
                + (f", with {self._image_tokens} taken off for images" if self._image_tokens else ""),
                hint="Shorten the message, lower model.max_tokens, or choose a model with a longer context.",
            )
        before = sum(MESSAGE_TOKENS + count(part.content) for part in parts[:-1])  # the same for each turn
        budget = max(0, budget - count(answer.RULES))
        return _Room(budget, int(_HISTORY_SHARE * (most - self._reply_tokens)) - before)

    def _cost(self, exchange: Exchange) -> int:
        """Tokens that an earlier turn takes, with its sources."""
        count = self._chat_model.count_tokens
        of_sources = sum(self._source_cost(source.passage) for source in exchange.sources)
        return (
            2 * MESSAGE_TOKENS + _STAMP_TOKENS + count(exchange.message) + count(exchange.answer) + of_sources
        )

    async def aclose(self) -> None:
        await self._chat_model.aclose()


def _told(asked: str, holding: Sequence[Passage], summary: str = "") -> str:
    """What the user asks of all answers, what always holds (the newest first), and what was said before."""
    of_all = f"The user asks of all answers:\n{asked}" if asked else ""
    always = profile_text([passage.text for passage in holding])
    return "\n\n".join(filter(None, (of_all, always, summary_text(summary) if summary else "")))


def _stands_in(passage: Passage, turns: Sequence[Exchange]) -> bool:
    """Whether the model sees these words already, in an earlier exchange."""
    if passage.kind == "reply":
        return any(passage.text in without_citations(turn.answer) for turn in turns)
    if passage.kind == "document" or passage.is_shared or not passage.holds:
        return False
    words = _folded(passage.text)
    return any(words in _folded(turn.message) for turn in turns)


def _numbers_of(turn: Exchange) -> list[int]:
    """The numbers that stand for sources of a turn, or did once: none is given to another source."""
    return [*(source.number for source in turn.sources), *numbers_in(turn.answer)]


def _folded(text: str) -> str:
    """Its words alone, each with a blank on both sides: "a cat" does not stand in "a catalogue"."""
    return " ".join(["", *re.findall(r"\w+", text.casefold()), ""])


async def _checked(pieces: AsyncIterator[Piece], citations: Citations, model: str) -> AsyncIterator[Piece]:
    cut: CutAtLimit | None = None
    thinks = answers = False
    loop = Loop()
    async for piece in _parted(pieces):
        if isinstance(piece, str) and not isinstance(piece, CitingText) and loop.closes(piece):
            cut = CutAtLimit(None, repeats=True)
            break
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
    if cut is not None and cut.repeats and isinstance(pieces, AsyncGenerator):
        await pieces.aclose()  # the server need not go on
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
