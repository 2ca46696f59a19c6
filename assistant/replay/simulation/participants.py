"""Judges, answerers and users of stated accuracy, in place of a large model and of people.

    truth -> wrong as often as it is told to be -> judgement, answer, or what a user says afterwards

Every error is a pure function of seed, question and passage, so that judging again says the same in any order
and in any process, and what is right at one accuracy is right at every higher one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

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

    A relevant passage is called so with probability p, an irrelevant one with 0.98. The score is the truth t
    blurred by noise: drawn from Beta(1 + 8t, 9 - 8t), whose mode is t. Here t is 1 where the answer stands,
    1/2 where a passage only helps, else 0. Source: LUF, Figure 3; the Beta's parameters are ours.
    """

    def __init__(
        self,
        accuracy: float,
        seed: int,
        *,
        is_relevant: Truth,
        is_answer: Truth | None = None,
        accuracy_on_irrelevant: float | None = None,
        blurs: Literal["truth", "verdict"] = "truth",
        count_tokens: Callable[[str], int] = estimated_tokens,
    ) -> None:
        """accuracy: p, 0 to 1. is_answer: which of the relevant passages hold the answer; without it, all.

        accuracy_on_irrelevant: without it 0.98, but 1 where p is 1, so that this judge is never wrong.
        blurs: with "truth", as the source has it, scores tell relevant from irrelevant nearly without error
        at any p, so what learns from scores learns from the truth. With "verdict" they are drawn around the
        label, and a judge knows no more than its accuracy says.
        """
        if accuracy_on_irrelevant is None:
            accuracy_on_irrelevant = 1.0 if accuracy == 1 else RIGHT_ON_IRRELEVANT
        if not 0 <= accuracy <= 1 or not 0 <= accuracy_on_irrelevant <= 1:
            raise ValueError(f"accuracies are {accuracy} and {accuracy_on_irrelevant}, but must be 0 to 1")
        self._accuracy = accuracy
        self._accuracy_on_irrelevant = accuracy_on_irrelevant
        self._seed = seed
        self._is_relevant = is_relevant
        self._is_answer = is_answer
        self._blurs = blurs
        self._count = count_tokens

    @property
    def name(self) -> str:
        accuracies = f"{self._accuracy:g}/{self._accuracy_on_irrelevant:g}"
        return f"simulated-1 {accuracies} seed {self._seed} blurs {self._blurs}"

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
        true = self._true_verdict(question, passage)
        said = true
        if error >= (self._accuracy_on_irrelevant if true.label == "irrelevant" else self._accuracy):
            said = _ANSWER if true.label == "irrelevant" else _IRRELEVANT
        middle = true.score if self._blurs == "truth" else said.score
        return Verdict(said.label, sorted(noise)[round((_DRAWS - 1) * middle)])

    def _true_verdict(self, question: str, passage: Passage) -> Verdict:
        if not self._is_relevant(question, passage):
            return _IRRELEVANT
        is_answer = self._is_answer is None or self._is_answer(question, passage)
        return _ANSWER if is_answer else _HELPS


_ANSWER, _HELPS, _IRRELEVANT = Verdict("answer", 1.0), Verdict("relevant", 0.5), Verdict("irrelevant", 0.0)


def draws(seed: int, question: str, passage: Passage) -> tuple[float, ...]:
    """Ten independent numbers, uniform from 0 to 1: one for the error, nine for the noise of the score.

    The k-th smallest of the nine is Beta(k, 10 - k) distributed, and the same on every machine. A passage is
    known by the id that its collection gave it, or else by its own.
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


class SimulatedAnswerer:
    """Is right exactly when the passages that it reads hold the answer."""

    NOT_KNOWN = "I do not know."

    def __init__(self, *, depth: int = 5) -> None:
        """depth: how many passages it reads."""
        self._depth = depth

    def answer(self, question: ReplayQuestion, passages: Sequence[Passage]) -> str:
        """The first right answer, or `NOT_KNOWN`. passages: best first."""
        read = passages[: self._depth]
        if question.needs_all and question.gold:
            is_known = question.gold <= {passage.external_id for passage in read}
        else:
            is_known = any(holds_gold(question, passage) for passage in read)
        return question.answers[0] if is_known and question.answers else self.NOT_KNOWN


# What users say after an answer

FeedbackKind: TypeAlias = Literal["right", "wrong", "unrelated"]


@dataclass(frozen=True)
class SimulatedFeedback:
    """What a simulated user says after a question was answered."""

    question_id: str
    kind: FeedbackKind
    message: str
