"""Finds passages: dense and lexical search over what one user may see, fused, with a lift by neighbours."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from agents.fusion import lifts, mixed
from agents.interfaces import Candidate, Encoder, SearchableSpace, Vector


@dataclass(frozen=True)
class Retrieved:
    """What one query found."""

    query: str
    vector: Vector  # the query's, by `encoder_version`
    encoder_version: str
    candidates: tuple[Candidate, ...]  # best first


class Retriever:
    """Finds the passages of a space that are nearest to a query in meaning and in words."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        keep: int,
        pool: int,
        dense_weight: float,
        neighbour_lift: float,
    ) -> None:
        """keep: candidates returned. pool: how many each signal contributes before they are mixed."""
        self._encoder = encoder
        self._keep = keep
        self._pool = pool
        self._dense_weight = dense_weight
        self._neighbour_lift = neighbour_lift

    def retrieve(self, query: str, space: SearchableSpace, *, without: Collection[int] = ()) -> Retrieved:
        """The best passages for a query. without: versions that are not looked for, such as the query itself.

        Every candidate is scored by every signal, also when only one of them found it; equals keep
        the order of their ids.
        """
        vector = self._encoder.encode_queries([query])[0]
        near = space.nearest(vector, self._pool + len(without))
        found = [i for i, _ in near] + space.matching(query, self._pool + len(without))
        if self._neighbour_lift > 0:  # a poor match next to a good one may hold the answer
            found += [n for pair in space.neighbours(found).values() for n in pair if n is not None]
        passages = space.passages([i for i in dict.fromkeys(found) if i not in set(without)])
        ids = list(passages)

        similar = space.similarities(vector, ids)
        dense = {i: similar.get(i, 0.0) for i in ids}  # 0: just said, and not encoded yet
        lexical = space.word_scores(query, ids)
        score = mixed(dense, lexical, dense_weight=self._dense_weight)
        lift = lifts(score, space.neighbours(ids), share=self._neighbour_lift)
        ranked = sorted(ids, key=lambda i: (-(score[i] + lift[i]), i))[: self._keep]
        return Retrieved(
            query,
            vector,
            self._encoder.version,
            tuple(
                Candidate(passages[i], dense[i], lexical[i], lift[i], score[i] + lift[i], rank)
                for rank, i in enumerate(ranked, start=1)
            ),
        )
