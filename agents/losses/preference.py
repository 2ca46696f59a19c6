"""How a policy learns from preferences, against the model that a round began with: DPO, replay, caution.

    labels -> pairs (label mode, document mode) -> replayed and mixed -> DPO loss against the reference
    confidences -> gate -> own predictions, or a vote -> labels

A policy gives every candidate a log-probability for each of C labels. Label mode prefers one label of a
candidate to another, document mode one candidate of a question to another. Source: "EVO-Reranker: Continuous
Reranker Evolution under Multi-Round Feedback", Eq. 1 to 5 and Algorithm 1, after Rafailov et al. 2023
(arXiv:2305.18290); where the paper leaves a choice open, the defaults are ours.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

BETA = 0.2  # β of DPO, as in the paper
T = TypeVar("T")
Mix = Literal["keep_new", "fixed_total"]


class Pairs(NamedTuple):
    """Preferences over a table (N, C) of log-probabilities: the cell that is chosen, and the one rejected."""

    chosen: Tensor  # (P, 2) whole numbers: row and label
    rejected: Tensor  # (P, 2)


def margins(policy: Tensor, reference: Tensor, pairs: Pairs) -> Tensor:
    """h = [log π(chosen) - log π(rejected)] - [the same by the reference]; (P,), in nats.

    policy, reference: (N, C) log-probabilities; the reference is a constant. Source: DPO, eq. 7.
    """
    moved = policy - reference.detach()
    (won, better), (lost, worse) = pairs.chosen.T, pairs.rejected.T
    return moved[won, better] - moved[lost, worse]


def dpo(h: Tensor, *, beta: float = BETA, smoothing: float = 0.0) -> Tensor:
    """L = -(1 - ε) log σ(β h) - ε log σ(-β h), the mean over the pairs; a scalar, in nats.

    h: (P,) of `margins`, one pair at least. beta: β > 0. smoothing: ε, 0 to below 0.5, the share of pairs
    that are taken to be the wrong way round. At h = 0 it is ln 2. Source: DPO, eq. 7, and its conservative
    form.
    """
    if not len(h):
        raise ValueError("there is no pair to learn from")
    return -((1 - smoothing) * F.logsigmoid(beta * h) + smoothing * F.logsigmoid(-beta * h)).mean()


def label_pairs(logp: Tensor, labels: Sequence[int | None]) -> Pairs:
    """A pair a labelled candidate: its label before the rejected one.

    logp: (N, C), C ≥ 2. labels: of each candidate, None where it is unknown. Rejected is the most probable of
    the other labels: where the policy is wrong, that is what it says; of two labels, the other one.
    """
    known = [(row, label) for row, label in enumerate(labels) if label is not None]
    chosen = torch.tensor(known, dtype=torch.long).reshape(-1, 2)
    rows, right = chosen.T
    others = logp.detach()[rows].scatter(1, right[:, None], -torch.inf)
    return Pairs(chosen, torch.stack([rows, others.argmax(1)], 1))


def document_pairs(
    questions: Sequence[int], labels: Sequence[int | None], *, most: int = 4, seed: int = 0, positive: int = 1
) -> Pairs:
    """Helpful before useless candidates of the same question, at most so many pairs each, drawn at random.

    questions: the question of each candidate. labels: `positive`, another, or None where it is unknown. A
    ranking loss and no DPO in the strict sense, since the prompts differ. At random, as the hardest first
    learn the faults of a judge that is often wrong.
    """
    rng = random.Random(seed)
    chosen: list[tuple[int, int]] = []
    rejected: list[tuple[int, int]] = []
    for question in dict.fromkeys(questions):
        rows = [row for row, of in enumerate(questions) if of == question and labels[row] is not None]
        good = [row for row in rows if labels[row] == positive]
        bad = [row for row in rows if labels[row] != positive]
        couples = [(won, lost) for won in good for lost in bad]
        for won, lost in rng.sample(couples, min(most, len(couples))):
            chosen.append((won, positive))
            rejected.append((lost, positive))
    empty = torch.zeros(0, 2, dtype=torch.long)
    return Pairs(torch.tensor(chosen), torch.tensor(rejected)) if chosen else Pairs(empty, empty)


def replayed(
    new: Sequence[T], history: Sequence[Sequence[T]], *, alpha: float, seed: int, mix: Mix = "keep_new"
) -> tuple[list[T], list[T]]:
    """What a round learns from: of the new pairs and of those of earlier rounds.

    alpha: α, the share of new ones, above 0 to 1. keep_new: all N new ones and round(N (1 - α) / α) old ones;
    fixed_total: round(α N) new ones and the rest of N old ones. history: the new pairs of each earlier round.
    They are drawn without replacement, equally many from each round, the remainder from the newest; where
    there are fewer, all are taken. Source: Eq. 5.
    """
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha is {alpha}, but must be above 0 and at most 1")
    rng = random.Random(seed)
    count = len(new) if mix == "keep_new" else round(alpha * len(new))
    wanted = round(len(new) * (1 - alpha) / alpha) if mix == "keep_new" else len(new) - count
    kept = list(new) if mix == "keep_new" else rng.sample(list(new), count)
    return kept, [pair for some in _shares(history, wanted, rng) for pair in some]


def _shares(history: Sequence[Sequence[T]], wanted: int, rng: random.Random) -> list[list[T]]:
    """Equally many of each round; what one lacks, and the remainder, comes from the newest that has more."""
    equal = wanted // max(1, len(history))
    counts = [min(equal, len(pairs)) for pairs in history]
    for number in reversed(range(len(history))):
        counts[number] += min(len(history[number]) - counts[number], wanted - sum(counts))
    return [rng.sample(list(pairs), count) for pairs, count in zip(history, counts, strict=True)]


def is_sure(logp: Tensor, *, threshold: float) -> Tensor:
    """Whether a prediction is taken at its word: max p ≥ τ; (N,). logp: (N, C), of any scale.

    threshold: τ; at 0 all are, above 1 none is. Source: Algorithm 1.
    """
    return logp.detach().softmax(1).amax(1) >= threshold


def voted(votes: Sequence[int | None]) -> int | None:
    """The label that more voters name than any other; None for a tie, or for fewer than two valid votes.

    votes: of each judge, and of the policy; None where a reply names no label. Source: Algorithm 1.
    """
    ranked = Counter(vote for vote in votes if vote is not None).most_common(2)
    if sum(count for _, count in ranked) < 2 or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def cautious_labels(
    logp: Tensor, votes: Sequence[Sequence[int | None] | None], *, threshold: float
) -> list[int | None]:
    """CautiousDPO's labels: the policy's own where it is sure, else that of a vote; None: dropped.

    logp: (N, C). votes: of each candidate those of the judges; None where it was not asked for, as for those
    of which the policy `is_sure`. Source: Algorithm 1.
    """
    sure, own = is_sure(logp, threshold=threshold).tolist(), logp.detach().argmax(1).tolist()
    return [
        prediction if taken else voted([*(said or ()), prediction])
        for taken, prediction, said in zip(sure, own, votes, strict=True)
    ]
