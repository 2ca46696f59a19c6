"""Chooses the sentences that answer a question, word for word, from the passages found.

    sentences of the sources -> what speaks for each -> probability -> the best, or none

For each sentence speak its meaning, its words, its place and its kind; where there is a reader, also
whether it found the answer in that sentence, and whether it judged the passage to answer rather than
any passage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agents.asked_for import asked_for, asks_for_a_group
from agents.chat_interfaces import Source
from agents.claim_rules.remarks import denies_the_answer, is_trouble
from agents.claim_rules.requests import asks_to_forget
from agents.claim_rules.speaker import is_of_the_user
from agents.former import only_sounds_former, past_of, quotes_of_before, quotes_of_then_and_now
from agents.groups_told import quotes_of_a_group
from agents.interfaces import AnswerSpan, Encoder, Reading
from agents.named_answers import that_holds
from agents.other_persons import less_of_others
from agents.partings import with_the_parting
from agents.purposes import says_what_is_asked, speaks_for_a_way
from agents.quote_order import (
    Quote,
    all_over_are_replaced,
    as_asked_for,
    is_own_words,
    said_once,
    with_what_changed_since,
    without_suppositions,
)
from agents.readings import Readings
from agents.relations.questions import Asked
from agents.same_persons import of_person, with_who_it_is
from agents.sentences import Sentence, is_question, sentences
from agents.values import content, values
from stores.lexical import tokens

Floats = npt.NDArray[np.float64]

_CLOSE = 0.85  # a further sentence is quoted when it is at least this share as probable as the best
_SURE = 0.5  # of the reader's answers in a sentence, the share that the best one needs to be named
_MOST_OF_IT = 0.6  # of a sentence: an answer longer than this is the sentence
_SOFT = 0.01  # keeps a probability of 0 or 1 from deciding alone

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
READ_FEATURES = (
    *FEATURES[:-1],
    "answer in the sentence",
    "verdict on the passage",
    "verdicts on all passages",
    "bias",
)
_READ_WEIGHTS = np.array([2.755, 2.151, 0.188, 1.724, 0.592, 0.388, 0.972, -0.667, -7.477])


@dataclass(frozen=True)
class Placed:
    """A sentence where it stands."""

    title: str  # of its passage
    passage: str
    number: int  # the place of its passage among the sources, from 1: the best is first
    sentence: Sentence


class Quoter:
    """Chooses what to quote."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        threshold: float,
        quotes: int,
        unsure_from: float = 1.0,
        readings: Readings | None = None,
    ) -> None:
        """threshold: probability from which a sentence is quoted as an answer. quotes: sentences of one.

        unsure_from: from here to the threshold the best sentence is quoted as what may help.
        """
        self._encoder = encoder
        self._threshold = threshold
        self._unsure_from = unsure_from
        self._quotes = quotes
        self._readings = readings

    def best_quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """The sentences that answer best, best first; else the one that may help, or nothing."""
        if before := quotes_of_before(question, sources, most=self._quotes):
            return before
        if both := quotes_of_then_and_now(question, sources, most=self._quotes):
            return both
        question = past_of(question) or question
        asking = asked_for(question)
        told = [q for q in self.quotes(question, sources) if not only_sounds_former(question, q.text)]
        said = said_once(told)
        persons = of_person(question, said)
        found = as_asked_for(asking, less_of_others(question, said), persons)
        ranked = sorted(found, key=lambda quote: -quote.probability)
        ranked = without_suppositions(question, ranked, sure_from=self._threshold)
        best = with_the_parting(question, self._best_of(question, asking, ranked), ranked)
        if all_over_are_replaced(best):
            return with_who_it_is(question, best, ranked, asking)
        live = [quote for quote in ranked if quote.source.passage.is_live]
        return with_the_parting(question, self._best_of(question, asking, live), live)

    def _best_of(self, question: str, asking: Sequence[Asked], ranked: Sequence[Quote]) -> list[Quote]:
        """What is quoted of these, most probable first."""
        if not ranked or ranked[0].probability < min(self._threshold, self._unsure_from):
            return []
        if ranked[0].probability < self._threshold:
            (first, *_) = with_what_changed_since(ranked[:1], ranked, asking)
            is_sure = first.source.passage.is_shared and says_what_is_asked(question, first.text)
            return [replace(first, answer="", is_sure=is_sure)]
        least = max(self._threshold, _CLOSE * ranked[0].probability)
        best = [quote for quote in ranked if quote.probability >= least]
        if asks_for_a_group(asking) and (told := quotes_of_a_group(best, ranked, asking)) != best:
            return told
        best = with_what_changed_since(best, ranked, asking)
        return self._behind_the_shared(question, self._with_a_document(best[: self._quotes], ranked), ranked)

    def _with_a_document(self, best: list[Quote], ranked: Sequence[Quote]) -> list[Quote]:
        """Beside nothing but the user's own words, also the document that answers best, if one does.

        What a user said may contradict it: both are shown.
        """
        if not all(is_own_words(quote.source.passage) for quote in best):
            return best
        beside = [
            quote
            for quote in ranked
            if quote.probability >= self._threshold and not is_own_words(quote.source.passage)
        ]
        return [*best[: self._quotes - 1 if beside else None], *beside[:1]]

    def _behind_the_shared(self, question: str, best: list[Quote], ranked: Sequence[Quote]) -> list[Quote]:
        """What a user only stated of the world comes behind the shared passage that answers best.

        It was weighed by nobody, or could not be decided: the shared one may contradict it, in however
        improbable a sentence. Without a reader, which says what answers, everything stays where it is.
        """
        if is_of_the_user(question) or not any(_is_undecided(quote) for quote in best):
            return best
        least = min(self._threshold, self._unsure_from)
        shared = [q for q in ranked if q.source.passage.is_shared and q.probability >= least]
        first = next((quote for quote in shared if self._is_answer(question, quote)), None)
        if first is None:
            return best
        beside = [quote for quote in best if quote != first]
        if first.probability < self._threshold:
            first = replace(first, answer="", is_sure=False)
        return [first, *beside][: self._quotes]

    def _is_answer(self, question: str, quote: Quote) -> bool:
        """Whether the reader calls a passage an answer, and it names something that the question names."""
        passage = quote.source.passage
        if self._readings is None or self._readings.of(question, [passage.text])[0].verdict.label != "answer":
            return False
        asked_of = {item for value in values(question) for item in value.items}
        return not asked_of or not asked_of.isdisjoint(content(f"{passage.title} {passage.text}"))

    def quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """Every sentence that can be quoted, with its probability, in the order of the sources."""
        quotable: dict[str, tuple[Source, Sentence]] = {}  # what stands in several is quoted from the first
        for source in sources:
            for sentence in sentences(source.passage.text):
                if is_question(sentence.text) or _is_key_alone(question, sentence.text):
                    continue
                if not _says_nothing(source, sentence):
                    quotable.setdefault(sentence.text, (source, sentence))
        if not quotable:
            return []
        # what a user said at different times stands in one place: its order says nothing of its truth
        first_own = max(1, min((s.number for s in sources if is_own_words(s.passage)), default=0))
        place = {s.number: first_own if is_own_words(s.passage) else s.number for s in sources}
        placed = [
            Placed(source.passage.title, source.passage.text, place[source.number], sentence)
            for source, sentence in quotable.values()
        ]
        readings = read(self._readings, question, placed)
        found = features(self._encoder, question, placed, readings)
        ways = np.array(
            [speaks_for_a_way(question, p.sentence, title=p.title, passage=p.passage) for p in placed]
        )
        return [
            Quote(source, sentence.text, float(probability), _named_of(source, readings, question, one))
            for (source, sentence), one, probability in zip(
                quotable.values(), placed, probabilities(found, ways), strict=True
            )
        ]


