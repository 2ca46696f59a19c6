"""The learner: runs rounds of any recipe, each from its lessons to a model that goes live, or does not.

    lessons -> round begins -> trained in a child process -> promotion.py: promoted, or refused

Neither torch nor the interpreter lock of a training touches a chat. Its progress is noted in the round, which
also is how it is told to stop. Held-out lessons are shown to the comparison alone. A round whose learner was
killed or left it goes on from its last checkpoint, if it would begin in the same way today: with the same
live model, and with every lesson that it learns from still there as it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar

from assistant.learning.lineage import Learnable, changed_since, lineage, taught
from assistant.learning.newest_block import begins_behind, marked
from assistant.learning.outcome import Ended, failed
from assistant.learning.progress import Noting, Progress, Stopped
from assistant.learning.promotion import Deciding, TrainedCandidate
from assistant.learning.recipe import Trainable
from assistant.learning.steering import Steering
from assistant.learning.training_process import Left, TimeOver, TrainingFailed, TrainingKilled
from stores.base.errors import DEFECT, VouchError
from stores.learning.checkpoints import Checkpoints
from stores.learning.lessons import what_is_lacking
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels

L = TypeVar("L", bound=Learnable)

NEWER_JUDGE = "Lessons that have judged a candidate, or repeat earlier ones, judge no other."
MOST_IN_VAIN = 20  # times in a row; what gets no further by then is given up
_IN_ORDER = ("trying", "training", "exporting", "encoding", "indexing", "comparing", "going live")
_COUNTED = {"trying": "questions", "training": "step", "indexing": "passages", "comparing": "questions"}


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
class Begun(Generic[L]):
    """A round that this learner holds."""

    round_id: int
    lessons: Sequence[L]
    workplace: Path


class Learner(Generic[L]):
    """Runs rounds of one recipe in one database."""

    def __init__(
        self,
        trainable: Trainable[L],
        *,
        rounds: Rounds,
        live_models: LiveModels,
        checkpoints: Checkpoints,
        fewest: int,
        steering: Steering | None = None,
    ) -> None:
        """fewest: lessons without which no round is begun. steering: makes a round wait."""
        self.trainable = trainable
        self.steering = steering or Steering()
        self._rounds, self._live_models, self._checkpoints = rounds, live_models, checkpoints
        self._fewest = fewest

    def run(
        self, *, budget_seconds: float | None = None, tell: Callable[[Progress], None] = lambda progress: None
    ) -> Ended:
        """One round, to its end; first the one that was left, if it can go on.

        Raises `TooFewLessons`, or `TryAgain` while another one runs.
        """
        self.trainable.prepare()
        begun = self._go_on(tell) or self._begin()
        try:
            note = Noting(self._rounds, begun.round_id, tell, self.steering)
            note("reading", lessons=len(begun.lessons))
            ended = self._decided(begun, self._trained(begun, budget_seconds, note), note)
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

    def _trained(self, begun: Begun[L], budget_seconds: float | None, note: Noting) -> Path:
        def tell(done: int, of: int) -> None:
            note("trying", questions=done, questions_in_all=of)

        return self.trainable.train(
            begun.workplace.resolve(),
            taught(begun.lessons),
            tries=tell,
            budget_seconds=budget_seconds,
            steering=self.steering,
            tell=note.told,
        )

    def _decided(self, begun: Begun[L], made: Path, note: Noting) -> Ended:
        deciding = Deciding(
            self.trainable,
            rounds=self._rounds,
            live_models=self._live_models,
            checkpoints=self._checkpoints,
            steering=self.steering,
        )
        card = {"round": begun.round_id, **self.trainable.details, **self.trainable.settings}
        return deciding.decide(
            TrainedCandidate(begun.round_id, made, begun.workplace / "flat", begun.lessons, card), note
        )

    def _lineage(self, lessons: Sequence[L], judged_behind: int) -> dict[str, Any]:
        return lineage(
            lessons,
            judged_behind=judged_behind,
            settings=self.trainable.settings,
            encoder_version=self.trainable.encoder_version,
            live=self._live_models.live(self.trainable.recipe.role),
        )

    def _end(self, begun: Begun[L], ended: Ended) -> None:
        try:
            shutil.rmtree(begun.workplace, ignore_errors=True)  # first: a full disk has room for the end then
        finally:  # also for who interrupts a second time
            if ended.state != "promoted":  # that one was ended as it went live
                self._rounds.end(begun.round_id, ended.state, ended.reason, figures=ended.figures)

    def _begin(self) -> Begun[L]:
        recipe, lessons = self.trainable.recipe, self.trainable.read(0)
        if len(lessons) < self._fewest:
            lacking = what_is_lacking(len(lessons), self._fewest)
            raise TooFewLessons(lacking, hint=recipe.what_is_a_lesson)
        judged_until = self._rounds.judged_until(recipe.name)
        behind = begins_behind([lesson.turn_id for lesson in lessons], judged_until=judged_until)
        teach = sum(lesson.turn_id <= behind for lesson in lessons)
        beside = [lesson for lesson in self.trainable.unlabelled() if lesson.turn_id <= behind]
        beside = beside[max(0, len(beside) - teach) :]  # the newest, and no more than what users said
        lessons = marked([*lessons, *beside], behind=behind)
        if judged_until and not any(lesson.is_held_out for lesson in lessons):
            raise TooFewLessons("there is no new lesson to judge a candidate by", hint=NEWER_JUDGE)
        made_from = self._lineage(lessons, behind) | {"unlabelled": [each.turn_id for each in beside]}
        round_id = self._rounds.begin(recipe.name, made_from)
        return Begun(round_id, lessons, self._workplace(round_id))

    def _go_on(self, tell: Callable[[Progress], None]) -> Begun[L] | None:
        """The round that was left or whose learner died, if there is one and it can go on; else it ends."""
        left = self._rounds.abandoned(self.trainable.recipe.name)
        if left is None or left.id is None:
            return None
        round_id, turns = left.id, set(left.settings.get("turns", ()))
        behind = int(left.settings.get("judged_behind", 0))
        known = [*self.trainable.read(0), *self.trainable.unlabelled()]
        of_round = marked([each for each in known if each.turn_id in turns], behind=behind)
        changed = changed_since(left.settings, self._lineage(of_round, behind))
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
        return Begun(round_id, of_round, self._workplace(round_id, times))

    def _workplace(self, round_id: int, times: int = 0) -> Path:
        """The folder of a round that was just begun or taken over so many times; without one it ends."""
        earlier = f"{round_id}-" if times else ""
        waiting = [f"{other}-" for other in self._rounds.waiting()]  # of other recipes
        try:
            return self._checkpoints.workplace(f"{round_id}-{times}", going_on_from=earlier, keep=waiting)
        except OSError as error:
            ended = failed(round_id, error)
            self._rounds.end(round_id, ended.state, ended.reason)
            raise TrainingFailed(ended.reason, exit_code=ended.exit_code) from error
