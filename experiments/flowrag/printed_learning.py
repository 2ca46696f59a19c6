"""How prompts, or a whole encoder, learn from what a generator makes of five documents, as printed.

    questions -> the nearest five documents, anew each epoch -> both encoded with gradient -> L -> AdamW
    log-likelihoods of the answer -> Q_LM;  cosines -> P_R;  cosines of states -> P_S
    L = KL(P_R || Q_LM) + λ KL(P_S || Q_LM)

The paper prints β = 0.6 for eq. 10, which has only λ: that is taken for a misprint.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from experiments.flowrag.learning import TEMPERATURE, Steps
from experiments.flowrag.printed import Encoded

ANSWER_TEMPERATURE, STATE_TEMPERATURE, STATE_WEIGHT = 0.1, 1.0, 0.6  # β, γ, λ
_ATLAS_TEMPERATURE = 0.01
_LEAST_LOG = -20.0  # of a target; the reverse divergence is infinite where the target is 0

Direction = Literal["reverse", "forward"]
Encode = Callable[[Sequence[int]], Encoded]  # places of texts, with gradients
Similarity = Callable[[Tensor, Tensor], Tensor]  # (B, n) of (B, D) and (B, n, D)
Align = Callable[[Tensor, Tensor], Tensor]  # a loss of scores and log-likelihoods, (B, n) each
Near = Sequence[Sequence[int]]  # of each question, the places of five documents

EPOCHS, BATCH = 2, 8


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


def distilled_loss(scores: Tensor, likelihoods: Tensor, *, width: int) -> Tensor:
    """Atlas's perplexity distillation: KL(Q || P), both at 0.01, similarities over √D. Both: (B, n).

    Source: arXiv:2208.03299, as its code has it; it compares by inner products, here cosines are given.
    """
    target = log_shares(likelihoods, temperature=_ATLAS_TEMPERATURE)
    found = log_shares(scores / width**0.5, temperature=_ATLAS_TEMPERATURE)
    return divergence(found, target, direction="forward")


def marginal_loss(scores: Tensor, likelihoods: Tensor) -> Tensor:
    """How improbable the answer is over a question's documents: RAG's marginal likelihood. Both: (B, n).

        L = -1/B Σ_b log Σᵢ softmaxᵢ(sim(dᵢ, q) / β) p(y | dᵢ, q)

    Source: arXiv:2210.02627, which trains the generator too; here it is frozen, and β that of L_ret.
    """
    return -(log_shares(scores, temperature=ANSWER_TEMPERATURE) + likelihoods).logsumexp(1).mean()


def gentle_loss(scores: Tensor, likelihoods: Tensor) -> Tensor:
    """KL(Q || P), the target at temperature 1, similarities at 0.05: softer than L_ret. Both: (B, n)."""
    target = log_shares(likelihoods, temperature=1.0)
    return divergence(log_shares(scores, temperature=TEMPERATURE), target, direction="forward")


def _aligned(scores: Tensor, likelihoods: Tensor, temperature: float, direction: Direction) -> Tensor:
    target = log_shares(likelihoods, temperature=ANSWER_TEMPERATURE)
    return divergence(log_shares(scores, temperature=temperature), target, direction=direction)


def dots(questions: Tensor, documents: Tensor) -> Tensor:
    """Inner products."""
    return torch.einsum("bd,bnd->bn", questions, documents)


def cosines(questions: Tensor, documents: Tensor) -> Tensor:
    """The same of what is scaled to unit length."""
    return dots(F.normalize(questions, dim=-1), F.normalize(documents, dim=-1))


def train_by_likelihood(
    parameters: Sequence[Tensor],
    nearest: Callable[[], Near],
    likelihood: Callable[[int, int], float],
    questions: Encode,
    documents: Encode,
    *,
    rate: float,
    state_weight: float,
    state_similarity: Similarity = cosines,
    align: Align = retrieval_loss,
    seed: int,
) -> Iterator[float]:
    """Trains `parameters`, through which both sides encode; gives the loss of each step.

    nearest: searches with the parameters as they are. likelihood: of a question's answer given a document.
    """
    draw, steps = random.Random(seed), None
    for _ in range(EPOCHS):
        near = nearest()
        steps = steps or Steps(parameters, rate, EPOCHS * -(-len(near) // BATCH))
        order = draw.sample(range(len(near)), len(near))
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            columns = sorted({place for question in batch for place in near[question]})
            own = torch.tensor([[columns.index(place) for place in near[question]] for question in batch])
            target = torch.tensor([[likelihood(q, place) for place in near[q]] for q in batch])
            loss = loss_of(
                questions(batch), documents(columns), own, target,
                state_weight=state_weight, state_similarity=state_similarity, align=align,
            )  # fmt: skip
            yield steps.take(loss)


def loss_of(
    questions: Encoded,
    documents: Encoded,
    own: Tensor,
    likelihoods: Tensor,
    *,
    state_weight: float,
    state_similarity: Similarity = cosines,
    align: Align = retrieval_loss,
) -> Tensor:
    """L of a batch: by cosines of vectors and, where texts have states, by the similarity of states.

    own: (B, n), rows of the documents. likelihoods: (B, n). align: what is lost where states do not count.
    """
    scores = cosines(questions.vectors, documents.vectors[own])
    if state_weight == 0 or questions.states is None or documents.states is None:
        return align(scores, likelihoods)
    states = state_similarity(questions.states, documents.states[own])
    return flowrag_loss(scores, states, likelihoods, state_weight=state_weight)
