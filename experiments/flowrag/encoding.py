"""Texts as tokens, as the states that enter the adapted layers, and as vectors.

texts -> tokens -> layers 1-3, once, in a memory-mapped file -> layers 4-6 under each adapter -> vectors
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor

from agents.base.interfaces import Vectors
from agents.models.concurrent_runs import batches_by_length
from agents.models.networks.adapted_bert import Bert
from agents.models.networks.fast_linear import linear

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Encode = Callable[[Sequence[int]], Tensor]  # places of texts -> (B, D), unit length

_BATCH_TOKENS = 2048  # padding included
_AT_ONCE = 256  # texts between two notes of how far it is


def frozen(model: PreTrainedModel) -> Bert:
    """The weights of a model, with linear layers that are fast on the CPU."""
    return Bert.of(model, linear=linear)


class Texts:
    """Texts as the encoder reads them, by their places."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """tokenizer: cuts as the product does, and pads nothing."""
        self.ids = [tokenizer.encode(text).ids for text in texts]
        self.lengths = [len(ids) for ids in self.ids]

    def padded(self, places: Sequence[int]) -> tuple[Tensor, Tensor]:
        """ids, mask: (B, L)."""
        mask = self.mask(places)
        ids = torch.zeros(mask.shape, dtype=torch.long)
        for row, place in enumerate(places):
            ids[row, : self.lengths[place]] = torch.tensor(self.ids[place])
        return ids, mask

    def mask(self, places: Sequence[int]) -> Tensor:
        """(B, L): 0 for padding."""
        lengths = torch.tensor([self.lengths[place] for place in places])
        return (torch.arange(int(lengths.max())) < lengths[:, None]).long()

    def encoded(self, encode: Encode, rows: slice = slice(None)) -> Vectors:
        """(N, D): what `encode` makes of the texts, batch by batch."""
        places = range(len(self.ids))[rows]
        made: dict[int, Tensor] = {}
        with torch.no_grad():
            for batch in batches_by_length([self.lengths[place] for place in places], _BATCH_TOKENS):
                made |= zip(batch, encode([places[i] for i in batch]), strict=True)
        vectors: Vectors = torch.stack([made[i] for i in range(len(places))]).numpy()
        return vectors


class KeptStates:
    """What enters the adapted layers, of each text; computed once, and kept in a file."""

    def __init__(self, folder: Path, bert: Bert, texts: Texts) -> None:
        self.texts, self._width = texts, bert.width
        self._ends = list(accumulate(texts.lengths))
        key = hashlib.sha256(json.dumps(texts.ids).encode()).hexdigest()[:12]
        file, done = folder / f"{key}.states", folder / f"{key}.done"
        shape = self._ends[-1], self._width
        self._kept: npt.NDArray[np.float32]  # written through to the file
        self._kept = file_array = np.memmap(file, np.float32, "r+" if file.exists() else "w+", shape=shape)
        first = int(done.read_text()) if done.exists() else 0
        self.are_new = first == 0
        for start in range(first, len(texts.ids), _AT_ONCE):
            self._fill(bert, range(start, min(start + _AT_ONCE, len(texts.ids))))
            file_array.flush()
            done.write_text(str(start + _AT_ONCE))

    @torch.no_grad()
    def _fill(self, bert: Bert, places: Sequence[int]) -> None:
        for batch in batches_by_length([self.texts.lengths[place] for place in places], _BATCH_TOKENS):
            some = [places[i] for i in batch]
            for place, states in zip(some, bert.lower(*self.texts.padded(some)), strict=True):
                self._rows(place)[:] = states[: self.texts.lengths[place]].numpy()

    def of(self, places: Sequence[int]) -> tuple[Tensor, Tensor]:
        """states: (B, L, D). mask: (B, L)."""
        mask = self.texts.mask(places)
        states = torch.zeros(*mask.shape, self._width)
        for row, place in enumerate(places):
            states[row, : self.texts.lengths[place]] = torch.from_numpy(np.array(self._rows(place)))
        return states, mask

    def _rows(self, place: int) -> npt.NDArray[np.float32]:
        return self._kept[self._ends[place] - self.texts.lengths[place] : self._ends[place]]
