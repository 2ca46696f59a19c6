"""A store of any size without encoding it: texts of SQuAD's sentences, vectors drawn around some centres.

The vector of a query is put near that of some passage, after the query was encoded for real, so that it
costs what it costs.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.base.interfaces import Vector, Vectors
from agents.base.sentences import sentences
from assistant.settings.config import NO_SECOND_HALF, IndexSettings, Settings
from assistant.settings.locations import Locations, find_locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED
from stores.memory.documents import NewDocument, NewPassage

DIMENSION = 384
_CENTRES = 2_000
_BATCH = 500  # passages stored at once
_NOISE = 0.7  # length of the noise against that of the centre


class Synthetic:
    """Passages and their vectors, the same for the same seed."""

    def __init__(self, data: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._numbers_of_queries = np.random.default_rng([seed, 1])  # whether a store is made before or not
        self._centres = unit(self._numbers.standard_normal((_CENTRES, DIMENSION)))
        with gzip.open(data / "squad" / "passages_train.jsonl.gz", "rt", encoding="utf-8") as lines:
            paragraphs = [json.loads(line)["text"] for line in lines]
        self._sentences = [s for paragraph in paragraphs for s in plain_sentences(paragraph)]

    def texts(self, count: int) -> list[str]:
        return [" ".join(self._chance.sample(self._sentences, 4)) for _ in range(count)]

    def vectors(self, count: int) -> Vectors:
        """Of passages."""
        return self._drawn(self._numbers, count)

    def near(self, count: int) -> Vectors:
        """Of queries, around the same centres."""
        return self._drawn(self._numbers_of_queries, count)

    def _drawn(self, numbers: np.random.Generator, count: int) -> Vectors:
        centres = self._centres[numbers.integers(0, _CENTRES, count)]
        noise = unit(numbers.standard_normal((count, DIMENSION))) * _NOISE
        return unit(centres + noise)


def plain_sentences(paragraph: str) -> list[str]:
    return [part.text if hasattr(part, "text") else str(part) for part in sentences(paragraph)]


def unit(vectors: Any) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


class PlacedEncoder:
    """Encodes for real, so that it costs what it costs, and then gives a vector among the synthetic ones."""

    def __init__(self, encoder: Any, near: Vectors) -> None:
        self._encoder, self._near = encoder, near
        self.dimension = DIMENSION
        self.version = "synthetic-1"

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError("vectors are stored with their texts")

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        self._encoder.encode_queries(texts)
        return np.array([self.place(text) for text in texts], dtype=np.float32)

    def place(self, text: str) -> Vector:
        row = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % len(self._near)
        return np.asarray(self._near[row], dtype=np.float32)


class CostAssistant(Assistant):
    """Vouch over a synthetic store."""

    def __init__(self, folder: Path, index: str, near: Vectors) -> None:
        real = find_locations(os.environ)
        settings = replace(
            Settings(),
            encoder=replace(Settings().encoder, second=NO_SECOND_HALF, threads=1),
            index=IndexSettings(kind=index),  # type: ignore[arg-type]
            reranking=replace(Settings().reranking, judge="scores"),
            answer=replace(Settings().answer, reader=False),
        )
        locations = Locations(data=folder, settings=folder / "none", cache=real.cache, state=folder / "state")
        super().__init__(settings, locations)
        self.search.__dict__["wanted_encoder"] = PlacedEncoder(self.search.wanted_encoder, near)


def build(folder: Path, synthetic: Synthetic, size: int) -> dict[str, float]:
    """Stores so many passages; CPU milliseconds a passage for the first and the last five hundred."""
    assistant = CostAssistant(folder, "exact", synthetic.vectors(1))
    assistant.catch_up()
    user_id = assistant.stores.journal.user_id("benchmark")
    receipt = assistant.stores.stored_documents.open_receipt(user_id, SHARED, "synthetic")
    spent: list[float] = []
    for start in range(0, size, _BATCH):
        count = min(_BATCH, size - start)
        texts, vectors = synthetic.texts(count), synthetic.vectors(count)
        documents = [
            NewDocument(f"d{start + n}", "", f"{start + n}", (NewPassage("", text),))
            for n, text in enumerate(texts)
        ]
        began = time.process_time()
        plan = assistant.stores.stored_documents.plan(SHARED, documents)
        assistant.stores.stored_documents.store(
            plan, vectors, encoder_version="synthetic-1", receipt_id=receipt
        )
        spent.append((time.process_time() - began) / count * 1000)
        if start % 50_000 == 0:
            print(f"{start} of {size} stored, {spent[-1]:.3f} CPU ms each", file=sys.stderr)
    assistant.close()
    # the median of three batches at either end: one batch is at the mercy of other work
    return {"first": statistics.median(spent[1:4] or spent), "last": statistics.median(spent[-3:])}
