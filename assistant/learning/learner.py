"""The learner of the retriever: one round, from the lessons to a model that goes live, or does not.

    lessons -> child process trains -> candidate -> promotion.py: promoted, or refused

The training runs in a process of its own (training_process.py), so that neither torch nor the interpreter
lock touches a chat. Its progress is noted in the round, which also is how it is told to stop. Of the
lessons, the held-out share is shown to the comparison alone; another share of the rest tells the training
when to end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agents.models.encoders.two_halves import first_halves, first_version
from assistant.learning.dual_encoder_swap import NAME, BothSides
from assistant.learning.lineage import learnable, lineage, taught
from assistant.learning.outcome import Ended
from assistant.learning.progress import Noting
from assistant.learning.promotion import RECIPE, ROLE, UNTRAINED, Compare, Deciding, Role, TrainedCandidate
from assistant.learning.round_runner import Begun, RoundRunner
from assistant.learning.steering import Steering
from assistant.learning.training_process import (
    TrainingFailed,
    started_from,
    train_apart,
)
from stores.learning.checkpoints import Checkpoints
from stores.learning.kept_lessons import require_kept
from stores.learning.lessons import Lesson, Lessons, tells_when_to_end
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels


class Learner(RoundRunner[Lesson]):
    """Trains the retriever."""

    recipe = RECIPE
    what_is_a_lesson = "Every question whose passages were judged is a lesson."

    def __init__(
        self,
        *,
        lessons: Lessons,
        rounds: Rounds,
        live_models: LiveModels,
        checkpoints: Checkpoints,
        encoder_version: str,
        dimension: int,
        compare: Compare[Lesson],
        settings: Mapping[str, Any],
        fewest: int,
        threads: int,
        encoder: Path | None = None,
        both: BothSides | None = None,
        train: Callable[..., Path] = train_apart,
        checkpoint_seconds: float = 60.0,
        steering: Steering | None = None,
    ) -> None:
        """encoder_version: of the vectors that questions are to meet. dimension: of their first half.

        compare: a candidate's folder against the live model. settings: of the training. fewest: lessons
        without which no round is begun. encoder: the folder that the training starts from, of the
        first half's version; else the packaged one. both: for settings whose `update_side` is "both". train,
        checkpoint_seconds: see `train_apart`. steering: makes a round wait.
        """
        steering = steering or Steering()
        super().__init__(rounds=rounds, checkpoints=checkpoints, fewest=fewest, steering=steering)
        self._lessons = lessons
        self._live_models = live_models
        self._encoder_version = encoder_version
        self._dimension = dimension
        self._settings = dict(settings)
        self._threads = threads
        self._encoder = encoder
        self._is_both = both is not None and self._settings.get("update_side") == "both"
        self._train = train
        self._checkpoint_seconds = checkpoint_seconds
        self.deciding = Deciding(
            Role(RECIPE, ROLE, UNTRAINED, {"encoder_version": encoder_version}),
            rounds=rounds,
            live_models=live_models,
            checkpoints=checkpoints,
            compare=compare,
            require=lambda lessons: partial(require_kept, lessons=lessons),
            both=both if self._is_both else None,
            steering=steering,
        )

    def _learnable(self) -> list[Lesson]:
        return learnable(self._lessons, self._encoder_version)[0]

    def _lineage(self, lessons: Sequence[Lesson]) -> dict[str, Any]:
        return lineage(
            lessons,
            settings=self._settings,
            encoder_version=self._encoder_version,
            live=self._live_models.live(ROLE),
        )

    def _round(self, begun: Begun[Lesson], budget_seconds: float | None, note: Noting) -> Ended:
        note("reading", lessons=len(begun.lessons))
        shown = taught(begun.lessons)
        versions = {document.version_id for lesson in shown for document in lesson.documents}
        made = self._train(
            begun.workplace,
            shown,
            first_halves(self._lessons.vectors(sorted(versions), self._encoder_version), self._dimension),
            dimension=self._dimension,
            settings=self._settings,
            threads=self._threads,
            encoder=self._encoder,
            name=NAME if self._is_both else "",
            measured_on=lambda lesson: tells_when_to_end(lesson.question),
            budget_seconds=budget_seconds,
            checkpoint_seconds=self._checkpoint_seconds,
            steering=self.steering,
            tell=note.told,
        )
        start = started_from(made)
        if _content(start) != _content(self._encoder_version):
            raise TrainingFailed(f"it was trained from {start}, but searched is with {self._encoder_version}")
        card = {"round": begun.round_id, "encoder_version": self._encoder_version, **self._settings}
        return self.deciding.decide(
            TrainedCandidate(begun.round_id, made, begun.workplace / "flat", begun.lessons, card), note
        )


def _content(version: str) -> str:
    """The letters of an encoder version that stand for its content, whatever it is called."""
    return first_version(version).rpartition("-")[2]
