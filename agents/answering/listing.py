"""Lists every statement that answers, where a question asks for several: all, how many, or the latest.

    the heads -> what is asked for -> of each statement that was read, how probably it is one of those
              -> those that probably are, oldest first; where days are asked for, what names them, by day

p = sigmoid(w · (log of the page's probability, cosine by the multilingual half, rare words shared, 1))
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from agents.answering.memory_answers import MemoryAnswer, Remembered
from agents.base.interfaces import Encoder
from agents.languages.named_days import Days, asked_days, named_days, repeated_in
from agents.languages.signs import SEVERAL_FROM, Languages, Signs
from stores.base.clock import now
from stores.words.lexical import WordStatistics, tokens

Floats = npt.NDArray[np.float64]

# Fitted by benchmarks/lists.py --fit on the dev part of data/lists, which chose the thresholds as well.
FEATURES = ("log of the page's probability", "cosine", "rare words shared", "bias")
_WEIGHTS = np.array([0.4, 4.63, 1.73, -1.03])
_LISTED_FROM = 0.25
_NAMED_FROM = 0.03  # the same of a statement that names a day that is asked for
_SURELY_FROM = 0.5  # p(several), from which a question asks for several though a single statement answers
_OPEN_FROM = 0.4  # p(open)
_LEAST = 1e-6


@dataclass(frozen=True)
class Listed:
    """What answers a question for several."""

    wanted: str  # one of SEVERAL
    statements: tuple[Remembered, ...]  # oldest first, or by day; of the latest, that alone
    days: tuple[Days, ...] = ()  # where days are asked for: which of them each names


class Lister:
    """Finds all statements that answer."""

    def __init__(self, encoder: Encoder, languages: Languages) -> None:
        """encoder: the multilingual half. languages: know what a question asks for."""
        self._encoder, self._languages = encoder, languages

    def asks_for_several(self, message: str, *, surely: bool = False) -> bool:
        """Whether a message asks for several statements. surely: even where a single one surely answers."""
        return self._signs(message).asks_for_several >= (_SURELY_FROM if surely else SEVERAL_FROM)

    def listed(self, question: str, told: Sequence[MemoryAnswer]) -> Listed | None:
        """What is asked for; None where it is one thing, or too little is found to list.

        told: the statements read for the question.
        """
        if not told or not self.asks_for_several(question):
            return None
        signs, today = self._signs(question), now().astimezone().date()
        wanted = max(signs.several, key=lambda one: signs.several[one])
        read = list(zip([one.statement for one in told], self.probabilities(question, told), strict=True))
        if signs.open >= _OPEN_FROM:
            read = [(one, p) for one, p in read if one.holds and not _is_over(one, today)]
        if (window := asked_days(question, today)) is not None:
            return _on(window, wanted, read)
        found = sorted((one for one, p in read if p >= _LISTED_FROM), key=lambda one: one.told_at)
        if len(found) < (1 if wanted == "latest" or signs.open >= _OPEN_FROM else 2):
            return None
        return Listed(wanted, tuple(found[-1:] if wanted == "latest" else found))

    def probabilities(self, question: str, told: Sequence[MemoryAnswer]) -> Floats:
        """(N,): of each statement, that it is one of those that answer."""
        chances: Floats = 1 / (1 + np.exp(-(self.features(question, told) @ _WEIGHTS)))
        return chances

    def features(self, question: str, told: Sequence[MemoryAnswer]) -> Floats:
        """(N, 4): what speaks for each statement, in the order of `FEATURES`."""
        texts = [one.statement.text for one in told]
        cosines = self._encoder.encode_passages(texts) @ self._encoder.encode_queries([question])[0]
        pages = [math.log(one.probability + _LEAST) for one in told]
        return np.column_stack([pages, cosines, _shared(question, texts), np.ones(len(told))])

    def _signs(self, message: str) -> Signs:
        (signs,) = self._languages.signs([message])
        return signs


def _on(window: Days, wanted: str, read: Sequence[tuple[Remembered, float]]) -> Listed | None:
    """What is on these days: it names one, is told to repeat on one, or was told then and names none."""
    found: list[tuple[Days, Remembered]] = []
    for one, probability in read:
        told_on = one.told_at.astimezone().date()
        repeated = repeated_in(one.text, told_on, window)
        named = (repeated,) if repeated else named_days(one.text, told_on)
        least = _NAMED_FROM if named else _LISTED_FROM
        days = next((days for days in named or (Days(told_on, told_on),) if days.meet(window)), None)
        if days is not None and probability >= least:
            found.append((days, one))
    found.sort(key=lambda each: (each[0].first, each[1].told_at))
    if not found:
        return None
    if wanted == "latest":
        found = found[-1:]
    return Listed(wanted, tuple(one for _, one in found), tuple(days for days, _ in found))


def _is_over(one: Remembered, today: date) -> bool:
    """Whether it names days that were still to come when it was told, and all of them have passed."""
    told_on = one.told_at.astimezone().date()
    named = named_days(one.text, told_on)
    return bool(named) and all(told_on <= days.last < today for days in named)


def _shared(question: str, texts: Sequence[str]) -> list[float]:
    """By text, how rare on the page the words are that it shares with the question, added up."""
    words = [set(tokens(text)) for text in texts]
    held = Counter(word for each in words for word in each)
    statistics = WordStatistics(len(texts), held.total(), held)
    asked = sorted(set(tokens(question)))
    return [sum(statistics.rarity(word) for word in asked if word in each) for each in words]
