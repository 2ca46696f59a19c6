"""Answers by quoting: the best sentences of the passages found, word for word, with their citations.

    sentences of the sources -> features (meaning, words, kind of answer) -> probability -> quotes or none

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

from agents.interfaces import ChatMessage, ContinuationScore, Encoder, ReplyRequest, Source
from agents.sentences import asks_only, is_question, sentences
from agents.token_budget import estimated_tokens
from stores.errors import ModelRefused, NoLogProbabilities
from stores.lexical import tokens

NOTHING_FOUND = "I found nothing about that."
NOTED = "Noted: I keep what you tell me in your own memory."
KEPT = "I keep what you wrote in your own memory."
GREETING = "Hello. Ask me something, or tell me something to remember; /help lists what else there is."
NOT_KEPT = "This session is private: I do not keep what you tell me."

_WRITE_INSTEAD = "Configure a chat model: [model] in settings.toml."
_OWN_WORDS = ("message", "note", "correction")  # kinds of passages that a user said
_LONGEST_QUOTE = 600  # characters; a longer sentence is cut at a word
_CLOSE = 0.85  # a further sentence is quoted when it is at least this share as probable as the best

# Fitted by benchmarks/fit_answering.py on training questions; see docs/experiments.md.
FEATURES = (
    "cosine",
    "words of the sentence",
    "words of the passage",
    "place of the passage",
    "kind of answer",
    "bias",
)
_WEIGHTS = np.array([4.626, 2.463, -0.653, 2.916, 1.083, -7.997])


@dataclass(frozen=True)
class Quote:
    """A sentence of a source, and how probably it answers the question."""

    source: Source
    text: str
    probability: float


class ExtractiveChat:
    """The built-in chat model: quotes, and says so."""

    name = "extractive (quotes only)"
    can_score = False
    context_tokens = None  # it reads its sources sentence by sentence, however many there are

    def __init__(self, encoder: Encoder, *, threshold: float, quotes: int) -> None:
        """threshold: probability under which nothing is quoted. quotes: sentences in an answer at most."""
        self._encoder = encoder
        self._threshold = threshold
        self._quotes = quotes

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The answer, a quote a piece."""
        if _GREETS.fullmatch(request.message):
            yield GREETING
            return
        if tells(request.message):
            yield NOTED if request.is_kept else NOT_KEPT
            return
        best = await asyncio.to_thread(self.best_quotes, request.question, request.sources)
        if not best:
            is_looked_up = asks_only(request.message) or not request.is_kept
            yield NOTHING_FOUND if is_looked_up else f"{NOTHING_FOUND} {KEPT}"
        for number, quote in enumerate(best):
            yield ("\n" if number else "") + _frame(quote)

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

    def best_quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """The sentences that answer best, best first; none when none is probable enough."""
        ranked = sorted(self.quotes(question, sources), key=lambda quote: -quote.probability)
        if not ranked or ranked[0].probability < self._threshold:
            return []
        least = max(self._threshold, _CLOSE * ranked[0].probability)
        best = [quote for quote in ranked if quote.probability >= least]
        return _newest_of_ones_own_first(best)[: self._quotes]

    def quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """Every sentence that can be quoted, with its probability, in the order of the sources."""
        quotable: dict[str, Source] = {}  # a sentence that stands in several sources is quoted from the first
        for source in sources:
            for sentence in sentences(source.passage.text):
                if not is_question(sentence.text):
                    quotable.setdefault(sentence.text, source)
        if not quotable:
            return []
        # what a user said at different times stands in one place: its order says nothing of its truth
        first_own = min((s.number for s in sources if s.passage.kind in _OWN_WORDS), default=0)
        place = {s.number: first_own if s.passage.kind in _OWN_WORDS else s.number for s in sources}
        found = features(
            self._encoder,
            question,
            [Placed(s.passage.title, s.passage.text, place[s.number], text) for text, s in quotable.items()],
        )
        return [
            Quote(source, text, float(probability))
            for (text, source), probability in zip(quotable.items(), probabilities(found), strict=True)
        ]


@dataclass(frozen=True)
class Placed:
    """A sentence where it stands."""

    title: str  # of its passage
    passage: str
    number: int  # the place of its passage among the sources, from 1: the best is first
    text: str


def features(encoder: Encoder, question: str, placed: Sequence[Placed]) -> npt.NDArray[np.float64]:
    """(N, 6): what speaks for each sentence, in the order of `FEATURES`."""
    query = encoder.encode_queries([question])[0]
    vectors = encoder.encode_passages([f"{p.title}\n{p.text}" if p.title else p.text for p in placed])
    words = tokens if tokens(question) else _all_words  # "What can you do?" has no rarer ones
    wanted = set(words(question))
    kind = _kind_of_answer(question)
    return np.array(
        [
            (
                float(vector @ query),
                _share(wanted, words(p.text)),
                _share(wanted, words(f"{p.title} {p.passage}")),
                1 / p.number,
                float(kind is None or kind.search(p.text) is not None),
                1.0,
            )
            for vector, p in zip(vectors, placed, strict=True)
        ],
        dtype=np.float64,
    ).reshape(len(placed), len(FEATURES))


def probabilities(found: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N,): how probably each sentence holds the answer. found: (N, 6) features."""
    return np.asarray(1 / (1 + np.exp(-(found @ _WEIGHTS))))


def _all_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _share(wanted: set[str], there: Sequence[str]) -> float:
    return len(wanted.intersection(there)) / len(wanted) if wanted else 0.0


_ASKS_NUMBER = re.compile(
    r"\b(when|how (many|much|old|long|far|tall|big|often)|"
    r"(what|which) (year|date|time|day|percentage|number))\b",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(
    r"\b(who|whose|whom|where|(what|which) (city|country|state|person|name|team|company))\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=\w[ ,])[A-Z]")  # a capital that does not open the sentence


def _kind_of_answer(question: str) -> re.Pattern[str] | None:
    """What a sentence must hold to be the kind of thing that is asked for; None: anything."""
    if _ASKS_NUMBER.search(question):
        return _NUMBER
    return _NAME if _ASKS_NAME.search(question) else None


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


def _newest_of_ones_own_first(quotes: Sequence[Quote]) -> list[Quote]:
    """Of what a user said of the same thing at different times, the latest holds; the other places stay."""
    own = [q for q in quotes if q.source.passage.kind in _OWN_WORDS]
    newest_first = iter(sorted(own, key=lambda q: q.source.passage.created_at, reverse=True))
    return [next(newest_first) if q.source.passage.kind in _OWN_WORDS else q for q in quotes]


def _frame(quote: Quote) -> str:
    text = " ".join(quote.text.split())
    if len(text) > _LONGEST_QUOTE:
        text = text[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    said = "You said: " if quote.source.passage.kind in _OWN_WORDS else ""
    return f"{said}“{text}” [{quote.source.number}]"
