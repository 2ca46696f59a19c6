"""Judges passages by the scores that a cross-encoder gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agents.base.interfaces import Candidate, Judged, Label, Verdict
from agents.base.sentences import asks_only

# Not calibrated: a foreign model's scores mean what its training made them mean. As `ScoreJudge` has them.
_ANSWERS_FROM = 0.5  # score from which a passage is taken to hold the answer
_HELPS_FROM = 0.2  # score from which it is taken to be about the question


class CrossEncoder(Protocol):
    """A model that reads a question and a passage together and says how useful the passage is."""

    @property
    def name(self) -> str:
        """Names the model and its version."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How useful each passage is, 0 to 1, in their order."""

    def count_tokens(self, question: str, passages: Sequence[str]) -> int:
        """How many tokens are read to score them."""


class CrossEncoderJudge:
    """A judge that takes a cross-encoder's word.

    From a score of 0.5 on a passage answers, from 0.2 on it is relevant. The two are not fitted to the model.
    """

    def __init__(self, cross_encoder: CrossEncoder) -> None:
        self._cross_encoder = cross_encoder

    @property
    def name(self) -> str:
        return self._cross_encoder.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. What only asks answers nothing, and is not read."""
        told = [c for c in candidates if not (c.passage.kind == "message" and asks_only(c.passage.text))]
        texts = [c.passage.text for c in told]
        scores = self._cross_encoder.scores(question, texts)
        verdicts = {id(c): Verdict(_label(score), score) for c, score in zip(told, scores, strict=True)}
        tokens = self._cross_encoder.count_tokens(question, texts)
        return Judged(tuple(verdicts.get(id(c), Verdict("irrelevant", 0.0)) for c in candidates), tokens, 0)


def _label(score: float) -> Label:
    if score >= _HELPS_FROM:
        return "answer" if score >= _ANSWERS_FROM else "relevant"
    return "irrelevant"
