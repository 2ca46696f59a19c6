"""An encoder that is given an adapter with each text: one graph, and for each adapter a file of 150 kB.

    texts, an adapter of each -> token ids, mask, its matrices -> vectors of unit length

Without an adapter it says what the plain encoder says. `down` and `up` hold the LoRA of the upper layers, for
their queries and their values: (N, layers, 2, r, D) and (N, layers, 2, D, r), a row a text; r may be 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.base.interfaces import Vectors
from agents.models.concurrent_runs import concurrent_batches, run_concurrently
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.reader_inputs import valid_unicode
from stores.base.errors import VouchError

Floats = npt.NDArray[np.float32]


class DamagedAdapter(VouchError):
    """A file that is no adapter, or one for another encoder."""


@dataclass(frozen=True)
class Adapter:
    """What a collection's texts change in an encoder."""

    version: str  # of the encoder that it was trained for, and twelve letters of its content
    down: Floats  # (layers, 2, r, D)
    up: Floats  # (layers, 2, D, r)

    @classmethod
    def of(cls, down: Floats, up: Floats, *, encoder_version: str) -> Adapter:
        """With a version by its content."""
        digest = hashlib.sha256(encoder_version.encode() + down.tobytes() + up.tobytes())
        return cls(f"{encoder_version}+{digest.hexdigest()[:12]}", down, up)

    def write(self, file: Path) -> None:
        """As safetensors."""
        file.write_bytes(save({"down": np.ascontiguousarray(self.down), "up": np.ascontiguousarray(self.up)}))

    @classmethod
    def read(cls, file: Path, *, encoder_version: str) -> Adapter:
        """Raises `DamagedAdapter`."""
        try:
            held = load(file.read_bytes())
            down, up = held["down"], held["up"]
        except (OSError, SafetensorError, KeyError) as error:
            raise DamagedAdapter(f"{file} cannot be read as an adapter") from error
        fits = down.ndim == up.ndim == 4 and up.shape == (*down.shape[:2], down.shape[3], down.shape[2])
        if not fits or down.dtype != np.float32 or not (np.isfinite(down).all() and np.isfinite(up).all()):
            raise DamagedAdapter(f"{file} is no adapter: its matrices do not fit")
        return cls.of(down, up, encoder_version=encoder_version)


class AdaptedEncoder(OnnxEncoder):
    """The encoder of a folder that was exported with adapters as inputs."""

    def encode_query(self, text: str, adapters: Sequence[Adapter]) -> Vectors:
        """(N, D), unit length: the same question under each adapter, in one batch."""
        ids = self._ids(self._description.query_prefix, text)
        return self._run_adapted([ids] * len(adapters), adapters)

    def encode_passages_under(self, texts: Sequence[str], adapter: Adapter) -> Vectors:
        """(N, D), unit length: what is searched."""
        tokens = [self._ids(self._description.passage_prefix, text) for text in texts]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def encode(batch: list[int]) -> None:
            vectors[batch] = self._run_adapted([tokens[i] for i in batch], [adapter] * len(batch))

        batches = concurrent_batches([len(ids) for ids in tokens], self._batch_tokens, threads=self._threads)
        run_concurrently(encode, batches, threads=self._threads)
        return vectors

    def _ids(self, prefix: str, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(valid_unicode(prefix + text)).ids
        return ids

    def _run_adapted(self, tokens: Sequence[Sequence[int]], adapters: Sequence[Adapter]) -> Vectors:
        if not tokens:
            return np.empty((0, self.dimension), dtype=np.float32)
        ids, mask = self._padded(tokens)
        given = {
            "input_ids": ids,
            "attention_mask": mask,
            "down": np.stack([each.down for each in adapters]),
            "up": np.stack([each.up for each in adapters]),
        }
        (vectors,) = self._session.run(["vectors"], given)
        result: Vectors = vectors
        return result

    def _run(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """Without an adapter."""
        layers, _, _, width = self._shape
        none = Adapter(
            "",
            np.empty((layers, 2, 0, width), np.float32),
            np.empty((layers, 2, width, 0), np.float32),
        )
        return self._run_adapted(tokens, [none] * len(tokens))

    @property
    def _shape(self) -> tuple[int, int, int, int]:
        """(layers, 2, 0, D) of an adapter that changes nothing."""
        shape = next(each.shape for each in self._session.get_inputs() if each.name == "down")
        return int(shape[1]), 2, 0, int(shape[4])
