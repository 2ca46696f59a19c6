"""Judges passages by reading them."""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.interfaces import Candidate, Judged, Verdict
from agents.base.sentences import asks_only
from agents.retrieval.readings import Readings


class ReaderJudge:
    """A judge that asks the reader what a passage says to a question."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    @property
    def name(self) -> str:
        return self._readings.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. What only asks answers nothing, and is not read."""
        told = [c for c in candidates if not (c.passage.kind == "message" and asks_only(c.passage.text))]
        readings = self._readings.of(question, [c.passage.text for c in told])
        verdicts = {id(c): reading.verdict for c, reading in zip(told, readings, strict=True)}
        tokens = sum(reading.tokens for reading in readings)
        return Judged(tuple(verdicts.get(id(c), Verdict("irrelevant", 0.0)) for c in candidates), tokens, 0)
