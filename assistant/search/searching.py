"""What searches and indexes with one encoder version; a turn takes it once and keeps to it."""

from __future__ import annotations

from dataclasses import dataclass

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
    second_from: int = 0  # where the vectors' second half begins; 0: they have none
    trained_queries: str = ""  # the version of what encodes questions, where it was trained apart

    def across_languages(self, vector: Vector) -> Vector | None:
        """A question's vector by the second half alone, which finds what was said in other languages."""
        if not self.second_from:
            return None
        alone = vector.copy()
        alone[: self.second_from] = 0
        return alone

    @property
    def version(self) -> str:
        """Of all that encodes: two questions' vectors are alike by the same one alone."""
        return f"{self.encoder.version} {self.trained_queries}".strip()
