"""Knows who asks for everything: what is remembered of its user, or what stands in a document.

No single statement or sentence answers that. It is told by the encoder, from examples: whatever is near
enough to one of them in meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from agents.base.interfaces import Encoder, Vectors
from stores.base.passages import HEADING_OF, Passage

_OF_A_USER = (
    "What do you know about me?",
    "What have I told you so far?",
    "List everything you remember about me.",
    "Tell me what you have learned about me.",
    "Show me what you remember.",
)
_OF_A_DOCUMENT = (
    "Summarise it.",
    "Give me a summary of this document.",
    "What is it about?",
    "What does this document say?",
    "Give me an overview.",
    "What is in it?",
    "List the main points.",
    "Outline it.",
)
_ALL_FROM = 0.75  # cosine; 14,000 messages and questions of data/everyday's training part stay below 0.66
_OUTLINE_FROM = (
    0.5  # of 2,942 questions of data/documents but its test part one is nearer ("what goes in it")
)
_MOST_SECTIONS = 12


class OverviewQuestions:
    """Tells whether a question asks for everything that there is."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors = cache(self._encoded)

    def asks_for_all(self, question: str) -> bool:
        """Whether it asks for everything that its user told."""
        return self._likeness(question, _OF_A_USER) >= _ALL_FROM

    def asks_for_outline(self, question: str) -> bool:
        """Whether it asks of a document, which it names, what stands in it."""
        return self._likeness(question, _OF_A_DOCUMENT) >= _OUTLINE_FROM

    def _likeness(self, question: str, examples: tuple[str, ...]) -> float:
        (vector,) = self._encoder.encode_queries([question])
        return float((self._vectors(examples) @ vector).max())

    def _encoded(self, examples: tuple[str, ...]) -> Vectors:
        return self._encoder.encode_queries(examples)


def sections(passages: Sequence[Passage]) -> list[Passage]:
    """The first passage of each part of a document, by its headings, as deep as leaves it in sight.

    Without headings each passage is a part, or of many every so many-th. passages: in their order.
    """
    titles = [each.title.split(HEADING_OF) for each in passages]
    first: dict[tuple[int | None, str], Passage] = {}
    for depth in range(max(map(len, titles), default=0), 0, -1):
        first.clear()
        for each, title in zip(passages, titles, strict=True):
            first.setdefault((each.document_id, HEADING_OF.join(title[:depth])), each)
        if len(first) <= _MOST_SECTIONS:
            break
    if len(first) == 1:  # no headings
        return list(passages[:: 1 + (len(passages) - 1) // _MOST_SECTIONS])
    return list(first.values())[:_MOST_SECTIONS]
