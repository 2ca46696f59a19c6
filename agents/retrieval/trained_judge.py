"""A judge whose model is trained from use: each question is judged by whichever is live then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agents.base.interfaces import Candidate, Judged
from agents.retrieval.cross_encoder_judge import CrossEncoder, CrossEncoderJudge


class TrainedJudge:
    """Takes the word of the live model, whose probabilities are calibrated on lessons.

    From a probability of 0.5 on a passage answers, from 0.2 on it is relevant.
    """

    def __init__(self, live: Callable[[], CrossEncoder]) -> None:
        self._live = live

    @property
    def name(self) -> str:
        return self._live().name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. What only asks answers nothing, and is not read."""
        return CrossEncoderJudge(self._live()).judge(question, candidates)
