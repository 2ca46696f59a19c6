"""A candidate against the live entity retriever, on replies that neither was trained on.

held-out replies -> the entities found for each message by both
  -> MRR and R@5 of those that its reply tells of, and more than of those that other replies tell of
  -> promoted or not
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.learning.held_out import follow_ups
from assistant.learning.held_out.bootstrap import Promotion, paired_gain
from assistant.learning.held_out.ranking import reciprocal_rank
from assistant.learning.held_out.retrieval import Comparison, mean

_LEAST = 1e-9  # that is more than rounding
_OTHERS = 50  # other replies that one is compared with, at most


@dataclass(frozen=True)
class ToldReply:
    """Which entities a reply tells of, and which were found for its message, best first; by version."""

    base: str  # the knowledge base's name
    right: frozenset[int]
    live: Sequence[int]
    candidate: Sequence[int]


def decided(
    told: Sequence[ToldReply], *, seed: int, threshold: float = 0.0, margin: float = 0.01
) -> Comparison:
    """Promoted as a query model is, if it gains more than on the entities of other replies.

    Corrections that name some entities whatever was asked move these to the front for every message, and are
    held out as well; by them alone a candidate would win. threshold, margin: shares, from 0 to 1.
    """
    ranks = [
        (reciprocal_rank(each.live, each.right), reciprocal_rank(each.candidate, each.right)) for each in told
    ]
    found = follow_ups.decided(ranks, seed=seed, threshold=threshold, margin=margin)
    own, others = list[float](), list[float]()
    draw = random.Random(seed)
    for each, (live, candidate) in zip(told, ranks, strict=True):
        rights = [other.right for other in told if other.base == each.base and other is not each]
        if rights:
            own.append(candidate - live)
            others.append(
                mean(
                    [
                        reciprocal_rank(each.candidate, right) - reciprocal_rank(each.live, right)
                        for right in draw.sample(rights, min(len(rights), _OTHERS))
                    ]
                )
            )
    if found.promotion.is_promoted and (not own or paired_gain(own, others, seed=seed).low < _LEAST):
        gains = f"{100 * mean(own):+.2f} points on them, {100 * mean(others):+.2f} on those of other replies"
        reason = f"Refused: it has not surely learned what a message is about: MRR {gains}."
        return Comparison(Promotion(False, reason), found.questions, found.figures)
    return found
