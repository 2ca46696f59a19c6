"""Knows the question what is remembered of its user at all, which no single statement answers.

It is told by the encoder, from examples: whatever is near enough to one of them in meaning.
"""

from __future__ import annotations

from functools import cached_property

from agents.base.interfaces import Encoder, Vectors

_EXAMPLES = (
    "What do you know about me?",
    "What have I told you so far?",
    "List everything you remember about me.",
    "Tell me what you have learned about me.",
    "Show me what you remember.",
)
_LIKE_FROM = 0.75  # cosine; 14,000 messages and questions of data/everyday's training part stay below 0.66


class OverviewQuestions:
    """Tells whether a question asks for everything that its user told."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @cached_property
    def _examples(self) -> Vectors:
        return self._encoder.encode_queries(_EXAMPLES)

    def asks_for_all(self, question: str) -> bool:
        """Whether the question is near enough to an example."""
        (vector,) = self._encoder.encode_queries([question])
        return bool((self._examples @ vector).max() >= _LIKE_FROM)
