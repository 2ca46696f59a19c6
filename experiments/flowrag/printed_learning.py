"""How prompts, or a whole encoder, learn from the likelihood of answers.

questions -> the nearest five documents, anew each epoch -> both encoded with gradient -> L -> AdamW
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from experiments.flowrag.learning import Steps
from experiments.flowrag.printed import Encoded
from experiments.flowrag.printed_losses import flowrag_loss, retrieval_loss

Encode = Callable[[Sequence[int]], Encoded]  # places of texts, with gradients
Similarity = Callable[[Tensor, Tensor], Tensor]  # (B, n) of (B, D) and (B, n, D)
Near = Sequence[Sequence[int]]  # of each question, the places of five documents

EPOCHS, BATCH = 2, 8


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
                state_weight=state_weight, state_similarity=state_similarity,
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
) -> Tensor:
    """L of a batch: by cosines of vectors and, where texts have states, by the similarity of states.

    own: (B, n), rows of the documents. likelihoods: (B, n).
    """
    scores = cosines(questions.vectors, documents.vectors[own])
    if state_weight == 0 or questions.states is None or documents.states is None:
        return retrieval_loss(scores, likelihoods)
    states = state_similarity(questions.states, documents.states[own])
    return flowrag_loss(scores, states, likelihoods, state_weight=state_weight)
