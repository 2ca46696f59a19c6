"""Makes the served form of an encoder, once.

    python -m agents.models.exporters.export_encoder SOURCE TARGET_DIR

    read the source -> check it -> ONNX -> compare with torch on many texts -> rename into place

A process of its own, so that the chat never loads torch; even here it is imported only when there is
something to export. The target is written whole or not at all. Only safetensors weights are read, and
no code that comes with a model is run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.base.interfaces import Vectors
from agents.models.encoders.encoder import DESCRIPTION_FILE, EncoderDescription, OnnxEncoder
from agents.models.exported_folders import MODEL_FILE
from agents.models.exporter_process import PARTIAL_PREFIX
from agents.models.exporters.onnx_export import (
    exporting,
    must_be_the_same,
    said_by,
    whole_folder,
    write_onnx,
    write_tokenizer,
)
from stores.base.errors import EncoderUnavailable

if TYPE_CHECKING:
    from torch import Tensor, nn

LARGEST_DIFFERENCE = 1e-4  # of a vector's component, between torch and ONNX Runtime
LONGEST_WINDOW = 512  # tokens; no passage is longer, and attention's memory grows with the square
NAME_LENGTH = 40  # with 12 letters of content the version stays within what Chroma and file systems take

CHECK_TEXTS = (
    "",
    " ",
    "?",
    "a",
    "Where did I leave my keys?",
    "The keys are on the kitchen table, beside the blue bowl.",
    "THE KEYS ARE ON THE KITCHEN TABLE, BESIDE THE BLUE BOWL.",
    "Naïve café façade: Ελληνικά, русский язык, עברית, العربية, हिन्दी, ไทย.",
    "東京は日本の首都です。人口は約一千四百万人。",
    "e\u0301 and \u00e9 are one letter; \u200bzero\u200bwidth\u200b; \ufeffmark; tab\tand\nnewline.",
    "🎉👩‍👩‍👧‍👦🏳️‍🌈 party at 19:30 – bring 3.5 kg of ice & $20!",
    "def add(a: int, b: int) -> int:\n    return a + b  # sum",
    "https://example.org/path?query=1&other=two#part",
    "Pneumonoultramicroscopicsilicovolcanoconiosis" * 4,
    "[CLS] is a token, and so are [SEP], [MASK], <s> and </s>.",
    "The committee met on 12 May 2008 and decided, after long debate, to postpone the vote. " * 5,
    "Water boils at 100 degrees at sea level. " * 20,
    "One sentence after another fills the window and goes on beyond it. " * 120,
)


@dataclass(frozen=True)
class EncoderSource:
    """A model's folder, and what it says about making sentence vectors."""

    name: str
    folder: Path  # of config, weights and tokenizer
    weights: tuple[Path, ...]
    pooling: str  # mean or cls
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    pad_id: int

    def version(self) -> str:
        """The name and twelve letters of its content: equal versions give equal vectors."""
        digest = hashlib.sha256()
        for file in (self.folder / "config.json", self.folder / "tokenizer.json", *self.weights):
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
        rest = [self.pooling, self.max_tokens, self.query_prefix, self.passage_prefix, self.pad_id]
        digest.update(json.dumps(rest).encode())
        plain = re.sub(r"[^a-zA-Z0-9._-]+", "-", self.name)[:NAME_LENGTH].strip("._-")
        return f"{plain or 'encoder'}-{digest.hexdigest()[:12]}"

    def description(self, folder: Path, *, version: str, dimension: int) -> EncoderDescription:
        """Of a folder whose files were just written, and not compared with the original yet."""
        return EncoderDescription.of(
            folder,
            name=self.name,
            version=version,
            dimension=dimension,
            max_tokens=self.max_tokens,
            pooling=self.pooling,
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            pad_id=self.pad_id,
            lowest_cosine=0.0,
        )