def read(readings: Readings | None, question: str, placed: Sequence[Placed]) -> dict[str, Reading]:
    """What the reader says of each passage, by its text; empty without a reader."""
    passages = list(dict.fromkeys(one.passage for one in placed))
    return {} if readings is None else dict(zip(passages, readings.of(question, passages), strict=True))


def features(
    encoder: Encoder, question: str, placed: Sequence[Placed], readings: dict[str, Reading]
) -> Floats:
    """(N, 6): what speaks for each sentence, in the order of `FEATURES`; (N, 9) where it was read.

    readings: by the text of the passage; of all passages or of none.
    """
    query = encoder.encode_queries([question])[0]
    vectors = encoder.encode_passages(
        [f"{p.title}\n{p.sentence.text}" if p.title else p.sentence.text for p in placed]
    )
    words = tokens if tokens(question) else _all_words  # "What can you do?" has no rarer ones
    wanted = set(words(question))
    kind = _kind_of_answer(question)
    verdicts = {passage: _log_odds(reading.verdict.score) for passage, reading in readings.items()}
    return np.array(
        [
            (
                float(vector @ query),
                _share(wanted, words(p.sentence.text)),
                _share(wanted, words(f"{p.title} {p.passage}")),
                1 / p.number,
                float(kind is None or kind.search(p.sentence.text) is not None),
                *_read_features(readings, verdicts, p),
                1.0,
            )
            for vector, p in zip(vectors, placed, strict=True)
        ],
        dtype=np.float64,
    ).reshape(len(placed), len(READ_FEATURES if readings else FEATURES))


