"""Makes the served form of low-rank adapters: a GGUF file, which llama.cpp puts on their model.

    python -m agents.models.exporters.export_adapters ADAPTERS.safetensors FILE.gguf

Numbers are of 16 bits. Needs the package gguf. The file is written whole or not at all.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

_PLACES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_NAME = re.compile(r".*\blayers\.(\d+)\.([\w.]+)\.lora_([AB])\.(?:default\.)?weight")


def in_pairs(rows: npt.NDArray[Any], heads: int) -> npt.NDArray[Any]:
    """Rows of a head's product in llama.cpp's order, (2i, 2i + 1) turned together, from (i, i + half).

    rows: (heads * width, any), of queries or keys; width is even.
    """
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def in_halves(rows: npt.NDArray[Any], heads: int) -> npt.NDArray[Any]:
    """The inverse of `in_pairs`."""
    pairs = rows.reshape(heads, rows.shape[0] // heads // 2, 2, *rows.shape[1:])
    return pairs.swapaxes(1, 2).reshape(rows.shape)


def served(file: Path, names: Iterable[str], facts: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """The adapters of a served form by these names, as they are trained: what `exported` was given.

    facts: `form_of` their model. Raises OSError, or ValueError where the file has other adapters than these.
    """
    import gguf

    kept = {tensor.name: np.array(tensor.data) for tensor in gguf.GGUFReader(file).tensors}
    found = {}
    for name in names:
        place, is_b = _place_of(name)
        tensor = kept.pop(place, None)
        if tensor is None:
            raise ValueError(f"{file} has no {place}")
        if heads := _heads(place, facts) if is_b else 0:
            tensor = in_halves(tensor, heads)
        found[name] = tensor
    if kept:
        raise ValueError(f"{file} has {min(kept)} too")
    return found


def form_of_served(file: Path) -> dict[str, int]:
    """rank, alpha and first layer of a served form, as `with_adapters` takes them. Raises OSError."""
    import gguf

    reader = gguf.GGUFReader(file)
    layers = [int(tensor.name.split(".")[1]) for tensor in reader.tensors]
    rank = next(int(tensor.data.shape[0]) for tensor in reader.tensors if tensor.name.endswith("lora_a"))
    alpha = reader.fields["adapter.lora.alpha"]
    return {"rank": rank, "alpha": int(alpha.contents()), "first_layer": min(layers)}


def _heads(place: str, facts: Mapping[str, Any]) -> int:
    """By how many heads the rows of a B are in llama.cpp's order; 0: they are not."""
    named = {"attn_q": "heads", "attn_k": "kv_heads"}.get(place.split(".")[2])
    return int(facts[named]) if named else 0


def _place_of(name: str) -> tuple[str, bool]:
    """Where a tensor of an adapter stands in the served form, and whether it is its B. Raises ValueError."""
    found = _NAME.fullmatch(name)
    if found is None or found[2] not in _PLACES:
        raise ValueError(f"{name} is no tensor of an adapter")
    return f"blk.{found[1]}.{_PLACES[found[2]]}.weight.lora_{found[3].lower()}", found[3] == "B"


def exported(weights: Path, file: Path) -> None:
    """Raises OSError, or ValueError for a tensor that is none of an adapter."""
    import gguf

    with safe_open(weights, "numpy") as content:
        facts = json.loads(content.metadata()["facts"])
        tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118 - no mapping
    new = file.with_name(file.name + ".new")
    writer = gguf.GGUFWriter(new, facts["architecture"])
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(facts["alpha"]))
    for name, tensor in sorted(tensors.items()):
        place, is_b = _place_of(name)
        if heads := _heads(place, facts) if is_b else 0:
            tensor = in_pairs(tensor, heads)
        writer.add_tensor(place, np.ascontiguousarray(tensor, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    new.replace(file)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path, metavar="ADAPTERS")
    parser.add_argument("file", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    exported(arguments.weights, arguments.file)


if __name__ == "__main__":
    main()
