"""Trains the dialogue generator further on replies that its users found right or wrote.

    python -m assistant.learning.recipes.dialogue.from_use LESSONS.jsonl --out FOLDER --encoder FOLDER

    lessons -> the shipped generator, with the words that it lacks -> epochs -> the best of them -> FOLDER

See `recipes/from_shipped.py`; `served/` is what `DialogueGenerator` loads.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from agents.models.dialogue_arrays import MARKS, Strings, Vocabulary, strings_of
from agents.models.dialogue_generator import SHIPPED, WEIGHTS
from agents.models.dialogue_inputs import MOST_ROWS
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.exporters.export_dialogue import export
from agents.models.networks.dialogue import DialogueNetwork, Shape
from assistant.learning.recipes.dialogue.batches import batch_of
from assistant.learning.recipes.dialogue.lessons import Lesson, lesson_of, vocabulary_of
from assistant.learning.recipes.dialogue.replying import PointerModel
from assistant.learning.recipes.dialogue.steps import BATCH, ROWS, optimizer_of, train_step
from assistant.learning.recipes.from_shipped import SERVED, FromShipped, Subject, options_of
from assistant.learning.recipes.run import CannotTrain, StopSignal, Tell, run
from assistant.learning.recipes.training_state import write_checkpoint
from stores.learning.dialogue_lessons import DialogueLesson, ToldEntity

_MEASURED_AT_ONCE = 32


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
                    | {"earlier_turns": tuple(row["earlier_turns"])}
                    | {"entities": tuple(ToldEntity(**entity) for entity in row["entities"])}
                ),
            )
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CannotTrain(f"{file} holds no lessons of dialogues: {error}") from error


class Replies(Subject[Lesson]):
    """The generator with the words that it lacks, and the replies that it learns."""

    batch, least_an_epoch = BATCH, 320
    start: Path = SHIPPED / WEIGHTS

    def __init__(self, options: argparse.Namespace) -> None:
        told = read_lessons(options.lessons)
        self.taught = [lesson_of(lesson) for is_measured, lesson in told if not is_measured]
        self.measured = [lesson_of(lesson) for is_measured, lesson in told if is_measured]
        strings = Strings(OnnxEncoder(options.encoder, threads=options.threads))
        for lesson in (*self.taught, *self.measured):
            strings.add(strings_of(lesson.inputs))
        torch.manual_seed(options.settings.seed)
        shipped = PointerModel.read(self.start, strings)
        values = {cell.value for lesson in self.taught for row in lesson.inputs.rows for cell in row}
        new = [w for w in vocabulary_of(self.taught, values.__contains__) if shipped.vocabulary.id(w) < 0]
        self.facts = {"new_words": len(new)}
        self._model = grown(shipped, new)
        self._model.learning_rate = options.settings.learning_rate
        self._network = self._model.network
        self.trained = dict(self._network.named_parameters())
        self.optimizer = optimizer_of(self._model)

    def step(self, some: Sequence[Lesson], draw: random.Random) -> float:
        self._network.train()
        return train_step(self._model, self.optimizer, some, most_rows=draw.choice(ROWS))

    def likelihood(self) -> float:
        """The mean over replies of the mean log-likelihood of their words, in nats."""
        self._network.eval()
        found = 0.0
        for some in _parts(self.measured, _MEASURED_AT_ONCE):
            batch = batch_of(
                [each.inputs for each in some],
                [each.reply for each in some],
                self._model.vocabulary,
                self._model.strings,
                most_rows=MOST_ROWS,
            )
            found += float(self._network.likelihood(batch).sum())
        return found / len(self.measured)

    def write(self, best: Mapping[str, Tensor], folder: Path, tell: Tell) -> None:
        write_checkpoint(folder / WEIGHTS, best, self._model.facts())
        export(
            folder / WEIGHTS,
            folder / SERVED,
            say=lambda sentence: tell("phase", phase="exporting", doing=sentence),
            learned_columns={column for each in self.taught for column in each.inputs.columns},
            learned_words={word for each in self.taught for word in each.reply},
        )


def _parts(found: Sequence[Lesson], size: int) -> Iterator[Sequence[Lesson]]:
    for start in range(0, len(found), size):
        yield found[start : start + size]


def begun(options: argparse.Namespace, stop: StopSignal, tell: Tell) -> FromShipped[Lesson]:
    """The training that these options ask for."""
    tell("phase", phase="reading", device="cpu")
    return FromShipped(options, stop, tell, Replies(options))


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    return run(lambda: _options(arguments), begun)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = options_of("from_use", __doc__, DialogueTraining)
    parser.add_argument("--encoder", type=Path, required=True, help="the packaged encoder, exported")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
