"""Trains what Vouch comes with further, on what there is to learn from use.

    lessons -> what is shipped -> epochs -> the best of them -> FOLDER

Each round begins from what is shipped, so that nothing of a lesson that was taken back is left in it. The
best epoch is the one after which the lessons that tell when to end are likeliest; they are never trained on.
FOLDER holds the weights, `served/` and settings.json: how it came about. The state is written after each
epoch; with --resume the same command goes on, with other lessons from the start.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from agents.models.exporters.onnx_export import put_in_place
from assistant.learning.recipes.pacing import Pace, rate
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, Tell, workplace
from assistant.learning.recipes.training_state import (
    optimizer_tensors,
    read_checkpoint,
    restore_optimizer,
    write_checkpoint,
)

STATE, SERVED = "state.safetensors", "served"
_BEST = "best."  # before the names of the best epoch's tensors, in the state

T = TypeVar("T")


class Subject(ABC, Generic[T]):
    """What is trained, and on what."""

    taught: Sequence[T]
    measured: Sequence[T]  # which tell when to end
    trained: Mapping[str, nn.Parameter]  # by name
    optimizer: torch.optim.Optimizer
    start: Path | None  # the shipped weights; None where it begins with none
    facts: Mapping[str, Any]  # for settings.json
    batch: int  # lessons of a step
    least_an_epoch: int  # lessons; fewer are gone through several times

    @abstractmethod
    def step(self, some: Sequence[T], draw: random.Random) -> float:
        """One step on these; the loss."""

    @abstractmethod
    def likelihood(self) -> float:
        """How likely what was measured is, in nats: the more, the better."""

    @abstractmethod
    def write(self, best: Mapping[str, Tensor], folder: Path, tell: Tell) -> None:
        """The weights, and what is served of them in the folder `SERVED`."""


class FromShipped(Generic[T]):
    """One training, from its lessons to its folder."""

    def __init__(
        self, options: argparse.Namespace, stop: StopSignal, tell: Tell, subject: Subject[T]
    ) -> None:
        """options: with `settings`, a dataclass of epochs, learning_rate and seed, `out` and `resume`."""
        self._options, self._stop, self._tell, self._subject = options, stop, tell, subject
        self._settings = options.settings
        self._work = workplace(options.out)
        if not (subject.taught and subject.measured):
            raise CannotTrain("There are too few lessons to learn from and to measure on")
        self._names = {parameter: name for name, parameter in subject.trained.items()}
        self._epoch = 0
        self._likelihoods: list[float] = []
        self._best = self._copied()
        if not (options.resume and self._restored()):
            self._measure()
        self._work.mkdir(parents=True, exist_ok=True)

    def train(self) -> None:
        """All epochs that are left. Raises `Stopped` when told to stop."""
        subject, settings = self._subject, self._settings
        self._tell("phase", phase="training")
        again = max(1, subject.least_an_epoch // len(subject.taught))
        steps = -(-again * len(subject.taught) // subject.batch)
        of, pace = steps * settings.epochs, Pace()
        for epoch in range(self._epoch, settings.epochs):
            draw = random.Random(f"{settings.seed} {epoch}")
            torch.manual_seed(settings.seed * 1_000 + epoch)  # for dropout, also if it goes on
            order = draw.sample(again * list(subject.taught), again * len(subject.taught))
            for number, start in enumerate(range(0, len(order), subject.batch)):
                some = order[start : start + subject.batch]
                for group in subject.optimizer.param_groups:
                    group["lr"] = settings.learning_rate * rate(epoch * steps + number, of)
                loss = subject.step(some, draw)
                if not math.isfinite(loss):
                    raise CannotTrain(f"The loss is {loss} in epoch {epoch + 1}; nothing was kept")
                step = epoch * steps + number + 1
                paced = pace.after(len(some), steps_left=of - step)
                self._tell("step", step=step, steps=of, loss=loss, **paced)
                if self._stop.came:
                    raise Stopped
            self._epoch = epoch + 1
            if self._measure() >= max(self._likelihoods):
                self._best = self._copied()
            self._save()

    def finish(self) -> None:
        """Exports the best epoch and puts the folder in its place."""
        whole = self._work / "whole"
        shutil.rmtree(whole, ignore_errors=True)  # of a run that was killed while it wrote
        whole.mkdir()
        with self._stop.at_once():
            self._tell("phase", phase="exporting")
            self._subject.write(self._best, whole, self._tell)
        best = max(range(len(self._likelihoods)), key=self._likelihoods.__getitem__)
        told = self._of_the_run() | {"best_epoch": best, "likelihoods": self._likelihoods}
        counts = {"taught": len(self._subject.taught), "measured": len(self._subject.measured)}
        text = json.dumps(told | counts | dict(self._subject.facts), indent=2) + "\n"
        (whole / SETTINGS).write_text(text, encoding="utf-8")
        put_in_place(whole, self._options.out)
        shutil.rmtree(self._work, ignore_errors=True)
        self._tell("done", folder=str(self._options.out), best_epoch=best)

    def _copied(self) -> dict[str, Tensor]:
        return {name: parameter.detach().clone() for name, parameter in self._subject.trained.items()}

    def _measure(self) -> float:
        with torch.no_grad():
            found = self._subject.likelihood()
        self._tell("held_out", epoch=len(self._likelihoods), chance=math.exp(found))
        self._likelihoods.append(found)
        return found

    def _of_the_run(self) -> dict[str, Any]:
        """What must be the same when a run goes on."""
        start = self._subject.start
        of_lessons = repr((self._subject.taught, self._subject.measured)).encode()
        return {
            "settings": asdict(self._settings),
            "data_sha256": hashlib.sha256(of_lessons).hexdigest(),
            "start_sha256": start and hashlib.sha256(start.read_bytes()).hexdigest(),
        }

    def _save(self) -> None:
        best = {f"{_BEST}{name}": tensor for name, tensor in self._best.items()}
        facts = self._of_the_run() | {"epoch": self._epoch, "likelihoods": self._likelihoods}
        state = dict(self._subject.trained) | optimizer_tensors(self._subject.optimizer, self._names)
        write_checkpoint(self._work / STATE, state | best, facts)

    @torch.no_grad()
    def _restored(self) -> bool:
        """Whether there is a state to go on from, of the same lessons, settings and weights."""
        try:
            tensors, facts = read_checkpoint(self._work / STATE)
        except (OSError, ValueError):
            return False
        if any(facts.get(name) != now for name, now in self._of_the_run().items()):
            return False
        for name, parameter in self._subject.trained.items():
            parameter.copy_(tensors[name])
            self._best[name] = tensors[f"{_BEST}{name}"]
        restore_optimizer(self._subject.optimizer, self._names, tensors)
        self._epoch, self._likelihoods = facts["epoch"], facts["likelihoods"]
        self._tell("resumed", step=self._epoch)
        return True


def options_of(prog: str, description: str | None, settings: type) -> argparse.ArgumentParser:
    """What every such training is asked. settings: its dataclass, which can be made of nothing."""

    def read(text: str) -> Any:
        try:
            return settings(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise argparse.ArgumentTypeError(f"no settings: {error}") from error

    parser = argparse.ArgumentParser(prog=prog, description=(description or "").partition("\n")[0])
    parser.add_argument("lessons", type=Path, help="a lesson a line")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make")
    parser.add_argument("--settings", type=read, default=settings(), help="as a JSON object")
    parser.add_argument("--threads", type=int, default=1, help="of the processor")
    parser.add_argument("--resume", action="store_true", help="go on from the last epoch, if there is one")
    parser.add_argument("--parent", type=int, help="the process with which this one ends")
    return parser
