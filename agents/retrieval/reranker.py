"""Judges candidates in growing steps until one of them helps (LUF, Appendix A.2).

    judge 1 -> helps? stop : judge 1 -> helps? stop : 1, 2, 4, 8, 16 ... until the budget is spent

Most questions are answered by the first passage or two, so most calls are spent there; where they
are not, large steps find the deep answer in few calls. Every judgement is kept: it is what the
retriever will learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from agents.base.interfaces import Candidate, Judge, Verdict
from agents.retrieval.relevance import Moved, Relevance, fixed_mix, is_told

Schedule: TypeAlias = Literal["multi", "single", "every_5", "every_20"]
Order: TypeAlias = Literal["mixed", "classes"]


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
    useless: frozenset[int] = frozenset()  # versions that hardly help, of those that were not given by rule
    moved: Mapping[int, tuple[Moved, ...]] = field(default_factory=dict)  # versions, the strongest first


class Reranker:
    """Orders candidates by how much they help to answer the question."""

    def __init__(
        self,
        judge: Judge,
        *,
        schedule: Schedule,
        budget: int,
        min_judged: int,
        min_judged_told: int = 0,
        order: Order = "mixed",
        judge_share: float = 0.5,
        relevance: Callable[[], Relevance] | None = None,
        useless_below: float = 0.0,
    ) -> None:
        """budget: candidates judged at most. min_judged: judged at least, however soon one helps.

        min_judged_told: the same where the first to be judged was told by somebody: messages are short.

        order: `mixed` goes by what `relevance` is then, or without it by the score found, made 0 to 1 over
        the candidates, and the judge's, which has `judge_share` of the sum; `classes` goes by the verdicts
        alone, as LUF does: those that answer or help in the order found, then the unjudged, then the useless.
        useless_below: the judge's score of what hardly helps.
        """
        self._judge = judge
        self._schedule = schedule
        self._budget = budget
        self._min_judged = min_judged
        self._min_judged_told = max(min_judged, min_judged_told)
        self._order = order
        self._relevance = relevance or partial(fixed_mix, judge_share)
        self._useless_below = useless_below

    def rerank(self, question: str, candidates: Sequence[Candidate]) -> Reranked:
        """Judges some, and puts first what helps most; what is given anyway is judged last."""
        judgements: list[Judgement] = []
        queue = sorted(candidates, key=lambda candidate: candidate.given > 0)
        least = self._min_judged_told if queue and is_told(queue[0]) else self._min_judged
        seen = 0
        for step in steps(self._schedule, min(self._budget, len(candidates))):
            some = queue[seen : seen + step]
            seen += len(some)
            judgements += self._call(question, some)
            helps = any(j.verdict.label != "irrelevant" for j in judgements)
            if helps and seen >= least:
                break
        verdicts = {id(judgement.candidate): judgement.verdict for judgement in judgements}
        if self._order == "classes":
            order, moved = by_classes(candidates, verdicts), {}
        else:
            placed = self._relevance().placed(question, candidates, verdicts)
            order = tuple(each.candidate for each in placed)
            moved = {each.candidate.passage.version_id: each.moved for each in placed}
        useless = {
            judgement.candidate.passage.version_id
            for judgement in judgements
            if judgement.verdict.score < self._useless_below and not judgement.candidate.given
        }
        return Reranked(given_first(order), tuple(judgements), frozenset(useless), moved)

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


def given_first(order: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Before all else what gives, by rule, what is asked for: to a judge it need not read like an answer."""
    return tuple(sorted(order, key=lambda candidate: candidate.given == 0))


def steps(schedule: Schedule, budget: int) -> Iterator[int]:
    """How many candidates each call judges; their sum is the budget.

    multi: 1, 1, 1, 2, 4, 8, 16, ...; single: 1, 1, ...; every_5: 5, 5, ...; every_20: 20, 20, ...
    Source: LUF, Appendix A.2, which names the schedules; the sizes of `multi` are ours.
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


def by_classes(candidates: Sequence[Candidate], verdicts: Mapping[int, Verdict]) -> tuple[Candidate, ...]:
    """Useful, unjudged, useless, each in the order found. verdicts: by the candidate's `id()`."""
    place = {"answer": 0, "relevant": 0, "irrelevant": 2}

    def group(candidate: Candidate) -> int:
        verdict = verdicts.get(id(candidate))
        return 1 if verdict is None else place[verdict.label]

    return tuple(sorted(candidates, key=lambda candidate: (group(candidate), candidate.found_rank)))
