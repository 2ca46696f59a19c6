"""Makes the served form of a task-dialogue generator.

    python -m agents.models.exporters.export_dialogue DIALOGUE.safetensors FOLDER

    weights -> memory.onnx (a context and rows, once a reply) and step.onnx (once a word) -> compare -> rename

The folder is written whole or not at all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor, nn

from agents.models.dialogue_arrays import VECTOR
from agents.models.dialogue_generator import (
    MEMORY_FILE,
    MEMORY_INPUTS,
    PREPARED,
    STEP_FILE,
    STEP_INPUTS,
    STEP_OUTPUTS,
    DialogueDescription,
    DialogueUnavailable,
    open_step,
)
from agents.models.dialogue_inputs import FEATURES
from agents.models.exported_folders import open_session
from agents.models.exporters.onnx_export import exporting, must_be_the_same, whole_folder
from agents.models.networks.dialogue import DialogueBatch, DialogueNetwork, Prepared, Shape

LARGEST_DIFFERENCE = 1e-3  # of a log-probability, between torch and what is served
_STEPS = 4  # of the check
_SIZE = 3  # replies at once


class _Memory(nn.Module):
    def __init__(self, network: DialogueNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, *arrays: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(MEMORY_INPUTS, arrays, strict=True))
        none = torch.zeros(0)
        at = self.network.prepared(
            DialogueBatch(
                **given,
                said_ids=none,
                said_vectors=none,
                said_columns=none,
                target_ids=none,
                target_positions=none,
                target_mask=none,
            )
        )
        return at.crossed, at.mask, at.pointed, at.named


class _Step(nn.Module):
    def __init__(self, network: DialogueNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, *arrays: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        ids, vectors, of_columns, past, crossed, mask, pointed, named, columns, meeting = arrays
        at = Prepared(crossed, mask, pointed, named, columns, meeting)
        words, positions, past = self.network.told((ids, vectors, of_columns), past, at)
        return words[:, -1], positions[:, -1], past


def network_of(weights: Path) -> tuple[DialogueNetwork, tuple[str, ...]]:
    """A trained network and the words of its vocabulary. Raises `DialogueUnavailable`."""
    try:
        with safe_open(weights, "pt") as file:
            facts = json.loads(file.metadata()["facts"])
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
        words = tuple(facts["words"])
        network = DialogueNetwork(Shape(len(words), **facts.get("shape", {})))
        network.load_state_dict(tensors)
    except Exception as error:
        raise DialogueUnavailable(f"{weights} holds no task-dialogue generator: {error}") from error
    return network.eval(), words


@torch.no_grad()
def export(
    weights: Path,
    target: Path,
    *,
    say: Callable[[str], None],
    learned_columns: Iterable[str] = (),
    learned_words: Iterable[str] = (),
) -> None:
    """Writes the exported folder, or nothing when it does not answer as the weights do.

    learned_columns, learned_words: of corrections, see `DialogueDescription`.
    """
    torch.set_num_threads(1)
    network, words = network_of(weights)
    with whole_folder(target) as folder:
        say("Exporting the dialogue generator to ONNX.")
        arrays = _example(network.shape.vocabulary, rows=3)
        memory = [torch.from_numpy(arrays[name]) for name in MEMORY_INPUTS]
        _write(_Memory(network), memory, folder / MEMORY_FILE, MEMORY_INPUTS, PREPARED, _MEMORY_SHAPES)
        prepared = _Memory(network)(*memory)
        past = network.told(_said(_SIZE), network.nothing_said(_SIZE), _for_all(prepared, arrays))[2]
        step = [*_said(_SIZE), past, *_repeated(prepared), *_rest(arrays)]
        _write(_Step(network), step, folder / STEP_FILE, STEP_INPUTS, STEP_OUTPUTS, _STEP_SHAPES)
        say("Comparing it with the original.")
        difference = _difference(network, folder)
        must_be_the_same(
            difference, LARGEST_DIFFERENCE, name="the dialogue generator", unavailable=DialogueUnavailable
        )
        description = DialogueDescription.of_files(folder, words, network.shape)
        replace(
            description,
            largest_difference=difference,
            learned_columns=tuple(sorted(set(learned_columns))),
            learned_words=tuple(sorted(set(learned_words))),
        ).write(folder)


_L, _U, _S, _K, _C = (torch.export.Dim(name) for name in ("length", "utterances", "columns", "rows", "cells"))
_MEMORY_SHAPES: dict[str, dict[int, object]] = {
    "word_ids": {1: _L},
    "word_vectors": {1: _L},
    "window_vectors": {1: _L},
    "word_marks": {1: _L},
    "utterance_vectors": {1: _U},
    "memory_mask": {1: torch.export.Dim.AUTO},
    "column_vectors": {1: _S},
    "cell_vectors": {1: _K, 2: _C},
    "cell_features": {1: _K, 2: _C},
    "cell_columns": {1: _K, 2: _C},
    "cell_mask": {1: _K, 2: _C},
    "meeting": {},
    "position_columns": {1: torch.export.Dim.AUTO},
}
_B, _T, _M, _P, _N = (torch.export.Dim(name) for name in ("batch", "past", "memory", "positions", "names"))
_STEP_SHAPES: dict[str, dict[int, object]] = {
    "said_ids": {0: _B},
    "said_vectors": {0: _B},
    "said_columns": {0: _B},
    "past": {2: _B, 4: _T},
    "crossed": {2: _B, 4: _M},
    "mask": {0: _B, 1: _M},
    "pointed": {0: _B, 1: _P},
    "named": {0: _B, 1: _N},
    "position_columns": {0: _B, 1: _P},
    "meeting": {0: _B},
}


def _write(
    model: nn.Module,
    arguments: list[Tensor],
    file: Path,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    shapes: dict[str, dict[int, object]],
) -> None:
    program = torch.onnx.export(
        model.eval(),
        tuple(arguments),
        dynamo=True,
        dynamic_shapes=(tuple(shapes[name] for name in inputs),),
        input_names=list(inputs),
        output_names=list(outputs),
        opset_version=20,
        verbose=False,
    )
    assert program is not None
    program.save(str(file), external_data=False)


def _example(vocabulary: int, *, rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """One context with rows, drawn."""
    draw = np.random.default_rng(seed)
    length, utterances, columns, cells = 5 + seed, 2 + seed, 3 + seed, 4 + seed

    def vectors(*shape: int) -> np.ndarray:
        drawn = draw.standard_normal((1, *shape, VECTOR)).astype(np.float32)
        unit: np.ndarray = drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)
        return unit

    mask = draw.random((1, rows, cells)) < 0.8
    mask[:, 0, 0] = True
    if rows > 1:
        mask[:, -1] = False  # a row of padding
    cell_columns = draw.integers(0, columns, (1, rows, cells))
    of_cells = np.where(mask, cell_columns, -1).reshape(1, -1)
    memory_mask = np.ones((1, 1 + utterances + length), bool)
    memory_mask[0, 1 + utterances] = False
    return {
        "word_ids": draw.integers(0, vocabulary, (1, length)),
        "word_vectors": vectors(length),
        "window_vectors": vectors(length),
        "word_marks": draw.random((1, length, 10)).astype(np.float32),
        "utterance_vectors": vectors(utterances),
        "memory_mask": memory_mask,
        "column_vectors": vectors(columns),
        "cell_vectors": vectors(rows, cells),
        "cell_features": draw.random((1, rows, cells, FEATURES)).astype(np.float32),
        "cell_columns": cell_columns,
        "cell_mask": mask,
        "meeting": np.array([seed % 6]),
        "position_columns": np.concatenate([np.full((1, length), columns), of_cells], 1),
    }


def _said(size: int) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(size)
    vectors = torch.randn(size, 1, VECTOR, generator=draw) / 20
    return torch.ones(size, 1, dtype=torch.long), vectors, torch.arange(size)[:, None] - 1


def _repeated(prepared: tuple[Tensor, ...]) -> list[Tensor]:
    crossed, *others = prepared
    return [crossed.repeat(1, 1, _SIZE, 1, 1, 1), *(torch.cat([other] * _SIZE) for other in others)]


def _rest(arrays: dict[str, np.ndarray]) -> list[Tensor]:
    return [torch.from_numpy(np.repeat(arrays[name], _SIZE, 0)) for name in ("position_columns", "meeting")]


def _for_all(prepared: tuple[Tensor, ...], arrays: dict[str, np.ndarray]) -> Prepared:
    return Prepared(*_repeated(prepared), *_rest(arrays))


def _difference(network: DialogueNetwork, folder: Path) -> float:
    """The largest between torch and what is served, of log-probabilities that matter, over some contexts."""
    memory = open_session((folder / MEMORY_FILE).read_bytes(), threads=1)
    step = open_session((folder / STEP_FILE).read_bytes(), threads=1)
    largest = 0.0
    for seed in range(4):
        arrays = _example(network.shape.vocabulary, rows=1 + 2 * seed, seed=seed)
        served = open_step(memory, step, arrays, network.shape, size=_SIZE)
        at = _for_all(_Memory(network)(*(torch.from_numpy(arrays[name]) for name in MEMORY_INPUTS)), arrays)
        past, said = network.nothing_said(_SIZE), _said(_SIZE)
        for _ in range(_STEPS):
            words, positions, past = network.told(said, past, at)
            for of_torch, of_served in zip(
                (words, positions), served(*(s.numpy() for s in said)), strict=True
            ):
                matters = of_torch[:, -1].numpy() > -20
                apart = np.abs(of_torch[:, -1].numpy() - of_served)[matters]
                largest = max(largest, float(apart.max(initial=0.0)))
    return largest


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()

    def run(say: Callable[[str], None]) -> Path:
        export(arguments.weights, arguments.folder, say=say)
        folder: Path = arguments.folder
        return folder

    return exporting(run)


if __name__ == "__main__":
    sys.exit(main())
