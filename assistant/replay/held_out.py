"""A candidate against the live retriever, on questions that neither was trained on.

    held-out lessons -> both search -> the first ten of either are judged -> R@5, nDCG@10 -> promoted or not

Both search the same spaces at the same moment, and what either finds is judged anew by the same judge. What
was judged or said when the question was asked is not asked after: it would favour the retriever that found
it, and labels that somebody falsified would vouch for the model that learned them. The
question itself, which is among its user's messages, is not looked for.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.interfaces import Candidate, Judge
from agents.retriever import Retriever
from assistant.replay.bootstrap import Gain, Promotion, paired_gain, promotion
from assistant.replay.metrics import ndcg_at, success_at
from stores.lessons import Lesson
from stores.spaces import Spaces

_GAINS = {"answer": 1.0, "relevant": 0.3, "irrelevant": 0.0}  # of nDCG
_JUDGED = 10  # of either's first
_MOST = 400  # questions; more would narrow the interval by little and take minutes
_SMALLEST_SLICE = 30  # questions; of fewer a loss says nothing


@dataclass(frozen=True)
class Comparison:
    """What came of it."""

    promotion: Promotion
    questions: int  # with an answer among all that was judged
    figures: Mapping[str, Any] = field(default_factory=dict)


def compare(
    lessons: Sequence[Lesson],
    *,
    live: Retriever,
    candidate: Retriever,
    spaces: Spaces,
    candidate_spaces: Spaces | None = None,
    judge: Judge,
    seed: int,
    threshold: float = 0.0,
    margin: float = 0.01,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Comparison:
    """Promoted where nDCG@10 surely gains, and neither R@5 nor a month's nDCG@10 loses more than the margin.

    lessons: held-out ones; the others are not looked at. candidate_spaces: by the candidate's vectors, where
    it encodes passages too. tell: is given how many are done, of how many.
    """
    asked = _asked(lessons, seed)
    scores: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    slices: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for done, lesson in enumerate(asked, start=1):
        sides = ((live, spaces), (candidate, candidate_spaces or spaces))
        both = [
            each.retrieve(
                lesson.question, own.of(lesson.user_id), without=lesson.message_versions
            ).candidates[:_JUDGED]
            for each, own in sides
        ]
        gains = _judged(lesson.question, both, judge)
        answers = {version for version, gain in gains.items() if gain == _GAINS["answer"]}
        for side, found in enumerate(both if answers else ()):
            ids = [str(each.passage.version_id) for each in found]
            r5 = success_at(ids, answers, 5)
            ndcg = ndcg_at(ids, gains, 10)
            scores["R@5"][side].append(r5)
            scores["nDCG@10"][side].append(ndcg)
            slices[lesson.month][side].append(ndcg)
        tell(done, len(asked))
    if not scores:
        return Comparison(Promotion(False, "Refused: no held-out question has an answer."), 0)
    gains_by = {name: paired_gain(new, old, seed=seed) for name, (old, new) in scores.items()}
    earlier = {
        month: paired_gain(new, old, seed=seed)
        for month, (old, new) in sorted(slices.items())
        if len(old) >= _SMALLEST_SLICE
    }
    # a judge that often says "answer" leaves R@5 nothing to gain: it must only not be lost
    must_keep = {"R@5": gains_by["R@5"], **earlier}
    decided = promotion({"nDCG@10": gains_by["nDCG@10"]}, must_keep, threshold=threshold, margin=margin)
    means = {
        name: {"live": sum(old) / len(old), "candidate": sum(new) / len(new), **_as_facts(gains_by[name])}
        for name, (old, new) in scores.items()
    }
    by_slice = {month: _as_facts(gain) for month, gain in earlier.items()}
    return Comparison(decided, len(scores["R@5"][0]), {**means, "slices": by_slice})


def _asked(lessons: Sequence[Lesson], seed: int) -> list[Lesson]:
    """The held-out ones, each question of a user once, or so many of them drawn by the seed."""
    asked: dict[tuple[int, str], Lesson] = {}
    for lesson in lessons:
        if lesson.is_held_out:
            key = lesson.user_id, lesson.question
            before = asked[key].message_versions if key in asked else ()
            asked[key] = replace(lesson, message_versions=(*before, *lesson.message_versions))
    some = list(asked.values())
    if len(some) > _MOST:
        some = sorted(random.Random(seed).sample(some, _MOST), key=lambda lesson: lesson.turn_id)
    return some


def _judged(question: str, both: Sequence[Sequence[Candidate]], judge: Judge) -> dict[str, float]:
    """What finding a passage gains, of all that either found and the judge could read; by version id."""
    either: dict[int, Candidate] = {}
    for found in both:
        for each in found:
            either.setdefault(each.passage.version_id, each)
    verdicts = judge.judge(question, list(either.values())).verdicts if either else ()
    pairs = zip(either, verdicts, strict=True)
    return {str(version): _GAINS[verdict.label] for version, verdict in pairs if verdict is not None}


def _as_facts(gain: Gain) -> dict[str, Any]:
    return {
        "gain": round(gain.mean, 4),
        "low": round(gain.low, 4),
        "high": round(gain.high, 4),
        "questions": gain.questions,
    }
