"""How a retrieval method takes part in a replay: asked question by question, then shown what was judged.

    asked -> Method.retrieve(asked, search) -> Found -> (judged, answered, scored) -> Method.learn(judged)

A method sees a question's words and never what is known of its answer. It may search as often as it likes,
with words and vectors of its own making; what that took is told with what it found. It learns only from
questions that were answered before, so no figure of a question depends on later ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from agents.base.interfaces import Candidate, Encoder, SearchableSpace, Vector, Vectors
from agents.retrieval.reranker import Judgement
from agents.retrieval.retriever import Fusion, Retriever, Signals

DENSE = Fusion(dense_weight=1.0, document_lift=0.0, conversation_lift=0.0)
LEXICAL = Fusion(dense_weight=0.0, document_lift=0.0, conversation_lift=0.0)


@dataclass(frozen=True)
class Asked:
    """A question as a method sees it."""

    id: str
    text: str
    without: tuple[int, ...] = ()  # versions that are not looked for, such as the question's own message


@dataclass(frozen=True)
class JudgedQuestion:
    """A question that was answered, with what the judge said of the passages found for it."""

    asked: Asked
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True)
class Ranked:
    """What one search found, in two orders."""

    fused: tuple[Candidate, ...]  # as the product orders, best first
    dense: tuple[Candidate, ...]  # by vectors alone, best first


@dataclass(frozen=True)
class Found:
    """What a method found for a question, and what that took."""

    candidates: tuple[Candidate, ...]  # best first: what is judged
    dense: tuple[Candidate, ...]  # by vectors alone, best first: for the figures of dense search
    vector: Vector  # the question's, or the mean of several that were searched with; (D,), unit length
    seconds: float  # of all that the method did, a chat model's writing apart
    tokens: int = 0  # read and written by a chat model
    model_seconds: float = 0.0
    encoder_version: str = ""  # of the vector; empty: that of the search it was given


class Method(Protocol):
    """A way of finding passages that may learn while it is used."""

    @property
    def name(self) -> str:
        """Names the method, its settings that are not the usual ones, and its chat model."""

    @property
    def hears_users(self) -> bool:
        """Whether what users say after an answer is to change what is searched: the player sees to that."""

    def retrieve(self, question: Asked, search: Search) -> Found:
        """The passages for a question. Must not run where an event loop runs."""

    def learn(self, judged: Sequence[JudgedQuestion]) -> None:
        """Learns from the questions since the last call, in their order; may do nothing."""


class SearchedSpace(SearchableSpace, Protocol):
    """A space that also weighs words on demand."""

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of each version for the query; 0 without a shared word."""


class Search:
    """Searches what one user may see, with any words and any vectors. Made anew for each question."""

    def __init__(
        self,
        encoder: Encoder,
        space: SearchedSpace,
        *,
        keep: int,
        pool: int,
        fusion: Fusion,
        by: Callable[[Path], Search] | None = None,
    ) -> None:
        """encoder: of the space's vectors. keep: candidates found. pool, fusion: see `Retriever`.

        by: see the method.
        """
        self._by = by
        self._encoder = encoder
        self._space = space
        self._keep = keep
        self._fusion = fusion
        self._retriever = Retriever(encoder, keep=keep, pool=max(pool, keep), fusion=fusion)

    @property
    def encoder_version(self) -> str:
        """Of the vectors that are searched, and so of any vector that is searched with."""
        return self._encoder.version

    @property
    def keep(self) -> int:
        """How many candidates a search gives at most."""
        return self._keep

    def by(self, folder: Path) -> Search:
        """The same user's space by the encoder of a folder; what it has not encoded yet is encoded first."""
        if self._by is None:
            raise ValueError("nothing here is encoded anew")
        return self._by(folder)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: queries, as the frozen encoder encodes them."""
        return self._encoder.encode_queries(texts)

    def ranked(
        self,
        words: str | Mapping[str, float],
        vector: Vector,
        *,
        question: str | None = None,
        without: Collection[int] = (),
    ) -> Ranked:
        """One search by words and vector together.

        words: what the lexical signal looks for; or several texts, each with how often it counts: BM25 is
        then the sum of theirs, as over a query that repeats each so often. vector: (D,), unit length.
        question: decides whether a speaker is named and a time is asked for; without it, the words do.
        """
        signals = self._signals(words, vector, without)
        if question is not None:
            signals = replace(signals, query=question)
        return Ranked(
            tuple(signals.ranked(self._fusion, keep=self._keep)),
            tuple(signals.ranked(DENSE, keep=self._keep)),
        )

    def dense(self, vector: Vector, *, without: Collection[int] = ()) -> tuple[Candidate, ...]:
        """What is nearest in meaning, best first."""
        return tuple(self._signals("", vector, without).ranked(DENSE, keep=self._keep))

    def lexical(
        self, words: str | Mapping[str, float], *, without: Collection[int] = ()
    ) -> tuple[Candidate, ...]:
        """What shares the rarer words, best first; nothing else, even where fewer than `keep` do."""
        nowhere = np.zeros(self._encoder.dimension, dtype=np.float32)
        ranked = self._signals(words, nowhere, without).ranked(LEXICAL, keep=self._keep)
        return tuple(candidate for candidate in ranked if candidate.lexical > 0)

    def _signals(self, words: str | Mapping[str, float], vector: Vector, without: Collection[int]) -> Signals:
        if isinstance(words, str):
            return self._retriever.signals(words, vector, self._space, without=without)
        signals = self._retriever.signals("\n".join(words), vector, self._space, without=without)
        ids = list(signals.passages)
        scores = {text: self._space.word_scores(text, ids) for text in words}
        lexical = {i: sum(count * scores[text][i] for text, count in words.items()) for i in ids}
        return replace(signals, lexical=lexical)


class Frozen:
    """Retrieve and rerank: the question as it is, by the encoder as it is."""

    name = "frozen"

    def __init__(self, *, hears_users: bool = False) -> None:
        self.hears_users = hears_users

    def retrieve(self, question: Asked, search: Search) -> Found:
        began = time.perf_counter()
        (vector,) = search.encode([question.text])
        ranked = search.ranked(question.text, vector, without=question.without)
        return Found(ranked.fused, ranked.dense, vector, time.perf_counter() - began)

    def learn(self, judged: Sequence[JudgedQuestion]) -> None:
        """Learns nothing."""
