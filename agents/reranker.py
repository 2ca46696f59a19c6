"""Judges candidates in growing steps until one of them helps (luf.md section 5).

    judge 1 -> helps? stop : judge 1 -> helps? stop : 1, 2, 4, 8, 16 ... until the budget is spent

Most questions are answered by the first passage or two, so most calls are spent there; where they
are not, large steps find the deep answer in few calls. Every judgement is kept: it is what the
retriever will learn from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agents.interfaces import Candidate, Judge, Verdict

Schedule: TypeAlias = Literal["multi", "single", "every_5", "every_20"]


@dataclass(frozen=True)
class Judgement:
    """What the judge said of one candidate, and what it cost."""

    candidate: Candidate
    verdict: Verdict
    judge: str
    tokens_in: int  # of the whole call, shared equally among its candidates
    tokens_out: int


@dataclass(frozen=True)
class Reranked:
    """Candidates in the order in which they help, and the judgements behind it."""

    order: tuple[Candidate, ...]
    judgements: tuple[Judgement, ...]

    def verdict_of(self, candidate: Candidate) -> Verdict | None:
        """None: not judged."""
        return next((j.verdict for j in self.judgements if j.candidate is candidate), None)


class Reranker:
    """Orders candidates by how much they help to answer the question."""

    def __init__(self, judge: Judge, *, schedule: Schedule, budget: int, min_judged: int) -> None:
        """budget: candidates judged at most. min_judged: judged at least, however soon one helps."""
        self._judge = judge
        self._schedule = schedule
        self._budget = budget
        self._min_judged = min_judged

    def rerank(self, question: str, candidates: Sequence[Candidate]) -> Reranked:
        """Those judged to answer or help in the order found, then the unjudged, then the judged useless."""
        judgements: list[Judgement] = []
        seen = 0
        for step in steps(self._schedule, min(self._budget, len(candidates))):
            some = candidates[seen : seen + step]
            seen += len(some)
            judgements += self._call(question, some)
            helps = any(j.verdict.label != "irrelevant" for j in judgements)
            if helps and seen >= self._min_judged:
                break
        return Reranked(_ordered(candidates, judgements), tuple(judgements))

    def _call(self, question: str, some: Sequence[Candidate]) -> list[Judgement]:
        judged = self._judge.judge(question, some)
        share = max(1, len(some))
        return [
            Judgement(
                candidate, verdict, self._judge.name, judged.tokens_in // share, judged.tokens_out // share
            )
            for candidate, verdict in zip(some, judged.verdicts, strict=True)
            if verdict is not None  # what could not be read is unjudged, never useless
        ]


def steps(schedule: Schedule, budget: int) -> Iterator[int]:
    """How many candidates each call judges; their sum is the budget.

    multi: 1, 1, 1, 2, 4, 8, 16, ...; single: 1, 1, ...; every_5: 5, 5, ...; every_20: 20, 20, ...
    Source: luf.md section 5; the paper names the schedules, the sizes of `multi` are ours.
    """
    left = budget
    for step in _sizes(schedule):
        if left <= 0:
            return
        yield min(step, left)
        left -= step


def _sizes(schedule: Schedule) -> Iterator[int]:
    if schedule == "multi":
        yield from (1, 1)
    size = {"multi": 1, "single": 1, "every_5": 5, "every_20": 20}[schedule]
    while True:
        yield size
        if schedule == "multi":
            size *= 2


def _ordered(candidates: Sequence[Candidate], judgements: Sequence[Judgement]) -> tuple[Candidate, ...]:
    place = {"answer": 0, "relevant": 0, "irrelevant": 2}
    group = {id(judgement.candidate): place[judgement.verdict.label] for judgement in judgements}
    return tuple(
        sorted(candidates, key=lambda candidate: (group.get(id(candidate), 1), candidate.found_rank))
    )
