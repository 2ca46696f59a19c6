"""Text in sixteen languages as vectors: Google's universal sentence encoder, multilingual, version 3.

    text -> pieces of words -> rows of a table in 8 bits -> model.onnx: n-grams, their sum -> vectors

Its folder is made once, by `export_multilingual`, of the package that carries the weights. The table is
mapped, not read: of its 65 MB a process holds the rows that its texts use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.base.interfaces import Vectors
from agents.models.concurrent_runs import concurrent_batches, run_concurrently
from agents.models.exported_folders import Description, loading, open_session
from agents.models.reader_inputs import valid_unicode
from stores.base.errors import DamagedEncoder, EncoderUnavailable

TABLE_FILE = "table.npy"
_MAX_PIECES = 256  # longer texts are cut
_LEAST = 1e-12  # of a length that is divided by


@dataclass(frozen=True, kw_only=True)
class MultilingualDescription(Description):
    """What `multilingual.json` says of the folder that it lies in."""

    FILE = "multilingual.json"
    TOKENIZER = "sentencepiece.model"
    damaged = DamagedEncoder

    name: str
    dimension: int
    table_sha256: str
    scale: list[float]  # of the table's chunks: piece i is of chunk i modulo their number
    lowest: list[float]  # what 0 stands for in each
    lowest_cosine: float  # of exported and original vectors, over the texts of the check


class MultilingualEncoder:
    """The encoder of an exported folder, on the CPU. Parameters as of `OnnxEncoder`."""

    def __init__(self, folder: Path, *, threads: int = 0, batch_tokens: int = 1024) -> None:
        self._description = MultilingualDescription.read(folder)
        self._batch_tokens, self._threads = batch_tokens, threads
        model, pieces = self._description.read_files(folder)
        with loading(folder, "encoder", EncoderUnavailable):
            from sentencepiece import SentencePieceProcessor

            self._session = open_session(model, threads=threads)
            self._pieces = SentencePieceProcessor(model_proto=pieces)
            self._table = np.load(folder / TABLE_FILE, mmap_mode="r", allow_pickle=False)
        with (folder / TABLE_FILE).open("rb") as table:
            if hashlib.file_digest(table, "sha256").hexdigest() != self._description.table_sha256:
                raise DamagedEncoder(folder, f"{TABLE_FILE} has changed since it was exported")

    @property
    def version(self) -> str:
        """Names weights and tokenizer: vectors of different versions are never compared."""
        return self._description.version

    @property
    def dimension(self) -> int:
        return self._description.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is asked, and what is searched, are encoded alike."""
        pieces = [self._ids(text) for text in texts]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def encode(batch: list[int]) -> None:
            vectors[batch] = self._run([pieces[i] for i in batch])

        batches = concurrent_batches([len(ids) for ids in pieces], self._batch_tokens, threads=self._threads)
        run_concurrently(encode, batches, threads=self._threads)
        return vectors

    encode_passages = encode_queries

    def words(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: the mean of the rows of a text's pieces, whatever their order.

        Which words stand there, as `encode_queries` is what they mean together; costs a tenth of that.
        """
        scale = np.array(self._description.scale, dtype=np.float32)
        lowest = np.array(self._description.lowest, dtype=np.float32)
        means = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for mean, text in zip(means, texts, strict=True):
            ids = np.array(self._ids(text))
            chunk = ids % len(scale)
            rows = self._table[ids] * scale[chunk, None] + lowest[chunk, None]
            mean[:] = rows.mean(axis=0)
        unit: Vectors = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), _LEAST)
        return unit

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._pieces.encode(valid_unicode(text), add_bos=True, add_eos=True)
        return ids[:_MAX_PIECES]

    def _run(self, pieces: Sequence[Sequence[int]]) -> Vectors:
        length = max(len(ids) for ids in pieces)
        padded = np.zeros((len(pieces), length), dtype=np.int64)
        mask = np.zeros((len(pieces), length), dtype=np.int64)
        for row, ids in enumerate(pieces):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        given = {"pieces": padded, "rows": self._table[padded], "mask": mask}
        (vectors,) = self._session.run(["vectors"], given)
        result: Vectors = vectors
        return result
