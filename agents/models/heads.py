"""Linear heads over the multilingual half: what a message is, and in which language.

    text -> its vector, the mean of its words, its digits -> one matrix a head -> probabilities

A head costs microseconds beside the vector. `assistant.learning.recipes.heads` trains all of them at once.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from agents.base.interfaces import Vectors
from agents.languages.signs import LABELS, Signs

Floats = npt.NDArray[np.float32]

SHIPPED = Path(__file__).parent / "weights" / "heads"
FILE = "heads.safetensors"
ENGLISH = "en"
UNDETERMINED = "und"  # another language than English, as ISO 639 calls one that is not known
_WHICH_FROM = 0.6  # share of the likeliest other language from which it is named
_DIGITS_SHARE = 0.5  # of these features beside a vector of length 1; chosen on the dev part of data/messages
_KEPT = 4_000  # texts whose language is remembered: a turn meets the same passages again
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

    def encode_queries(self, texts: Sequence[str]) -> Vectors: ...

    def words(self, texts: Sequence[str]) -> Vectors: ...


class LanguageHeads:
    """The heads of a folder; see `Languages`."""

    def __init__(self, encoder: Encoder, folder: Path = SHIPPED) -> None:
        self._encoder = encoder
        with safe_open(folder / FILE, "numpy") as content:
            facts = json.loads(content.metadata()["facts"])
            self._weights = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        self._languages: list[str] = facts["languages"]
        self._other_from: float = facts["other_from"]
        self._language = lru_cache(maxsize=_KEPT)(self._told_apart)

    def language(self, text: str) -> str:
        """See `Languages`. What is not surely another language is taken for English."""
        return self._language(text[:_LONGEST])

    def signs(self, texts: Sequence[str]) -> list[Signs]:
        """See `Languages`."""
        if not texts:
            return []
        found = features(self._encoder, texts)
        labels = softmax(self._head("label", found))
        profile, secret = (sigmoid(self._head(name, found))[:, 0] for name in ("profile", "secret"))
        return [
            Signs(dict(zip(LABELS, map(float, row), strict=True)), float(p), float(s))
            for row, p, s in zip(labels, profile, secret, strict=True)
        ]

    def _told_apart(self, text: str) -> str:
        if script := of_script(text):
            return script
        chances = softmax(self._head("language", self._encoder.words([text])))[0]
        others = {each: p for each, p in zip(self._languages, chances, strict=True) if each != ENGLISH}
        other = sum(others.values())
        if other < self._other_from:
            return ENGLISH
        likeliest = max(others, key=lambda each: others[each])
        return likeliest if others[likeliest] >= _WHICH_FROM * other else UNDETERMINED

    def _head(self, name: str, found: Floats) -> Floats:
        scores: Floats = found @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return scores


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
