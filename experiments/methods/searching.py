"""Searches that the product does not make: with texts that count differently, and by vectors alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, cast

from agents.base.interfaces import Candidate, SearchableSpace, Vector
from assistant.replay.methods.method import DENSE, Asked, Ranked, Search


class WeighingSpace(SearchableSpace, Protocol):
    """A space that also weighs words on demand."""

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of each version for the query; 0 without a shared word."""


def ranked_by(search: Search, words: str | Mapping[str, float], vector: Vector, question: Asked) -> Ranked:
    """One search by words and vector together.

    words: what the lexical signal looks for; or several texts, each with how often it counts: BM25 is then
    the sum of theirs, as over a query that repeats each so often. vector: (D,), unit length. question:
    decides whether a speaker is named and a time is asked for.
    """
    text = words if isinstance(words, str) else "\n".join(words)
    signals = search.retriever.signals(text, vector, search.space, without=question.without)
    if not isinstance(words, str):
        ids, space = list(signals.passages), cast("WeighingSpace", search.space)
        scores = {text: space.word_scores(text, ids) for text in words}
        lexical = {i: sum(count * scores[text][i] for text, count in words.items()) for i in ids}
        signals = replace(signals, lexical=lexical)
    return search.both_orders(replace(signals, query=question.text))


def nearest(search: Search, vector: Vector, question: Asked) -> tuple[Candidate, ...]:
    """What is nearest in meaning, best first."""
    signals = search.retriever.signals("", vector, search.space, without=question.without)
    return tuple(signals.ranked(DENSE, keep=search.keep))
