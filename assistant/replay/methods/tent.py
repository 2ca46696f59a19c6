"""TENT: the query side adapts to each batch of questions before their results count, without any label.

    question -> search -> the k nearest -> entropy of softmax(sim / temperature) -> one step of the norms
             -> the question encoded anew -> search again -> found

Twice the retrieval, since what the step changes must be searched with. The torch part is
assistant/learning/recipes/retriever/entropy_minimisation.py, which is handed in here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from agents.base.interfaces import Vectors
from assistant.replay.methods.method import Asked, Found, JudgedQuestion, Search
from stores.vectors.exact import read_vectors

# The stored vectors of versions, by id: (D,) each, as their database keeps them
VectorsOf = Callable[[Sequence[int]], Mapping[int, bytes]]
_FLOAT_BYTES = 4


class Adapting(Protocol):
    """A query side that adapts by entropy."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: questions, by the weights as they are."""

    def step(self, texts: Sequence[str], documents: Sequence[Vectors]) -> float:
        """One step on a batch; the entropy before it. documents: for each question (k, D), what it found."""

    def reset(self) -> None:
        """Puts back what it began with."""


class Tent:
    """Searches, adapts, and searches again."""

    hears_users = False

    def __init__(
        self,
        adapting: Adapting,
        vectors_of: VectorsOf,
        *,
        nearest: int = 20,
        batch_questions: int = 1,
        resets: bool = False,
    ) -> None:
        """nearest: k, the passages whose entropy is minimised. batch_questions: of one step.

        A question is searched again by what was learned up to then, its own step included where it fills a
        batch. resets: each batch begins with the weights that the first began with.
        """
        self._adapting = adapting
        self._vectors_of = vectors_of
        self._nearest = nearest
        self._batch_questions = batch_questions
        self._resets = resets
        self._batch: list[tuple[str, Vectors]] = []
        self.entropies: list[float] = []  # before each step, in nats

    @property
    def name(self) -> str:
        resets = ", resets" if self._resets else ""
        return f"tent, {self._nearest} nearest, batch {self._batch_questions}{resets}"

    def retrieve(self, question: Asked, search: Search) -> Found:
        began = time.perf_counter()
        if self._resets and not self._batch:
            self._adapting.reset()
        (vector,) = self._adapting.encode([question.text])
        first = search.dense(vector, without=question.without)[: self._nearest]
        self._take(question.text, [candidate.passage.version_id for candidate in first])
        (vector,) = self._adapting.encode([question.text])
        ranked = search.ranked(question.text, vector, without=question.without)
        return Found(ranked.fused, ranked.dense, vector, time.perf_counter() - began, searches=2)

    def _take(self, text: str, version_ids: Sequence[int]) -> None:
        """Puts a question into the batch, and takes the step when that is full."""
        known = self._vectors_of(version_ids)
        stored = [known[i] for i in version_ids if i in known]
        if len(stored) < 2:
            return  # there is nothing to be unsure of
        self._batch.append((text, read_vectors(stored, len(stored[0]) // _FLOAT_BYTES)))
        if len(self._batch) == self._batch_questions:
            texts, documents = zip(*self._batch, strict=True)
            fewest = min(map(len, documents))
            self.entropies.append(self._adapting.step(texts, [rows[:fewest] for rows in documents]))
            self._batch.clear()

    def learn(self, judged: Sequence[JudgedQuestion]) -> None:
        """Learns nothing from labels."""
