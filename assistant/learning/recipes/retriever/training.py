"""How the retriever learns from lessons: one loop over batches, each step's loss handed out.

    batch -> question vectors, document vectors -> similarities -> three losses -> AdamW

On the query side the documents' vectors are given and stay as they are; on both sides one network encodes
questions and documents, and what is indexed must be encoded anew afterwards.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from agents.losses.contrastive import (
    FlaccidSupport,
    HardPositives,
    Labels,
    Losses,
    RankWeights,
    StrictDenominator,
    flaccid,
    hard_negatives,
    strict,
)
from assistant.learning.recipes.retriever.batches import LessonBatch
from assistant.learning.recipes.retriever.network import FrozenVectors, RetrieverNetwork
from assistant.learning.recipes.training_state import optimizer_tensors, restore_optimizer
from stores.base.errors import InvalidSetting

UpdateSide = Literal["query", "both"]


@dataclass(frozen=True, kw_only=True)
class RetrieverTraining:
    """How the retriever learns from what was judged."""

    update_side: UpdateSide = "query"
    batch_questions: int = 16
    epochs: int = 4
    patience: int = 1  # epochs without a better figure on the held-out share, after which it ends
    learning_rate: float = 1e-5
    warm_up: float = 0.1  # share of the steps in which the learning rate rises
    weight_decay: float = 0.01
    longest_gradient: float = 1.0  # its norm; a longer one is shortened
    bf16: bool = False  # products in 16 bits
    seed: int = 1

    strict_weight: float = 1.0  # 0 switches a loss off
    flaccid_weight: float = 0.5
    hard_weight: float = 1.0
    temperature: float = 0.05  # of similarities
    judge_temperature: float = 0.2  # of the judge's scores
    margin: float = 0.1  # between an answer and a hard negative, in cosine
    strict_denominator: StrictDenominator = "exclude_own_relevant"
    flaccid_support: FlaccidSupport = "judged"
    rank_weights: RankWeights = "log"
    hard_positives: HardPositives = "mean"
    most_negatives: int = 8

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            self._check(name, known.__contains__, f"one of {', '.join(known)}")
        for name in ("batch_questions", "epochs", "patience", "most_negatives"):
            self._check(name, lambda value: type(value) is int and value >= 1, "1 or more")
        for name in ("learning_rate", "longest_gradient", "temperature", "judge_temperature"):
            self._check(name, lambda value: _is_number(value) and value > 0, "above 0")
        for name in ("strict_weight", "flaccid_weight", "hard_weight", "margin", "weight_decay"):
            self._check(name, lambda value: _is_number(value) and value >= 0, "0 or more")
        self._check("seed", lambda value: type(value) is int, "a whole number")
        self._check("bf16", lambda value: type(value) is bool, "true or false")
        self._check("warm_up", lambda value: _is_number(value) and 0 <= value <= 1, "between 0 and 1")

    def _check(self, name: str, holds: Callable[[Any], bool], expected: str) -> None:
        if not holds(value := getattr(self, name)):
            section = "learning" if name in _OF_ROUNDS else "training"
            raise InvalidSetting(f"{section}.{name}", value, expected)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


_OF_ROUNDS = ("update_side", "epochs", "learning_rate", "seed")
_CHOICES: dict[str, tuple[str, ...]] = {
    "update_side": get_args(UpdateSide),
    "strict_denominator": get_args(StrictDenominator),
    "flaccid_support": get_args(FlaccidSupport),
    "rank_weights": get_args(RankWeights),
    "hard_positives": get_args(HardPositives),
}


@dataclass(frozen=True)
class StepReport:
    """One step that was taken."""

    step: int  # from 1
    steps: int  # when no epoch is saved by stopping early
    loss: float  # weighted sum of the three
    strict: float
    flaccid: float
    hard: float
    learning_rate: float
    questions: int


class TrainingState:
    """What a run has reached: all that a later process needs to go on."""

    def __init__(self, network: RetrieverNetwork, settings: RetrieverTraining) -> None:
        self.step = 0  # steps taken
        self.scores: list[float] = []  # on the held-out share: before the first epoch, and after each
        self._network = network
        self._best: dict[str, Tensor] = {}
        named = list(network.transformer.named_parameters())
        self.parameters = [parameter for _, parameter in named]
        self._names = {parameter: name for name, parameter in named}
        # Biases and norms have one dimension; drawing them to zero serves nothing.
        groups = [
            {"params": [p for p in self.parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [p for p in self.parameters if p.ndim == 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=0.0, fused=True)

    @property
    def best_epoch(self) -> int:
        """After which epoch the score was highest, the first of equals; 0 is before any."""
        return self.scores.index(max(self.scores))

    def take(self, score: float) -> None:
        """Notes the score of the weights as they are now, and keeps them when they are the best so far."""
        self.scores.append(score)
        if self.best_epoch == len(self.scores) - 1:
            self._best = {n: t.detach().cpu().clone() for n, t in self._weights().items()}

    def end(self) -> None:
        """Goes back to the best weights. Without a held-out share the last ones stay."""
        if self._best:
            self._network.transformer.load_state_dict(self._best)

    def _weights(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = self._network.transformer.state_dict()
        return found

    def tensors(self) -> dict[str, Tensor]:
        """Weights, the best weights, and the optimizer's moments, for a checkpoint."""
        kept = {f"weights.{name}": value for name, value in self._weights().items()}
        kept |= {f"best.{name}": value for name, value in self._best.items()}
        moved = {p: name for p, name in self._names.items() if p in self.optimizer.state}
        return kept | optimizer_tensors(self.optimizer, moved)

    def facts(self) -> dict[str, Any]:
        """The rest of a checkpoint, as JSON can hold it."""
        return {"step": self.step, "scores": self.scores}

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Goes back to what `tensors` and `facts` gave."""
        self.step, self.scores = int(facts["step"]), list(facts["scores"])
        weights = {n.removeprefix("weights."): t for n, t in tensors.items() if n.startswith("weights.")}
        self._network.transformer.load_state_dict(weights)
        self._best = {n.removeprefix("best."): t for n, t in tensors.items() if n.startswith("best.")}
        moved = {p: name for p, name in self._names.items() if f"optimizer.step.{name}" in tensors}
        restore_optimizer(self.optimizer, moved, tensors)


def train(
    network: RetrieverNetwork,
    batches: Sequence[LessonBatch],
    settings: RetrieverTraining,
    *,
    documents: FrozenVectors | None = None,
    held_out: Callable[[], float] | None = None,
    state: TrainingState | None = None,
) -> Iterator[StepReport]:
    """Teaches the network to put questions near the documents that were judged to answer them.

    documents: the vectors of the query side; None on both sides. held_out: measures the network as it is,
    higher is better; training ends when it has not risen for `patience` epochs, and the network then has its
    best weights, which may be those it began with. state: of a run that goes on; it is kept up to date.
    """
    if (settings.update_side == "query") != (documents is not None):
        raise ValueError("the query side is trained on given vectors, and both sides on none")
    state = state or TrainingState(network, settings)
    steps = settings.epochs * len(batches)
    while True:
        epoch, place = divmod(state.step, len(batches)) if batches else (settings.epochs, 0)
        if held_out and place == 0 and len(state.scores) <= epoch:
            state.take(held_out())
        if epoch == settings.epochs or (place == 0 and _has_risen_no_more(state, settings.patience)):
            break
        batch = batches[epoch_order(len(batches), seed=settings.seed, epoch=epoch)[place]]
        losses = batch_losses(network, batch, settings, documents=documents, step=state.step)
        loss = losses.total(
            strict_weight=settings.strict_weight,
            flaccid_weight=settings.flaccid_weight,
            hard_weight=settings.hard_weight,
        )
        rate = learning_rate_at(state.step, steps=steps, settings=settings)
        for group in state.optimizer.param_groups:
            group["lr"] = rate

        state.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(state.parameters, settings.longest_gradient)
        state.optimizer.step()
        state.step += 1
        total, *parts = torch.stack([loss.detach(), *(part.detach() for part in losses)]).tolist()
        yield StepReport(state.step, steps, total, parts[0], parts[1], parts[2], rate, len(batch))
    state.end()


def _has_risen_no_more(state: TrainingState, patience: int) -> bool:
    return bool(state.scores) and len(state.scores) - 1 - state.best_epoch >= patience


def batch_losses(
    network: RetrieverNetwork,
    batch: LessonBatch,
    settings: RetrieverTraining,
    *,
    documents: FrozenVectors | None,
    step: int,
) -> Losses:
    """The three losses of a batch, with gradients. step: decides what is drawn at random."""
    asked = network.questions(batch.questions)
    with torch.autocast(network.device.type, dtype=torch.bfloat16, enabled=settings.bf16):
        if documents is None:
            questions, passages = network.encode(asked, network.passages(batch.texts))
        else:
            (questions,) = network.encode(asked)
            passages = documents.of(batch.documents)
    similarities = questions @ passages.T  # (b, n)
    labels = labels_of(batch, network.device)
    drawing = torch.Generator().manual_seed(settings.seed * 1_000_003 + step)
    return Losses(
        strict(
            similarities,
            labels.answers,
            labels.relevant,
            temperature=settings.temperature,
            denominator=settings.strict_denominator,
        ),
        flaccid(
            similarities,
            *labels[:4],
            temperature=settings.temperature,
            judge_temperature=settings.judge_temperature,
            support=settings.flaccid_support,
        ),
        hard_negatives(
            similarities,
            labels.answers,
            labels.irrelevant,
            labels.ranks,
            margin=settings.margin,
            weights=settings.rank_weights,
            positives=settings.hard_positives,
            most_negatives=settings.most_negatives,
            generator=drawing,
        ),
    )


def labels_of(batch: LessonBatch, device: torch.device) -> Labels:
    """The labels of a batch as tensors."""
    arrays = (batch.answers, batch.relevant, batch.irrelevant, batch.scores, batch.ranks)
    return Labels(*(torch.from_numpy(array).to(device) for array in arrays))


def epoch_order(count: int, *, seed: int, epoch: int) -> list[int]:
    """In which order the batches of an epoch come."""
    order = list(range(count))
    random.Random(f"{seed} epoch {epoch}").shuffle(order)
    return order


def learning_rate_at(step: int, *, steps: int, settings: RetrieverTraining) -> float:
    """Rises over the first share of the steps to its full height, and stays there. step: from 0."""
    rising = (step + 1) / max(1.0, settings.warm_up * steps)
    return settings.learning_rate * min(1.0, rising)


def answer_ranks(
    questions: Tensor, documents: Tensor, answers: Sequence[Sequence[int]], *, at_once: int = 32
) -> list[list[int]]:
    """For each question the places of its answers among all documents, from 1; equals stay in their order.

    questions: (b, D). documents: (n, D). answers: for each question, rows of `documents`. at_once: questions.
    """
    places = torch.arange(len(documents), device=documents.device)
    found = []
    for start in range(0, len(questions), at_once):
        similarities = questions[start : start + at_once] @ documents.T
        for row, own in zip(similarities, answers[start : start + at_once], strict=True):
            columns = torch.tensor(own, device=row.device)[:, None]  # (k, 1)
            before = (row > row[columns]) | ((row == row[columns]) & (places < columns))
            found.append((1 + before.sum(1)).tolist())
    return found


def figures(ranks: Sequence[Sequence[int]]) -> dict[str, float]:
    """How well questions find their answers; means over the questions, each 0 to 1.

    ranks: for each question the places of its answers, from 1; it has one at least.
    """
    count = len(ranks)
    gains = [sum(1 / math.log2(1 + rank) for rank in own if rank <= 10) for own in ranks]
    most = [sum(1 / math.log2(1 + rank) for rank in range(1, 1 + min(10, len(own)))) for own in ranks]
    return {
        "recall_at_5": sum(min(own) <= 5 for own in ranks) / count,
        "ndcg_at_10": sum(gain / best for gain, best in zip(gains, most, strict=True)) / count,
        "reciprocal_rank": sum(1 / min(own) for own in ranks) / count,
    }
