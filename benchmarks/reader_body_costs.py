"""What each choice of what learns in the reader's body costs to ship and to serve.

    python -m benchmarks.reader_body_costs

For all layers, heads alone and adapters (benchmarks.reader_bodies trains them): the bytes that must be
shipped, and the milliseconds of a served pass over each kind of input. And the memory that the reader's
session takes beside the retriever's, which a body shared with the retriever could save at most. No data is
needed, and what the weights are does not matter. Linux.
"""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

from agents.models.encoder import OnnxEncoder, prepare_encoder
from agents.models.exporters.export_reader import INPUTS, OPSET
from agents.models.exporters.onnx_export import quantise, write_onnx
from agents.models.networks.reader_network import ReaderNetwork, base_network
from agents.models.reader import OUTPUTS, OnnxReader
from agents.models.reader_files import WEIGHTS, prepare_reader
from agents.models.reader_inputs import KINDS
from assistant.settings.locations import find_locations
from benchmarks.reader_bodies import CHOICES

LENGTHS = {"passage": 196, "evidence": 64, "sentence": 16}  # tokens of a usual input


class OfKind(nn.Module):
    """A network that reads one kind of input: what an ONNX file of three inputs can hold."""

    def __init__(self, network: ReaderNetwork, kind: int) -> None:
        super().__init__()
        self.network, self.kind = network, kind

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """See `ReaderNetwork`."""
        kinds = torch.full_like(ids[:, 0], self.kind)
        return tuple(self.network(ids, types, mask, kinds))


@dataclass(frozen=True)
class Served:
    """Milliseconds of one pass over one usual input, one thread."""

    fp32: float
    int8: float


def shipped_bytes(network: ReaderNetwork) -> int:
    """Of the weights that training changes, as fp16."""
    return sum(2 * value.numel() for value in network.own_weights().values())


def served(network: ReaderNetwork, kinds: Sequence[str], folder: Path) -> list[Served]:
    """How long a pass takes over a usual input of each kind, by the adapters of the first, if it has any."""
    file = folder / "model.onnx"
    module = OfKind(network, KINDS.index(kinds[0])).eval()
    longest = network.longest_input
    write_onnx(module, file, inputs=INPUTS, outputs=OUTPUTS, max_tokens=longest, opset=OPSET)
    fp32 = [milliseconds(file, LENGTHS[kind]) for kind in kinds]
    quantise(file)
    int8 = [milliseconds(file, LENGTHS[kind]) for kind in kinds]
    return [Served(*both) for both in zip(fp32, int8, strict=True)]


def milliseconds(file: Path, tokens: int, *, times: int = 40) -> float:
    """The median pass over one input of so many tokens, in CPU time, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    ids = np.random.default_rng(1).integers(1000, 20000, size=(1, tokens))
    inputs = {"ids": ids, "types": np.zeros_like(ids), "mask": np.ones_like(ids)}
    found = []
    for _ in range(times):
        began = time.process_time()
        session.run(None, inputs)
        found.append((time.process_time() - began) * 1000)
    return float(np.median(found))


def resident_megabytes(models: Sequence[str]) -> float:
    """The memory of a process that loaded these and used each once.

    models: "encoder", or a precision of the reader.
    """
    cache = find_locations(os.environ).cache
    text = "The bridge was opened to traffic on 12 May 1932. " * 16  # 196 tokens with the question
    kept: list[Any] = []
    for model in models:
        if model == "encoder":
            encoder = OnnxEncoder(
                prepare_encoder(None, cache / "encoders", tell=print, offline=True), threads=1
            )
            encoder.encode_queries(["When?"])
            kept.append(encoder)
        else:
            precision: Any = model
            folder = prepare_reader(WEIGHTS, cache / "readers", tell=print, precision=precision)
            kept.append(OnnxReader(folder, threads=1))
            kept[-1].read("When?", [text])
    gc.collect()
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def memory() -> Iterator[str]:
    """What the reader takes beside the retriever's encoder, each set of models in a process of its own."""
    ways = ((), ("encoder",), ("encoder", "int8"), ("encoder", "fp32"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        nothing, *held = pool.map(resident_megabytes, ways)
    yield "| loaded | memory above a process without models |"
    yield "| --- | ---: |"
    for way, megabytes in zip(ways[1:], held, strict=True):
        yield f"| {' and reader '.join(way)} | {megabytes - nothing:.0f} MB |"


def costs() -> Iterator[str]:
    """Bytes and milliseconds of each choice. Frozen or not, a body without adapters is the same graph."""
    torch.set_num_threads(1)
    inputs = " | ".join(f"{kind}, {tokens} tokens: fp32, int8 ms" for kind, tokens in LENGTHS.items())
    yield f"| trained | shipped, MB | {inputs} |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    plain = _served(base_network(), (tuple(LENGTHS),))
    for trained in CHOICES:
        network = base_network(trained=trained)
        found = plain if trained != "adapters" else _served(network, [(kind,) for kind in LENGTHS])
        cells = (f"{one.fp32:.1f}, {one.int8:.1f}" for one in found)
        yield f"| {trained} | {shipped_bytes(network) / 1e6:.3f} | {' | '.join(cells)} |"


def _served(network: ReaderNetwork, files: Sequence[Sequence[str]]) -> list[Served]:
    """files: the kinds that each file is for."""
    found: list[Served] = []
    for kinds in files:
        with tempfile.TemporaryDirectory() as folder:
            found += served(network, kinds, Path(folder))
    return found


def main() -> None:
    for line in (*memory(), ""):
        print(line, flush=True)
    for line in costs():
        print(line, flush=True)


if __name__ == "__main__":
    main()
