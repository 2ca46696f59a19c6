"""Trains the dialogue generator further on replies that its users found right or wrote.

    python -m assistant.learning.recipes.dialogue.from_use LESSONS.jsonl --out FOLDER --encoder FOLDER

    lessons -> the shipped generator, with the words that it lacks -> epochs -> the best of them -> FOLDER

Each round begins from what is shipped, so that nothing of a lesson that was taken back is left in it. The
best epoch is the one after which the lessons that tell when to end are likeliest; they are never trained on.
FOLDER holds the weights, `served/`, which `DialogueGenerator` loads, and settings.json: how it came about.
The state is written after each epoch; with --resume the same command goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from agents.models.dialogue_arrays import MARKS, Strings, Vocabulary, strings_of
from agents.models.dialogue_generator import SHIPPED, WEIGHTS
from agents.models.dialogue_inputs import MOST_ROWS
from agents.models.encoder import OnnxEncoder
from agents.models.exporters.export_dialogue import export
from agents.models.exporters.onnx_export import put_in_place
from agents.models.networks.dialogue import DialogueNetwork, Shape
from assistant.learning.recipes.dialogue.batches import batch_of
from assistant.learning.recipes.dialogue.lessons import Lesson, lesson_of, vocabulary_of
from assistant.learning.recipes.dialogue.replying import PointerModel
from assistant.learning.recipes.dialogue.train_dialogue import BATCH, ROWS, optimizer_of, rate, train_step
from assistant.learning.recipes.retriever.pacing import Pace
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, Tell, run, workplace
from assistant.learning.recipes.training_state import (
    optimizer_tensors,
    read_checkpoint,
    restore_optimizer,
    write_checkpoint,
)
from stores.learning.dialogue_lessons import DialogueLesson, ToldEntity

STATE, SERVED = "state.safetensors", "served"
_BEST = "best."  # before the names of the best epoch's tensors, in the state
_MEASURED_AT_ONCE = 32
_LEAST_AN_EPOCH = 320  # lessons


@dataclass(frozen=True)
class DialogueTraining:
    """How it is trained."""

    epochs: int = 12
    learning_rate: float = 5e-4  # the highest; falling along a cosine
    seed: int = 0


def grown(model: PointerModel, words: Sequence[str]) -> PointerModel:
    """The same model with more words, each of which begins as the mean of the others."""
    told = model.network.state_dict()
    known = told["words.weight"]
    told["words.weight"] = torch.cat([known, known[len(MARKS) :].mean(0, keepdim=True).repeat(len(words), 1)])
    vocabulary = Vocabulary([*model.vocabulary.words[len(MARKS) :], *words])
    network = DialogueNetwork(Shape(len(vocabulary)))
    network.load_state_dict(told)
    return PointerModel(network, vocabulary, model.strings, model.learning_rate)


def read_lessons(file: Path) -> list[tuple[bool, DialogueLesson]]:
    """What a round has written, each with whether it is measured on. Raises `CannotTrain`."""
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return [
            (
                row.pop("measured"),
                DialogueLesson(
                    **row
                    | {"messages": tuple(row["messages"]), "answers": tuple(row["answers"])}
                    | {"entities": tuple(ToldEntity(**entity) for entity in row["entities"])}
                ),
            )
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CannotTrain(f"{file} holds no lessons of dialogues: {error}") from error


class Run:
    """One training, from its options to its folder."""

    def __init__(self, options: argparse.Namespace, stop: StopSignal, tell: Tell) -> None:
        self._options, self._stop, self._tell = options, stop, tell
        self._settings: DialogueTraining = options.settings
        self._work = workplace(options.out)
        tell("phase", phase="reading", device="cpu")
        told = read_lessons(options.lessons)
        self._taught = [lesson_of(lesson) for is_measured, lesson in told if not is_measured]
        self._measured = [lesson_of(lesson) for is_measured, lesson in told if is_measured]
        if not (self._taught and self._measured):
            raise CannotTrain("There are too few dialogues to learn from and to measure on")
        strings = Strings(OnnxEncoder(options.encoder, threads=options.threads))
        for lesson in (*self._taught, *self._measured):
            strings.add(strings_of(lesson.inputs))
        torch.manual_seed(self._settings.seed)
        shipped = PointerModel.read(SHIPPED / WEIGHTS, strings)
        values = {cell.value for lesson in self._taught for row in lesson.inputs.rows for cell in row}
        new = [w for w in vocabulary_of(self._taught, values.__contains__) if shipped.vocabulary.id(w) < 0]
        self._new_words = len(new)
        self._model = grown(shipped, new)
        self._model.learning_rate = self._settings.learning_rate
        self._network = self._model.network
        self._optimizer = optimizer_of(self._model)
        self._names = {parameter: name for name, parameter in self._network.named_parameters()}
        self._epoch = 0
        self._likelihoods: list[float] = []
        self._best = self._copied()
        if options.resume and (self._work / STATE).exists():
            self._restore()
        else:
            self._likelihoods.append(self._measure())
        self._work.mkdir(parents=True, exist_ok=True)

    def train(self) -> None:
        """All epochs that are left. Raises `Stopped` when told to stop."""
        self._tell("phase", phase="training")
        again = max(1, _LEAST_AN_EPOCH // len(self._taught))  # few are gone through several times
        steps = -(-again * len(self._taught) // BATCH)
        of, pace = steps * self._settings.epochs, Pace()
        for epoch in range(self._epoch, self._settings.epochs):
            draw = random.Random(f"{self._settings.seed} {epoch}")
            torch.manual_seed(self._settings.seed * 1_000 + epoch)  # for dropout, also if it goes on
            order = draw.sample(again * self._taught, again * len(self._taught))
            for number, start in enumerate(range(0, len(order), BATCH)):
                some = order[start : start + BATCH]
                for group in self._optimizer.param_groups:
                    group["lr"] = self._settings.learning_rate * rate(epoch * steps + number, of)
                loss = train_step(self._model, self._optimizer, some, most_rows=draw.choice(ROWS))
                if not math.isfinite(loss):
                    raise CannotTrain(f"The loss is {loss} in epoch {epoch + 1}; nothing was kept")
                step = epoch * steps + number + 1
                paced = pace.after(len(some), steps_left=of - step)
                self._tell("step", step=step, steps=of, loss=loss, **paced)
                if self._stop.came:
                    raise Stopped
            self._epoch = epoch + 1
            self._likelihoods.append(self._measure())
            if self._likelihoods[-1] >= max(self._likelihoods):
                self._best = self._copied()
            self._save()

    def finish(self) -> None:
        """Exports the best epoch and puts the folder in its place."""
        whole = self._work / "whole"
        shutil.rmtree(whole, ignore_errors=True)  # of a run that was killed while it wrote
        whole.mkdir()
        with self._stop.at_once():
            self._tell("phase", phase="exporting")
            write_checkpoint(whole / WEIGHTS, self._best, self._model.facts())
            export(
                whole / WEIGHTS,
                whole / SERVED,
                say=lambda sentence: self._tell("phase", phase="exporting", doing=sentence),
            )
        best = max(range(len(self._likelihoods)), key=self._likelihoods.__getitem__)
        told = self._of_the_run() | {"best_epoch": best, "likelihoods": self._likelihoods}
        counts = {"taught": len(self._taught), "measured": len(self._measured)}
        text = json.dumps(told | counts | {"new_words": self._new_words}, indent=2) + "\n"
        (whole / SETTINGS).write_text(text, encoding="utf-8")
        put_in_place(whole, self._options.out)
        shutil.rmtree(self._work, ignore_errors=True)
        self._tell("done", folder=str(self._options.out), best_epoch=best)

    def _copied(self) -> dict[str, Tensor]:
        return {name: parameter.detach().clone() for name, parameter in self._network.named_parameters()}

    @torch.no_grad()
    def _measure(self) -> float:
        """The mean log-likelihood of a word of the lessons that tell when to end, in nats."""
        self._network.eval()
        found = 0.0
        for some in _parts(self._measured, _MEASURED_AT_ONCE):
            batch = batch_of(
                [each.inputs for each in some],
                [each.reply for each in some],
                self._model.vocabulary,
                self._model.strings,
                most_rows=MOST_ROWS,
            )
            found += float(self._network.likelihood(batch).sum())
        self._network.train()
        mean = found / len(self._measured)
        self._tell("held_out", epoch=len(self._likelihoods), chance=math.exp(mean))
        return mean

    def _of_the_run(self) -> dict[str, Any]:
        """What must be the same when a run goes on."""
        of_lessons = repr((self._taught, self._measured)).encode()
        return {
            "settings": asdict(self._settings),
            "data_sha256": hashlib.sha256(of_lessons).hexdigest(),
            "start_sha256": hashlib.sha256((SHIPPED / WEIGHTS).read_bytes()).hexdigest(),
        }

    def _save(self) -> None:
        best = {f"{_BEST}{name}": tensor for name, tensor in self._best.items()}
        facts = self._of_the_run() | {"epoch": self._epoch, "likelihoods": self._likelihoods}
        state = dict(self._network.named_parameters()) | optimizer_tensors(self._optimizer, self._names)
        write_checkpoint(self._work / STATE, state | best, facts)

    @torch.no_grad()
    def _restore(self) -> None:
        try:
            tensors, facts = read_checkpoint(self._work / STATE)
        except (OSError, ValueError) as error:
            raise CannotTrain(f"There is nothing to go on from: {error}") from error
        for name, now in self._of_the_run().items():
            if facts.get(name) != now:
                raise CannotTrain(f"This run began with other {name}; it cannot go on with these")
        for name, parameter in self._network.named_parameters():
            parameter.copy_(tensors[name])
            self._best[name] = tensors[f"{_BEST}{name}"]
        restore_optimizer(self._optimizer, self._names, tensors)
        self._epoch, self._likelihoods = facts["epoch"], facts["likelihoods"]
        self._tell("resumed", step=self._epoch)


def _parts(found: Sequence[Lesson], size: int) -> Iterator[Sequence[Lesson]]:
    for start in range(0, len(found), size):
        yield found[start : start + size]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    return run(lambda: _options(arguments), Run)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="from_use", description=__doc__.partition("\n")[0])
    parser.add_argument("lessons", type=Path, help="a lesson a line")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make")
    parser.add_argument("--encoder", type=Path, required=True, help="the packaged encoder, exported")
    parser.add_argument("--settings", type=_settings, default=DialogueTraining(), help="as a JSON object")
    parser.add_argument("--threads", type=int, default=1, help="of the processor")
    parser.add_argument("--resume", action="store_true", help="go on from the last epoch, if there is one")
    parser.add_argument("--parent", type=int, help="the process with which this one ends")
    return parser.parse_args(arguments)


def _settings(text: str) -> DialogueTraining:
    try:
        return DialogueTraining(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"no settings: {error}") from error


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
