"""What is learned of questions of which no user said anything: where the live model is sure, else by a vote.

    question, its judged passages -> live adapters -> sure: their word | else with the judges: the majority,
      or nothing

Judges are heard as far as they were right on questions with known answers; one that is not heard abstains.
Fewer than two voices, and as many for as against, say nothing. Source: EVO-Reranker, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.base.interfaces import Candidate, Judge
from agents.base.sentences import asks_only
from agents.losses.preference import cautious_labels, is_sure
from agents.models.networks.judge_model import JudgeModel, asked, table
from assistant.learning.held_out.orders import candidates_of
from stores.learning.relevance_lessons import RelevanceLesson


class Votes:
    """Labels lessons without a user's word."""

    def __init__(self, model: JudgeModel, judges: Sequence[Judge], *, threshold: float) -> None:
        """threshold: τ, from which probability on the model is taken at its word."""
        self._model, self._judges, self._threshold = model, judges, threshold
        self.asked = 0  # passages that the judges were asked of

    def labelled(self, lesson: RelevanceLesson) -> RelevanceLesson:
        """The same with what helps and what does not, of the passages that were judged in its turn.

        It tells no training when to end: only what users said does.
        """
        candidates, _ = candidates_of(lesson)
        read = [
            place
            for place, each in enumerate(lesson.found)
            if each.judged is not None and not (each.kind == "message" and asks_only(each.text))
        ]
        items = [asked(lesson.question, lesson.found[place].text) for place in read]
        logp = table(self._model.labels, items) / self._model.description.temperature
        sure = is_sure(logp, threshold=self._threshold).tolist()
        doubtful = [candidates[place] for place, taken in zip(read, sure, strict=True) if not taken]
        said = iter(self._said(lesson.question, doubtful))
        votes = [None if taken else next(said) for taken in sure]
        labels = cautious_labels(logp, votes, threshold=self._threshold)
        helps = {place: bool(label) for place, label in zip(read, labels, strict=True) if label is not None}
        found = (replace(each, helps=helps.get(place)) for place, each in enumerate(lesson.found))
        return replace(lesson, found=tuple(found), tells_when_to_end=False)

    def _said(self, question: str, some: Sequence[Candidate]) -> list[tuple[int | None, ...]]:
        """By passage, of each judge whether it helps; None: nothing."""
        self.asked += len(some)
        of_judges = [judge.judge(question, some).verdicts for judge in self._judges] if some else []
        return [
            tuple(None if v is None else int(v.label == "answer") for v in verdicts)
            for verdicts in zip(*of_judges, strict=True)
        ] or [()] * len(some)
