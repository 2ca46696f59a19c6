"""How much of the reader's body has to learn: all layers, none but the heads, or low-rank adapters.

    python -m benchmarks.reader_bodies DATA --trained adapters [--learning-rate 3e-3] [--choose]

Teaches one reader, starting from the packaged encoder's body, on the same examples in the same order for
every choice, and prints a row: SQuAD dev F1 given the passage that answers, accuracy of judge (SQuAD and NQ
test) and of verify (one entity or number exchanged), macro-F1 of sort, all in fp32 by torch. --choose
measures on the calibration part instead: learning rates are chosen there. What each choice costs to ship and
to serve is measured by benchmarks.reader_body_costs.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch

from agents.models.networks.reader_network import RANK, ReaderNetwork, Trained, base_folder, base_network
from agents.models.reader import OUTPUTS, OnnxReader
from agents.models.reader_files import ReaderDescription
from agents.models.reader_inputs import KINDS, ReaderTokenizer, Window, batch_of
from assistant.learning.recipes.examples.example import Example
from assistant.learning.recipes.examples.mixture import examples
from assistant.learning.recipes.reader.batches import TrainingBatches
from assistant.learning.recipes.reader.steps import ReaderTrainer, learning_rate_at
from assistant.learning.recipes.reader.temperature_fit import fit, scored
from benchmarks.reader_quality import Squad, answered, held_out, macro_f1

CHOICES: tuple[Trained, ...] = get_args(Trained)
WINDOW = 256  # tokens read at once when measured
EXAMPLES = 12288  # of the training part, in its order
CALIBRATION = 1000  # examples that learning rates are chosen on
ANSWER_QUESTIONS = 500
JUDGED, JUDGE_PAIRS = ("squad", "nq"), 300  # of each
CHANGED, CHANGED_PAIRS = "squad_entities", 600
SENTENCES = 100  # of a source


class Kept:
    """Examples in files of a folder, so that several runs make them once; without one they are made anew."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def __call__(self, name: str, make: Callable[[], list[Example]]) -> list[Example]:
        """The examples of this name."""
        if self._folder is None:
            return make()
        file = self._folder / f"{name}.pickle"
        if not file.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            new = file.with_suffix(f".{os.getpid()}")
            new.write_bytes(pickle.dumps(make()))
            new.replace(file)  # whole, whoever reads it meanwhile
        found: list[Example] = pickle.loads(file.read_bytes())
        return found


def train(
    network: ReaderNetwork,
    given: Sequence[Example],
    tokenizer: ReaderTokenizer,
    *,
    windows: int,
    learning_rate: float,
    tell: Callable[[str], None],
) -> float:
    """Teaches the network on so many windows, on one thread. Returns windows a second of CPU."""
    trainer = ReaderTrainer(network, device="cpu", threads=1, freeze_layers=0)
    batches = TrainingBatches(given, tokenizer, seed=1, batch_tokens=1536, step_windows=36)
    batches.window = 128
    seen, seconds, told = 0, 0.0, time.monotonic()
    for step in batches:
        began = time.process_time()
        loss = trainer.step(step, learning_rate=learning_rate_at(seen / windows, peak=learning_rate))
        seen += sum(map(len, step))
        seconds += time.process_time() - began
        if time.monotonic() - told > 60 or seen >= windows:
            told = time.monotonic()
            tell(
                f"{seen} of {windows} windows, {seen / seconds:.1f} a second, loss {float(loss.total()):.1f}"
            )
        if seen >= windows:
            break
    trainer.close()
    network.eval()
    return seen / seconds


class NetworkReader(OnnxReader):
    """A reader whose logits torch computes, in fp32: for networks that are not shipped."""

    def __init__(self, network: ReaderNetwork, tokenizer: ReaderTokenizer) -> None:
        self._network = network
        self._tokenizer = tokenizer
        self._facts = ReaderDescription(
            version="a network",
            precision="fp32",
            window=WINDOW,
            temperatures={"judge": 1.0, "spans": 1.0, "verify": 1.0, "sort": 1.0},
            model_bytes=0,
            model_sha256="",
            tokenizer_sha256="",
            largest_difference=0.0,
        )

    def logits(self, windows: Sequence[Window], outputs: Sequence[str] = OUTPUTS) -> list[dict[str, Any]]:
        """See `OnnxReader`; adapters are those of the kind of input that the outputs are asked of."""
        kind = torch.tensor([kind_of(outputs)])
        rows = []
        for window in windows:
            batch = batch_of([window])
            with torch.inference_mode():
                arrays = (torch.from_numpy(array) for array in (batch.ids, batch.types, batch.mask))
                found = self._network(*arrays, kind)._asdict()
            rows.append({name: found[name][0].numpy() for name in outputs})
        return rows