def read_source(folder: Path, name: str) -> EncoderSource:
    """What a folder in Hugging Face or sentence-transformers layout holds, if it can be exported."""
    pooling, model_folder = "mean", folder
    for module in _read_json(folder / "modules.json", []):
        kind, place = module["type"].rpartition(".")[2], folder / module.get("path", "")
        if kind == "Transformer":
            model_folder = place
        elif kind == "Pooling":
            pooling = _read_pooling(place / "config.json")
        elif kind != "Normalize":
            raise EncoderUnavailable(f"{folder} has a {kind} step, which the export does not know")

    weights = _find_weights(model_folder)
    for needed in ("config.json", "tokenizer.json"):
        if not (model_folder / needed).is_file():
            raise EncoderUnavailable(f"{model_folder} has no {needed}")
    config = _read_json(model_folder / "config.json", {})
    own = _read_json(model_folder / "sentence_bert_config.json", {})
    if own.get("do_lower_case"):
        raise EncoderUnavailable(
            f"{folder} lowers case outside its tokenizer, which the export does not know"
        )
    tokenizer = _read_json(model_folder / "tokenizer_config.json", {})
    windows = (
        own.get("max_seq_length"),
        tokenizer.get("model_max_length"),
        config.get("max_position_embeddings"),
    )
    settings = _read_json(folder / "config_sentence_transformers.json", {})
    prompts = settings.get("prompts") or {}
    default = prompts.get(settings.get("default_prompt_name"), "")
    return EncoderSource(
        name=name,
        folder=model_folder,
        weights=weights,
        pooling=pooling,
        max_tokens=int(min([LONGEST_WINDOW, *(w for w in windows if w)])),
        query_prefix=prompts.get("query", default),
        passage_prefix=next((prompts[n] for n in ("document", "passage", "corpus") if n in prompts), default),
        pad_id=config.get("pad_token_id") or 0,
    )


def _read_json(file: Path, default: Any) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
    except ValueError as error:
        raise EncoderUnavailable(f"{file} is malformed: {error}") from error


def _read_pooling(file: Path) -> str:
    """`mean` or `cls`, from today's setting of sentence-transformers or from its older flags."""
    config = _read_json(file, {})
    older = {"cls_token": "cls", "mean_tokens": "mean"}
    flags = [key.removeprefix("pooling_mode_") for key, on in config.items() if on is True]
    modes = config.get("pooling_mode") or [
        older.get(flag, flag) for flag in flags if flag != "include_prompt"
    ]
    modes = [modes] if isinstance(modes, str) else modes or ["mean"]
    if modes not in (["mean"], ["cls"]) or config.get("include_prompt") is False:
        raise EncoderUnavailable(f"{file} asks for a pooling that the export does not know: {config}")
    return str(modes[0])


def _find_weights(folder: Path) -> tuple[Path, ...]:
    shards = _read_json(folder / "model.safetensors.index.json", {}).get("weight_map", {})
    weights = sorted({folder / shard for shard in shards.values()}) or [folder / "model.safetensors"]
    missing = next((file for file in weights if not file.is_file()), None)
    if missing is None:
        return tuple(weights)
    pickled = sorted(file.name for pattern in ("*.bin", "*.pt", "*.pkl") for file in folder.glob(pattern))
    others = f", and {', '.join(pickled)} could run code when opened" if pickled else ""
    raise EncoderUnavailable(f"{folder} has no {missing.name}; only safetensors weights are read{others}")


def download(hub_name: str) -> Path:
    """The folder of a hub model in the Hugging Face cache, downloaded unless it is there."""
    from huggingface_hub import constants, snapshot_download

    try:
        folder = snapshot_download(
            hub_name,
            allow_patterns=["*.safetensors", "*.json", "*.txt"],
            ignore_patterns=["onnx/*", "openvino/*"],
        )
    except (OSError, ValueError) as error:
        if constants.is_offline_mode():
            raise EncoderUnavailable(f"{hub_name} was not downloaded before, and this is offline") from error
        raise EncoderUnavailable(f"{hub_name} cannot be downloaded: {said_by(error)}") from error
    return Path(folder)


def export(source: EncoderSource, target: Path, *, version: str, say: Callable[[str], None]) -> None:
    """Writes the exported folder, or nothing when its vectors are not those of the original."""
    with whole_folder(target) as folder:
        say(f"Preparing the encoder, once, 1 of 3: reading {source.name}.")
        model, dimension = _load(source)
        say("Preparing the encoder, 2 of 3: exporting it to ONNX; this takes about half a minute.")
        write_onnx(
            model,
            folder / MODEL_FILE,
            inputs=("input_ids", "attention_mask"),
            outputs=("vectors",),
            max_tokens=source.max_tokens,
        )
        write_tokenizer(source.folder, folder)
        description = source.description(folder, version=version, dimension=dimension)
        description.write(folder)
        say(f"Preparing the encoder, 3 of 3: comparing it with the original on {len(CHECK_TEXTS)} texts.")
        _check(source, model, folder, description)


