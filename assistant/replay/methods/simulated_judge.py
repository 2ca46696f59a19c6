"""A judge of stated accuracy, in place of a large model.

    truth -> wrong as often as it is told to be -> judgement

Every error is a pure function of seed, question and passage, so that judging again says the same in any order
and in any process, and what is right at one accuracy is right at every higher one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from agents.base.interfaces import Candidate, Judged, Verdict
from agents.base.token_budget import estimated_tokens
from assistant.replay.metrics.metrics import has_answer
from assistant.replay.streams.datasets import ReplayQuestion
from stores.base.passages import Passage

Truth: TypeAlias = Callable[[str, Passage], bool]  # of a question's text and a passage

RIGHT_ON_IRRELEVANT = 0.98  # share of irrelevant passages that a judge calls so, whatever its accuracy
_INSTRUCTION_TOKENS = 60  # of a call: two sentences and the form of the reply
_VERDICT_TOKENS = 8  # of the reply, for each passage
_DRAWS = 9  # that a score is taken from
_DRAW_BYTES = 6


class SimulatedJudge:
    """Knows which passages help, and is wrong as often as it is told to be.

    A relevant passage is called an answer with probability p, an irrelevant one is called so with 0.98, or
    always where p is 1. The score is drawn around the label, so that a judge knows no more than its accuracy
    says: from Beta(1 + 8t, 9 - 8t), whose mode t is 1 for an answer, else 0. Source: LUF, Figure 3; the
    Beta's parameters are ours.
    """

    def __init__(
        self,
        accuracy: float,
        seed: int,
        *,
        is_relevant: Truth,
        count_tokens: Callable[[str], int] = estimated_tokens,
    ) -> None:
        """accuracy: p, 0 to 1."""
        if not 0 <= accuracy <= 1:
            raise ValueError(f"the accuracy is {accuracy}, but must be 0 to 1")
        self._accuracy = accuracy
        self._accuracy_on_irrelevant = 1.0 if accuracy == 1 else RIGHT_ON_IRRELEVANT
        self._seed = seed
        self._is_relevant = is_relevant
        self._count = count_tokens

    @property
    def name(self) -> str:
        accuracies = f"{self._accuracy:g}/{self._accuracy_on_irrelevant:g}"
        return f"simulated-1 {accuracies} seed {self._seed} blurs verdict"

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. Tokens are those of one prompt over all candidates and of its reply."""
        if not candidates:
            return Judged((), 0, 0)
        read = sum(self._count(f"{c.passage.title} {c.passage.text}") for c in candidates)
        return Judged(
            tuple(self._verdict(question, candidate.passage) for candidate in candidates),
            _INSTRUCTION_TOKENS + self._count(question) + read,
            _VERDICT_TOKENS * len(candidates),
        )

    def _verdict(self, question: str, passage: Passage) -> Verdict:
        error, *noise = draws(self._seed, question, passage)
        is_relevant = self._is_relevant(question, passage)
        is_right = error < (self._accuracy if is_relevant else self._accuracy_on_irrelevant)
        said = _ANSWER if is_relevant == is_right else _IRRELEVANT
        return Verdict(said.label, sorted(noise)[round((_DRAWS - 1) * said.score)])


_ANSWER, _IRRELEVANT = Verdict("answer", 1.0), Verdict("irrelevant", 0.0)


def draws(seed: int, question: str, passage: Passage) -> tuple[float, ...]:
    """Ten independent numbers, uniform from 0 to 1: one for the error, nine for the noise of the score.

    The k-th smallest of the nine is Beta(k, 10 - k) distributed, and the same on every machine. A passage is
    known by the id that it has in its file, or else by its own.
    """
    identity = passage.external_id or passage.passage_id
    digest = hashlib.blake2b(
        json.dumps([seed, question, identity]).encode(), digest_size=_DRAW_BYTES * (_DRAWS + 1)
    ).digest()
    starts = range(0, len(digest), _DRAW_BYTES)
    return tuple(int.from_bytes(digest[i : i + _DRAW_BYTES]) / 2 ** (8 * _DRAW_BYTES) for i in starts)


def gold_truth(questions: Iterable[ReplayQuestion]) -> Truth:
    """Whether a passage holds the answer to a question of these, named by its text; see `holds_gold`.

    The function made raises ValueError for a text that is none of these questions'.
    """
    asked: dict[str, list[ReplayQuestion]] = {}
    for question in questions:
        asked.setdefault(question.text, []).append(question)

    def is_gold(text: str, passage: Passage) -> bool:
        if text not in asked:
            raise ValueError(f"nothing is known of the question {text!r}")
        return any(holds_gold(question, passage) for question in asked[text])

    return is_gold


def holds_gold(question: ReplayQuestion, passage: Passage) -> bool:
    """Whether a passage is gold; where no gold is known, whether any of the answers stands in it."""
    if question.gold is None:
        return has_answer(passage.text, question.answers)
    return passage.external_id in question.gold
