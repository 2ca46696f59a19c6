"""Linear heads over the multilingual half: what a message is, and in which language.

    text -> its vector, the mean of its words, its digits -> one matrix a head -> probabilities

A head costs microseconds beside the vector. `training/heads.py` trains all of them at once.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from agents.base.interfaces import Vectors
from agents.languages.signs import LABELS, ORDERS, SEVERAL, Signs
from stores.base.errors import EncoderUnavailable

Floats = npt.NDArray[np.float32]

SHIPPED = Path(__file__).parent / "weights" / "heads"
FILE = "heads.safetensors"
ENGLISH = "en"
_LATIN = ["de", "es", "fr", "it", "nl", "pl", "pt", "tr"]  # that the library chooses among
_DIGITS_SHARE = 0.5  # of these features beside a vector of length 1; chosen on the dev part of data/messages
_KEPT = 4_000  # texts known to be English or not: a turn meets the same passages again
_SCRIPTS = {  # by how the names of their letters begin in Unicode
    "ARABIC": "ar",
    "CJK": "zh",
    "CYRILLIC": "ru",
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "THAI": "th",
}
_LONGEST = 300  # characters by which a language is told


class Encoder(Protocol):
    """The multilingual half."""

    @property
    def version(self) -> str: ...

    def encode_queries(self, texts: Sequence[str]) -> Vectors: ...

    def words(self, texts: Sequence[str]) -> Vectors: ...


class LanguageHeads:
    """The heads of a folder; see `Languages`."""

    def __init__(self, encoder: Encoder, folder: Path = SHIPPED) -> None:
        self._encoder = encoder
        with safe_open(folder / FILE, "numpy") as content:
            facts = json.loads(content.metadata()["facts"])
            self._weights = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        if facts["encoder"] != encoder.version:
            raise EncoderUnavailable(
                f"The heads in {folder} read the vectors of {facts['encoder']}, not of {encoder.version}",
                hint="Train them anew: python -m training.heads",
            )
        self._languages: list[str] = facts["languages"]
        self._other_from: float = facts["other_from"]
        self._is_english = lru_cache(maxsize=_KEPT)(self._told_apart)

    def is_english(self, text: str) -> bool:
        """See `Languages`."""
        return self._is_english(text[:_LONGEST])

    def language(self, text: str) -> str:
        """See `Languages`. By the letters or, in Latin script, by a library, which takes a second to load."""
        return of_script(text[:_LONGEST]) or _named(text[:_LONGEST])

    def signs(self, texts: Sequence[str]) -> list[Signs]:
        """See `Languages`."""
        if not texts:
            return []
        found = features(self._encoder, texts)
        labels, orders = softmax(self._head("label", found)), softmax(self._head("order", found))
        several = softmax(self._head("several", found))
        flags = [sigmoid(self._head(name, found))[:, 0].tolist() for name in ("profile", "secret", "open")]
        return [  # of orders and several, 0 is none
            Signs(_by_name(LABELS, row), _by_name(ORDERS, order[1:]), p, s, _by_name(SEVERAL, asked[1:]), o)
            for row, order, asked, p, s, o in zip(labels, orders, several, *flags, strict=True)
        ]

    def _told_apart(self, text: str) -> bool:
        if of_script(text):
            return False
        chances = softmax(self._head("language", self._encoder.words([text])))[0]
        return float(chances[self._languages.index(ENGLISH)]) > 1 - self._other_from

    def _head(self, name: str, found: Floats) -> Floats:
        scores: Floats = found @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return scores


def _by_name(names: Sequence[str], row: Floats) -> dict[str, float]:
    return dict(zip(names, map(float, row), strict=True))


def _named(text: str) -> str:
    return str(_naming().classify(text)[0])


@cache
def _naming() -> Any:
    import py3langid

    py3langid.set_languages(_LATIN)
    return py3langid


def of_script(text: str) -> str:
    """The language that most letters of a text are of, where that is no Latin script; else empty."""
    scripts = Counter(unicodedata.name(c, "").partition(" ")[0] for c in text if c.isalpha())
    known = Counter({name: scripts[name] for name in _SCRIPTS})
    if not known.total() or 2 * known.total() < scripts.total():
        return ""
    return "ja" if scripts["HIRAGANA"] + scripts["KATAKANA"] else _SCRIPTS[known.most_common(1)[0][0]]


def features(encoder: Encoder, texts: Sequence[str]) -> Floats:
    """(N, 2 D + 4): the vectors of texts, the means of their words, and what digits they hold."""
    digits = np.array([_digits(text) for text in texts], dtype=np.float32) * _DIGITS_SHARE
    return np.concatenate([encoder.encode_queries(texts), encoder.words(texts), digits], axis=1)


def _digits(text: str) -> tuple[float, ...]:
    """Whether there are any, their share, the longest word with one, and whether that has letters."""
    held = [word for word in text.split() if any(map(str.isdigit, word))]
    return (
        float(bool(held)),
        3 * sum(map(str.isdigit, text)) / max(1, len(text)),
        min(2.0, max(map(len, held), default=0) / 10),
        float(any(any(map(str.isalpha, word)) for word in held)),
    )


def softmax(scores: Floats) -> Floats:
    """(N, K) probabilities of (N, K) scores."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def sigmoid(scores: Floats) -> Floats:
    """1 / (1 + e^-s), of each score."""
    return np.asarray(1 / (1 + np.exp(-scores)), dtype=np.float32)