def kind_of(outputs: Sequence[str]) -> int:
    """The place in KINDS of the inputs of which these outputs are asked."""
    names = {"verify": "evidence", "sort": "sentence"}
    return KINDS.index(names.get(outputs[0], "passage"))


def quality(reader: OnnxReader, data: Path, keep: Kept) -> dict[str, float]:
    """On test parts: F1 of answers, accuracies of judge and verify, macro-F1 of sort."""
    squad = Squad(data, ANSWER_QUESTIONS)
    found = [
        answered(reader, q["question"], squad.gold[q["passage_ids"][0]].text, q["answers"]).f1
        for q in squad.questions
    ]
    judged = keep("test-judge", lambda: held_out(data, "judge", JUDGE_PAIRS))
    pairs = [e for e in judged if e.source in JUDGED]
    said = [int(np.argmax(reader.judge_probabilities(e.first, [e.second])[0])) for e in pairs]
    claims = keep("test-verify", lambda: held_out(data, "verify", CHANGED_PAIRS))
    claims = [e for e in claims if e.source == CHANGED]
    verified = [int(np.argmax(v)) for v in reader.verify([(e.first, e.second) for e in claims])]
    sentences = keep("test-sort", lambda: held_out(data, "sort", SENTENCES))
    sorted_as = [int(np.argmax(s)) for s in reader.sort([e.first for e in sentences])]
    return {
        "answer F1": float(np.mean(found)),
        "judge accuracy": _agreement(said, [e.judge for e in pairs]),
        "verify accuracy": _agreement(verified, [e.verify for e in claims]),
        "sort macro-F1": macro_f1(sorted_as, [e.sort or 0 for e in sentences]),
    }


def _agreement(said: Sequence[int], right: Sequence[int | None]) -> float:
    return float(np.mean([one == other for one, other in zip(said, right, strict=True)]))


def calibration_quality(
    network: ReaderNetwork, given: Sequence[Example], tokenizer: ReaderTokenizer
) -> dict[str, float]:
    """The accuracy of each head on examples of the calibration part."""
    found = fit(scored(network, given, tokenizer, window=WINDOW, device="cpu"))
    return {f"{head} accuracy": facts["accuracy"] for head, facts in found.items()}


def run(arguments: argparse.Namespace) -> None:
    """Trains, measures, prints one row."""
    torch.set_num_threads(1)
    tokenizer = ReaderTokenizer(base_folder() / "tokenizer.json")
    network = base_network(trained=arguments.trained, rank=arguments.rank)
    keep, data = Kept(arguments.keep), arguments.data
    given = keep("train", lambda: examples(data, "train", limit=EXAMPLES))
    rate = train(
        network,
        given,
        tokenizer,
        windows=arguments.windows,
        learning_rate=arguments.learning_rate,
        tell=lambda line: print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True),
    )
    if arguments.choose:
        held = keep("calibration", lambda: examples(data, "calibration", limit=CALIBRATION))
        found = calibration_quality(network, held, tokenizer)
    else:
        found = quality(NetworkReader(network, tokenizer), data, keep)
    row = [arguments.trained, f"{arguments.learning_rate:g}", f"{arguments.windows}", f"{rate:.1f}"]
    names = ("trained", "learning rate", "windows", "windows/s of CPU")
    print(f"| {' | '.join((*names, *found))} |")
    print(f"| {' | '.join(('---', *['---:'] * (len(names) + len(found) - 1)))} |")
    print(f"| {' | '.join((*row, *(f'{value:.3f}' for value in found.values())))} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--trained", choices=CHOICES, required=True)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--rank", type=int, default=RANK, help="of the adapters")
    parser.add_argument("--windows", type=int, default=6000, help="trained on so many inputs")
    parser.add_argument("--keep", type=Path, help="a folder for the examples, which several runs share")
    parser.add_argument("--choose", action="store_true", help="measure on the calibration part")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
