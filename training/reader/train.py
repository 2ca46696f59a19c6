"""Trains the reader: python -m training.reader.train DATA --out FOLDER --minutes 80

    examples -> batches -> steps, with a checkpoint now and then -> temperatures -> reader.safetensors

A run that is stopped, or killed, goes on with --resume: from its last checkpoint, in the same order. With
--steps the same seed and options give the same run; with --minutes the machine's speed decides how many steps
there are.
"""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from agents.models.reader_inputs import ReaderTokenizer
from assistant.learning.recipes.training_state import read_checkpoint, write_checkpoint
from training.examples.example import JUDGE_LABELS, RELATE_LABELS, SORT_LABELS, TASKS, VERIFY_LABELS, Example
from training.examples.mixture import SHARES, examples
from training.reader.batches import LabelledBatch, Position, TrainingBatches
from training.reader.loss import ReaderLoss
from training.reader.network import HEADS, base_folder, base_network
from training.reader.served_weights import served_weights
from training.reader.steps import ReaderTrainer, learning_rate_at
from training.reader.temperature_fit import fit, scored

REPORT_SECONDS = 30.0


@dataclass
class Progress:
    """How far a run has come."""

    step: int = 0
    windows: int = 0
    seconds: float = 0.0
    position: Position = field(default_factory=Position)

    def done(self, *, steps: int | None, minutes: float | None) -> float:
        """From 0 to 1, of whichever end comes first. One of them is given."""
        shares = [self.step / steps] if steps else []
        if minutes:
            shares.append(self.seconds / 60 / minutes)
        return min(1.0, max(shares))


