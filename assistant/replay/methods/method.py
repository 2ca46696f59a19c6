"""How a retrieval method takes part in a replay: asked question by question, then shown what was judged.

    asked -> Method.retrieve(asked, search) -> Found -> (judged, answered, scored) -> Method.learn(judged)

A method sees a question's words and never what is known of its answer. It learns only from questions that
were answered before, so no figure of a question depends on later ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agents.base.interfaces import Candidate, Encoder, SearchableSpace, Vector
from agents.retrieval.reranker import Judgement
from agents.retrieval.retriever import Fusion, Retriever, Signals

DENSE = Fusion(dense_weight=1.0, document_lift=0.0, conversation_lift=0.0)


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
    """What a method found for a question."""

    candidates: tuple[Candidate, ...]  # best first: what is judged
    dense: tuple[Candidate, ...]  # by vectors alone, best first: for the figures of dense search
    vector: Vector  # the question's, or the mean of several that were searched with; (D,), unit length
    tokens: int = 0  # read and written by a chat model
    encoder_version: str = ""  # of the vector; empty: that of the search it was given


class Search:
    """Searches what one user may see. Made anew for each question."""

    def __init__(
        self, encoder: Encoder, space: SearchableSpace, *, keep: int, pool: int, fusion: Fusion
    ) -> None:
        """encoder: of the space's vectors. keep: candidates found. pool, fusion: see `Retriever`."""
        self.encoder, self.space, self.keep, self.fusion = encoder, space, keep, fusion
        self.retriever = Retriever(encoder, keep=keep, pool=max(pool, keep), fusion=fusion)

    def ranked(self, text: str, vector: Vector, *, without: Collection[int] = ()) -> Ranked:
        """One search by words and vector together. vector: (D,), unit length."""
        return self.both_orders(self.retriever.signals(text, vector, self.space, without=without))

    def both_orders(self, signals: Signals) -> Ranked:
        """Signals as the product orders them, and by vectors alone."""
        return Ranked(
            tuple(signals.ranked(self.fusion, keep=self.keep)),
            tuple(signals.ranked(DENSE, keep=self.keep)),
        )


class Method(Protocol):
    """A way of finding passages that may learn while it is used."""

    def retrieve(self, question: Asked, search: Search) -> Found:
        """The passages for a question. Must not run where an event loop runs."""

    def learn(self, judged: Sequence[JudgedQuestion]) -> Mapping[str, Any]:
        """Learns from the questions since the last call, in their order; the facts, if it learned."""
        return {}

    def take_up(self, judged: Sequence[JudgedQuestion]) -> None:
        """Becomes what it was after learning from all of these, in a process that was killed since."""
        return


class Frozen(Method):
    """Retrieve and rerank: the question as it is, by the encoder as it is."""

    def retrieve(self, question: Asked, search: Search) -> Found:
        (vector,) = search.encoder.encode_queries([question.text])
        ranked = search.ranked(question.text, vector, without=question.without)
        return Found(ranked.fused, ranked.dense, vector)
