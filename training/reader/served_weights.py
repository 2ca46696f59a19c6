"""Reads the weights back from a served reader, so that a training can go on from what is shipped.

    model.onnx -> 8-bit numbers times their scales -> weights by the names of the network

They differ from the trained ones by the rounding to 8 bits. A head that was never trained may be missing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper

from agents.models.exported_folders import MODEL_FILE
from training.reader.network import EMBEDDINGS, LAYERS

_MIDDLE = 128  # what stands for 0 in the blocks of `MatMulNBits`, which are unsigned
_PARTS = ("attend", "mix", "widen", "narrow")  # the products of a layer, in the order in which they are made


def served_weights(folder: Path) -> dict[str, torch.Tensor]:
    """The reader's own weights without the body's embeddings, named as in `ReaderNetwork.own_weights`.

    folder: as `export_reader` wrote it. Raises ValueError when its products are not those of a reader.
    """
    graph = onnx.load(folder / MODEL_FILE).graph
    arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    named: dict[str, npt.NDArray[np.float32]] = {}
    products = []  # of the layers and the span head, (in, out), in their order
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            blocks, scales = arrays[node.input[1]].astype(np.float32), arrays[node.input[2]]
            products.append(((blocks - _MIDDLE) * scales[..., None]).reshape(len(blocks), -1).T)
        elif node.op_type == "MatMulInteger":
            name = node.input[1].removesuffix("_quantized")
            product = arrays[node.input[1]].astype(np.float32) * arrays[f"{name}_scale"]
            if name.endswith("_Transposed"):
                named[name.removesuffix("_Transposed")] = product.T
            else:
                products.append(product)
        elif node.op_type == "DequantizeLinear":
            name = node.input[1].removesuffix("_scale")  # the first input is what was looked up
            whole, zero = (
                arrays[f"{name}_{kind}"].astype(np.float32) for kind in ("quantized", "zero_point")
            )
            named[name] = (whole - zero) * arrays[f"{name}_scale"]
    layers, rest = divmod(len(products), len(_PARTS))
    if rest != 1:
        raise ValueError(f"{folder} holds {len(products)} products, which are not those of a reader's layers")
    places = [f"{LAYERS}{number}.{part}.weight" for number in range(layers) for part in _PARTS]
    named |= dict(zip([*places, "spans.weight"], (product.T for product in products), strict=True))
    named |= {n: a for n, a in arrays.items() if n.endswith((".weight", ".bias")) and a.dtype == np.float32}
    return {n: torch.tensor(a) for n, a in named.items() if not n.startswith(EMBEDDINGS)}
