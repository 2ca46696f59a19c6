"""How a query model learns which augmentation of a question to choose, and to write it; and how it decides.

    rank and likelihood of each strategy (b, 4) -> targets -> selection loss on the action logits
    logits of the words of an augmentation -> generation loss
    probabilities of the actions (4,) -> none, one, or several augmentations

b questions; the four strategies in the order of `STRATEGIES`. A strategy that gave no augmentation is missing
and takes no part; one that did worse than the question keeps its score, so that the target knows it. Source:
"UniRAG: Unified Query Understanding Method for Retrieval Augmented Generation", Eq. 5, 6 and 8, Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

STRATEGIES = ("original", "paraphrase", "expand", "abstract")
ORIGINAL = STRATEGIES.index("original")
TEMPERATURE = 0.1  # of both targets, as in the paper


def targets(scores: Tensor, there: Tensor, *, temperature: float = TEMPERATURE) -> Tensor:
    """p* = softmax(scores / temperature) over the strategies that are there; (b, 4), each row sums to 1.

    scores: (b, 4), higher is better: 1 / rank, or a mean log-likelihood in nats. there: (b, 4); at least one
    a row, else ValueError. Equal scores share equally. Source: before Eq. 5.
    """
    if not there.any(1).all():
        raise ValueError("a question has no strategy at all")
    return (scores / temperature).masked_fill(~there, -torch.inf).softmax(1)


def selection(
    logits: Tensor, rank_targets: Tensor, likelihood_targets: Tensor, weights: Tensor | None = None
) -> Tensor:
    """L_sel, a scalar in nats: KL(p*_ret ‖ p̂) + KL(p*_gen ‖ p̂), the mean over the questions.

    logits: (b, 4) of the actions; p̂ is their softmax. The gradient of a question is (p̂ - p*_ret) +
    (p̂ - p*_gen), so the least is at the targets' mean. weights: (b,) such as 1 / instances of a question;
    None: all alike. A target of zeros adds nothing: that signal is not known. Source: Eq. 5.
    """
    given = logits.log_softmax(1)
    losses = sum(_divergence(target, given) for target in (rank_targets, likelihood_targets))
    assert isinstance(losses, Tensor)
    if weights is None:
        return losses.mean()
    return (losses * weights).sum() / weights.sum()


def _divergence(target: Tensor, given: Tensor) -> Tensor:
    """(b,) KL of each row, targets constant."""
    target = target.detach()
    return (torch.xlogy(target, target) - target * given.masked_fill(target == 0, 0.0)).sum(1)


def generation(logits: Tensor, words: Tensor, supervised: Tensor) -> Tensor:
    """L_gen, a scalar in nats: - log p of the augmentation's words and its end, the mean over them.

    logits: (b, t, v), of each place for the word that stands there. words: (b, t). supervised: (b, t) true
    for the augmentation's own words; false for question, template, action, padding, and all of an original.
    0 where there is none. The mean keeps long passages from outweighing all else; the paper sums (Eq. 6).
    """
    if not supervised.any():
        return logits.sum() * 0.0
    return torch.nn.functional.cross_entropy(logits[supervised], words[supervised])


@dataclass(frozen=True)
class Measured:
    """What one strategy did for one question."""

    rank: int | None  # of the first passage that answers, from 1; None: not found
    likelihood: float  # of the answer given what was found, a mean log-probability in nats

    @property
    def reciprocal(self) -> float:
        """s_ret: 1 / rank, 0 where nothing was found."""
        return 1 / self.rank if self.rank else 0.0


def kept(measured: Mapping[str, Measured]) -> set[str]:
    """The strategies that teach the generator: those whose scores are not lower than the question's.

    The question itself, where both its scores are highest and one of them alone so. None where the question
    found nothing. Source: section 4.2.1.
    """
    own = measured[STRATEGIES[ORIGINAL]]
    others = {name: each for name, each in measured.items() if name != STRATEGIES[ORIGINAL]}
    if own.rank is None:
        return set()
    found = {
        name
        for name, each in others.items()
        if each.reciprocal >= own.reciprocal and each.likelihood >= own.likelihood
    }
    rank = max((each.reciprocal for each in others.values()), default=-1.0)
    likelihood = max((each.likelihood for each in others.values()), default=-torch.inf)
    is_highest = own.reciprocal >= rank and own.likelihood >= likelihood
    if is_highest and (own.reciprocal > rank or own.likelihood > likelihood):
        found.add(STRATEGIES[ORIGINAL])
    return found


def best_action(probabilities: Sequence[float]) -> int:
    """The likeliest strategy; of equals the first, so that a question stays as it is. Source: section 5."""
    return max(range(len(probabilities)), key=lambda action: (probabilities[action], -action))


def thresholded(probabilities: Sequence[float], threshold: float) -> int:
    """The likeliest augmentation where P(O) / (P(O) + max P(m)) is below the threshold, else none.

    threshold: 0 never augments, 1 nearly always, 0.5 as `best_action` does but for equals. Source: Eq. 8; its
    ratio is r = ρ / (1 + ρ) of Algorithm 2's.
    """
    own = probabilities[ORIGINAL]
    best = max((a for a in range(len(probabilities)) if a != ORIGINAL), key=lambda a: (probabilities[a], -a))
    total = own + probabilities[best]
    return best if total > 0 and own / total < threshold else ORIGINAL


def branches(probabilities: Sequence[float]) -> list[int]:
    """The augmentations that are no less likely than none, likeliest first. Source: Algorithm 2, M'."""
    able = [
        a for a in range(len(probabilities)) if a != ORIGINAL and probabilities[a] >= probabilities[ORIGINAL]
    ]
    return sorted(able, key=lambda action: (-probabilities[action], action))
