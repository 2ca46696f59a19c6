"""Answers by quoting: what the user told, or the best sentences of the passages found, word for word.

    question, sources -> the user's statements, read as one page (agents/answering/memory_answers.py)
                      -> the sentences of documents that answer (agents/answering/quoting.py)
                      -> the surer of both, with its citation; else the nearest, said to be no sure answer

It needs no key, no network and no download, and it cannot invent: every word of an answer but its frame
stands in a source.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from agents.answering.memory_answers import MemoryAnswer, MemoryAnswers, Remembered
from agents.answering.quoting import Quote, Quoter
from agents.base.chat_interfaces import ChatMessage, CitingText, ContinuationScore, ReplyRequest, Source
from agents.base.message_sorting import MessageSorter
from agents.base.token_budget import estimated_tokens
from agents.retrieval.own_statements import is_own_words
from agents.retrieval.said_here import message_passage
from stores.base.clock import now
from stores.base.errors import ModelRefused, NoLogProbabilities

NOTHING_FOUND = "I found nothing about that."
NOT_SURE = "I am not sure that this answers it:"
NEAREST = "I am not sure. The nearest I have:"
NOTED = "Noted. If I learn something from it, I will say so."  # it is not weighed yet
NOT_KEPT = "This session is private: I learn nothing from it, and no other session finds it."
NOTHING_SAID = "Ask me something, or tell me something to remember; /help lists what else there is."

_WRITE_INSTEAD = "Configure a chat model: [model] in settings.toml."
_LONGEST_QUOTE = 600  # characters; a longer sentence is cut at a word
_NEAR_FROM = 0.05  # probability from which what the user told is named as near
_MOST_NEAREST = 3  # passages named where nothing answers
_SHORT_ANSWER = 0.6  # of a statement: an answer longer than this is the statement


class ExtractiveChat:
    """The built-in chat model: quotes, and says so."""

    name = "extractive (quotes only)"
    can_score = False
    context_tokens = None  # it reads its sources sentence by sentence, however many there are

    def __init__(
        self,
        quoter: Quoter,
        *,
        memory: MemoryAnswers | None = None,
        sorter: MessageSorter | None = None,
        sure_from: float = 0.8,
        unsure_from: float = 0.45,
    ) -> None:
        """memory: reads what the user told; without it their statements are quoted as documents are.

        sure_from: probability from which what the user told is given as the answer. unsure_from: from which
        it is given with a warning.
        """
        self._quoter = quoter
        self._memory = memory
        self._sorter = sorter or MessageSorter()
        self._sure_from = sure_from
        self._unsure_from = unsure_from

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The answer, a quote a piece."""
        sorting = await asyncio.to_thread(self._sorter.sorted, request.message)
        if not sorting.asking:
            if sorting.stating:
                yield NOTED if request.is_kept else NOT_KEPT
            else:
                yield NOTHING_SAID
            return
        for piece in await asyncio.to_thread(self._answer, request, sorting.stating):
            yield piece

    def _answer(self, request: ReplyRequest, stated: Sequence[str]) -> list[str]:
        own = [source for source in request.sources if self._memory and is_own_words(source.passage)]
        others = [source for source in request.sources if source not in own]
        told = self._told(request, own, stated)
        found = self._quoter.best_quotes(request.question, others)
        by_document = [quote for quote in found if quote.is_sure]
        is_sure = told is not None and told.probability >= self._sure_from
        if (
            told is not None
            and is_sure
            and not (by_document and by_document[0].probability > told.probability)
        ):
            return [_of_memory(told)]
        if by_document:
            return [
                _citing(f"{'' if n == 0 else chr(10)}{_said(quote)}", quote)
                for n, quote in enumerate(by_document)
            ]
        if told is not None and told.probability >= self._unsure_from:
            return [_of_memory(told, frame=f"{NOT_SURE} ")]
        if found:
            return [_citing(f"{NOT_SURE} {_said(found[0], with_answer=False)}", found[0])]
        return self._nearest(request.question, told, others)

    def _told(
        self, request: ReplyRequest, own: Sequence[Source], stated: Sequence[str]
    ) -> MemoryAnswer | None:
        """What the user told that answers best, in this message or before."""
        if self._memory is None:
            return None
        here = [Source(0, message_passage(0, "", " ".join(stated), "this message", now()))] if stated else []
        return self._memory.answer(request.message, request.before, [*here, *own])

    def _nearest(self, question: str, told: MemoryAnswer | None, others: Sequence[Source]) -> list[str]:
        """The nearest of what was found, where nothing answers."""
        pieces: list[str] = []
        if told is not None and told.probability >= _NEAR_FROM:
            pieces.append(_citing(f"\n{_frame(told.statement.source, told.statement.text)}", told.statement))
        seen: set[int] = set()
        for quote in self._quoter.ranked(question, others):
            if len(pieces) == _MOST_NEAREST or quote.source.number in seen:
                continue
            seen.add(quote.source.number)
            title = f"{quote.source.passage.title}: " if quote.source.passage.title else ""
            pieces.append(_citing(f"\n{title}{_said(quote, with_answer=False)}", quote))
        return [NEAREST, *pieces] if pieces else [NOTHING_FOUND]

    def count_tokens(self, text: str) -> int:
        """A high estimate; nothing is decided by it."""
        return estimated_tokens(text)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """Always refused: quoting fills no schema."""
        raise ModelRefused("the extractive model only quotes", hint=_WRITE_INSTEAD)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """Always refused: it chooses sentences, not replies."""
        raise ModelRefused("the extractive model only quotes", hint=_WRITE_INSTEAD)

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """Always refused: quotes are found, not drawn from a distribution."""
        raise NoLogProbabilities("the extractive model has no log-probabilities", hint=_WRITE_INSTEAD)

    async def aclose(self) -> None:
        """Nothing to give back."""


def _of_memory(told: MemoryAnswer, frame: str = "") -> str:
    text = told.statement.text
    answer = "" if frame or len(told.answer) > _SHORT_ANSWER * len(text) else f"{told.answer}. "
    return _citing(frame + answer + _frame(told.statement.source, text), told.statement)


def _said(quote: Quote, *, with_answer: bool = True) -> str:
    answer = f"{quote.answer}. " if quote.answer and with_answer else ""
    return answer + _frame(quote.source, quote.text)


def _frame(source: Source, text: str) -> str:
    """A quoted sentence with whose it is, and its citation."""
    passage = source.passage
    if not source.number:
        return f"You just said: {_quoted(text)}"
    whose = "" if not is_own_words(passage) else "You said: " if passage.is_live else "Before, you said: "
    return f"{whose}{_quoted(text)} [{source.number}]"


def _quoted(text: str) -> str:
    plain = " ".join(text.split())
    cut = plain if len(plain) <= _LONGEST_QUOTE else plain[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    return f"“{cut}”"


def _citing(text: str, quote: Quote | Remembered) -> CitingText:
    """A piece of an answer that cites the source of its quote; a [3] in its own words cites nothing."""
    return CitingText(text, [quote.source.number] if quote.source.number else [])
