"""Makes the served form of the reader, once.

    python -m training.reader.export WEIGHTS CACHE_DIR

    weights and the encoder's embeddings -> ONNX -> compare with torch -> 8 bits -> compare -> rename

A process of its own, so that the chat never loads torch. The folder is written whole or not at all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.models.exported_folders import MODEL_FILE, TOKENIZER_FILE
from agents.models.exporters.onnx_export import (
    exporting,
    whole_folder,
    write_onnx,
)
from agents.models.reader import OUTPUTS, OnnxReader
from agents.models.reader_files import (
    ReaderDescription,
    ReaderUnavailable,
)
from agents.models.reader_inputs import ReaderTokenizer, Window, batch_of
from training.reader.served_form import Precision, latin_vocabulary, quantise, read_facts, reader_version

if TYPE_CHECKING:
    from training.reader.network import ReaderNetwork

# Between torch and what is served, on the inputs of the check.
LARGEST_DIFFERENCE = 1e-3  # of a logit, with fp32 weights; logits are of the order of 10
LARGEST_MEAN_DIFFERENCE = 0.5  # of a logit, with int8 weights: what is damaged differs by several
OPSET = 20  # has GELU as one operator: a tenth of the time with int8 weights
INPUTS = ("ids", "types", "mask")

_FIRSTS = (
    "",
    "?",
    "Where are the keys?",
    "WHEN WAS THE BRIDGE OPENED TO TRAFFIC?",
    "Naïve café façade: Ελληνικά, русский, עברית, العربية, ไทย.",
    "東京は日本の首都です。",
    "Which of the two committees, the one that met in May or the one that met in June, decided first? " * 4,
    "[CLS] and [SEP] are tokens, are they not?",
)
_SECONDS = (
    "",
    "The keys are on the kitchen table, beside the blue bowl.",
    "The bridge was opened to traffic on 12 May 1932 by the mayor, who had paid for a third of it. " * 3,
    "e\u0301 and \u00e9 are one letter; \u200bzero\u200bwidth\u200b; tab\tand\nnewline 🎉👩‍👩‍👧‍👦.",
    "Water boils at 100 degrees at sea level, and at 70 on the highest mountain. " * 30,
)


def export(
    weights: Path, target: Path, *, precision: Precision, base: Path | None, say: Callable[[str], None]
) -> None:
    """Writes the exported folder, or nothing when it does not answer as the weights do."""
    import torch

    from training.reader.network import base_folder

    torch.set_num_threads(1)  # on a busy machine more of them wait for each other: 110 s of CPU time, not 15
    base = base or base_folder()
    with whole_folder(target) as folder:
        say("Preparing the reader, once, 1 of 3: reading its weights.")
        network = _load(weights, base)
        tokenizer = json.loads((base / TOKENIZER_FILE).read_text(encoding="utf-8"))
        if is_large := network.places is not None:
            network.keep_words(latin_vocabulary(tokenizer))
        say("Preparing the reader, 2 of 3: exporting it to ONNX; this takes about half a minute.")
        file = folder / MODEL_FILE
        longest = network.longest_input
        write_onnx(network, file, inputs=INPUTS, outputs=OUTPUTS, max_tokens=longest, opset=OPSET)
        (folder / TOKENIZER_FILE).write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
        say("Preparing the reader, 3 of 3: comparing it with the original.")
        facts = read_facts(weights)
        _check(network, folder, _description(folder, target.name, "fp32", facts))
        if precision == "int8":
            quantise(file, narrow_in_blocks=is_large)
            _check(network, folder, _description(folder, target.name, "int8", facts))


def _load(weights: Path, base: Path) -> ReaderNetwork:
    from safetensors.torch import load_file

    from training.reader.network import base_network

    own = {name: value.float() for name, value in load_file(weights).items()}
    layers = len({name.split(".")[1] for name in own if name.startswith("layers.")})
    network = base_network(base, layers=layers).eval()
    try:
        network.load_own_weights(own)
    except ValueError as error:
        raise ReaderUnavailable(f"{weights} does not fit: {error}") from error
    return network


def _description(
    folder: Path, version: str, precision: Precision, facts: dict[str, Any]
) -> ReaderDescription:
    return ReaderDescription.of(
        folder,
        version=version,
        precision=precision,
        window=facts["window"],
        temperatures=facts["temperatures"],
    )


def _check(network: ReaderNetwork, folder: Path, description: ReaderDescription) -> None:
    """Compares served with original logits, and writes how far they are apart into the description."""
    description.write(folder)
    windows = check_windows(ReaderTokenizer(folder / TOKENIZER_FILE), description.window)
    differences = _differences(network, OnnxReader(folder, threads=1), windows)
    largest, mean = float(differences.max()), float(differences.mean())
    is_whole = mean <= LARGEST_MEAN_DIFFERENCE
    if description.precision == "fp32":
        is_whole = largest <= LARGEST_DIFFERENCE
    if not is_whole:  # put so that not-a-number fails as well
        raise ReaderUnavailable(
            f"The reader's {description.precision} export differs from the original by up to {largest:.1e} "
            f"({mean:.1e} in the mean); it was not kept"
        )
    replace(description, largest_difference=largest).write(folder)


def check_windows(tokenizer: ReaderTokenizer, window: int) -> list[Window]:
    """Every first text with every second, and alone."""
    windows = [tokenizer.single(first, limit=window) for first in _FIRSTS]
    for first in _FIRSTS:
        for second in _SECONDS:
            tokens = (tokenizer.tokens(first), tokenizer.tokens(second))
            windows.append(tokenizer.pair(*tokens, 0, limit=window))
    return windows


def _differences(
    network: ReaderNetwork, reader: OnnxReader, windows: list[Window]
) -> npt.NDArray[np.float64]:
    """Of every logit, over all windows."""
    import torch

    differences = []
    for window, served in zip(windows, reader.logits(windows), strict=True):
        batch = batch_of([window])
        with torch.inference_mode():
            arrays = (torch.from_numpy(array) for array in (batch.ids, batch.types, batch.mask))
            original = network(*arrays)._asdict()
        differences += [np.abs(served[name] - original[name][0].double().numpy()) for name in OUTPUTS]
    return np.concatenate(differences)


def main() -> int:
    """Progress and errors go to stderr in sentences, and the finished folder's path to stdout."""
    parser = argparse.ArgumentParser(prog="export_reader", description=__doc__.partition("\n")[0])
    parser.add_argument("weights", type=Path, help="reader.safetensors, with its reader.json beside it")
    parser.add_argument("cache_dir", type=Path, help="where the folder goes, named after its version")
    parser.add_argument("--precision", choices=("int8", "fp32"), default="int8", help="of the weights")
    parser.add_argument("--base", type=Path, help="the body's folder, if it is not the packaged encoder")
    arguments = parser.parse_args()

    def work(say: Callable[[str], None]) -> Path:
        precision, base = arguments.precision, arguments.base
        target: Path = arguments.cache_dir.resolve() / reader_version(arguments.weights, precision, base=base)
        export(arguments.weights, target, precision=precision, base=base, say=say)
        return target

    return exporting(work)


if __name__ == "__main__":
    sys.exit(main())
