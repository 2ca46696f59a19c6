"""What searches and indexes with one encoder version; a turn takes it once and keeps to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.base.interfaces import Encoder, Vector
from agents.retrieval.retriever import Retriever
from stores.search.indexer import Indexer
from stores.search.shared_index import SharedIndex
from stores.search.spaces import Spaces


@dataclass(frozen=True)
class Searching:
    """All parts are of the encoder's version."""

    encoder: Encoder
    spaces: Spaces
    retriever: Retriever
    indexer: Indexer
    shared_index: SharedIndex
    second: Encoder | None = None  # what makes the vectors' second half, where they have one
    trained_queries: str = ""  # the version of what encodes questions, where it was trained apart
    adapters: str = ""  # the version of the collections that have learned, where there are some

    def across_languages(self, question: str) -> Vector | None:
        """A question's vector by the second half alone, which finds what was said in other languages."""
        if self.second is None:
            return None
        (alone,) = self.second.encode_queries([question])
        first = np.zeros(self.encoder.dimension - len(alone), dtype=np.float32)
        return np.concatenate([first, alone])

    @property
    def version(self) -> str:
        """Of all that encodes: two questions' vectors are alike by the same one alone."""
        return f"{self.encoder.version} {self.trained_queries}".strip()
