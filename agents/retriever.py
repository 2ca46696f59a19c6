"""Finds passages: dense and lexical search over what one user may see, fused, with a lift by neighbours."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from agents.fusion import lifts, mixed
from agents.interfaces import Candidate, Encoder, SearchableSpace, Vector
from agents.sentences import asks_only
from stores.records import Passage


@dataclass(frozen=True)
class Retrieved:
    """What one query found."""

    query: str
    vector: Vector  # the query's, by `encoder_version`
    encoder_version: str
    candidates: tuple[Candidate, ...]  # best first


@dataclass(frozen=True)
class Fusion:
    """How signals become one score."""

    dense_weight: float  # the dense signal's share of the mix, 0 to 1; the lexical one has the rest
    document_lift: float  # the share of the better neighbour's score that a document's passage gains
    conversation_lift: float  # the same for what was said in a conversation

    def lift_of(self, passage: Passage) -> float:
        """The share that this passage gains."""
        return self.conversation_lift if passage.kind == "message" else self.document_lift


@dataclass(frozen=True)
class Signals:
    """Every passage in question with what each signal says of it; all by version id."""

    passages: Mapping[int, Passage]
    dense: Mapping[int, float]  # cosine; 0 where there is no vector yet
    lexical: Mapping[int, float]  # BM25
    neighbours: Mapping[int, tuple[int | None, int | None]]

    def ranked(self, fusion: Fusion) -> list[Candidate]:
        """All of them as candidates, best first; equals keep the order of their ids.

        What its user only asked comes last, however alike: a question holds no answer.
        """
        score = mixed(self.dense, self.lexical, dense_weight=fusion.dense_weight)
        lift = lifts(
            score,
            self.neighbours,
            shares={i: fusion.lift_of(passage) for i, passage in self.passages.items()},
        )
        only_asks = {i: p.kind == "message" and asks_only(p.text) for i, p in self.passages.items()}
        order = sorted(self.passages, key=lambda i: (only_asks[i], -(score[i] + lift[i]), i))
        return [
            Candidate(self.passages[i], self.dense[i], self.lexical[i], lift[i], score[i] + lift[i], rank)
            for rank, i in enumerate(order, start=1)
        ]


class Retriever:
    """Finds the passages of a space that are nearest to a query in meaning and in words."""

    def __init__(self, encoder: Encoder, *, keep: int, pool: int, fusion: Fusion) -> None:
        """keep: candidates returned. pool: how many each signal contributes before they are mixed."""
        self._encoder = encoder
        self._keep = keep
        self._pool = pool
        self._fusion = fusion

    def retrieve(self, query: str, space: SearchableSpace, *, without: Collection[int] = ()) -> Retrieved:
        """The best passages for a query. without: versions not looked for, such as the query's own."""
        vector = self._encoder.encode_queries([query])[0]
        signals = self.signals(query, vector, space, without=without)
        ranked = signals.ranked(self._fusion)
        return Retrieved(query, vector, self._encoder.version, tuple(ranked[: self._keep]))

    def signals(
        self, query: str, vector: Vector, space: SearchableSpace, *, without: Collection[int] = ()
    ) -> Signals:
        """What either signal finds, and their neighbours, each scored by both signals."""
        deep = self._pool + len(without)
        found = [i for i, _ in space.nearest(vector, deep)] + space.matching(query, deep)
        # a poor match next to a good one may hold the answer
        found += [near for pair in space.neighbours(found).values() for near in pair if near is not None]
        passages = space.passages([i for i in dict.fromkeys(found) if i not in set(without)])
        ids = list(passages)
        similar = space.similarities(vector, ids)
        return Signals(
            passages,
            {i: similar.get(i, 0.0) for i in ids},
            space.word_scores(query, ids),
            space.neighbours(ids),
        )
