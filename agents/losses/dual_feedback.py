"""How a generator of replies teaches a retriever of entities.

    scores and feedback (b, k) -> positive, negative -> their weighted sum
    likelihood and overlap (b, m) of m sampled replies -> the one that the retriever is pushed away from

b turns, k entities each, m replies; G, S and the other letters are those of the equations. The feedback is
without gradient, so nothing here teaches the generator. Equations 3 to 8 are of "Dual-Feedback Knowledge
Retrieval for Task-Oriented Dialogue Systems"; where the paper leaves a choice open or its released code reads
it otherwise, every reading is an option here. The defaults are ours: temperatures, since the likelihoods of
ten entities often differ by a tenth of a nat only, and a turn without a poor reply teaches nothing by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Reduction = Literal["sum", "mean"]
Gated = Literal["nothing", "positive"]
Choice = Literal["rank", "worst"]


@dataclass(frozen=True)
class Reading:
    """How the equations are read. `PAPER` is Eq. 4 to the letter, `RELEASED` the authors' code."""

    feedback_temperature: float = 0.1  # of G
    score_temperature: float = 0.1  # of S, for cosines; 1.0 for dot products
    reduction: Reduction = "sum"  # over the k entities, of the positive loss
    margin: float = 0.0  # η, in nats
    gated: Gated = "nothing"  # what a turn without a poor reply adds as its negative loss
    choice: Choice = "rank"
    poor_below: float | None = 0.5  # the overlap from which on a reply is no negative; None: all may be
    positive_weight: float = 1.0
    negative_weight: float = 1.0


PAPER = Reading(feedback_temperature=1.0, score_temperature=1.0, poor_below=None)
RELEASED = Reading(feedback_temperature=1.0, score_temperature=1.0, reduction="mean", gated="positive")


def divergence(feedback: Tensor, scores: Tensor, real: Tensor, reading: Reading | None = None) -> Tensor:
    """KL(G̃ ‖ S̃) of each turn, where G̃ = softmax(G / τ_g) and S̃ = softmax(S / τ_s); (b,), in nats, 0 or more.

    feedback, scores: (b, k). real: (b, k) false for an entity that only fills up; it is in neither softmax.
    A turn with fewer than two real entities has nothing to tell apart and gets 0. The gradient goes to the
    scores alone: dKL/dS_i = (S̃_i - G̃_i) / τ_s. Source: Eq. 4, without its mean.
    """
    reading = reading or Reading()
    told_apart = real.sum(1) > 1
    within = real | ~told_apart[:, None]  # so that nothing is computed over no entity
    wanted = _log_softmax(feedback.detach() / reading.feedback_temperature, within)
    given = _log_softmax(scores / reading.score_temperature, within)
    difference = torch.where(within, wanted - given, 0.0)
    return (wanted.exp() * difference).sum(1) * told_apart


def positive(feedback: Tensor, scores: Tensor, real: Tensor, reading: Reading | None = None) -> Tensor:
    """L_pos, a scalar in nats: how far the scores are from what the reference reply says of the entities.

    feedback: (b, k) mean log-likelihood of the reference reply given each entity alone (Eq. 3). scores, real:
    (b, k). Source: Eq. 4; the released code takes the mean over the entities as well.
    """
    reading = reading or Reading()
    turns = divergence(feedback, scores, real, reading)
    if reading.reduction == "mean":
        turns = turns / real.sum(1).clamp(min=1)
    return turns.mean()


def negative(
    feedback: Tensor,
    negative_feedback: Tensor,
    scores: Tensor,
    real: Tensor,
    counts: Tensor,
    reading: Reading | None = None,
) -> Tensor:
    """L_neg, a scalar in nats: the scores should be nearer to G than to G⁻, by the margin.

        max(0, KL(G̃ ‖ S̃) - KL(G̃⁻ ‖ S̃) + η), the mean over the turns

    negative_feedback: (b, k) as the feedback, of the chosen poor reply. counts: (b,) false where no reply was
    poor enough; with `gated = "positive"` such a turn adds max(0, KL(G̃ ‖ S̃) + η) instead, as the released
    code does. Where it is above 0, dL/dS_i = (G̃⁻_i - G̃_i) / τ_s; at 0 there is no gradient.
    Source: Eq. 6; η is not told in the paper and 0 in the code.
    """
    reading = reading or Reading()
    near = divergence(feedback, scores, real, reading)
    far = divergence(negative_feedback, scores, real, reading) * counts
    turns = torch.relu(near - far + (real.sum(1) > 1).to(near.dtype) * reading.margin)
    if reading.gated == "nothing":
        turns = turns * counts
    return turns.mean()


def marginal(token_likelihoods: Tensor, words: Tensor, scores: Tensor, real: Tensor) -> Tensor:
    """The retriever taught by marginal likelihood instead; a scalar in nats.

        - mean over j of log Σ_i S̃_i p(y_j | y_<j, x_i), the mean over the turns

    token_likelihoods: (b, k, t) log-probabilities of the reference reply's words given each entity alone.
    words: (b, t) false for padding. scores, real: (b, k); S̃ is their softmax, which the gradient goes to.
    A turn with fewer than two real entities gets 0. Source: the paper's ablation.
    """
    told_apart = real.sum(1) > 1
    within = real | ~told_apart[:, None]
    given = _log_softmax(scores, within)[..., None] + token_likelihoods.detach()
    of_words = torch.logsumexp(given.masked_fill(~within[..., None], -torch.inf), 1)
    turns = (of_words * words).sum(1) / words.sum(1).clamp(min=1)
    return -(turns * told_apart).mean()


def poor_reply(
    likelihoods: Tensor, overlaps: Tensor, reading: Reading | None = None
) -> tuple[Tensor, Tensor]:
    """Which of m sampled replies is the negative one, (b,), and whether it is poor enough to count, (b,).

    likelihoods: (b, m) mean log-likelihood by the generator, in nats. overlaps: (b, m) with the reference,
    0 to 1. By rank: argmin of R^g - R^o, where 1 is the likeliest and the best: likely, but poor. By `worst`:
    the least overlap. Equals: the likelier, then the first. Source: Eq. 5; the code's gate of 0.5.
    """
    reading = reading or Reading()
    kept = overlaps if reading.choice == "worst" else _ranks(likelihoods) - _ranks(overlaps)
    least = kept == kept.amin(1, keepdim=True)
    likely = likelihoods.masked_fill(~least, -torch.inf)
    chosen = (least & (likely == likely.amax(1, keepdim=True))).int().argmax(1)
    overlap = overlaps.gather(1, chosen[:, None])[:, 0]
    if reading.poor_below is None:
        return chosen, torch.ones_like(chosen, dtype=torch.bool)
    return chosen, overlap < reading.poor_below


def total(positive_loss: Tensor, negative_loss: Tensor, reading: Reading | None = None) -> Tensor:
    """The retriever's part of L (Eq. 8), a scalar. A weight of 0 switches its loss off."""
    reading = reading or Reading()
    return reading.positive_weight * positive_loss + reading.negative_weight * negative_loss


def _log_softmax(logits: Tensor, within: Tensor) -> Tensor:
    """Over what is within; elsewhere -inf."""
    return logits.masked_fill(~within, -torch.inf).log_softmax(1)


def _ranks(values: Tensor) -> Tensor:
    """(b, m) places from 1 for the greatest; equals share the better one."""
    return 1 + (values[:, None, :] > values[:, :, None]).sum(2)
