"""Text as vectors, served by ONNX Runtime.

An exported folder holds `model.onnx` (token ids and mask in, sentence vectors of unit length out),
`tokenizer.json` and `encoder.json`, which describes both. It is made once (prepared.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from agents.base.interfaces import Vectors
from agents.models.concurrent_runs import concurrent_batches, run_concurrently
from agents.models.exported_folders import Description, loading, open_session
from agents.models.reader_inputs import valid_unicode
from stores.base.errors import DamagedEncoder, EncoderUnavailable

DESCRIPTION_FILE = "encoder.json"
Tokens: TypeAlias = npt.NDArray[np.int64]


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
        ids, mask = self._padded(tokens)
        (vectors,) = self._session.run(["vectors"], {"input_ids": ids, "attention_mask": mask})
        result: Vectors = vectors
        return result

    def _padded(self, tokens: Sequence[Sequence[int]]) -> tuple[Tokens, Tokens]:
        """Ids and mask, (B, L) each."""
        length = max(1, *(len(ids) for ids in tokens))
        padded = np.full((len(tokens), length), self._description.pad_id, dtype=np.int64)
        mask = np.zeros((len(tokens), length), dtype=np.int64)
        for row, ids in enumerate(tokens):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        return padded, mask
