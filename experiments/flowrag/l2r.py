"""L2R, which goes on with a whole encoder and keeps every index: a memory of wrong passages, and old vectors.

    questions -> what is found and is wrong -> 2 new ones, 2 remembered -> InfoNCE + alignment -> AdamW

New are those that lie far from the answer along the question, and far from each other; remembered are those
least like the new. Alignment has a question order the passages of its batch by their vectors of before the
task as it orders them by their new ones, so that indexes of earlier tasks stay of use.
Of the reference code: weights .6 and .4, 30 remembered. Rate, batch and epochs are those of the others here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.base.interfaces import Vector, Vectors
from agents.losses.contrastive import info_nce
from experiments.flowrag.encoding import Encode
from experiments.flowrag.learning import TEMPERATURE, Steps
from experiments.flowrag.printed_learning import BATCH, EPOCHS

REMEMBERED, _CANDIDATES, _OF_EACH = 30, 30, 2
_FAR, _ALIKE = 0.6, 0.4  # weights of what chooses the new

Floats = npt.NDArray[np.float32]


def newest(question: Vector, answer: Vector, candidates: Vectors) -> list[int]:
    """Rows of the two best candidates by .6 z(|q·(c - a)|) - .4 z(mean cosine to the other candidates)."""
    far = np.abs((candidates - answer) @ question)
    alike = candidates @ candidates.T
    np.fill_diagonal(alike, 0)
    score = _FAR * _standardised(far) - _ALIKE * _standardised(alike.sum(1))
    best: list[int] = np.argsort(-score, kind="stable")[:_OF_EACH].tolist()
    return best


def _standardised(values: Floats) -> Floats:
    found: Floats = (values - values.mean()) / (values.std() + 1e-9)
    return found


class Memory:
    """Wrong passages of a question, by their places: at most 30, unlike each other."""

    def __init__(self) -> None:
        self.held: list[int] = []

    def unlike(self, chosen: Sequence[int], index: Vectors) -> list[int]:
        """The two that are least like what was chosen, on average."""
        others = [place for place in self.held if place not in chosen]
        if not others or not chosen:
            return others[:_OF_EACH]
        alike = (index[others] @ index[list(chosen)].T).mean(1)
        return [others[row] for row in np.argsort(alike, kind="stable")[:_OF_EACH]]

    def take(self, candidates: Sequence[int], index: Vectors) -> None:
        """Holds those candidates that are least like the rest, in place of those that are most alike."""
        every = list(dict.fromkeys([*self.held, *candidates]))
        while len(every) > REMEMBERED:
            alike = index[every] @ index[every].T
            every.pop(int(alike.sum(1).argmax()))
        self.held = every


def alignment(old: Tensor, new: Tensor) -> Tensor:
    """How far questions order passages by old vectors from how they do by new ones: a scalar, in nats.

        L = -1/B Σᵢ Σⱼ softmaxⱼ(new / τ) log softmaxⱼ(old / τ)

    old, new: cosines of the questions now to passages as they were and as they are, (B, N). The target, by
    the new ones, is a constant.
    """
    target = (new.detach() / TEMPERATURE).softmax(1)
    return -(target * (old / TEMPERATURE).log_softmax(1)).sum(1).mean()


def train_with_memory(
    parameters: Sequence[Tensor],
    gold: Sequence[frozenset[int]],
    encoded: Callable[[], tuple[Vectors, Vectors]],
    questions: Encode,
    passages: Encode,
    *,
    rate: float,
    seed: int,
) -> Iterator[float]:
    """Trains `parameters`, through which both sides encode; gives the loss of each step.

    gold: of each question, places of passages; the first is learned. encoded: all questions and all passages
    as the parameters are, (Q, D) and (N, D).
    """
    draw, memories = random.Random(seed), [Memory() for _ in gold]
    steps = Steps(parameters, rate, EPOCHS * -(-len(gold) // BATCH))
    before: Vectors | None = None
    for _ in range(EPOCHS):
        asked, index = encoded()
        before = index if before is None else before
        order = draw.sample(range(len(gold)), len(gold))
        for at in range(0, len(order), BATCH):
            batch, columns = order[at : at + BATCH], list[int]()
            for number in batch:
                best = np.argsort(-(index @ asked[number]), kind="stable")[: _CANDIDATES + len(gold[number])]
                wrong = [place for place in best.tolist() if place not in gold[number]]
                answer = min(gold[number])
                new = [wrong[row] for row in newest(asked[number], index[answer], index[wrong])]
                columns += [answer, *new, *memories[number].unlike(new, index)]
                memories[number].take(wrong, index)
            columns = list(dict.fromkeys(columns))
            own = torch.tensor([columns.index(min(gold[number])) for number in batch])
            also = torch.tensor([[c in gold[n] - {min(gold[n])} for c in columns] for n in batch])
            queries, found = questions(batch), passages(columns)
            loss = info_nce(queries, found, own, also, temperature=TEMPERATURE)
            old = torch.from_numpy(before[columns])
            yield steps.take(loss + alignment(queries @ old.T, queries @ found.T))
