"""One round of learning, from the lessons to a model that goes live, or does not.

    lessons -> round begins -> child process trains -> candidate -> promotion.py: promoted, or refused

The training runs in a process of its own (training_process.py), so that neither torch nor the interpreter
lock touches a chat. Its progress is noted in the round, which also is how it is told to stop. Of the
lessons, the held-out share is shown to the comparison alone; another share of the rest tells the training
when to end.

A round whose learner was killed or left it goes on from its last checkpoint, if it would begin in the same
way today: with the same live model, and with every lesson that it learns from still there as it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from assistant.learning.dual_encoder_swap import NAME, BothSides
from assistant.learning.lineage import changed_since, learnable, lineage, taught
from assistant.learning.outcome import Ended, failed
from assistant.learning.progress import Noting, Progress, Stopped
from assistant.learning.promotion import RECIPE, ROLE, Compare, Deciding, TrainedCandidate
from assistant.learning.steering import Steering
from assistant.learning.training_process import (
    Left,
    TimeOver,
    TrainingFailed,
    TrainingKilled,
    started_from,
    train_apart,
)
from stores.base.errors import DEFECT, VouchError
from stores.learning.checkpoints import Checkpoints
from stores.learning.lessons import Lesson, Lessons, tells_when_to_end, what_is_lacking
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels

MOST_IN_VAIN = 20  # times in a row; what gets no further by then is given up
_IN_ORDER = ("training", "exporting", "encoding", "indexing", "comparing", "going live")
_COUNTED = {"training": "step", "indexing": "passages", "comparing": "questions"}


def reached(figures: Mapping[str, Any]) -> tuple[int, int]:
    """How far a round was at its last note: the place of its phase, and what was done in it; more is further.

    figures: of the round, with its `phase` and its `progress`. A phase that is not known counts as the start.
    """
    phase, progress = figures.get("phase", ""), figures.get("progress") or {}
    place = _IN_ORDER.index(phase) + 1 if phase in _IN_ORDER else 0
    if phase == "encoding":  # each time those that are missing are counted from none
        return place, progress.get("passages", 0) - progress.get("passages_in_all", 0)
    return place, progress.get(_COUNTED.get(phase, ""), 0)


def attempted(figures: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be noted of a round that is gone on with: the furthest it got, and how often in vain."""
    got, before = reached(figures), figures.get("reached")
    if before is None or got > tuple(before):
        return {"reached": list(got), "in_vain": 0}
    return {"reached": list(before), "in_vain": int(figures.get("in_vain", 0)) + 1}


_REST = timedelta(minutes=10)  # of a round whose training was killed or had its time, before it goes on


class TooFewLessons(VouchError):
    """There is nothing to learn from yet."""

    exit_code = 1


@dataclass(frozen=True)
class _Begun:
    """A round that this learner holds."""

    round_id: int
    lessons: Sequence[Lesson]
    vectors: Mapping[int, bytes]
    workplace: Path


