"""Chooses the sentences that answer a question, word for word, from the passages found.

    sentences of the sources -> what speaks for each -> probability
        -> the best passages, read once more by the large reader -> probability -> the best, or none

For each sentence speak its meaning, its words and its place; where there is a reader, also
whether it found the answer in that sentence, and whether it judged the passage to answer rather than
any passage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agents.base.chat_interfaces import Source
from agents.base.interfaces import AnswerSpan, Encoder, Reading
from agents.base.memory_page import asked
from agents.base.sentences import Sentence, is_list_item, is_question, sentences
from agents.languages.sentence_cutting import sentences_in
from agents.languages.signs import Languages, is_english
from agents.retrieval.reader_judge import Readings
from stores.base.passages import HEADING_OF, searchable_text
from stores.words.lexical import options, searched, tokens

Floats = npt.NDArray[np.float64]

_CLOSE = 0.85  # a further sentence is quoted when it is at least this share as probable as the best
_SURE = 0.5  # of the reader's answers in a passage, the share that the best one needs to be named
_MOST_OF_IT = 0.6  # of a sentence: an answer longer than this is the sentence
_ASKS_THE_SAME_FROM = 0.75  # cosine; of 4,855 questions of data/everyday one is as near to the manual's
_QUESTION = re.compile(r"[^?]+\?")
_LONGEST_TERM = 100  # characters
_SOFT = 0.01  # keeps a probability of 0 or 1 from deciding alone

# Fitted by benchmarks/fit_answering.py on training questions; see docs/experiments.md.
FEATURES = (
    "cosine",
    "words of the sentence",
    "words of the passage",
    "place of the passage",
    "bias",
)
_WEIGHTS = np.array([3.975, 1.978, 1.137, 1.938, -6.824])
READ_FEATURES = (
    *FEATURES[:-1],
    "answer in the sentence",
    "verdict on the passage",
    "verdicts on all passages",
    "bias",
)
_READ_WEIGHTS = np.array([1.173, 0.968, 1.089, 2.405, 0.366, 0.591, -0.403, -5.495])
REREAD_FEATURES = ("probability so far", "answer in the sentence", "verdict on the passage", "bias")
_REREAD_WEIGHTS = np.array([0.472, 0.285, 0.654, -0.436])
_OF_THE_OPTION, _FIRST_OF_IT = 1.5, 1.4  # log-odds; chosen on the dev part of benchmarks/plain_manuals.tsv
REREAD = 3  # passages that the large reader reads


@dataclass(frozen=True)
class Quote:
    """A sentence of a source, and how probably it answers the question."""

    source: Source
    text: str
    probability: float
    answer: str = ""  # the words of it that answer, where the reader is sure of them
    term: str = ""  # what stands above it in its paragraph, as an option above what it does
    place: tuple[int, int] = (0, 0)  # of term and text in the passage, in characters


@dataclass(frozen=True)
class Placed:
    """A sentence where it stands."""

    title: str  # of its passage
    passage: str
    number: int  # the place of its passage among the sources, from 1: the best is first
    sentence: Sentence
    term: str = ""  # above it in its paragraph

    @property
    def told(self) -> str:
        """The sentence as it is shown, below its term."""
        is_apart = self.term and self.term not in self.sentence.text
        return f"{self.term}\n{self.sentence.text}" if is_apart else self.sentence.text


class Quoter:
    """Chooses what to quote."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        threshold: float,
        quotes: int,
        readings: Readings | None = None,
        rereadings: Callable[[], Readings] | None = None,
        languages: Languages | None = None,
        across: Encoder | None = None,
    ) -> None:
        """encoder: of English questions. threshold: probability from which a sentence is quoted as an answer.
        quotes: sentences of one.

        rereadings: gives the large reader's, once there is something to read; without it the small one
        decides. languages: tells which questions the readers cannot read. across: encodes these.
        """
        self._english = encoder
        self._across = across or encoder
        self._languages = languages
        self._threshold = threshold
        self._quotes = quotes
        self._readings = readings
        self._rereadings = rereadings

    def best_quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """The sentences that answer best, best first; none where none is probable enough."""
        return self.sure(self.ranked(question, sources))

    def sure(self, ranked: Sequence[Quote]) -> list[Quote]:
        """Of ranked sentences, those that are probable enough to be the answer together."""
        best = ranked[0].probability if ranked else 0.0
        least = max(self._threshold, _CLOSE * best)
        return [quote for quote in ranked if quote.probability >= least][: self._quotes]

    def ranked(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """Every sentence that can be quoted, the most probable first.

        Under a heading that asks the same, the first sentence answers.
        """
        quotes = self.quotes(question, sources)
        if is_english(self._languages, asked(question)):
            quotes = self._reread(question, quotes)
        quotes = of_named_options(asked(question), quotes)
        found = [*self._under_their_question(asked(question), sources), *quotes]
        best = {quote.text: quote for quote in sorted(found, key=lambda quote: quote.probability)}
        return sorted(best.values(), key=lambda quote: -quote.probability)

    def _under_their_question(self, message: str, sources: Sequence[Source]) -> list[Quote]:
        under = [
            (heading.strip(), source)
            for source in sources
            for heading in _QUESTION.findall(source.passage.title.rpartition(HEADING_OF)[2])
        ]
        if not under:
            return []
        encoder = self._encoder_of(message)
        (vector,) = encoder.encode_queries([message])
        cosines = encoder.encode_passages([heading for heading, _ in under]) @ vector
        return [
            Quote(source, sentences(source.passage.text)[0].text, float(cosine))
            for (_, source), cosine in zip(under, cosines, strict=True)
            if cosine >= _ASKS_THE_SAME_FROM and source.passage.text.strip()
        ]

    def _encoder_of(self, message: str) -> Encoder:
        return self._english if is_english(self._languages, message) else self._across

    def _reread(self, question: str, quotes: Sequence[Quote]) -> list[Quote]:
        """Of the best passages alone, each sentence with its probability after the second reading."""
        if self._rereadings is None or not quotes:
            return list(quotes)
        again, readings = reread(self._rereadings(), question, quotes)
        found = probabilities(reread_features(again, readings))
        return [
            replace(quote, probability=float(probability), answer=_named_answer(reading, question, quote))
            for quote, reading, probability in zip(again, readings, found, strict=True)
        ]

    def quotes(self, question: str, sources: Sequence[Source]) -> list[Quote]:
        """Every sentence that can be quoted, with its probability, in the order of the sources."""
        quotable: dict[str, tuple[Source, Sentence]] = {}  # what stands in several is quoted from the first
        for source in sources:
            for sentence in sentences_in(source.passage.text, self._languages):
                if not is_question(sentence.text) and not _is_key_alone(question, sentence.text):
                    quotable.setdefault(sentence.text, (source, sentence))
        if not quotable:
            return []
        placed = [
            Placed(
                source.passage.title,
                source.passage.text,
                max(1, source.number),
                sentence,
                _in_its_entry(source, sentence, 0.0).term,
            )
            for source, sentence in quotable.values()
        ]
        message = asked(question)
        readings = read(self._readings if is_english(self._languages, message) else None, question, placed)
        found = features(self._encoder_of(message), question, placed, readings)
        quotes = []
        for (source, sentence), probability in zip(quotable.values(), probabilities(found), strict=True):
            quote = _in_its_entry(source, sentence, float(probability))
            if readings:
                answer = _named_answer(readings[source.passage.text], question, quote)
                quote = replace(quote, answer=answer)
            quotes.append(quote)
        return quotes


def of_named_options(message: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The same; what stands in the entry of an option that the message names is more probable.

    The first sentence of an entry says what the option does. Options are the same letter for letter alone;
    where two entries are of the same one, nothing tells which is meant.
    """
    named = set(options(message))
    meant = {(q.source.passage.text, q.term) for q in quotes if named & set(options(q.term))}
    if len(meant) != 1:
        return list(quotes)
    begun: set[tuple[str, str]] = set()
    found = []
    for quote in quotes:
        if named & set(options(quote.term)):
            entry = (quote.source.passage.text, quote.term)
            more = _OF_THE_OPTION + (_FIRST_OF_IT if entry not in begun else 0.0)
            begun.add(entry)
            odds = math.exp(_log_odds(quote.probability) + more)
            quote = replace(quote, probability=odds / (1 + odds))
        found.append(quote)
    return found


def _in_its_entry(source: Source, sentence: Sentence, probability: float) -> Quote:
    """A sentence with the term above it; of a term alone the first sentence below it.

    A term is a short first line of a paragraph that ends without a stop.
    """
    passage = source.passage.text
    start = passage.rfind("\n\n", 0, sentence.start) + 2 if "\n\n" in passage[: sentence.start] else 0
    paragraph = passage[start : end if (end := passage.find("\n\n", start)) >= 0 else len(passage)]
    term, _, below = paragraph.partition("\n")
    is_term = 0 < len(term) <= _LONGEST_TERM and term[-1] not in ".!?:;,|" and " | " not in paragraph
    if not below or not is_term or any(map(is_list_item, (term, sentence.text))):
        return Quote(source, sentence.text, probability, place=(sentence.start, sentence.end))
    text, end = sentence.text, sentence.end
    if sentence.start < start + len(term):
        text, end = sentences(below)[0].text, start + len(term) + 1 + sentences(below)[0].end
    return Quote(source, text, probability, term=term, place=(start, end))


def read(readings: Readings | None, question: str, placed: Sequence[Placed]) -> dict[str, Reading]:
    """What the reader says of each passage, by its text; empty without a reader."""
    passages = list(dict.fromkeys(one.passage for one in placed))
    return {} if readings is None else dict(zip(passages, readings.of(question, passages), strict=True))


def features(
    encoder: Encoder, question: str, placed: Sequence[Placed], readings: dict[str, Reading]
) -> Floats:
    """(N, 5): what speaks for each sentence, in the order of `FEATURES`; (N, 8) where it was read.

    question: of a follow-up with what was asked before; its words are those of the message alone.
    readings: by the text of the passage; of all passages or of none.
    """
    message = asked(question)
    queries = encoder.encode_queries(list(dict.fromkeys((question, message))))
    vectors = encoder.encode_passages([f"{p.title}\n{p.told}" if p.title else p.told for p in placed])
    words = searched if searched(message) else _all_words  # "What can you do?" has no rarer ones
    wanted = set(words(message))
    verdicts = {passage: _log_odds(reading.verdict.score) for passage, reading in readings.items()}
    return np.array(
        [
            (
                float((queries @ vector).max()),
                _share(wanted, words(p.told)),
                _share(wanted, words(f"{p.title} {p.passage}")),
                1 / p.number,
                *_read_features(readings, verdicts, p),
                1.0,
            )
            for vector, p in zip(vectors, placed, strict=True)
        ],
        dtype=np.float64,
    ).reshape(len(placed), len(READ_FEATURES if readings else FEATURES))


def probabilities(found: Floats) -> Floats:
    """(N,): how probably each sentence holds the answer.

    found: (N, 5), where it was read (N, 8), or after the second reading (N, 4).
    """
    weights = {len(each): each for each in (_WEIGHTS, _READ_WEIGHTS, _REREAD_WEIGHTS)}[found.shape[1]]
    return np.asarray(1 / (1 + np.exp(-(found @ weights))))


def _read_features(
    readings: dict[str, Reading], verdicts: dict[str, float], placed: Placed
) -> tuple[float, ...]:
    if not readings:
        return ()
    place = placed.sentence.start, placed.sentence.end
    inside = sum(span.probability for span in _spans_in(readings[placed.passage], place))
    return _log_odds(inside), verdicts[placed.passage], sum(verdicts.values()) / len(verdicts)


def reread(rereadings: Readings, question: str, quotes: Sequence[Quote]) -> tuple[list[Quote], list[Reading]]:
    """The quotes of the `REREAD` best passages, and what the second reading says of each one's passage.

    Each passage is read under its headings; no answer is looked for in these.
    """
    likeliest = sorted(quotes, key=lambda quote: -quote.probability)
    passages = {quote.source.passage.text: quote.source.passage for quote in likeliest}
    texts = list(passages)[:REREAD]
    whole = [searchable_text(passages[text].title, text) for text in texts]
    readings = {
        text: _without_heading(reading, len(read_text) - len(text))
        for text, read_text, reading in zip(texts, whole, rereadings.of(question, whole), strict=True)
    }
    again = [quote for quote in quotes if quote.source.passage.text in readings]
    return again, [readings[quote.source.passage.text] for quote in again]


def _without_heading(reading: Reading, characters: int) -> Reading:
    """What was read of a passage under so many characters of headings, with places in the passage itself."""
    below = (span for span in reading.answer.spans if span.start >= characters)
    spans = [replace(s, start=s.start - characters, end=s.end - characters) for s in below]
    return replace(reading, answer=replace(reading.answer, spans=tuple(spans)))


def reread_features(quotes: Sequence[Quote], readings: Sequence[Reading]) -> Floats:
    """(N, 4): what speaks for each quote after the second reading, in the order of `REREAD_FEATURES`.

    quotes: with their probability after the first. readings: of the passage of each.
    """
    rows = [
        (
            _log_odds(quote.probability),
            _log_odds(sum(span.probability for span in _spans_in(reading, quote.place))),
            _log_odds(reading.verdict.score),
            1.0,
        )
        for quote, reading in zip(quotes, readings, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(REREAD_FEATURES))


def _spans_in(reading: Reading, place: tuple[int, int]) -> list[AnswerSpan]:
    """The reader's answers that lie in a part of the passage, best first."""
    start, end = place
    return [span for span in reading.answer.spans if start <= span.start and span.end <= end]


def _named_answer(reading: Reading, question: str, quote: Quote) -> str:
    """The words of a quote that answer.

    Empty where the reader is not sure, means most of the quote, or only says what was asked.
    """
    spans = _spans_in(reading, quote.place)
    if not spans:
        return ""
    best, everything = spans[0], reading.answer
    somewhere = sum(span.probability for span in everything.spans)  # none overlaps another
    is_sure = best.probability >= max(_SURE * somewhere, everything.no_answer)
    is_short = len(best.text) <= _MOST_OF_IT * (quote.place[1] - quote.place[0])
    says_more = not set(tokens(best.text)) <= set(tokens(asked(question)))
    return best.text.rstrip(".") if is_sure and is_short and says_more else ""


_KEY_ROW = re.compile(
    r"\W*(?:[^|:]+: )?([^\W\d]|F\d\d?|Esc|Tab|Enter|(?:Ctrl|Alt|Shift)\+\w+)\W* \| (?:[^|:]+: )?([^|]+)\W*"
)


def _is_key_alone(question: str, sentence: str) -> bool:
    """Whether it is a row of a table of keys, and the message is but words of it, as "privacy" is."""
    row = _KEY_ROW.fullmatch(sentence)
    return row is not None and set(_all_words(asked(question))) <= set(_all_words(row[2]))


def _log_odds(probability: float) -> float:
    return math.log((probability + _SOFT) / (1 - min(probability, 1.0) + _SOFT))


def _all_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _share(wanted: set[str], there: Sequence[str]) -> float:
    return len(wanted.intersection(there)) / len(wanted) if wanted else 0.0
