"""Candidate weights of relevance against the live ones, on questions that neither was trained on.

held-out lessons -> both order what was found then -> R@5, R@10, nDCG@10 -> promoted or not
  and questions with known answers, which come with Vouch -> MRR, which must not be lost
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import Candidate, Verdict
from agents.retrieval.relevance import KNOWN, Relevance, fixed_mix
from agents.retrieval.reranker import Reranker, given_first
from assistant.learning.held_out.bootstrap import Gain
from assistant.learning.held_out.ranking import reciprocal_rank
from assistant.learning.held_out.retrieval import WITH_ANSWERS, Comparison, Scored, Side, decided, side_of
from stores.base.passages import SHARED, Passage, own_space
from stores.learning.lessons import DOCUMENTS, TOLD
from stores.learning.relevance_lessons import RelevanceLesson

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)  # nothing is ordered by when it was told


def candidates_of(lesson: RelevanceLesson) -> tuple[list[Candidate], dict[int, Verdict]]:
    """What was found, as it is ordered, with the verdicts by the candidate's `id()`."""
    found, verdicts = list[Candidate](), dict[int, Verdict]()
    for each in lesson.found:
        space = SHARED if each.is_shared else own_space(lesson.user_id)
        passage = Passage(
            each.version_id, each.version_id, space, each.kind, each.title, each.text, each.document_id,
            each.position, "", "", _ANY_DAY,
        )  # fmt: skip
        scores = each.dense, each.lexical, each.lift, each.score
        found.append(Candidate(passage, *scores, each.found_rank, each.given))
        if each.judged is not None:
            verdicts[id(found[-1])] = Verdict("relevant", each.judged)
    return found, verdicts


def compare(
    held_out: Sequence[RelevanceLesson],
    live: Relevance,
    candidate: Relevance,
    *,
    seed: int,
    threshold: float = 0.0,
    margin: float = 0.01,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Comparison:
    """Both on the held-out lessons; see `decided`. tell: of how many so many are done."""
    sides = list[list[Side]]()
    for done, lesson in enumerate(held_out, start=1):
        sides.append([side(lesson, live), side(lesson, candidate)])
        tell(done, len(held_out))
    # against the mix as well, or round after round could lose a little
    lost = mrr_of_known(candidate) - max(map(mrr_of_known, (live, fixed_mix(0.5))))
    known = {WITH_ANSWERS: Gain(lost, lost, lost, len(known_questions()))}  # always the same questions
    both = [[each[number] for each in sides] for number in (0, 1)]
    return compare_sides(held_out, *both, seed=seed, threshold=threshold, margin=margin, known=known)


def compare_sides(
    held_out: Sequence[RelevanceLesson], live: Sequence[Side], candidate: Sequence[Side], **how: Any
) -> Comparison:
    """How well each did on each lesson; see `decided`, which is given the rest."""
    scored = []
    for lesson, old, new in zip(held_out, live, candidate, strict=True):
        told = any(each.helps and (each.kind == "message" or not each.is_shared) for each in lesson.found)
        scored.append(Scored(lesson.month, TOLD if told else DOCUMENTS, old, new))
    return decided(scored, **how)


class Known(NamedTuple):
    """What was found for a question whose answer is known, by the search and the reader that Vouch has."""

    rows: npt.NDArray[np.float64]  # (N, D): φ, in the order found
    told: npt.NDArray[np.bool_]  # (N,): scored by the weights of messages
    asks: npt.NDArray[np.bool_]  # (N,): goes last
    right: npt.NDArray[np.bool_]  # (N,): it answers


@cache
def known_questions() -> tuple[Known, ...]:
    """Of the dev parts of data/everyday and data/documents; see training/relevance.py."""
    with np.load(KNOWN) as kept:
        ends = np.cumsum(kept["counts"])[:-1]
        columns = (np.split(kept[name], ends) for name in Known._fields)
        return tuple(Known(rows.astype(np.float64), *rest) for rows, *rest in zip(*columns, strict=True))


def mrr_of_known(relevance: Relevance) -> float:
    """Of the first that answers, 0 to 1."""
    total = 0.0
    for rows, told, asks, right in known_questions():
        messages, others = (
            rows @ np.array(each.row) + each.bias for each in (relevance.messages, relevance.documents)
        )
        order = np.lexsort((np.arange(len(rows)), -np.where(told, messages, others), asks))
        total += reciprocal_rank(order.tolist(), set(np.flatnonzero(right).tolist()))
    return total / len(known_questions())


def side(lesson: RelevanceLesson, relevance: Relevance) -> Side:
    """How well these weights order what was found for a question."""
    placed = relevance.placed(lesson.question, *candidates_of(lesson))
    return _side(lesson, given_first([each.candidate for each in placed]))


def side_by(lesson: RelevanceLesson, reranker: Reranker) -> Side:
    """How well what was found for a question is ordered where it is judged anew."""
    found, _ = candidates_of(lesson)
    return _side(lesson, reranker.rerank(lesson.question, found).order)


def _side(lesson: RelevanceLesson, order: Sequence[Candidate]) -> Side:
    helping = {str(each.version_id) for each in lesson.found if each.helps}
    return side_of(order, helping, dict.fromkeys(helping, 1.0))