class Learner:
    """Runs rounds of one database."""

    def __init__(
        self,
        *,
        lessons: Lessons,
        rounds: Rounds,
        live_models: LiveModels,
        checkpoints: Checkpoints,
        encoder_version: str,
        dimension: int,
        compare: Compare,
        settings: Mapping[str, Any],
        fewest: int,
        threads: int,
        encoder: Path | None = None,
        both: BothSides | None = None,
        train: Callable[..., Path] = train_apart,
        checkpoint_seconds: float = 60.0,
        steering: Steering | None = None,
    ) -> None:
        """encoder_version, dimension: of the vectors that questions are to meet.

        compare: a candidate's folder against the live model. settings: of the training. fewest: lessons
        without which no round is begun. encoder: the folder that the training starts from, whose version is
        `encoder_version`; else the packaged one. both: for settings whose `update_side` is "both". train,
        checkpoint_seconds: see `train_apart`. steering: makes a round wait.
        """
        self._lessons = lessons
        self._rounds = rounds
        self._live_models = live_models
        self._checkpoints = checkpoints
        self._encoder_version = encoder_version
        self._dimension = dimension
        self._settings = dict(settings)
        self._fewest = fewest
        self._threads = threads
        self._encoder = encoder
        self._is_both = both is not None and self._settings.get("update_side") == "both"
        self._train = train
        self._checkpoint_seconds = checkpoint_seconds
        self.steering = steering or Steering()
        self.deciding = Deciding(
            rounds=rounds,
            live_models=live_models,
            checkpoints=checkpoints,
            encoder_version=encoder_version,
            compare=compare,
            both=both if self._is_both else None,
            steering=self.steering,
        )

    def run(
        self, *, budget_seconds: float | None = None, tell: Callable[[Progress], None] = lambda progress: None
    ) -> Ended:
        """One round, to its end; first the one that was left, if it can go on.

        Raises `TooFewLessons`, or `TryAgain` while another one runs.
        """
        begun = self._go_on(tell) or self._begin()
        try:
            note = Noting(self._rounds, begun.round_id, tell, self.steering)
            ended = self._round(begun, budget_seconds, note)
        except (Left, SystemExit) as left:
            self._rounds.leave(begun.round_id, "it was left to be gone on with")
            if isinstance(left, SystemExit):
                raise
            return Ended(begun.round_id, "waiting", "it goes on at the next occasion")
        except TrainingKilled as killed:
            self._rounds.leave(begun.round_id, killed.message, rest=_REST, is_broken_off=True)
            return Ended(begun.round_id, "waiting", killed.message, exit_code=killed.exit_code)
        except TimeOver as over:
            self._rounds.leave(begun.round_id, over.message, rest=_REST)
            return Ended(begun.round_id, "waiting", over.message, exit_code=over.exit_code)
        except Stopped:
            ended = Ended(begun.round_id, "stopped", self._rounds.why_stopped(begun.round_id), exit_code=1)
        except Exception as error:
            ended = failed(begun.round_id, error)
            if ended.exit_code == DEFECT and not isinstance(error, VouchError):
                self._end(begun, ended)
                raise
        except BaseException:
            self._end(begun, Ended(begun.round_id, "stopped", "it was interrupted"))
            raise
        self._end(begun, ended)
        return ended

    def _end(self, begun: _Begun, ended: Ended) -> None:
        try:
            shutil.rmtree(begun.workplace, ignore_errors=True)  # first: a full disk has room for the end then
        finally:  # also for who interrupts a second time
            if ended.state != "promoted":  # that one was ended as it went live
                self._rounds.end(begun.round_id, ended.state, ended.reason, figures=ended.figures)

    def _begin(self) -> _Begun:
        lessons, vectors = learnable(self._lessons, self._encoder_version)
        if len(lessons) < self._fewest:
            raise TooFewLessons(
                what_is_lacking(len(lessons), self._fewest),
                hint="Every question whose passages were judged is a lesson.",
            )
        round_id = self._rounds.begin(RECIPE, self._lineage(lessons))
        return _Begun(round_id, lessons, vectors, self._workplace(round_id))

    def _go_on(self, tell: Callable[[Progress], None]) -> _Begun | None:
        """The round that was left or whose learner died, if there is one and it can go on; else it ends."""
        left = self._rounds.abandoned(RECIPE)
        if left is None or left.id is None:
            return None
        round_id, turns = left.id, set(left.settings.get("turns", ()))
        lessons, vectors = learnable(self._lessons, self._encoder_version)
        of_round = [lesson for lesson in lessons if lesson.turn_id in turns]
        changed = changed_since(left.settings, self._lineage(of_round))
        attempts = attempted(left.figures)
        if attempts["in_vain"] >= MOST_IN_VAIN:
            changed = f"it was gone on with {MOST_IN_VAIN} times and got no further"
        if changed:
            self._rounds.drop(round_id, f"dropped: {changed}")
            tell(Progress(round_id, "dropped", {"reason": changed}))
            return None
        times = self._rounds.take_over(round_id, attempts)
        if times is None:
            return None
        return _Begun(round_id, of_round, vectors, self._workplace(round_id, times))

    def _workplace(self, round_id: int, times: int = 0) -> Path:
        """The folder of a round that was just begun or taken over so many times; without one it ends."""
        earlier = f"{round_id}-" if times else ""
        try:
            return self._checkpoints.workplace(f"{round_id}-{times}", going_on_from=earlier)
        except OSError as error:
            ended = failed(round_id, error)
            self._rounds.end(round_id, ended.state, ended.reason)
            raise TrainingFailed(ended.reason, exit_code=ended.exit_code) from error

    def _lineage(self, lessons: Sequence[Lesson]) -> dict[str, Any]:
        return lineage(
            lessons,
            settings=self._settings,
            encoder_version=self._encoder_version,
            live=self._live_models.live(ROLE),
        )

    def _round(self, begun: _Begun, budget_seconds: float | None, note: Noting) -> Ended:
        note("reading", lessons=len(begun.lessons))
        shown = taught(begun.lessons)
        versions = {document.version_id for lesson in shown for document in lesson.documents}
        made = self._train(
            begun.workplace,
            shown,
            {version: vector for version, vector in begun.vectors.items() if version in versions},
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
    return version.rpartition("-")[2]
