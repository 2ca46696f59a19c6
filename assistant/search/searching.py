"""What searches and indexes with one encoder version; a turn takes it once and keeps to it."""

from __future__ import annotations

from dataclasses import dataclass

from agents.base.interfaces import Encoder
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
    trained_queries: str = ""  # the version of what encodes questions, where it was trained apart

    @property
    def version(self) -> str:
        """Of all that encodes: two questions' vectors are alike by the same one alone."""
        return f"{self.encoder.version} {self.trained_queries}".strip()
