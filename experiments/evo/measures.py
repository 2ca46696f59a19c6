"""How right a table of log-probabilities is: accuracy, F1, and where lists are, MRR and nDCG@5.

Ranked is by p(label 1), of two labels. Lists without a right or without a wrong candidate are left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from torch import Tensor

from experiments.evo.sets import Item

Figures = dict[str, float]


def measured(logp: Tensor, items: Sequence[Item]) -> Figures:
    """logp: (N, C), N ≥ 1. Shares of 1, over all candidates, or over lists for MRR and nDCG@5."""
    probabilities = logp.softmax(1)
    said, gold = logp.argmax(1).tolist(), [item.label for item in items]
    right = sum(a == b for a, b in zip(said, gold, strict=True))
    found: Figures = {
        "accuracy": right / len(items),
        "confidence": probabilities.amax(1).mean().item(),
    }
    if logp.shape[1] == 2:
        hits = sum(a == b == 1 for a, b in zip(said, gold, strict=True))
        found["f1"] = 2 * hits / max(1, said.count(1) + gold.count(1))
        found |= _of_lists(probabilities[:, 1].tolist(), items)
    return found


def _of_lists(scores: Sequence[float], items: Sequence[Item]) -> Figures:
    lists: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for score, item in zip(scores, items, strict=True):
        lists[item.question].append((-score, item.label))
    ordered = [[label for _, label in sorted(each)] for each in lists.values()]
    ordered = [labels for labels in ordered if 0 < sum(labels) < len(labels)]
    if not ordered:
        return {}
    mrr = sum(1 / (labels.index(1) + 1) for labels in ordered) / len(ordered)
    ndcg = sum(_gain(labels) / _gain(sorted(labels, reverse=True)) for labels in ordered) / len(ordered)
    return {"mrr": mrr, "ndcg": ndcg}


def _gain(labels: Sequence[int], *, places: int = 5) -> float:
    return sum(label / math.log2(place + 2) for place, label in enumerate(labels[:places]))
