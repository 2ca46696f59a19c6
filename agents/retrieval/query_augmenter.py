"""What a message is searched and read with: itself, and the exchange before it.

    "who runs it?"   is searched as it is, and once more as "who runs it? (after: when does the pool open)"

Which of both finds the answer, and whether a message is a follow-up at all, the reader decides: it reads
every question with what was asked before. So nothing is rewritten, and no model stands before the search.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.interfaces import AugmentedQuery, Exchange
from agents.base.memory_page import asked_after, last_said


class QueryAugmenter:
    """Puts what was asked before behind a message."""

    def augment(self, message: str, recent: Sequence[Exchange]) -> AugmentedQuery:
        """The query to search and to read with. recent: earlier exchanges, oldest first."""
        before = last_said(recent)
        if not before:
            return AugmentedQuery(message, "original")
        return AugmentedQuery(asked_after(message, before), "with what was asked before")
