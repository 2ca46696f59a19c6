"""A candidate against the live query model, on follow-ups that neither was trained on.

held-out follow-ups -> both make them stand alone -> searched as a chat does -> MRR and R@5, paired
  -> promoted or not
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agents.base.interfaces import Exchange
from agents.base.memory_page import answered
from agents.retrieval.query_augmenter import QueryAugmenter
from agents.retrieval.retriever import Retriever, best_of
from assistant.learning.held_out.bootstrap import Gain, paired_gain, promotion
from assistant.learning.held_out.retrieval import Comparison, as_facts, mean
from stores.base.passages import Passage
from stores.learning.follow_ups import FollowUp
from stores.learning.lessons import DECIDING
from stores.search.spaces import Spaces

MRR, R_AT_5 = "MRR", "R@5"
_DEEPEST = 100  # ranks; what is found behind them counts as not found
Rewrites = Callable[[FollowUp], str]  # the question that stands alone; empty: as it was typed


def earlier_of(follow_up: FollowUp) -> list[tuple[str, str]]:
    """What was said before, as the query model reads it, oldest first."""
    return [(said.message, answered(said)) for said in _exchanges(follow_up)]


def _exchanges(follow_up: FollowUp) -> list[Exchange]:
    pairs = zip(follow_up.messages, follow_up.answers, strict=True)
    return [Exchange(message, message, answer) for message, answer in pairs]


class FollowUpSearch:
    """Searches for follow-ups as a chat does: with what was asked before, and made to stand alone."""

    def __init__(self, retriever: Retriever, spaces: Spaces) -> None:
        self._retriever, self._spaces = retriever, spaces

    def found(self, follow_up: FollowUp, alone: str) -> float:
        """1 / rank of the first passage that answers; 0: there is none. alone: empty: as it was typed."""
        ranked = enumerate(self.ranked(follow_up, alone), start=1)
        return next((1 / rank for rank, passage in ranked if self.answers(follow_up, passage)), 0.0)

    def answers(self, follow_up: FollowUp, passage: Passage) -> bool:
        """Whether this passage does."""
        return passage.version_id in follow_up.passages

    def ranked(self, follow_up: FollowUp, alone: str) -> list[Passage]:
        """What is found, best first."""
        before = QueryAugmenter().augment(follow_up.question, _exchanges(follow_up)).text
        space = self._spaces.of(follow_up.user_id)
        both = [
            self._retriever.retrieve(query, space, without=follow_up.message_versions)
            for query in (alone or follow_up.question, before)
        ]
        return [each.passage for each in best_of(both).candidates[:_DEEPEST]]


def compare(
    held_out: Sequence[FollowUp],
    live: Rewrites,
    candidate: Rewrites,
    found: Callable[[FollowUp, str], float],
    *,
    seed: int,
    threshold: float = 0.0,
    margin: float = 0.01,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Comparison:
    """Both on the held-out follow-ups; see `decided`. found: 1 / rank. tell: of how many so many are done."""
    scored = []
    for done, each in enumerate(held_out, start=1):
        texts = live(each), candidate(each)
        old = found(each, texts[0])
        scored.append((old, old if texts[1] == texts[0] else found(each, texts[1])))
        tell(done, len(held_out))
    return decided(scored, seed=seed, threshold=threshold, margin=margin)


def decided(
    scored: Sequence[tuple[float, float]], *, seed: int, threshold: float = 0.0, margin: float = 0.01
) -> Comparison:
    """Promoted where the interval of the MRR gain is above zero and R@5 drops by at most the margin.

    scored: 1 / rank by the live one and by the candidate. threshold, margin: shares, from 0 to 1.
    """
    if not scored:
        return Comparison(promotion({MRR: Gain(0, 0, 0, 0)}, {}), 0)
    ranks = [list(side) for side in zip(*scored, strict=True)]
    sides = {MRR: ranks, R_AT_5: [[float(each >= 1 / 5) for each in side] for side in ranks]}
    gains = {
        name: paired_gain(new, old, seed=seed, threshold=threshold) for name, (old, new) in sides.items()
    }
    promoted = promotion(
        {MRR: gains[MRR]},
        {R_AT_5: gains[R_AT_5]},
        threshold=threshold,
        margin=margin,
        fewest_questions=DECIDING,
    )
    figures = {
        name: {"live": mean(old), "candidate": mean(new), **as_facts(gains[name])}
        for name, (old, new) in sides.items()
    }
    return Comparison(promoted, len(scored), figures)
