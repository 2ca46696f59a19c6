"""An encoder whose questions are encoded by another model than its passages.

The vectors of passages stay what they are, so such a model goes live by a pointer and nothing is encoded
anew. LUF does not say which side it trains; this is `update_side` query.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.interfaces import Encoder, Vectors


class TwoSidedEncoder:
    """Passages by one encoder, questions by one that was trained to meet its vectors."""

    def __init__(self, passages: Encoder, queries: Encoder) -> None:
        if passages.dimension != queries.dimension:
            raise ValueError(
                f"passages have {passages.dimension} dimensions, questions have {queries.dimension}"
            )
        self.passages = passages
        self.queries = queries

    @property
    def version(self) -> str:
        return self.passages.version

    @property
    def dimension(self) -> int:
        return self.passages.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D), by the trained side."""
        return self.queries.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(N, D), as they always were."""
        return self.passages.encode_passages(texts)
