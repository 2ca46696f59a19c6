"""Answers by quoting: the best sentences of the passages found, word for word, with their citations.

    sentences of the sources -> features (meaning, words, kind of answer) -> probability -> quote, or say nothing was found

It needs no key, no network and no download, and it cannot invent: every word of an answer but its frame
stands in a source. Below a threshold chosen on data it says that it found nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.interfaces import ChatMessage, Encoder, ReplyRequest, Source
from agents.sentences import asks_only, is_question, sentences
from stores.errors import ModelRefused
from stores.lexical import tokens

NOTHING_FOUND = "I found nothing about that."
NOTED = "Noted: I keep what you tell me in your own memory."
NOT_KEPT = "This session is private: I do not keep what you tell me."

_LONGEST_QUOTE = 600  # characters; a longer sentence is cut at a word
_CLOSE = 0.85  # a further sentence is quoted when it is at least this share as probable as the best


@dataclass(frozen=True)
class Quote:
    """A sentence of a source, and how probably it answers the question."""

    source: Source
    text: str
    probability: float


# Fitted by benchmarks/fit_answering.py on training questions; see docs/experiments.md.
FEATURES = ("cosine", "words", "words of the passage", "kind of answer", "bias")
_WEIGHTS = np.array([5.0, 2.0, 2.0, 0.7, -5.0])


class ExtractiveChat:
    """The built-in chat model: quotes, and says so."""

    name = "extractive (quotes only)"

    def __init__(self, encoder: Encoder, *, threshold: float, quotes: int) -> None:
        """threshold: probability under which nothing is quoted. quotes: sentences in an answer at most."""
        self._encoder = encoder
        self._threshold = threshold
        self._quotes = quotes

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The answer, a quote a piece."""
        if _tells(request.message):
            yield NOTED if request.is_kept else NOT_KEPT
            return
        best = await asyncio.to_thread(self.best_quotes, request.question, request.sources)
        if not best:
            yield NOTHING_FOUND
        for number, quote in enumerate(best):
            yield ("\n" if number else "") + _frame(quote)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """Always refused: quoting fills no schema."""
        raise ModelRefused(
            "the extractive model only quotes", hint="Configure a chat model: [model] in settings.toml."
        )

    async def aclose(self) -> None:
        """Nothing to give back."""

    def best_quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """The sentences that answer best, best first; none when none is probable enough."""
        ranked = sorted(self.quotes(question, sources), key=lambda quote: -quote.probability)
        if not ranked or ranked[0].probability < self._threshold:
            return []
        least = max(self._threshold, _CLOSE * ranked[0].probability)
        return [quote for quote in ranked if quote.probability >= least][: self._quotes]

    def quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """Every sentence that can be quoted, with its probability, in the order of the sources."""
        placed = [
            (source, sentence.text)
            for source in sources
            for sentence in sentences(source.passage.text)
            if not is_question(sentence.text)
        ]
        unique = list({(text, source.passage.kind): (source, text) for source, text in reversed(placed)}.values())[
            ::-1
        ]
        if not unique:
            return []
        found = features(self._encoder, question, [(source.passage.title, source.passage.text, text) for source, text in unique])
        return [
            Quote(source, text, float(probability))
            for (source, text), probability in zip(unique, probabilities(found), strict=True)
        ]


def features(
    encoder: Encoder, question: str, placed: Sequence[tuple[str, str, str]]
) -> npt.NDArray[np.float64]:
    """(N, 5): what speaks for each sentence, in the order of `FEATURES`.

    placed: title and text of the passage, and the sentence.
    """
    vector = encoder.encode_queries([question])[0]
    cosines = encoder.encode_passages([f"{title}\n{text}" if title else text for title, _, text in placed]) @ vector
    wanted = set(tokens(question))
    looks_right = _looks_like_an_answer(question)
    rows = [
        (
            float(cosine),
            _share(wanted, set(tokens(text))),
            _share(wanted, set(tokens(f"{title} {passage}"))),
            float(looks_right(text)),
            1.0,
        )
        for cosine, (title, passage, text) in zip(cosines, placed, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(placed), len(FEATURES))


def probabilities(found: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N,): how probably each sentence holds the answer. found: (N, 5) features."""
    return np.asarray(1 / (1 + np.exp(-(found @ _WEIGHTS))))


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 0.0


_DIGIT = re.compile(r"\d")
_NAME_INSIDE = re.compile(r"(?<=\w\s)[A-Z]")


def _looks_like_an_answer(question: str):  # type: ignore[no-untyped-def]
    """Whether a sentence holds the kind of thing the question asks for: a number, a name, or anything."""
    asked = question.lower()
    if re.search(r"\b(when|how (many|much|old|long|far|tall|big)|what (year|date|time|percentage)|which year)\b", asked):
        return lambda text: _DIGIT.search(text) is not None
    if re.search(r"\b(who|whose|whom|where|which|what (city|country|person|name))\b", asked):
        return lambda text: _NAME_INSIDE.search(text) is not None
    return lambda text: True


def _tells(message: str) -> bool:
    """The user states something and asks nothing."""
    if not message:
        return False
    stated = [sentence.text for sentence in sentences(message)]
    if any(is_question(text) for text in stated):
        return False
    return any(_is_statement(text) for text in stated)


_FIRST_PERSON = re.compile(r"\b(i|i'm|i've|i'd|my|mine|me|we|we're|our|ours|us)\b", re.IGNORECASE)


def _is_statement(sentence: str) -> bool:
    """Ends like a sentence or speaks of oneself; bare words are taken as something to look up."""
    return len(sentence.split()) >= 2 and (
        sentence.rstrip("\"'”’)").endswith((".", "!")) or _FIRST_PERSON.search(sentence) is not None
    )


def _frame(quote: Quote) -> str:
    text = " ".join(quote.text.split())
    if len(text) > _LONGEST_QUOTE:
        text = text[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    said = "You said: " if quote.source.passage.kind in ("message", "note", "correction") else ""
    return f"{said}“{text}” [{quote.source.number}]"
