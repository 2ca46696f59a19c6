"""Makes the form of an encoder that takes adapters, once.

    python -m agents.models.exporters.export_adapted SOURCE TARGET_DIR --by-version

    read the source -> ONNX, with the matrices of an adapter a text as inputs -> compare -> rename into place

Compared is without an adapter with the original, and under one that was drawn with the same in torch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, PreTrainedModel

from agents.models.encoders.adapted_encoder import AdaptedEncoder, Adapter
from agents.models.exported_folders import MODEL_FILE
from agents.models.exporters import export_encoder
from agents.models.exporters.export_encoder import CHECK_TEXTS, EncoderSource
from agents.models.exporters.onnx_export import (
    exporting,
    must_be_the_same,
    whole_folder,
    write_tokenizer,
)
from agents.models.networks.adapted_bert import ADAPTED, Bert
from stores.base.errors import EncoderUnavailable

LARGEST_DIFFERENCE = 1e-5  # of a component, between torch and ONNX Runtime: 2.4e-6 of 4 random layers


class AdaptedModel(nn.Module):
    """Ids and mask, (B, L), down (B, layers, 2, r, D) and up (B, layers, 2, D, r) to vectors (B, D)."""

    def __init__(self, bert: Bert) -> None:
        super().__init__()
        self.bert = bert

    def forward(self, input_ids: Tensor, attention_mask: Tensor, down: Tensor, up: Tensor) -> Tensor:
        adapter = {
            f"{kind}.{n}.{part}": given[:, i, k]
            for i, n in enumerate(self.bert.upper_layers)
            for k, kind in enumerate(ADAPTED)
            for part, given in (("down", down), ("up", up))
        }
        states = self.bert.lower(input_ids, attention_mask)
        return self.bert.upper(states, attention_mask, adapter)


def frozen(source: EncoderSource) -> Bert:
    """The weights of a source. Raises `EncoderUnavailable` for what is not like BERT."""
    model: PreTrainedModel = AutoModel.from_pretrained(
        source.folder,
        dtype=torch.float32,
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
    )
    if model.config.model_type != "bert":
        raise EncoderUnavailable(f"{source.name} is no BERT model, and takes no adapters")
    return Bert.of(model, pooling=source.pooling)


def export(source: EncoderSource, target: Path, *, version: str, say: Callable[[str], None]) -> None:
    """Writes the exported folder, or nothing where its vectors are not those of the original."""
    say(f"Preparing the encoder {source.name} for adapters, once; this takes about half a minute.")
    bert = frozen(source)
    with whole_folder(target) as folder:
        _write_onnx(AdaptedModel(bert).eval(), bert, folder / MODEL_FILE, source.max_tokens)
        write_tokenizer(source.folder, folder)
        description = source.description(folder, version=version, dimension=bert.width)
        description.write(folder)
        largest, lowest = _compared(source, bert, folder)
        must_be_the_same(largest, LARGEST_DIFFERENCE, name=source.name, unavailable=EncoderUnavailable)
        replace(description, lowest_cosine=lowest, largest_difference=largest).write(folder)


def drawn(bert: Bert, rank: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """down and up of an adapter that changes something: (layers, 2, r, D) and (layers, 2, D, r)."""
    draw, shape = torch.Generator().manual_seed(seed), (len(bert.upper_layers), len(ADAPTED))
    down = torch.randn(*shape, rank, bert.width, generator=draw) / bert.width**0.5
    return down, torch.randn(*shape, bert.width, rank, generator=draw) / bert.width**0.5


def _write_onnx(model: AdaptedModel, bert: Bert, file: Path, max_tokens: int) -> None:
    ids, mask = torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long)
    mask[0, 5:] = 0
    down, up = (part.expand(2, *part.shape).clone() for part in drawn(bert, 3, seed=0))
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length", max=max_tokens)
    rank = torch.export.Dim("rank", max=256)
    program = torch.onnx.export(
        model,
        (ids, mask, down, up),
        dynamo=True,
        dynamic_shapes=(
            {0: batch, 1: length},
            {0: batch, 1: length},
            {0: batch, 3: rank},
            {0: batch, 4: rank},
        ),
        input_names=["input_ids", "attention_mask", "down", "up"],
        output_names=["vectors"],
        opset_version=18,
        verbose=False,
    )
    assert program is not None
    program.save(str(file), external_data=False)


def _compared(source: EncoderSource, bert: Bert, folder: Path) -> tuple[float, float]:
    """The largest difference of a component, and the lowest cosine, to torch."""
    tokenizer = AutoTokenizer.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    served = AdaptedEncoder(folder, batch_tokens=1)
    down, up = drawn(bert, 8, seed=1)
    adapter = Adapter.of(down.numpy(), up.numpy(), encoder_version="")
    differences, cosines = [], []
    for text in CHECK_TEXTS:
        read = tokenizer(
            source.passage_prefix + text, truncation=True, max_length=source.max_tokens, return_tensors="pt"
        )
        given = read["input_ids"], read["attention_mask"]
        with torch.inference_mode():
            plain = bert.upper(bert.lower(*given), given[1])
            adapted = AdaptedModel(bert)(*given, down[None], up[None])
        for original, vectors in (
            (plain, served.encode_passages([text])),
            (adapted, served.encode_passages_under([text], adapter)),
        ):
            differences.append(np.abs(vectors - original.numpy()).max())
            cosines.append((vectors * original.numpy()).sum(1).min())
    return float(np.max(differences)), float(np.min(cosines))


def main() -> int:
    """As `export_encoder.main`."""
    arguments = export_encoder.parser().parse_args()
    return exporting(lambda say: export_encoder.export_by_arguments(arguments, say, export))


if __name__ == "__main__":
    sys.exit(main())
