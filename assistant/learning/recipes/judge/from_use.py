"""Trains the adapters of a model that judges passages, on some that helped and some that did not.

    python -m assistant.learning.recipes.judge.from_use LESSONS.jsonl --out FOLDER --base MODEL
        [--adapters LIVE]

    lessons -> pairs -> SFT from the model as it comes, or ReplayDPO from the live adapters -> epochs
      -> the best of them -> temperature -> FOLDER

A pair is a passage that helped with a question and one that did not, drawn at random. SFT makes "yes" the
likelier for the first and "no" for the second. ReplayDPO has "yes" gain more for the first than for the
second (document mode): its reference is the live model, as a table that is made once and stays, and to the
pairs of new lessons come those of earlier rounds. The best epoch is the one after which the first is put
before the second likeliest, in lessons that tell when to end. See `recipes/from_shipped.py`;
`served/` has what `JudgeModel` loads. Source: EVO-Reranker, Eq. 4 and 5.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.losses.calibration import fitted_temperature, fitted_threshold
from agents.losses.preference import BETA, Pairs, document_pairs, dpo, margins, replayed
from agents.models.networks.judge_model import (
    WEIGHTS,
    JudgeDescription,
    JudgeModel,
    asked,
    base_version,
    table,
    write_adapters,
)
from agents.models.networks.label_model import Question
from assistant.learning.recipes.from_shipped import SERVED, FromShipped, Subject, options_of
from assistant.learning.recipes.run import CannotTrain, StopSignal, Tell, run

NO, YES = 0, 1  # places of the labels
SFT, DPO = "SFT", "ReplayDPO"
_TOGETHER = 4  # pairs that go through the model at once; a step adds up their gradients


@dataclass(frozen=True)
class JudgeTraining:
    """How it is trained."""

    epochs: int = 2
    learning_rate: float = 3e-4  # the highest; falling along a cosine
    beta: float = BETA
    alpha: float = 0.5  # the share of new pairs among all
    pairs: int = 4  # of a lesson
    rank: int = 16  # of the adapters
    first_layer: int = 0  # from where on there are adapters; a later one is quicker and learns less
    seed: int = 0


class Pair(NamedTuple):
    """Two passages of a question."""

    helped: Question
    useless: Question


@dataclass(frozen=True)
class Judged:
    """One lesson."""

    step: int  # in which it is new, from 0
    is_measured: bool  # tells when to end
    helped: tuple[Question, ...]
    useless: tuple[Question, ...]

    def drawn(self, *, most: int, seed: int) -> list[Pair]:
        """So many pairs at most."""
        labels = [1] * len(self.helped) + [0] * len(self.useless)
        found, both = document_pairs([0] * len(labels), labels, most=most, seed=seed), self.both
        rows = zip(found.chosen[:, 0].tolist(), found.rejected[:, 0].tolist(), strict=True)
        return [Pair(both[won], both[lost]) for won, lost in rows]

    @property
    def both(self) -> tuple[Question, ...]:
        """Those that helped come first."""
        return (*self.helped, *self.useless)


def read_lessons(file: Path) -> list[Judged]:
    """What a round has written. Raises `CannotTrain`."""
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return [
            Judged(
                int(row["step"]),
                bool(row["measured"]),
                *(
                    tuple(asked(row["question"], text) for text in row[name])
                    for name in ("helped", "useless")
                ),
            )
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CannotTrain(f"{file} holds no lessons of the judge: {error}") from error


class Adapters(Subject[Pair]):
    """Those of the live model, or new ones, and the pairs that they learn."""

    batch, least_an_epoch = 8, 64

    def __init__(self, options: argparse.Namespace) -> None:
        settings, live = options.settings, options.adapters
        self.start = live and live / WEIGHTS
        form = JudgeDescription(base_version(options.base), settings.rank, settings.first_layer)
        self._judge = JudgeModel(options.base, live, begins_with=form, seed=settings.seed)
        self._beta, lessons = settings.beta, read_lessons(options.lessons)
        self._way = SFT if live is None else DPO
        draw = random.Random(settings.seed)
        pairs = [(each, each.drawn(most=settings.pairs, seed=draw.getrandbits(32))) for each in lessons]
        self._told = [each for each in lessons if each.is_measured]
        self.measured = [pair for each, some in pairs if each.is_measured for pair in some]
        steps: list[list[Pair]] = [[] for _ in range(1 + max((each.step for each in lessons), default=0))]
        for each, some in pairs:
            steps[0 if live is None else each.step] += () if each.is_measured else some
        *history, new = steps if live is not None else steps[:1]
        kept, old = replayed(new, history, alpha=settings.alpha, seed=settings.seed)
        self.taught = [*kept, *old]
        self.facts = {"by": self._way, "new": len(kept), "replayed": len(old)}
        torch.manual_seed(settings.seed)
        self.trained = self._judge.labels.model.trained
        self.optimizer = torch.optim.AdamW(self.trained.values(), lr=settings.learning_rate, weight_decay=0.0)
        # of the model as it is now, which no later step changes (Eq. 4)
        shown = list(dict.fromkeys(each for pair in self.taught for each in pair)) if live else []
        self._reference = dict(zip(shown, table(self._judge.labels, shown), strict=True))

    def step(self, some: Sequence[Pair], draw: random.Random) -> float:
        del draw
        self.optimizer.zero_grad()
        total = 0.0
        for at in range(0, len(some), _TOGETHER):
            part = some[at : at + _TOGETHER]
            loss = self.loss(part) * len(part) / len(some)
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        self.optimizer.step()
        return total

    def loss(self, some: Sequence[Pair]) -> Tensor:
        """Of these, in nats."""
        items = [*(pair.helped for pair in some), *(pair.useless for pair in some)]
        logp, count = self._judge.labels.logp(items), len(some)  # (2 P, 2)
        if self._way == SFT:
            return F.nll_loss(logp, torch.tensor([YES] * count + [NO] * count))
        fixed = torch.stack([self._reference[each] for each in items])
        cells = torch.tensor([(row, YES) for row in range(len(items))])
        return dpo(margins(logp, fixed, Pairs(cells[:count], cells[count:])), beta=self._beta)

    def likelihood(self) -> float:
        """How likely what helped is put first, by "yes"; in nats, the mean over the pairs."""
        found = table(self._judge.labels, [each for pair in self.measured for each in pair])
        yes = found.log_softmax(1)[:, YES].view(-1, 2)
        return float(F.logsigmoid(yes[:, 0] - yes[:, 1]).mean())

    def write(self, best: Mapping[str, Tensor], folder: Path, tell: Tell) -> None:
        del tell
        self._judge.labels.restore(best)
        found = table(self._judge.labels, [item for each in self._told for item in each.both])
        gold = torch.tensor([int(item in each.helped) for each in self._told for item in each.both])
        temperature = fitted_temperature(found, gold)
        described = replace(self._judge.description, temperature=temperature)
        threshold = fitted_threshold(found / temperature, gold)
        self.facts = {**self.facts, "temperature": temperature, "threshold": threshold}
        (folder / SERVED).mkdir()
        write_adapters(folder / SERVED, best, described)


def begun(options: argparse.Namespace, stop: StopSignal, tell: Tell) -> FromShipped[Pair]:
    """The training that these options ask for."""
    tell("phase", phase="reading", device="cuda" if torch.cuda.is_available() else "cpu")
    return FromShipped(options, stop, tell, Adapters(options))


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    return run(lambda: _options(arguments), begun)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = options_of("from_use", __doc__, JudgeTraining)
    parser.add_argument("--base", type=Path, required=True, metavar="MODEL", help="which is trained")
    parser.add_argument("--adapters", type=Path, metavar="LIVE", help="those to begin with")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
