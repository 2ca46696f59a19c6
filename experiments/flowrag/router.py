"""Which collections a question is asked of, where each has its own index under its own prompts.

oracle: the one it belongs to, which is told
centroid: the one whose training questions are nearest on average; none where all are far
all: every one, joined by their places, since scores under different prompts are not comparable
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agents.base.interfaces import Vector, Vectors

How = Literal["oracle", "centroid", "all"]

_UNKNOWN_BELOW = 5  # percent of the training questions
_RRF = 60  # k of reciprocal rank fusion

Item = tuple[str, int]  # a collection, and a place in it


@dataclass(frozen=True)
class Centroid:
    """Where a collection's questions lie for the encoder without prompts."""

    vector: Vector  # (D,), unit length
    least: float  # the cosine that 95 % of the training questions reach

    @classmethod
    def of(cls, questions: Vectors) -> Centroid:
        """questions: (Q, D), of training, unit length."""
        mean = questions.mean(0)
        mean /= np.linalg.norm(mean)
        return cls(mean, float(np.percentile(questions @ mean, _UNKNOWN_BELOW)))


def routed(how: How, own: str, question: Vector, centroids: Mapping[str, Centroid]) -> tuple[str, ...]:
    """The collections to ask; none where the question is of none. own: read by the oracle alone."""
    if how == "oracle":
        return (own,)
    if how == "all":
        return tuple(centroids)
    cosines = {name: float(each.vector @ question) for name, each in centroids.items()}
    nearest = max(cosines, key=lambda name: (cosines[name], name))
    return (nearest,) if cosines[nearest] >= centroids[nearest].least else ()


def joined(rankings: Sequence[Sequence[Item]]) -> list[Item]:
    """By Σ 1 / (k + place), best first, places from 1: whatever the order of the rankings."""
    shares: dict[Item, list[float]] = defaultdict(list)
    for ranking in rankings:
        for place, item in enumerate(ranking, 1):
            shares[item].append(1 / (_RRF + place))
    return sorted(shares, key=lambda item: (-math.fsum(shares[item]), item))
