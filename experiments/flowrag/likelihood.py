"""A stand-in for the generator's log-probability of an answer, given a question and a document.

log p = 2 [the answer stands in the document] + 0.5 overlap of words + noise of deviation 0.3
"""

from __future__ import annotations

import random

from assistant.replay.metrics.metrics import has_answer
from experiments.flowrag.domains import Question
from stores.words.lexical import tokens

_ANSWER, _OVERLAP, _NOISE = 2.0, 0.5, 0.3


def simulated(question: Question, document: str, *, seed: int) -> float:
    """The same for the same seed, question and document."""
    asked = set(tokens(question.text))
    overlap = len(asked & set(tokens(document))) / max(1, len(asked))
    noise = random.Random(f"{seed} {question.text} {document}").gauss(0, _NOISE)
    return _ANSWER * has_answer(document, question.answers) + _OVERLAP * overlap + noise
