"""One round of learning, from the lessons to a model that goes live, or does not.

    lessons -> round begins -> child process trains -> candidate is kept -> compared with the live one
      -> promoted (a pointer is swapped) or refused, with the reason

The training runs in a process of its own (training_child.py), so that neither torch nor the interpreter lock
touches a chat. Its progress is noted in the round, which also is how it is told to stop. Of the lessons, the
held-out share is shown to the comparison alone; another share of the rest tells the training when to end.

A round whose learner was killed or left it goes on from its last checkpoint, if it would begin in the same
way today: with the same live model, and with every lesson that it learns from still there as it was.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from assistant.learning import both_sides
from assistant.learning.attempts import MOST_IN_VAIN, attempted
from assistant.learning.both_sides import NAME, BothSides
from assistant.learning.ended import Compared, Ended, failed
from assistant.learning.lineage import CHANGED_MEANWHILE, changed_since, learnable, lineage, taught
from assistant.learning.noting import Noting, Progress, Stopped
from assistant.learning.steering import Steering
from assistant.learning.training_child import (
    Left,
    TimeOver,
    TrainingFailed,
    TrainingKilled,
    kept_its_start,
    started_from,
    train_apart,
)
from stores.checkpoints import Checkpoints
from stores.errors import DEFECT, VouchError
from stores.kept_lessons import LessonsGone, require_kept
from stores.lessons import Lesson, Lessons, tells_when_to_end, what_is_lacking
from stores.live_models import LiveModels
from stores.rounds import Rounds

RECIPE = "retriever"
ROLE = "query encoder"
SERVED = "served"  # the folder within a candidate that the encoder loads
UNTRAINED = "untrained"  # in place of a version: questions are encoded as passages are
_KEPT = 3  # models, besides those in use
_REST = timedelta(minutes=10)  # of a round whose training was killed or had its time, before it goes on
_STEPPED_BACK_FROM = "Refused: it is the model that was stepped back from."
_WON_NOTHING = (
    "Refused: no epoch was better than the live model on the questions that tell when to end the training."
)


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
        compare: Callable[[Path, Sequence[Lesson], Callable[[int, int], None]], Compared],
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
        self._compare = compare
        self._settings = dict(settings)
        self._fewest = fewest
        self._threads = threads
        self._encoder = encoder
        self._both = both if self._settings.get("update_side") == "both" else None
        self._train = train
        self._checkpoint_seconds = checkpoint_seconds
        self.steering = steering or Steering()

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
            name=NAME if self._both else "",
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
        live = self._live()
        if live[both_sides.RECIPE] not in (None, self._encoder_version):  # the comparison would mix vectors
            return Ended(begun.round_id, "refused", CHANGED_MEANWHILE)
        won_nothing = kept_its_start(made) and not self._has_live_queries()
        if self._both is not None:
            return self._decided_on_both(begun, made, card, note, self._both, live, won_nothing=won_nothing)
        version = self._checkpoints.keep(RECIPE, _flat(made, begun.workplace / "flat"), card)
        try:
            return self._decided(begun, version, note, live, won_nothing=won_nothing)
        except LessonsGone as gone:
            self._discard(RECIPE, version, self._in_use())
            return _refused_as_gone(begun, gone, version)
        finally:
            self._prune(RECIPE, self._in_use())

    def _live(self) -> dict[str, str | None]:
        """The versions that answer now, by role: a candidate is compared with both together."""
        return {role: self._live_models.live(role) for role in (both_sides.RECIPE, ROLE)}

    def _has_live_queries(self) -> bool:
        """Whether questions are encoded by a trained model now, and not by what a training starts from."""
        live = self._live_models.live(ROLE)
        known = self._live_models.known(ROLE, live) if live else None
        return known is not None and known.details.get("encoder_version") == self._encoder_version

    def _in_use(self) -> set[str]:
        return {self._live_models.live(ROLE) or "", self._live_models.previous(ROLE) or ""}

    def _discard(self, recipe: str, version: str, in_use: set[str]) -> None:
        """Deletes a candidate that saw what was forgotten, unless an earlier round made the very same."""
        if version not in in_use:
            shutil.rmtree(self._checkpoints.place(recipe, version), ignore_errors=True)

    def _prune(self, recipe: str, in_use: set[str]) -> None:
        with suppress(OSError):  # the next round deletes them; what was decided stands
            self._checkpoints.prune(recipe, keep=in_use, newest=_KEPT)

    def _decided_on_both(
        self,
        begun: _Begun,
        made: Path,
        card: Mapping[str, Any],
        note: Noting,
        both: BothSides,
        live: Mapping[str, str | None],
        *,
        won_nothing: bool,
    ) -> Ended:
        """As below, for a candidate that needs its own vectors before it can be compared."""
        kept = self._checkpoints.keep(both_sides.RECIPE, made, card)
        try:
            served = self._checkpoints.verified(both_sides.RECIPE, kept) / SERVED
            version = both.version(served)
            known = {
                live[both_sides.RECIPE]: "Refused: it is the model that is live already.",
                self._live_models.declined(both_sides.RECIPE): _STEPPED_BACK_FROM,
            }
            if version in known:
                return Ended(begun.round_id, "refused", known[version], {"version": version}, version)
            if won_nothing:
                return Ended(begun.round_id, "refused", _WON_NOTHING, {"version": version}, version)
            cost = both.encode(served, note)
            compared, told = self._compared(served, begun, note)
            figures = {"comparison": told, "version": version, "side": "both", "encoding": cost}
            if not compared.decision.is_promoted:
                return Ended(begun.round_id, "refused", compared.decision.reason, figures, version)
            while not self._rounds.promote_by(
                begun.round_id,
                both_sides.RECIPE,
                version,
                compared.decision.reason,
                go_live=both.going_live(served, kept),
                figures=figures,
                compared_with=live,
                require=partial(require_kept, lessons=taught(begun.lessons)),
            ):
                if self._live() != live:
                    return Ended(begun.round_id, "refused", CHANGED_MEANWHILE, figures, version)
                both.encode(served, note)  # what was added meanwhile; raises where the round is not ours
                note("going live")
            return Ended(begun.round_id, "promoted", compared.decision.reason, figures, version)
        except LessonsGone as gone:
            self._discard(both_sides.RECIPE, kept, both.folders_in_use())
            return _refused_as_gone(begun, gone, version)
        finally:
            if not (self.steering.is_left or self._rounds.has_other_learner()):  # who goes on needs them
                both.tidy()
                self._prune(both_sides.RECIPE, both.folders_in_use())

    def _decided(
        self,
        begun: _Begun,
        version: str,
        note: Noting,
        live: Mapping[str, str | None],
        *,
        won_nothing: bool,
    ) -> Ended:
        """Live, or refused and why. live: see `_live`. won_nothing: it is what answers now.

        Raises `LessonsGone`.
        """
        round_id = begun.round_id
        known = {
            live[ROLE]: "Refused: it is the model that is live already.",
            self._live_models.declined(ROLE): _STEPPED_BACK_FROM,
        }
        if version in known:
            return Ended(round_id, "refused", known[version], {"version": version}, version)
        if won_nothing:
            return Ended(round_id, "refused", _WON_NOTHING, {"version": version}, version)
        compared, told = self._compared(self._checkpoints.verified(RECIPE, version), begun, note)
        figures = {"comparison": told, "version": version}
        reason = compared.decision.reason
        if not compared.decision.is_promoted:
            return Ended(round_id, "refused", reason, figures, version)
        if not self._rounds.promote(
            round_id,
            ROLE,
            version,
            reason,
            details={"encoder_version": self._encoder_version},
            figures=figures,
            before_the_first=UNTRAINED,
            compared_with=live,
            require=partial(require_kept, lessons=taught(begun.lessons)),
        ):
            if self._live() != live:
                return Ended(round_id, "refused", CHANGED_MEANWHILE, figures, version)
            raise Stopped
        return Ended(round_id, "promoted", reason, figures, version)

    def _compared(self, served: Path, begun: _Begun, note: Noting) -> tuple[Compared, dict[str, Any]]:
        """What the comparison came to, and its figures with how many questions were asked for them."""
        comparing = _Comparing(note)
        compared = self._compare(served, begun.lessons, comparing)
        return compared, {**compared.figures, "asked": comparing.asked}


class _Comparing:
    """Tells how far the comparison is, and keeps how many questions it asks."""

    def __init__(self, note: Noting) -> None:
        self._note = note
        self.asked = 0

    def __call__(self, done: int, of: int) -> None:
        self.asked = of
        self._note("comparing", questions=done, questions_in_all=of)


def _content(version: str) -> str:
    """The letters of an encoder version that stand for its content, whatever it is called."""
    return version.rpartition("-")[2]


def _refused_as_gone(begun: _Begun, gone: LessonsGone, version: str) -> Ended:
    """Of a candidate that is not kept either."""
    return Ended(begun.round_id, "refused", f"Refused: {gone.message}.", {"version": version}, version)


def _flat(made: Path, place: Path) -> Path:
    """What is kept of a candidate: the served form, its settings and figures, in one folder."""
    shutil.rmtree(place, ignore_errors=True)  # of a learner that was killed here
    place.mkdir()
    for file in (*(made / SERVED).iterdir(), *made.iterdir()):  # the served form's own files come first
        target = place / file.name
        if file.is_file() and not target.exists():
            os.link(file, target)
    return place
