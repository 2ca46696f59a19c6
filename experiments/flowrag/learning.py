"""How an adapter, or a whole encoder, learns from pairs of a question and its passage.

pairs, the fused top ten -> batches with hard negatives -> InfoNCE -> AdamW, clipped; warm-up, no decay
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from agents.losses.contrastive import info_nce
from experiments.flowrag.encoding import Encode

TEMPERATURE, BATCH, EPOCHS, NEGATIVES = 0.05, 16, 2, 2
_WARM_UP, _LONGEST_GRADIENT = 0.1, 1.0


@dataclass(frozen=True)
class Pair:
    """A question, what answers it, and what is found for it and does not."""

    question: int  # its place among the questions
    gold: frozenset[int]  # places of passages; the first is learned
    wrong: tuple[int, ...]  # of the fused search's best, without gold


def train(
    parameters: Sequence[Tensor],
    pairs: Sequence[Pair],
    questions: Encode,
    passages: Encode,
    *,
    rate: float,
    seed: int,
    epochs: int = EPOCHS,
) -> Iterator[float]:
    """Trains `parameters`, through which both sides encode; gives the loss of each step."""
    draw = random.Random(seed)
    every = [batch for _ in range(epochs) for batch in batches(pairs, draw)]
    steps = Steps(parameters, rate, len(every))
    for batch in every:
        columns = list(dict.fromkeys(place for pair, wrong in batch for place in (min(pair.gold), *wrong)))
        own = torch.tensor([columns.index(min(pair.gold)) for pair, _ in batch])
        also = torch.tensor([[c in pair.gold - {min(pair.gold)} for c in columns] for pair, _ in batch])
        asked = questions([p.question for p, _ in batch])
        loss = info_nce(asked, passages(columns), own, also, temperature=TEMPERATURE)
        yield steps.take(loss)


class Steps:
    """AdamW with warm-up and clipped gradients, without decay."""

    def __init__(self, parameters: Sequence[Tensor], rate: float, count: int) -> None:
        """count: how many steps there will be."""
        self._optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.0)
        self._parameters, self._rate, self._warm, self._taken = parameters, rate, _WARM_UP * count, 0

    def take(self, loss: Tensor) -> float:
        """Down the gradient; the loss as a number."""
        self._taken += 1
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * min(1.0, self._taken / self._warm)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._parameters, _LONGEST_GRADIENT)
        self._optimizer.step()
        return loss.item()


def batches(pairs: Sequence[Pair], draw: random.Random) -> Iterator[list[tuple[Pair, list[int]]]]:
    """One epoch: every pair once, each with some of its wrong passages."""
    order = draw.sample(list(pairs), len(pairs))
    for at in range(0, len(order), BATCH):
        some = order[at : at + BATCH]
        yield [(pair, draw.sample(pair.wrong, min(NEGATIVES, len(pair.wrong)))) for pair in some]