def probabilities(found: Floats, ways: Floats | float = 0.0) -> Floats:
    """(N,): how probably each sentence holds the answer. found: (N, 6) or, where it was read, (N, 9).

    ways: (N,), the log-odds that each tells the way that is asked for; see `agents/purposes.py`.
    """
    weights = _READ_WEIGHTS if found.shape[1] == len(READ_FEATURES) else _WEIGHTS
    return np.asarray(1 / (1 + np.exp(-(found @ weights + ways))))


def _read_features(
    readings: dict[str, Reading], verdicts: dict[str, float], placed: Placed
) -> tuple[float, ...]:
    if not readings:
        return ()
    inside = sum(span.probability for span in _spans_in(readings, placed))
    return _log_odds(inside), verdicts[placed.passage], sum(verdicts.values()) / len(verdicts)


def _spans_in(readings: dict[str, Reading], placed: Placed) -> list[AnswerSpan]:
    """The reader's answers that lie in a sentence, best first."""
    sentence = placed.sentence
    return [
        span
        for span in readings[placed.passage].answer.spans
        if sentence.start <= span.start and span.end <= sentence.end
    ]


def _named_answer(readings: dict[str, Reading], question: str, placed: Placed) -> str:
    """The words of a sentence that answer.

    Empty where the reader is not sure, means most of the sentence, or only says what was asked.
    """
    spans = _spans_in(readings, placed) if readings else []
    if not spans:
        return ""
    best, everything = spans[0], readings[placed.passage].answer
    somewhere = 1 - everything.no_answer
    is_sure = best.probability >= _SURE * somewhere and best.probability >= everything.no_answer
    is_short = len(best.text) <= _MOST_OF_IT * len(placed.sentence.text)
    says_more = not set(tokens(best.text)) <= set(tokens(question))
    return best.text.rstrip(".") if is_sure and is_short and says_more else ""


def _named_of(source: Source, readings: dict[str, Reading], question: str, placed: Placed) -> str:
    """The words that answer; of a user's own sentence, only what it says to hold."""
    answer = _named_answer(readings, question, placed)
    if not is_own_words(source.passage):
        return answer
    return that_holds(answer, placed.sentence.text, question)


_KEY_ROW = re.compile(r"\W*([^\W\d]|F\d\d?|Esc|Tab|Enter|(?:Ctrl|Alt|Shift)\+\w+)\W* \| ([^|]+)\W*")


def _is_key_alone(question: str, sentence: str) -> bool:
    """Whether it is a row of a table of keys, and the message is but words of it, as "privacy" is."""
    row = _KEY_ROW.fullmatch(sentence)
    return row is not None and set(_all_words(question)) <= set(_all_words(row[2]))


def _says_nothing(source: Source, sentence: Sentence) -> bool:
    """Whether a user only asked here for something to be forgotten, denied an answer or told of trouble."""
    text = sentence.text
    if not is_own_words(source.passage):
        return False
    return asks_to_forget(text) or denies_the_answer(text) or is_trouble(text)


def _is_undecided(quote: Quote) -> bool:
    """Whether a user only stated it, and of the world: not of themselves, nor as a note or correction."""
    passage = quote.source.passage
    is_stated = passage.kind in ("message", "fact") and not passage.is_shared
    return is_stated and not is_of_the_user(quote.text)


def _log_odds(probability: float) -> float:
    return math.log((probability + _SOFT) / (1 - min(probability, 1.0) + _SOFT))


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
