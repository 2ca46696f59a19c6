"""Words a second of the dialogue generator's training step, against a plain Hugging Face Trainer.

    python -m benchmarks.dialogue_throughput DATA [--steps 20] [--runs 3] [--threads 1]

Both train the same network on the same batches of CamRest in the same order, by AdamW with the same clipping;
the Trainer calls the loss of ours. Runs alternate, the first of each is not counted, and medians are over the
rest; what a Trainer does before its first step is not timed. Words are those of dialogue and reply.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from agents.models.dialogue_arrays import Strings, Vocabulary
from agents.models.networks.dialogue import DialogueNetwork, Shape
from assistant.learning.recipes.dialogue.lessons import Lesson, lessons, values_of, vocabulary_of
from assistant.learning.recipes.dialogue.replying import PointerModel
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from training.dialogue.train_dialogue import WEIGHT_DECAY, batches, optimizer_of, train_step

ROWS = 7


def ours(model: PointerModel, some: Sequence[list[Lesson]]) -> Callable[[], float]:
    """Seconds of the steps of `train_dialogue`."""

    def run() -> float:
        optimizer = optimizer_of(model)
        began = time.perf_counter()
        for batch in some:
            train_step(model, optimizer, batch, most_rows=ROWS)
        return time.perf_counter() - began

    return run


def theirs(model: PointerModel, some: Sequence[list[Lesson]]) -> Callable[[], float]:
    """Seconds of a Trainer's steps; those up to the first are taken off."""
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Loss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = model.network

        def forward(self, number: Tensor) -> dict[str, Tensor]:
            return {"loss": model.loss(some[int(number)], most_rows=ROWS)}

    class Clock(TrainerCallback):
        began = 0.0

        def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            self.began = self.began or time.perf_counter()

    def run() -> float:
        options = TrainingArguments(
            output_dir=tempfile.mkdtemp(),
            per_device_train_batch_size=1,  # the number of a batch
            num_train_epochs=1,
            learning_rate=model.learning_rate,
            weight_decay=WEIGHT_DECAY,
            max_grad_norm=1.0,
            lr_scheduler_type="constant",
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            remove_unused_columns=False,
        )
        clock = Clock()
        numbers: Any = [{"number": number} for number in range(len(some))]
        Trainer(model=Loss(), args=options, train_dataset=numbers, callbacks=[clock]).train()
        return time.perf_counter() - clock.began

    return run


def main() -> None:
    """Prints words a second of both, and the ratio run by run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--steps", type=int, default=20, help="of a run")
    parser.add_argument("--runs", type=int, default=3, help="that are counted, of each")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            model, some = _prepared(
                arguments.data, Strings(assistant.models.packaged_encoder), arguments.steps
            )
            words = sum(len(one.inputs.words) + len(one.reply) for batch in some for one in batch)
            taken: dict[str, list[float]] = {"ours": [], "Trainer": []}
            runs = {"ours": ours(model, some), "Trainer": theirs(model, some)}
            for number in range(arguments.runs + 1):
                for name, run in runs.items():
                    seconds = run()
                    taken[name] += [seconds] if number else []
    for name, times in taken.items():
        print(f"{name}: {words / statistics.median(times):.0f} words/s")
    ratios = [other / mine for mine, other in zip(*taken.values(), strict=True)]
    print(f"ratio {statistics.median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f})")


def _prepared(data: Path, strings: Strings, steps: int) -> tuple[PointerModel, list[list[Lesson]]]:
    found = lessons(data, "camrest", "train", "session", strings)
    some = list(islice(batches(found, seed="0"), steps))
    taken = [one for batch in some for one in batch]
    strings.add(one.inputs.utterances[-1] for one in taken)
    strings.add(window for one in taken for window in one.inputs.windows)
    vocabulary = Vocabulary(vocabulary_of(found, values_of(data, ["camrest"]).__contains__))
    return PointerModel(DialogueNetwork(Shape(len(vocabulary))), vocabulary, strings), some


if __name__ == "__main__":
    main()
