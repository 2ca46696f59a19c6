"""Judges a passage by the scores it was found with, until a trained judge is there.

    p(the passage holds the answer) = sigmoid(w · (cosine, share of the question's words, bias))

It reads nothing that retrieval has not computed already, so it costs no model call and no token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from agents.base.interfaces import Candidate, Judged, Label, Verdict
from agents.base.sentences import asks_only
from stores.words.lexical import tokens

# Fitted by benchmarks/fit_answering.py on training questions.
_COSINE_WEIGHT = 12.634
_WORDS_WEIGHT = 5.003
_BIAS = -11.767
_ANSWERS_FROM = 0.5  # p from which a passage is taken to hold the answer
_HELPS_FROM = 0.2  # p from which it is taken to be about the question


class ScoreJudge:
    """A judge over the retrieval scores."""

    name = "scores-1"

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. What only asks answers nothing, however similar it is to the question."""
        wanted = set(tokens(question))
        return Judged(tuple(self._verdict(wanted, candidate) for candidate in candidates), 0, 0)

    def _verdict(self, wanted: set[str], candidate: Candidate) -> Verdict:
        passage = candidate.passage
        if passage.kind == "message" and asks_only(passage.text):
            return Verdict("irrelevant", 0.0)
        score = answer_probability(candidate.dense, shared_words(wanted, f"{passage.title} {passage.text}"))
        label: Label = "irrelevant"
        if score >= _HELPS_FROM:
            label = "answer" if score >= _ANSWERS_FROM else "relevant"
        return Verdict(label, score)


def answer_probability(cosine: float, words: float) -> float:
    """Probability that a passage holds the answer, by its cosine and its `shared_words`."""
    return 1 / (1 + math.exp(-(_COSINE_WEIGHT * cosine + _WORDS_WEIGHT * words + _BIAS)))


def shared_words(wanted: set[str], text: str) -> float:
    """The share of the wanted tokens that stand in a text, 0 to 1; 0 when none are wanted."""
    return len(wanted & set(tokens(text))) / len(wanted) if wanted else 0.0
