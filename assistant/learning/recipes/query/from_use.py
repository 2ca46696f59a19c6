"""Trains the query model's adapters further on follow-ups that found their answer.

    python -m assistant.learning.recipes.query.from_use LESSONS.jsonl --out FOLDER --base MODEL.gguf
        --adapters SHIPPED.gguf

    lessons -> the shipped adapters -> epochs -> the best of them -> FOLDER

A lesson is a question with what was said before it, what its answer was found with as it was typed, and with
each of several ways to make it stand alone. Learned is when to leave a question as it is, from all of them,
and to write the best way, where that finds more than the question (UniRAG, Eq. 5 and 6, with two actions:
"same" and everything else). See `recipes/from_shipped.py`; `served/` has what `QueryModel` loads.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.losses.strategy import selection, targets
from agents.models.exporters.export_adapters import exported, form_of_served, served
from agents.models.networks.causal_lm import CausalLm, batch_of, form_of, load, logits_of, with_adapters
from agents.prompts.standalone import prompt, written
from assistant.learning.recipes.from_shipped import SERVED, FromShipped, Subject, options_of
from assistant.learning.recipes.run import CannotTrain, StopSignal, Tell, run
from assistant.learning.recipes.training_state import write_checkpoint

WEIGHTS = "adapters.safetensors"
MOST_TOKENS = 256  # of an example
_NEVER = 1e-6  # least chance of either action, so that its logarithm is finite


@dataclass(frozen=True)
class QueryTraining:
    """How it is trained."""

    epochs: int = 3
    learning_rate: float = 3e-4  # the highest; falling along a cosine
    seed: int = 0


@dataclass(frozen=True)
class Tried:
    """A follow-up, and what was found with it in several ways; each from 0 to 1, 1 / rank."""

    question: str
    earlier: tuple[tuple[str, str], ...]  # questions and answers, oldest first
    own: float  # as it was typed
    ways: tuple[tuple[str, float], ...]  # made to stand alone

    @property
    def best(self) -> tuple[str, float]:
        """Of the ways; nothing where there is none."""
        return max(self.ways, key=lambda way: way[1], default=("", 0.0))

    @property
    def is_written(self) -> bool:
        """Whether the best way is learned: it finds more than the question.

        UniRAG (section 4.2.1) keeps equals too, but those of a large model: here they are words by chance.
        """
        return self.best[1] > self.own


def read_lessons(file: Path) -> list[tuple[bool, Tried]]:
    """What a round has written, each with whether it is measured on. Raises `CannotTrain`."""
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return [
            (
                bool(row["measured"]),
                Tried(
                    row["question"],
                    tuple((asked, answer) for asked, answer in row["earlier"]),
                    float(row["own"]),
                    tuple((text, float(found)) for text, found in row["ways"]),
                ),
            )
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CannotTrain(f"{file} holds no follow-ups: {error}") from error


def loss_of(model: CausalLm, some: Sequence[Tried]) -> Tensor:
    """Selection and generation loss of these, in nats. Source: Eq. 5 and 6."""
    batch = batch_of(model, [_text(each) for each in some], most_tokens=MOST_TOKENS)
    given = logits_of(model, batch).log_softmax(1)  # (n, v), of all learned tokens
    rows, words = batch.written.nonzero()[:, 0], batch.ids[batch.written]
    first = torch.cat([torch.tensor([True]), rows[1:] != rows[:-1]])
    [same, *_] = model.tokenizer(written(""), add_special_tokens=False).input_ids
    chance = given[first, same].exp().clamp(_NEVER, 1 - _NEVER)
    scores = torch.tensor([[each.own, each.best[1]] for each in some])
    there = torch.tensor([[True, bool(each.ways)] for each in some])
    by_rank = targets(scores, there) * there.all(1, keepdim=True)  # of one way alone nothing is chosen
    actions = torch.stack([chance, 1 - chance], 1).log()
    is_learned = torch.tensor([each.is_written for each in some])[rows] & ~first
    if not is_learned.any():
        return selection(actions, by_rank, torch.zeros_like(by_rank))
    generated = F.nll_loss(given[is_learned], words[is_learned])
    return selection(actions, by_rank, torch.zeros_like(by_rank)) + generated


def _text(tried: Tried) -> tuple[str, str]:
    """Prompt and what is to be written; what is not learned to be written is the shortest."""
    return prompt(tried.question, tried.earlier), written(tried.best[0] if tried.is_written else "")


class Adapters(Subject[Tried]):
    """The shipped adapters on their model, and the follow-ups that they learn."""

    batch, least_an_epoch = 16, 160

    def __init__(self, options: argparse.Namespace) -> None:
        self.start = self._adapters = options.adapters
        told = read_lessons(options.lessons)
        useful = [(is_measured, tried) for is_measured, tried in told if tried.own or tried.best[1]]
        self.taught = [tried for is_measured, tried in useful if not is_measured]
        self.measured = [tried for is_measured, tried in useful if is_measured]
        self.facts = {"found_nothing": len(told) - len(useful)}
        torch.manual_seed(options.settings.seed)
        base = load(options.base)
        base.network.to(torch.bfloat16)
        self._form = form_of(base) | form_of_served(self.start)
        self._model = with_adapters(base, **{n: self._form[n] for n in ("rank", "alpha", "first_layer")})
        self.trained = self._model.trained
        kept = served(self.start, self.trained, self._form)
        with torch.no_grad():
            for name, parameter in self.trained.items():
                parameter.copy_(torch.from_numpy(kept[name]))
        self.optimizer = torch.optim.AdamW(
            self.trained.values(), lr=options.settings.learning_rate, weight_decay=0.0
        )

    def step(self, some: Sequence[Tried], draw: random.Random) -> float:
        del draw
        self._model.network.train()
        loss = self._loss(some)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        self.optimizer.step()
        return float(loss.detach())

    def likelihood(self) -> float:
        """The loss, below zero."""
        self._model.network.eval()
        parts = [self.measured[at : at + self.batch] for at in range(0, len(self.measured), self.batch)]
        losses = [float(self._loss(part)) * len(part) for part in parts]
        return -sum(losses) / len(self.measured)

    def write(self, best: Mapping[str, Tensor], folder: Path, tell: Tell) -> None:
        write_checkpoint(folder / WEIGHTS, best, self._form)
        (folder / SERVED).mkdir()
        exported(folder / WEIGHTS, folder / SERVED / self._adapters.name)

    def _loss(self, some: Sequence[Tried]) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return loss_of(self._model, some)


def begun(options: argparse.Namespace, stop: StopSignal, tell: Tell) -> FromShipped[Tried]:
    """The training that these options ask for."""
    tell("phase", phase="reading", device="cpu")
    return FromShipped(options, stop, tell, Adapters(options))


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    return run(lambda: _options(arguments), begun)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = options_of("from_use", __doc__, QueryTraining)
    parser.add_argument("--base", type=Path, required=True, metavar="MODEL", help="which the adapters are of")
    parser.add_argument("--adapters", type=Path, required=True, help="those to begin with, as served")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