def _load(source: EncoderSource) -> tuple[nn.Module, int]:
    """The original as one module, and the length of its vectors."""
    import torch
    from torch import nn
    from transformers import AutoModel

    from agents.models.networks.pooling import text_vectors

    class SentenceModel(nn.Module):
        """Token ids and mask, both (B, L), to vectors (B, D) of unit length."""

        def __init__(self, transformer: nn.Module, pooling: str) -> None:
            super().__init__()
            self.transformer, self.pooling = transformer, pooling

        def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
            states: Tensor = self.transformer(
                input_ids=input_ids, attention_mask=attention_mask
            ).last_hidden_state  # (B, L, D)
            return text_vectors(states, attention_mask, pooling=self.pooling)

    transformer, report = AutoModel.from_pretrained(
        source.folder,
        attn_implementation="eager",  # plain operators, known to every ONNX Runtime; measured as fast
        dtype=torch.float32,
        local_files_only=True,
        output_loading_info=True,
        trust_remote_code=False,
        use_safetensors=True,
    )
    # The pooler on top of BERT is not used here, and often not saved.
    missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise EncoderUnavailable(f"The weights of {source.name} lack {', '.join(missing[:3])}")
    return SentenceModel(transformer, source.pooling).eval(), transformer.config.hidden_size


def _check(source: EncoderSource, model: nn.Module, folder: Path, description: EncoderDescription) -> None:
    """Compares served with original vectors: each text alone, in usual batches, and all in one batch."""
    differences, cosines = [], []
    whole_set = len(CHECK_TEXTS) * source.max_tokens
    for prefix in {source.query_prefix, source.passage_prefix}:
        original = _original_vectors(source, model, [prefix + text for text in CHECK_TEXTS])
        for batch_tokens in (1, 1024, whole_set):
            served = OnnxEncoder(folder, batch_tokens=batch_tokens)
            is_query = prefix == source.query_prefix
            encode = served.encode_queries if is_query else served.encode_passages
            vectors = encode(CHECK_TEXTS)
            differences.append(np.abs(vectors - original).max())
            cosines.append((vectors * original).sum(1).min())
    largest, lowest = float(np.max(differences)), float(np.min(cosines))
    must_be_the_same(largest, LARGEST_DIFFERENCE, name=source.name, unavailable=EncoderUnavailable)
    replace(description, lowest_cosine=lowest, largest_difference=largest).write(folder)


def _original_vectors(source: EncoderSource, model: nn.Module, texts: list[str]) -> Vectors:
    """By torch, and by the tokenizer as transformers loads it."""
    import torch
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    batch = tokenizer(texts, padding=True, truncation=True, max_length=source.max_tokens, return_tensors="pt")
    with torch.inference_mode():
        vectors: Vectors = model(batch["input_ids"], batch["attention_mask"]).numpy()
    return vectors


def _is_whole(folder: Path) -> bool:
    try:
        OnnxEncoder(folder)
    except EncoderUnavailable:
        return False
    return True


def export_by_arguments(
    arguments: argparse.Namespace, say: Callable[[str], None], write: Callable[..., None] = export
) -> Path:
    """Does what the command line asks; the folder that then stands for the source. write: see `export`."""
    source_folder = Path(arguments.source).expanduser()
    if not source_folder.is_dir():
        say(f"Looking for {arguments.source} on the Hugging Face hub.")
        source_folder = download(arguments.source)
    source = read_source(source_folder, arguments.name or Path(arguments.source).name)
    version = source.version()
    target: Path = arguments.target_dir.resolve()
    if arguments.by_version:
        for left_over in target.glob(PARTIAL_PREFIX + "*"):  # by an export that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        target /= version
        if _is_whole(target):
            return target
    elif target.exists() and not (target / DESCRIPTION_FILE).exists() and any(target.iterdir()):
        raise EncoderUnavailable(f"{target} holds something else than an exported encoder")
    write(source, target, version=version, say=say)
    return target


def parser() -> argparse.ArgumentParser:
    """Of the command line."""
    parser = argparse.ArgumentParser(prog="export_encoder", description=__doc__.partition("\n")[0])
    parser.add_argument("source", help="a model's folder, or a hub name")
    parser.add_argument("target_dir", type=Path)
    parser.add_argument("--name", default="", help="how the version begins; else the folder's name")
    parser.add_argument(
        "--by-version",
        action="store_true",
        help="TARGET_DIR is where the folder goes, named after its version",
    )
    return parser


def main() -> int:
    """Progress and errors go to stderr in sentences, and the finished folder's path to stdout."""
    arguments = parser().parse_args()
    return exporting(lambda say: export_by_arguments(arguments, say))


if __name__ == "__main__":
    sys.exit(main())
