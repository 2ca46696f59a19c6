"""A step of training that the task-dialogue generator takes, from nothing or from what is shipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from agents.models.dialogue_inputs import DialogueInputs
from assistant.learning.recipes.dialogue.lessons import Lesson

WEIGHT_DECAY, BATCH = 0.01, 16
ROWS = (1, 1, 2, 3, 7, 7, 7, 7)  # of a batch, drawn: one row alone has to be read as well (Eq. 3)


class TaskModel(Protocol):
    """What is trained."""

    @property
    def network(self) -> nn.Module:
        """Whose parameters are trained."""

    @property
    def learning_rate(self) -> float:
        """The highest."""

    def loss(self, some: Sequence[Lesson], *, most_rows: int) -> Tensor:
        """Of these lessons, in nats. most_rows: of each, the best."""

    def replies(self, inputs: Sequence[DialogueInputs]) -> list[list[str]]:
        """The words of a reply to each."""

    def facts(self) -> dict[str, Any]:
        """What is written beside the weights."""


def optimizer_of(model: TaskModel) -> torch.optim.AdamW:
    """Of all its parameters."""
    return torch.optim.AdamW(
        model.network.parameters(),
        lr=model.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=WEIGHT_DECAY,
    )


def train_step(
    model: TaskModel, optimizer: torch.optim.Optimizer, some: Sequence[Lesson], *, most_rows: int
) -> float:
    """One step; returns the loss before it. most_rows: of each lesson, the best."""
    loss = model.loss(some, most_rows=most_rows)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.network.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())
