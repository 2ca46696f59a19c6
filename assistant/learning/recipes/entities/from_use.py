"""Trains what turns messages towards the entities that they are about, on replies that tell of an entity.

    python -m assistant.learning.recipes.entities.from_use LESSONS.jsonl --out FOLDER
        --encoder VERSION

    lessons -> a map that changes nothing, for each knowledge base -> epochs -> the best of them -> FOLDER

The nearer one of the right entities is, among all of its knowledge base, the lower is the loss
(Dual-Feedback, Eq. 1 and Appendix D: distant supervision); where several are right, their chances count
together. See `recipes/from_shipped.py`; `served/` has what `EntityMap` reads.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.models.entity_map import FILE
from assistant.learning.recipes.from_shipped import SERVED, FromShipped, Subject, options_of
from assistant.learning.recipes.run import CannotTrain, StopSignal, Tell, run
from assistant.learning.recipes.training_state import write_checkpoint

TEMPERATURE = 0.05  # of cosines


@dataclass(frozen=True)
class EntityTraining:
    """How it is trained."""

    epochs: int = 20
    learning_rate: float = 1e-3  # the highest; falling along a cosine
    rank: int = 64
    seed: int = 0


@dataclass(frozen=True)
class Meant:
    """A message, and which entity of a knowledge base it is about."""

    base: str
    query: str  # base64 of its vector
    right: tuple[int, ...]  # which of the base's, one at least


def read_lessons(file: Path) -> tuple[dict[str, Tensor], list[tuple[bool, Meant]]]:
    """Of each knowledge base (entities, d), and lessons, each with whether it is measured on.

    Raises `CannotTrain`.
    """
    entities: dict[str, Tensor] = {}
    found: list[tuple[bool, Meant]] = []
    try:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            if "base" in row:
                base = row["base"]
                entities[base] = torch.stack([vector_of(each) for each in row["entities"]])
            else:
                found.append((row["measured"], Meant(base, row["query"], tuple(row["right"]))))
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, UnboundLocalError) as error:
        raise CannotTrain(f"{file} holds no lessons of entities: {error}") from error
    return entities, found


def vector_of(text: str) -> Tensor:
    """(d,) of base64."""
    return torch.from_numpy(np.frombuffer(b64decode(text), "<f4").copy())


class Maps(Subject[Meant]):
    """A map for each knowledge base, and the messages that it learns."""

    batch, least_an_epoch, start = 32, 1, None

    def __init__(self, options: argparse.Namespace) -> None:
        self._entities, told = read_lessons(options.lessons)
        self.taught = [lesson for is_measured, lesson in told if not is_measured]
        self._bases = sorted({lesson.base for lesson in self.taught})
        self.measured = [each for is_measured, each in told if is_measured and each.base in self._bases]
        self.facts = {"encoder": options.encoder, "bases": self._bases}
        torch.manual_seed(options.settings.seed)
        self.trained = {}
        for number, base in enumerate(self._bases):
            shape = self._entities[base].shape[1], options.settings.rank
            self.trained[f"{number}.down"] = nn.Parameter(torch.randn(shape) / shape[0] ** 0.5)
            self.trained[f"{number}.up"] = nn.Parameter(torch.zeros(shape))
        self.optimizer = torch.optim.AdamW(
            self.trained.values(), lr=options.settings.learning_rate, weight_decay=0.01
        )

    def step(self, some: Sequence[Meant], draw: random.Random) -> float:
        del draw
        loss = self._loss(some)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return float(loss.detach())

    def likelihood(self) -> float:
        """The mean log-likelihood of the right entity, in nats."""
        return -float(self._loss(self.measured))

    def write(self, best: Mapping[str, Tensor], folder: Path, tell: Tell) -> None:
        (folder / SERVED).mkdir()
        write_checkpoint(folder / SERVED / FILE, best, self.facts)

    def _loss(self, some: Sequence[Meant]) -> Tensor:
        found = torch.zeros(())
        for number, base in enumerate(self._bases):
            if of_base := [each for each in some if each.base == base]:
                queries = torch.stack([vector_of(each.query) for each in of_base])
                moved = queries + queries @ self.trained[f"{number}.down"] @ self.trained[f"{number}.up"].T
                cosines = F.normalize(moved, dim=1) @ self._entities[base].T
                right = torch.zeros_like(cosines, dtype=torch.bool)
                for row, each in zip(right, of_base, strict=True):
                    row[list(each.right)] = True
                likely = (cosines / TEMPERATURE).log_softmax(1).masked_fill(~right, -torch.inf)
                found = found - likely.logsumexp(1).sum()
        return found / len(some)


def begun(options: argparse.Namespace, stop: StopSignal, tell: Tell) -> FromShipped[Meant]:
    """The training that these options ask for."""
    tell("phase", phase="reading", device="cpu")
    return FromShipped(options, stop, tell, Maps(options))


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    return run(lambda: _options(arguments), begun)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = options_of("from_use", __doc__, EntityTraining)
    parser.add_argument("--encoder", required=True, metavar="VERSION", help="of what made the vectors")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
