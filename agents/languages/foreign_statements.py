"""How probably a statement answers a question, where one of the two is not English: by meaning alone.

p = sigmoid(w · (cosine by the multilingual half, how far that is above the best other, 1))
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import Encoder
from agents.languages.signs import Languages, is_english

Floats = npt.NDArray[np.float64]

# Fitted by benchmarks/languages.py --fit on the dev part of data/languages.
FEATURES = ("cosine", "above the best other", "bias")
_SAME_LANGUAGE = np.array([14.09, 21.5, -6.53])
_ACROSS = np.array([19.76, 13.99, -5.88])

# Cosine of two statements, from which a line is spent on the later one. On the dev parts of data/everyday and
# data/lookalikes 53 % of those that replace another are as near, and 9 % of those that do not.
_MAY_CHANGE_FROM = 0.35


class ForeignStatements:
    """Ranks by meaning what the readers cannot read."""

    def __init__(self, encoder: Encoder, languages: Languages) -> None:
        """encoder: the multilingual half."""
        self._encoder, self._languages = encoder, languages

    def can_read(self, text: str) -> bool:
        """Whether the readers can."""
        return is_english(self._languages, text)

    def probabilities(
        self, question: str, statements: Sequence[str], beside: Sequence[str] = ()
    ) -> list[float]:
        """Of each statement, that it answers the question. beside: others, which the reader reads."""
        if not statements:
            return []
        weights = _ACROSS if self.can_read(question) else _SAME_LANGUAGE
        found = features(self._encoder, question, [*statements, *beside])[: len(statements)]
        likely = 1 / (1 + np.exp(-(found @ weights)))
        return [float(p) for p in likely]

    def like(self, statement: str, others: Sequence[str]) -> list[bool]:
        """Which others may speak of the same as a statement, and so say what became of it."""
        if not others:
            return []
        (vector,) = self._encoder.encode_passages([statement])
        return [bool(cosine >= _MAY_CHANGE_FROM) for cosine in self._encoder.encode_passages(others) @ vector]


def features(encoder: Encoder, question: str, statements: Sequence[str]) -> Floats:
    """(N, 3): what speaks for each statement, in the order of `FEATURES`. Alone, one is above nothing."""
    cosines = encoder.encode_passages(statements).astype(np.float64) @ encoder.encode_queries([question])[0]
    best, following = np.sort(np.append(cosines, [0.0, 0.0]))[-1:-3:-1]
    above = cosines - np.where(cosines >= best, following, best)
    return np.column_stack([cosines, above, np.ones(len(statements))])
