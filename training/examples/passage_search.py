"""Passages ranked by the words they share with a question, in memory: where hard negatives come from.

BM25 with the tokens and constants of the product's own word search (stores/words/lexical.py).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice

import numpy as np

from stores.words.lexical import LENGTH_SHARE, SATURATION, tokens

_COMMON = 0.1  # a token in more passages than this share orders nothing


class PassageSearch:
    """Finds the passages that share the rarer words of a question."""

    def __init__(self, passages: Sequence[str]) -> None:
        counted = [Counter(tokens(passage)) for passage in passages]
        lengths = np.array([counts.total() for counts in counted], dtype=np.float32)
        damping = SATURATION * (
            1 - LENGTH_SHARE + LENGTH_SHARE * lengths / max(1.0, float(lengths.sum()) / max(1, len(lengths)))
        )
        holding: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, counts in enumerate(counted):
            for token, count in counts.items():
                holding[token].append((place, count))
        self._passages = len(passages)
        self._weights: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # by token: places, weight in each
        for token, postings in holding.items():
            if len(postings) > max(10, _COMMON * self._passages):
                continue
            places, found = np.array(postings, dtype=np.int64).T
            rarity = math.log(1 + (self._passages - len(postings) + 0.5) / (len(postings) + 0.5))
            self._weights[token] = (places, rarity * found * (SATURATION + 1) / (found + damping[places]))

    def ranked(self, question: str, count: int) -> list[int]:
        """Places of the `count` best passages, best first; only those that share a word."""
        known = [self._weights[token] for token in sorted(set(tokens(question))) if token in self._weights]
        if not known:
            return []
        places = np.concatenate([places for places, _ in known])
        weights = np.concatenate([weights for _, weights in known])
        scores = np.bincount(places, weights, minlength=self._passages)
        best = np.argpartition(-scores, min(count, self._passages - 1))[:count]
        ordered = best[np.lexsort((best, -scores[best]))]
        return [int(place) for place in islice(ordered, count) if scores[place] > 0]
