"""A candidate against the live retriever, on questions that neither was trained on.

    held-out lessons -> both search, in the chat's order -> what of the first ten helps -> R@5, R@10, nDCG@10
      -> slices by month and by domain -> promoted or not

Both search the same spaces at the same moment. What helps is what its user said; where nothing was said, what
either finds is judged anew by the same judge. What was judged when the question was asked is not asked after:
it would favour the retriever that found it, and labels that somebody falsified would vouch for the model that
learned them. It only tells a question's domain, which neither retriever can change therefore. The question
itself, which is among its user's messages, is not looked for.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from agents.base.interfaces import Candidate, Judge
from agents.retrieval.retriever import Retriever
from assistant.learning.held_out.bootstrap import Gain, Promotion, paired_gain, promotion
from assistant.learning.held_out.ranking import ndcg_at, success_at
from stores.learning.lessons import DECIDING, Lesson
from stores.search.spaces import Spaces

S = TypeVar("S")
SMALLEST_SLICE = 30  # questions; of fewer a loss says nothing
_GAINS = {"answer": 1.0, "relevant": 0.3, "irrelevant": 0.0}  # of nDCG
_JUDGED = 10  # of either's first
_MOST = 400  # questions; more would narrow the interval by little and take minutes
_SLICED_BY = "nDCG@10"
UNSEEN = "passages it was not trained on"
WITH_ANSWERS = "questions with known answers"


@dataclass(frozen=True)
class Side:
    """How well one of the two found what answers a question; each from 0 to 1."""

    recall_at_5: float
    recall_at_10: float  # told, and decides nothing
    ndcg_at_10: float


@dataclass(frozen=True)
class Scored:
    """A held-out question with an answer among all that was judged for it, and how both did."""

    month: str
    domain: str
    live: Side
    candidate: Side
    is_unseen: bool = False  # nothing that answers it was trained on


@dataclass(frozen=True)
class Comparison:
    """What came of it."""

    promotion: Promotion
    questions: int  # with an answer among all that was judged
    figures: Mapping[str, Any] = field(default_factory=dict)


def compare(
    lessons: Sequence[Lesson],
    *,
    domains: Mapping[int, str],
    live: Retriever,
    candidate: Retriever,
    spaces: Spaces,
    candidate_spaces: Spaces | None = None,
    judge: Judge,
    said: Mapping[int, Set[int]] = MappingProxyType({}),
    in_order: Callable[[str, Sequence[Candidate]], Sequence[Candidate]] = lambda question, found: found,
    known: Mapping[str, Gain] = MappingProxyType({}),
    seed: int,
    threshold: float = 0.0,
    margin: float = 0.01,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Comparison:
    """Both on the held-out lessons; see `decided`.

    lessons: held-out ones are asked; what answers the others counts as seen. domains: by the id of a held-out
    lesson's turn. candidate_spaces: by the candidate's vectors, where it encodes passages too. said: by turn,
    the versions that help, as its user says. in_order: puts what was found in the order of answers. tell: is
    given how many are done, of how many.
    """
    asked = _asked(lessons, seed)
    seen = {
        str(document.version_id)
        for lesson in lessons
        if not lesson.is_held_out
        for document in lesson.documents
        if document.label == "answer"
    }
    scored: list[Scored] = []
    for done, lesson in enumerate(asked, start=1):
        sides = ((live, spaces), (candidate, candidate_spaces or spaces))
        both = [
            in_order(
                lesson.question,
                each.retrieve(
                    lesson.question, own.of(lesson.user_id), without=lesson.message_versions
                ).candidates,
            )[:_JUDGED]
            for each, own in sides
        ]
        helping = {str(version) for version in said.get(lesson.turn_id, ())}
        gains = dict.fromkeys(helping, _GAINS["answer"]) or _judged(lesson.question, both, judge)
        answers = {version for version, gain in gains.items() if gain == _GAINS["answer"]}
        if answers:
            of_live, of_candidate = (side_of(each, answers, gains) for each in both)
            domain, is_unseen = domains[lesson.turn_id], answers.isdisjoint(seen)
            scored.append(Scored(lesson.month, domain, of_live, of_candidate, is_unseen))
        tell(done, len(asked))
    return decided(scored, seed=seed, threshold=threshold, margin=margin, known=known)


def decided(
    scored: Sequence[Scored],
    *,
    seed: int,
    threshold: float = 0.0,
    margin: float = 0.01,
    known: Mapping[str, Gain] = MappingProxyType({}),
) -> Comparison:
    """Promoted where nDCG@10 gains, hardly by chance, and R@5, months, domains and what is known hold up.

    See `promotion`. A month or domain of fewer than `SMALLEST_SLICE` questions has no say. threshold, margin:
    shares, from 0 to 1. known: by name, what is gained on other questions that must not be lost.
    """
    if not scored:
        return Comparison(Promotion(False, "Refused: no held-out question has an answer."), 0)
    sides = [each.candidate for each in scored], [each.live for each in scored]
    recall = [[side.recall_at_5 for side in each] for each in sides]
    recall_at_10 = [[side.recall_at_10 for side in each] for each in sides]
    ndcg = [[side.ndcg_at_10 for side in each] for each in sides]
    gains = {
        "R@5": paired_gain(*recall, seed=seed),
        "R@10": paired_gain(*recall_at_10, seed=seed),
        _SLICED_BY: paired_gain(*ndcg, seed=seed, threshold=threshold),
    }
    of_unseen = _gains_of({UNSEEN: [each for each in scored if each.is_unseen]}, seed)
    months = _gains_of(slices(scored, lambda each: each.month), seed)
    domains = _gains_of(slices(scored, lambda each: each.domain), seed)
    # a judge that often says "answer" leaves R@5 nothing to gain: it must only not be lost
    must_keep = {
        "R@5": gains["R@5"],
        **known,
        **of_unseen,
        **months,
        **{f"domain {name}": gain for name, gain in domains.items()},
    }
    promoted = promotion(
        {_SLICED_BY: gains[_SLICED_BY]},
        must_keep,
        threshold=threshold,
        margin=margin,
        fewest_questions=DECIDING,
    )
    figures: dict[str, Any] = {
        name: {"live": mean(old), "candidate": mean(new), **as_facts(gains[name])}
        for name, (new, old) in (("R@5", recall), ("R@10", recall_at_10), (_SLICED_BY, ndcg))
    }
    figures["slices"] = {name: as_facts(gain) for name, gain in {**known, **of_unseen, **months}.items()}
    figures["domains"] = [{"name": name, **as_facts(gain)} for name, gain in domains.items()]
    return Comparison(promoted, len(scored), figures)


def slices(scored: Sequence[S], of: Callable[[S], str]) -> dict[str, list[S]]:
    """The questions by what one is of, in the order of the names; each question is in one slice."""
    found: dict[str, list[S]] = defaultdict(list)
    for each in scored:
        found[of(each)].append(each)
    return dict(sorted(found.items()))


def _gains_of(parts: Mapping[str, Sequence[Scored]], seed: int) -> dict[str, Gain]:
    """The gain in nDCG@10 of each slice that is large enough to have a say."""
    return {
        name: paired_gain(
            [each.candidate.ndcg_at_10 for each in part], [each.live.ndcg_at_10 for each in part], seed=seed
        )
        for name, part in parts.items()
        if len(part) >= SMALLEST_SLICE
    }


def side_of(found: Sequence[Candidate], answers: set[str], gains: Mapping[str, float]) -> Side:
    """What was found, best first, by the ids of versions."""
    ids = [str(each.passage.version_id) for each in found]
    return Side(success_at(ids, answers, 5), success_at(ids, answers, 10), ndcg_at(ids, gains, 10))


def mean(scores: Sequence[float]) -> float:
    """Of at least one."""
    return sum(scores) / len(scores)


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


def as_facts(gain: Gain) -> dict[str, Any]:
    """As a round notes it."""
    return {
        "gain": round(gain.mean, 4),
        "low": round(gain.low, 4),
        "high": round(gain.high, 4),
        "questions": gain.questions,
    }
