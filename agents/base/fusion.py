"""Scores of several signals become one, and neighbours lift each other.

    dense, lexical --normalise--> 0..1 each --mix--> one score --lift--> plus a share of the better neighbour

Dense search finds what is meant, lexical search what is named; on long conversations each finds what
the other misses, and an answer often stands next to the sentence that matches the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Scores = Mapping[int, float]  # by version id; higher is better


def normalised(scores: Scores) -> dict[int, float]:
    """Scores moved and scaled to 0..1: (s - min) / (max - min); all 0 when they are all equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 0.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def mixed(dense: Scores, lexical: Scores, *, dense_weight: float) -> dict[int, float]:
    """One score from two: w · dense + (1 - w) · lexical, each normalised over the same passages.

    dense, lexical: cosine and BM25 of the same passages. dense_weight: w, 0 to 1. Returns scores in 0..1.
    """
    if dense.keys() != lexical.keys():
        raise ValueError("both signals must score the same passages")
    dense, lexical = normalised(dense), normalised(lexical)
    return {key: dense_weight * dense[key] + (1 - dense_weight) * lexical[key] for key in dense}


def lifts(
    scores: Scores,
    neighbours: Mapping[int, tuple[int | None, int | None]],
    *,
    shares: Mapping[int, tuple[float, float]],
) -> dict[int, float]:
    """What each passage gains from standing next to a good one.

        max(share before · score before, share after · score after)

    scores: at least 0. neighbours: the passages before and after, where there are any; one without a
    score counts as 0. shares: of each that has neighbours, before and after, 0 or more. What was gained is
    not passed on.
    """
    return {
        key: max(
            share * (0.0 if near is None else scores.get(near, 0.0))
            for share, near in zip(shares[key], neighbours[key], strict=True)
        )
        if key in neighbours
        else 0.0
        for key in scores
    }


def reciprocal_ranks(rankings: Sequence[Sequence[int]], *, damping: float = 60.0) -> dict[int, float]:
    """Several rankings as one score: Σ 1 / (damping + rank), rank from 1 (Cormack et al. 2009).

    For rankings whose scores cannot be compared, such as those of different queries.
    """
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            fused[key] = fused.get(key, 0.0) + 1 / (damping + rank)
    return fused