class Report:
    """Says every half minute how the run goes: rate, time left, and the mean loss of each head."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._clear()

    def _clear(self) -> None:
        self._since = time.monotonic()
        self._windows = 0
        self._loss = dict.fromkeys(HEADS, 0.0)
        self._counts = dict.fromkeys(HEADS, 0)

    def add(self, loss: ReaderLoss, step: Sequence[LabelledBatch], progress: Progress, done: float) -> None:
        """Counts one step. done: 0 to 1, of the run."""
        self._windows += sum(map(len, step))
        for head in HEADS:
            self._loss[head] += float(getattr(loss, head))
            self._counts[head] += sum(labelled(batch, head) for batch in step)
        passed = time.monotonic() - self._since
        if passed < REPORT_SECONDS and done < 1:
            return
        losses = ", ".join(f"{h} {self._loss[h] / max(1, self._counts[h]):.3f}" for h in HEADS)
        left = progress.seconds * (1 - done) / done / 60
        self._say(
            f"step {progress.step}, {progress.windows} windows, {done:.1%}, "
            f"{self._windows / passed:.1f} windows/s, {left:.0f} min left; loss {losses}"
        )
        self._clear()


def labelled(batch: LabelledBatch, head: str) -> int:
    """How many windows of a batch have a label of this head."""
    known = batch.has_spans if head == "spans" else getattr(batch, head) >= 0
    return int(known.sum())


CHECKPOINT = "checkpoint.safetensors"
WEIGHTS = "reader.safetensors"
FACTS = "reader.json"
FORMAT = 2  # of the two files that are shipped
SERVED_WINDOW = 256  # tokens; what is longer is read in parts

# What must be the same when a run goes on.
_OF_THE_RUN = (
    "seed",
    "steps",
    "minutes",
    "layers",
    "freeze_layers",
    "head_rate",
    "batch_tokens",
    "step_windows",
    "learning_rate",
    "windows",
    "short_share",
    "tasks",
    "limit",
    "shares",
)


class Stopped(Exception):
    """The run was asked to stop, and its checkpoint is written."""


class Run:
    """One training, from its options to its weights."""

    def __init__(self, options: argparse.Namespace, train: list[Example], say: Callable[[str], None]) -> None:
        self._options = options
        self._say = say
        self._checkpoint: Path = options.out / CHECKPOINT
        self.progress = Progress()
        network = base_network(options.base, seed=options.seed, layers=options.layers)
        if options.start_from:
            started = _mean([_weights(path) for path in options.start_from])
            own = network.own_weights()
            fitting = {n: t for n, t in started.items() if n in own and t.shape == own[n].shape}
            network.load_own_weights(own | fitting)  # a head that is new, or has other labels, begins anew
        self.trainer = ReaderTrainer(
            network,
            device=options.device,
            threads=options.threads,
            freeze_layers=options.freeze_layers,
            head_rate=options.head_rate,
        )
        if options.resume:
            self._resume()
        self._batches = TrainingBatches(
            train,
            ReaderTokenizer(options.base / "tokenizer.json"),
            seed=options.seed,
            batch_tokens=options.batch_tokens,
            step_windows=options.step_windows,
            position=self.progress.position,
        )
        self.must_stop = False

    def _resume(self) -> None:
        try:
            tensors, facts = read_checkpoint(self._checkpoint)
        except (OSError, ValueError) as error:
            raise SystemExit(f"Error: there is nothing to go on from: {error}") from error
        for name, found in facts["options"].items():
            if found != _plain(getattr(self._options, name)):
                raise SystemExit(f"Error: this run began with {name} {found}; it cannot go on with another.")
        self.trainer.restore(tensors)
        position = Position(**facts["position"])
        self.progress = Progress(facts["step"], facts["windows"], facts["seconds"], position)
        self._say(f"Going on after step {self.progress.step}.")

    def facts(self) -> dict[str, Any]:
        """What a checkpoint says of the run."""
        options = {name: _plain(getattr(self._options, name)) for name in _OF_THE_RUN}
        p = self.progress
        return {
            "options": options,
            "step": p.step,
            "windows": p.windows,
            "seconds": round(p.seconds, 1),
            "position": p.position.as_facts(),
        }

    def save(self) -> None:
        """Writes the checkpoint."""
        write_checkpoint(self._checkpoint, self.trainer.state(), self.facts())

    def train(self) -> None:
        """All steps that are left. Raises Stopped when told to stop."""
        report, saved = Report(self._say), time.monotonic()
        batches = iter(self._batches)
        while (done := self._done()) < 1:
            begun = time.monotonic()
            self._batches.window = self._window(done)
            step = next(batches)
            loss = self.trainer.step(
                step, learning_rate=learning_rate_at(done, peak=self._options.learning_rate)
            )
            p = self.progress
            p.step, p.windows, p.position = (
                p.step + 1,
                p.windows + sum(map(len, step)),
                self._batches.position,
            )
            p.seconds += time.monotonic() - begun
            report.add(loss, step, p, self._done())
            if self.must_stop or time.monotonic() - saved > 60 * self._options.checkpoint_minutes:
                self.save()
                saved = time.monotonic()
            if self.must_stop:
                raise Stopped
        self.save()

    def _done(self) -> float:
        return self.progress.done(steps=self._options.steps, minutes=self._options.minutes)

    def _window(self, done: float) -> int:
        """Short windows first: most of what there is to learn, in less time."""
        short, long = self._options.windows
        return int(short if done < self._options.short_share else long)


def _weights(path: Path) -> dict[str, torch.Tensor]:
    return served_weights(path) if path.is_dir() else load_file(path)


def _mean(weights: Sequence[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """The mean of several runs' weights, of those that all of them have in one shape."""
    first, *others = weights
    shared = [n for n, t in first.items() if all(n in o and o[n].shape == t.shape for o in others)]
    return {n: torch.stack([w[n].float() for w in weights]).mean(dim=0) for n in shared}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def ship(run: Run, options: argparse.Namespace, say: Callable[[str], None]) -> None:
    """Fits the temperatures and writes the two files that are shipped."""
    say("Fitting the temperatures on the calibration part.")
    network = run.trainer.network.eval()
    held_out = examples(
        options.data, "calibration", tasks=options.tasks, seed=options.seed, limit=options.calibrate_on
    )
    tokenizer = ReaderTokenizer(options.base / "tokenizer.json")
    calibration = fit(scored(network, held_out, tokenizer, window=SERVED_WINDOW, device=options.device))
    for head, found in calibration.items():
        say(f"{head}: {found}")
    weights = {name: value.half().cpu().contiguous() for name, value in network.own_weights().items()}
    new = options.out / (WEIGHTS + ".new")
    save_file(weights, new)
    new.replace(options.out / WEIGHTS)
    facts = {
        "format": FORMAT,
        "labels": {
            "judge": JUDGE_LABELS,
            "verify": VERIFY_LABELS,
            "sort": SORT_LABELS,
            "relate": RELATE_LABELS,
        },
        "temperatures": {head: found["temperature"] for head, found in calibration.items()},
        "window": SERVED_WINDOW,
        "calibration": calibration,
        "training": run.facts()
        | {"device": options.device, "threads": options.threads, "command": options.command},
    }
    (options.out / FACTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    say(f"Wrote {options.out / WEIGHTS} and {options.out / FACTS}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Progress goes to stderr, a line at a time. Exit code 130: stopped, and can go on."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)

    def say(line: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)

    say("Reading the examples.")
    train = examples(
        options.data,
        "train",
        tasks=options.tasks,
        seed=options.seed,
        limit=options.limit,
        shares=options.shares,
    )
    say(f"{len(train)} examples, on {options.device}.")
    run = Run(options, train, say)

    def stop(signum: int, frame: FrameType | None) -> None:
        run.must_stop = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        run.train()
    except Stopped:
        say(f"Stopped after step {run.progress.step}; the same command with --resume goes on from there.")
        return 130
    finally:
        run.trainer.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    ship(run, options, say)
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="train_reader", description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="where checkpoint and weights go")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="train for so long")
    parser.add_argument("--steps", type=int, help="train for so many steps")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--threads", type=int, default=2, help="of the processor")
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--limit", type=int, help="use only so many examples")
    parser.add_argument(
        "--shares",
        type=float,
        nargs=4,
        default=SHARES,
        metavar=("PAIRS", "CLAIMS", "SENTENCES", "EVERYDAY"),
        help="of the examples, in percent",
    )
    parser.add_argument(
        "--start-from",
        type=Path,
        nargs="+",
        metavar="WEIGHTS",
        help="files, or folders that are served: to go on from (the mean of several), not from the encoder's",
    )
    parser.add_argument("--base", type=Path, default=base_folder(), help="the body's folder")
    parser.add_argument("--layers", type=int, help="so many of the body's lowest; by default all")
    parser.add_argument("--head-rate", type=float, default=1.0, help="the heads learn so many times as fast")
    parser.add_argument(
        "--freeze-layers", type=int, default=0, help="so many of the lowest layers stay as they are"
    )
    parser.add_argument("--batch-tokens", type=int, default=1536, help="computed at once, padding included")
    parser.add_argument("--step-windows", type=int, default=36, help="inputs of a step, at least")
    parser.add_argument("--learning-rate", type=float, default=2e-4, help="at its highest")
    parser.add_argument("--windows", type=int, nargs=2, default=(128, 224), help="tokens, at first and later")
    parser.add_argument(
        "--short-share", type=float, default=0.6, help="share of the run with the first window"
    )
    parser.add_argument("--checkpoint-minutes", type=float, default=4.0)
    parser.add_argument("--calibrate-on", type=int, default=2000, help="so many held-out examples")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the folder")
    options = parser.parse_args(arguments)
    if not options.minutes and not options.steps:
        parser.error("say when to end: --minutes or --steps")
    if options.device == "auto":
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    options.command = f"python -m training.reader.train {shlex.join(arguments)}"
    options.windows, options.tasks = tuple(options.windows), tuple(options.tasks)
    options.shares = tuple(options.shares)
    return options


if __name__ == "__main__":
    sys.exit(main())
