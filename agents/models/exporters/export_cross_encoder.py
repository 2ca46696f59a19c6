"""Makes the served form of a cross-encoder, once.

    python -m agents.models.exporters.export_cross_encoder SOURCE TARGET

    read the source -> check it -> ONNX -> compare with torch on many pairs -> rename into place

A process of its own, so that the chat never loads torch. The target is written whole or not at all. Only
safetensors weights are read, and no code that comes with a model is run.
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

from agents.models.cross_encoder import (
    DESCRIPTION_FILE,
    CrossEncoderDescription,
    CrossEncoderUnavailable,
    OnnxCrossEncoder,
    overlap,
    probabilities,
    useful_class,
)
from agents.models.exported_folders import MODEL_FILE
from agents.models.exporters.export_encoder import EncoderSource, download, read_source
from agents.models.exporters.onnx_export import (
    exporting,
    must_be_the_same,
    whole_folder,
    write_onnx,
    write_tokenizer,
)

if TYPE_CHECKING:
    from torch import Tensor, nn

LARGEST_DIFFERENCE = 1e-4  # of a score, between torch and ONNX Runtime
MOST_PARAMETERS = 480_000_000  # in float32 just under the 2 GB that one ONNX file can hold
SMALLEST_WINDOW = 64  # tokens; half of it is more than any question of the check has

_QUESTIONS = (
    "",
    "?",
    "Where did I leave my keys?",
    "WHEN WAS THE BRIDGE OPENED?",
    "東京の人口は?",
)
_PASSAGES = (
    "",
    "a",
    "The keys are on the kitchen table, beside the blue bowl.",
    "Naïve café façade: Ελληνικά, русский язык, עברית, العربية, हिन्दी, ไทย.",
    "東京は日本の首都です。人口は約一千四百万人。",
    "e\u0301 and \u00e9 are one letter; \u200bzero\u200bwidth\u200b; tab\tand\nnewline 🎉👩‍👩‍👧‍👦.",
    "The bridge was opened to traffic on 12 May 1932 by the mayor, who had paid for a third of it. " * 3,
    "Water boils at 100 degrees at sea level, and at 70 on the highest mountain. " * 40,
)


def read_config(folder: Path) -> dict[str, Any]:
    """A folder's `config.json`, if it is of a model that sorts texts into classes."""
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        architectures = [str(name) for name in config.get("architectures") or ["none"]]
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise CrossEncoderUnavailable(f"{folder} has no config.json that can be read: {error}") from error
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        raise CrossEncoderUnavailable(
            f"{folder} is no cross-encoder: its architecture is {', '.join(architectures)}, "
            "not one for sequence classification"
        )
    if config.get("problem_type") == "multi_label_classification":
        raise CrossEncoderUnavailable(
            f"{folder} gives several labels at once, which the export does not know"
        )
    return config


def export(source: EncoderSource, target: Path, *, say: Callable[[str], None]) -> None:
    """Writes the exported folder, or nothing when its scores are not those of the original."""
    import torch

    from agents.models.networks.pair_model import positions

    torch.set_num_threads(1)  # on a busy machine more of them wait for each other
    with whole_folder(target) as folder:
        say(f"Reading the cross-encoder {source.name}.")
        model, names = _load(source)
        window = min(source.max_tokens, positions(model))
        if window < SMALLEST_WINDOW:
            raise CrossEncoderUnavailable(f"{source.name} reads {window} tokens at once, which is too few")
        say("Exporting it to ONNX, once; this takes a minute or two.")
        inputs, outputs = ("ids", "types", "mask"), ("logits",)
        write_onnx(model, folder / MODEL_FILE, inputs=inputs, outputs=outputs, max_tokens=window)
        write_tokenizer(source.folder, folder)
        description = CrossEncoderDescription.of(
            folder,
            version=source.version(),
            window=window,
            pad_id=source.pad_id,
            useful_class=useful_class(names),
        )
        description.write(folder)
        say(f"Checking it against the original on {len(_QUESTIONS) * len(_PASSAGES)} pairs.")
        found = _largest_difference(source, model, folder, description)
        must_be_the_same(found, LARGEST_DIFFERENCE, name=source.name, unavailable=CrossEncoderUnavailable)
        replace(description, largest_difference=found).write(folder)


