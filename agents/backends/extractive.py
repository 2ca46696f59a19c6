"""Answers by quoting: the best sentences of the passages found, word for word, with their citations.

    question, sources -> the sentences that answer (agents/quoting.py) -> the answer, the quote, its citation

It needs no key, no network and no download, and it cannot invent: every word of an answer but its frame
stands in a source. Below a threshold chosen on data it says that it is not sure, further below that it
found nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence

from agents.interfaces import ChatMessage, ContinuationScore, ReplyRequest
from agents.quoting import Quote, Quoter, is_own_words
from agents.sentences import asks_only, is_question, sentences
from agents.token_budget import estimated_tokens
from stores.errors import ModelRefused, NoLogProbabilities

NOTHING_FOUND = "I found nothing about that."
NOT_SURE = "I am not sure that this answers it:"
NOTED = "Noted: I keep what you tell me in your own memory."
KEPT = "I keep what you wrote in your own memory."
GREETING = "Hello. Ask me something, or tell me something to remember; /help lists what else there is."
NOT_KEPT = "This session is private: I do not keep what you tell me."

_WRITE_INSTEAD = "Configure a chat model: [model] in settings.toml."
_LONGEST_QUOTE = 600  # characters; a longer sentence is cut at a word


class ExtractiveChat:
    """The built-in chat model: quotes, and says so."""

    name = "extractive (quotes only)"
    can_score = False
    context_tokens = None  # it reads its sources sentence by sentence, however many there are

    def __init__(self, quoter: Quoter) -> None:
        self._quoter = quoter

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The answer, a quote a piece."""
        if _GREETS.fullmatch(request.message):
            yield GREETING
            return
        if tells(request.message):
            yield NOTED if request.is_kept else NOT_KEPT
            return
        best = await asyncio.to_thread(self._quoter.best_quotes, request.question, request.sources)
        if not best:
            is_looked_up = asks_only(request.message) or not request.is_kept
            yield NOTHING_FOUND if is_looked_up else f"{NOTHING_FOUND} {KEPT}"
        for number, quote in enumerate(best):
            answer = f"{quote.answer}. " if quote.answer and not number else ""
            if not quote.is_sure:
                answer = f"{NOT_SURE} "
            yield ("\n" if number else "") + answer + _frame(quote)

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


def tells(message: str) -> bool:
    """The message states something and asks nothing; bare words are taken as something to look up."""
    if _ASKS_TO_REMEMBER.match(message):
        return True
    stated = [sentence.text for sentence in sentences(message)]
    return any(map(_is_statement, stated)) and not any(map(is_question, stated))


_GREETS = re.compile(
    r"\W*(hi|hello|hey|thanks|thank you|good (morning|evening|day)|bye|goodbye)\b\W*", re.IGNORECASE
)
_ASKS_TO_REMEMBER = re.compile(
    r"\W*(please )?(remember|note|keep in mind)( that| this|:)", re.IGNORECASE
)  # not "remember when"
_FIRST_PERSON = re.compile(r"\b(i|i'm|i've|i'd|my|mine|me|we|we're|our|ours|us)\b", re.IGNORECASE)


def _is_statement(sentence: str) -> bool:
    return len(sentence.split()) >= 2 and (
        sentence.rstrip("\"'”’)").endswith((".", "!")) or _FIRST_PERSON.search(sentence) is not None
    )


def _frame(quote: Quote) -> str:
    text = " ".join(quote.text.split())
    if len(text) > _LONGEST_QUOTE:
        text = text[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    said = "You said: " if is_own_words(quote.source.passage) else ""
    return f"{said}“{text}” [{quote.source.number}]"
