"""TENT: the query side adapts to each question before their results count, without any label.

    question -> search -> the k nearest -> entropy of softmax(sim / temperature) -> one step of the norms
             -> the question encoded anew -> search again -> found

Twice the retrieval, since what the step changes must be searched with. The torch part is
experiments/methods/entropy_minimisation.py, which is handed in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agents.base.interfaces import Vectors
from assistant.replay.methods.luf import VectorsOf
from assistant.replay.methods.method import Asked, Found, Method, Search
from experiments.methods.searching import nearest
from stores.vectors.exact import read_vectors

_FLOAT_BYTES = 4


class Adapting(Protocol):
    """A query side that adapts by entropy."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: questions, by the weights as they are."""

    def step(self, texts: Sequence[str], documents: Sequence[Vectors]) -> float:
        """One step on a batch; the entropy before it. documents: for each question (k, D), what it found."""


class Tent(Method):
    """Searches, adapts, and searches again."""

    def __init__(self, adapting: Adapting, vectors_of: VectorsOf, *, nearest: int = 20) -> None:
        """nearest: k, the passages whose entropy is minimised."""
        self._adapting = adapting
        self._vectors_of = vectors_of
        self._nearest = nearest
        self.entropies: list[float] = []  # before each step, in nats

    def retrieve(self, question: Asked, search: Search) -> Found:
        (vector,) = self._adapting.encode([question.text])
        first = nearest(search, vector, question)[: self._nearest]
        self._take(question.text, [candidate.passage.version_id for candidate in first])
        (vector,) = self._adapting.encode([question.text])
        ranked = search.ranked(question.text, vector, without=question.without)
        return Found(ranked.fused, ranked.dense, vector)

    def _take(self, text: str, version_ids: Sequence[int]) -> None:
        """One step on a question that found several."""
        known = self._vectors_of(version_ids)
        stored = [known[i] for i in version_ids if i in known]
        if len(stored) < 2:
            return  # there is nothing to be unsure of
        documents = read_vectors(stored, len(stored[0]) // _FLOAT_BYTES)
        self.entropies.append(self._adapting.step([text], [documents]))