def _load(source: EncoderSource) -> tuple[nn.Module, dict[int, str]]:
    """The original as one module, and the names of its classes."""
    import torch
    from torch import nn
    from transformers import AutoModelForSequenceClassification

    class PairModel(nn.Module):
        """Ids, types and mask, each (B, L), to logits (B, C)."""

        def __init__(self, transformer: nn.Module, takes_types: bool) -> None:
            super().__init__()
            self.transformer, self.takes_types = transformer, takes_types

        def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
            own = {"token_type_ids": types} if self.takes_types else {}
            logits: Tensor = self.transformer(input_ids=ids, attention_mask=mask, **own).logits
            return logits

    transformer, report = AutoModelForSequenceClassification.from_pretrained(
        source.folder,
        attn_implementation="eager",  # plain operators, known to every ONNX Runtime
        dtype=torch.float32,
        local_files_only=True,
        output_loading_info=True,
        trust_remote_code=False,
        use_safetensors=True,
    )
    missing = sorted(report["missing_keys"])
    if missing:
        raise CrossEncoderUnavailable(f"The weights of {source.name} lack {', '.join(missing[:3])}")
    size = sum(parameter.numel() for parameter in transformer.parameters())
    if size > MOST_PARAMETERS:
        raise CrossEncoderUnavailable(
            f"{source.name} has {size / 1e6:.0f} million parameters; "
            f"at most {MOST_PARAMETERS / 1e6:.0f} can be served"
        )
    # A RoBERTa has one type, which is all that its tokenizer knows; a DistilBERT or ModernBERT has none.
    takes_types = getattr(transformer.config, "type_vocab_size", 0) > 1 and _gives_types(source)
    return PairModel(transformer, takes_types).eval(), dict(transformer.config.id2label)


def _original_tokenizer(source: EncoderSource) -> Any:
    """The tokenizer as transformers loads it."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)


def _gives_types(source: EncoderSource) -> bool:
    return "token_type_ids" in _original_tokenizer(source)("a", "a")


def _largest_difference(
    source: EncoderSource, model: nn.Module, folder: Path, description: CrossEncoderDescription
) -> float:
    """Of any pair's score, each window alone and many in a batch."""
    tokenizer = _original_tokenizer(source)
    differences = []
    for question in _QUESTIONS:
        original = [_original_score(tokenizer, model, description, question, p) for p in _PASSAGES]
        for batch_tokens in (1, 4096):
            served = OnnxCrossEncoder(folder, batch_tokens=batch_tokens).scores(question, _PASSAGES)
            differences.append(float(np.abs(np.array(served) - original).max()))
    return float(np.max(differences))


def _original_score(
    tokenizer: Any, model: nn.Module, description: CrossEncoderDescription, question: str, passage: str
) -> float:
    """By torch, one window at a time, as the original tokenizer cuts them."""
    import torch

    # As lists: of two plain texts transformers takes an empty second one as none at all.
    room = description.window - len(tokenizer([question], [""])["input_ids"][0])
    rows = tokenizer(
        [question],
        [passage],
        truncation="only_second",
        max_length=description.window,
        stride=overlap(room),
        return_overflowing_tokens=True,
        return_token_type_ids=True,
    )
    scores = []
    for ids, types in zip(rows["input_ids"], rows["token_type_ids"], strict=True):
        whole = torch.tensor([ids])
        with torch.inference_mode():
            logits = model(whole, torch.tensor([types]), torch.ones_like(whole))
        scores.append(float(probabilities(logits.numpy(), description.useful_class)[0]))
    return max(scores)


def export_by_arguments(arguments: argparse.Namespace, say: Callable[[str], None]) -> Path:
    """Does what the command line asks; the exported folder."""
    folder = Path(arguments.source).expanduser()
    target: Path = arguments.target.resolve()
    if target.exists() and not (target / DESCRIPTION_FILE).exists() and any(target.iterdir()):
        raise CrossEncoderUnavailable(f"{target} holds something else than an exported cross-encoder")
    if not folder.is_dir():
        say(f"Looking for {arguments.source} on the Hugging Face hub.")
        folder = download(arguments.source)
    source = read_source(folder, Path(arguments.source).name)
    read_config(source.folder)
    if source.query_prefix or source.passage_prefix:
        raise CrossEncoderUnavailable(f"{source.name} wants a prompt, which the export does not know")
    export(source, target, say=say)
    return target


def main() -> int:
    """Progress and errors go to stderr in sentences, and the finished folder's path to stdout."""
    parser = argparse.ArgumentParser(prog="export_cross_encoder", description=__doc__.partition("\n")[0])
    parser.add_argument("source", help="a model's folder, or a hub name")
    parser.add_argument("target", type=Path, help="the folder to be written")
    arguments = parser.parse_args()

    return exporting(lambda say: export_by_arguments(arguments, say))


if __name__ == "__main__":
    sys.exit(main())
