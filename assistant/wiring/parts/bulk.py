"""Passages encoded by workers elsewhere, where the settings have bulk work spread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.wiring.parts.given import Given
from stores.search.indexer import TEXTS_AT_ONCE

if TYPE_CHECKING:
    from agents.base.interfaces import Encoder, Vectors
    from assistant.scale.spread import Spread


class SpreadEncoder:
    """An encoder whose passages are encoded by workers where there are many, and by itself where few.

    Each worker is given as many texts as are encoded at once here, so the vectors are the same to the bit.
    """

    def __init__(self, encoder: Encoder, workers: Spread[Sequence[str], Vectors]) -> None:
        """workers: encode by the same version."""
        self._encoder, self._workers = encoder, workers

    @property
    def version(self) -> str:
        """That of the encoder."""
        return self._encoder.version

    @property
    def dimension(self) -> int:
        """That of the encoder."""
        return self._encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D): never elsewhere."""
        return self._encoder.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(N, D), as the encoder would make them."""
        if len(texts) <= TEXTS_AT_ONCE:
            return self._encoder.encode_passages(texts)
        batches = (texts[i : i + TEXTS_AT_ONCE] for i in range(0, len(texts), TEXTS_AT_ONCE))
        return np.concatenate(list(self._workers.over(batches)))


def encodes(settings: Settings, locations: Locations, version: str) -> Callable[[Sequence[str]], Vectors]:
    """What a worker does, made where it works: texts as vectors of this version."""
    from assistant.wiring.parts.search import Search
    from assistant.wiring.parts.stores import Stores

    given = Given(settings, locations, offline=True)
    return Search(given, Stores(given)).encoder_of(version).encode_passages


def making(given: Given, version: str) -> Callable[[], Callable[[Sequence[str]], Vectors]]:
    """To be sent to workers: what they need of the settings, and no key of a model's server."""
    needed = Settings(encoder=given.settings.encoder, store=given.settings.store)
    return partial(encodes, needed, given.locations, version)
