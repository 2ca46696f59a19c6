"""What was found, best first, against what is right: pure functions over the ids of one question."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence


def success_at(found: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """1 where any relevant id is among the first `depth` found, else 0; often called R@k where one suffices.

    Raises ValueError where nothing is relevant.
    """
    if not relevant:
        raise ValueError("nothing is relevant, so nothing can be found")
    return float(bool(set(found[:depth]) & set(relevant)))


def evidence_recall_at(
    found: Sequence[str], evidence: Sequence[Collection[str]], depth: int, *, needs_all: bool = False
) -> float:
    """The share of the pieces of evidence among the first `depth` found, each by any of its names.

    needs_all: nothing is won by a part. Raises ValueError where there is no evidence.
    """
    if not evidence:
        raise ValueError("there is no evidence to find")
    first = set(found[:depth])
    share = sum(not first.isdisjoint(names) for names in evidence) / len(evidence)
    return float(share == 1.0) if needs_all else share


def ndcg_at(found: Sequence[str], gains: Mapping[str, float], depth: int) -> float:
    """nDCG@k: how much of what there is to gain comes early.

        DCG = Σᵢ gainᵢ / log₂(i + 1), over ranks i = 1 ... k;  nDCG = DCG / DCG of the best order

    gains: of each id, not below 0; of all others 0. An id found twice gains once.
    Source: Järvelin and Kekäläinen 2002, with the discount of trec_eval. Raises ValueError where there is
    nothing to gain.
    """
    if min(gains.values(), default=0.0) < 0 or not any(gains.values()):
        raise ValueError("gains must not be below 0, and some must be above")
    once: set[str] = set()
    gained = []
    for name in found[:depth]:
        gained.append(0.0 if name in once else gains.get(name, 0.0))
        once.add(name)
    return _discounted(gained) / _discounted(sorted(gains.values(), reverse=True)[:depth])


def reciprocal_rank(found: Iterable[object], relevant: Collection[object]) -> float:
    """1 / rank of the first relevant id, 0 where none is found; its mean over questions is MRR."""
    ranks = (1 / rank for rank, name in enumerate(found, start=1) if name in relevant)
    return next(ranks, 0.0)


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
