"""FlowRAG's losses as printed: what a generator makes of five documents teaches how they are ranked.

    log-likelihoods of the answer -> Q_LM;  cosines -> P_R;  cosines of states -> P_S
    L = KL(P_R || Q_LM) + λ KL(P_S || Q_LM)

The paper prints β = 0.6 for eq. 10, which has only λ: that is taken for a misprint.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor

ANSWER_TEMPERATURE, STATE_TEMPERATURE, STATE_WEIGHT = 0.1, 1.0, 0.6  # β, γ, λ
_LEAST_LOG = -20.0  # of a target; the reverse divergence is infinite where the target is 0

Direction = Literal["reverse", "forward"]


def log_shares(scores: Tensor, *, temperature: float) -> Tensor:
    """log softmaxᵢ(sᵢ / τ) over a question's documents: (B, n). Eq. 5 of likelihoods, 6 and 8 of scores."""
    return (scores / temperature).log_softmax(1)


def divergence(log_model: Tensor, log_target: Tensor, *, direction: Direction = "reverse") -> Tensor:
    """The mean over the batch of how far the model's shares are from the target's (eq. 7 and 9).

        reverse, as printed:  KL(P || Q) = Σᵢ Pᵢ (log Pᵢ - log Qᵢ)
        forward, as in Atlas: KL(Q || P) = Σᵢ Qᵢ (log Qᵢ - log Pᵢ)

    log_model: log P, (B, n). log_target: log Q, (B, n), a constant, at least -20. Returns a scalar, in nats.
    """
    target = log_target.detach().clamp(min=_LEAST_LOG)
    one, other = (log_model, target) if direction == "reverse" else (target, log_model)
    return (one.exp() * (one - other)).sum(1).mean()


def retrieval_loss(scores: Tensor, likelihoods: Tensor, *, direction: Direction = "reverse") -> Tensor:
    """L_ret (eq. 7). scores: sim(d, q), (B, n). likelihoods: log-probabilities of the answer, (B, n)."""
    return _aligned(scores, likelihoods, ANSWER_TEMPERATURE, direction)


def state_loss(scores: Tensor, likelihoods: Tensor, *, direction: Direction = "reverse") -> Tensor:
    """L_state (eq. 9): as `retrieval_loss`, of the similarities of states, at γ."""
    return _aligned(scores, likelihoods, STATE_TEMPERATURE, direction)


def flowrag_loss(
    scores: Tensor, state_scores: Tensor, likelihoods: Tensor, *, state_weight: float = STATE_WEIGHT
) -> Tensor:
    """L = L_ret + λ L_state (eq. 10). All: (B, n)."""
    return retrieval_loss(scores, likelihoods) + state_weight * state_loss(state_scores, likelihoods)


def _aligned(scores: Tensor, likelihoods: Tensor, temperature: float, direction: Direction) -> Tensor:
    target = log_shares(likelihoods, temperature=ANSWER_TEMPERATURE)
    return divergence(log_shares(scores, temperature=temperature), target, direction=direction)
