"""One round of learning, from the lessons to a model that goes live, or does not.

    lessons -> round begins -> child process trains -> candidate is kept -> compared with the live one
      -> promoted (a pointer is swapped) or refused, with the reason

The training runs in a process of its own (training_child.py), so that neither torch nor the interpreter lock
touches a chat. Its progress is noted in the round, which also is how it is told to stop. Of the lessons, the
held-out share is shown to the comparison alone; another share of the rest tells the training when to end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from assistant.learning.training_child import TrainingFailed, started_from, train_apart
from stores.checkpoints import Checkpoints
from stores.errors import VouchError
from stores.lessons import Lesson, Lessons, tells_when_to_end
from stores.live_models import LiveModels
from stores.rounds import Rounds

RECIPE = "retriever"
ROLE = "query encoder"
SERVED = "served"  # the folder within a candidate that the encoder loads
UNTRAINED = "untrained"  # in place of a version: questions are encoded as passages are
_NOTED_EVERY = 0.5  # seconds
_KEPT = 3  # models, besides those in use


class TooFewLessons(VouchError):
    """There is nothing to learn from yet."""

    exit_code = 1


class Decision(Protocol):
    """Whether a candidate goes live, and why."""

    @property
    def is_promoted(self) -> bool:
        """Whether it does."""

    @property
    def reason(self) -> str:
        """In a person's words."""


@dataclass(frozen=True)
class Compared:
    """What the comparison of a candidate with the live model came to."""

    decision: Decision
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """How far a round is."""

    round_id: int
    phase: str  # reading, training, exporting, comparing
    facts: Mapping[str, Any]  # step, loss and so on, as the phase has them


@dataclass(frozen=True)
class Ended:
    """How a round ended."""

    round_id: int
    state: str  # promoted, refused, stopped or failed
    reason: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""  # of the candidate


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
        train: Callable[..., Path] = train_apart,
    ) -> None:
        """encoder_version, dimension: of the vectors that questions are to meet.

        compare: a candidate's folder against the live model. settings: of the training. fewest: lessons
        without which no round is begun. encoder: the folder that the training starts from, whose version is
        `encoder_version`; else the packaged one. train: see `train_apart`.
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
        self._train = train

    def new_lessons(self) -> int:
        """How many turns were judged since the last round that was decided."""
        return self._lessons.count(after=self._rounds.last_turn_learned(RECIPE))

    def run(
        self, *, budget_seconds: float | None = None, tell: Callable[[Progress], None] = lambda progress: None
    ) -> Ended:
        """One round, to its end. Raises `TooFewLessons`, or `TryAgain` while another one runs."""
        lessons, vectors = self._learnable()
        if len(lessons) < self._fewest:
            raise TooFewLessons(
                f"there are {len(lessons)} lessons, and a round wants {self._fewest}",
                hint="Every question that is answered is a lesson.",
            )
        round_id = self._rounds.begin(RECIPE, self._lineage(lessons))
        try:
            with self._checkpoints.workplace() as folder:
                note = _Noting(self._rounds, round_id, tell)
                ended = self._round(round_id, lessons, vectors, folder, budget_seconds, note)
        except _Stopped:
            ended = Ended(round_id, "stopped", "by command, or another learner took its place")
        except VouchError as error:
            ended = Ended(round_id, "failed", error.message)
        except OSError as error:
            ended = Ended(round_id, "failed", f"its files could not be kept: {error}")
        except Exception as error:
            self._rounds.end(round_id, "failed", f"{type(error).__name__}: {error}")
            raise
        except BaseException:
            self._rounds.end(round_id, "stopped", "it was interrupted")
            raise
        if ended.state != "promoted":  # that one was ended as it went live
            self._rounds.end(round_id, ended.state, ended.reason, figures=ended.figures)
        return ended

    def _learnable(self) -> tuple[list[Lesson], dict[int, bytes]]:
        """The lessons with those of their documents that have a vector to be met, and these vectors."""
        lessons = self._lessons.all()
        versions = sorted({d.version_id for lesson in lessons for d in lesson.documents})
        vectors = self._lessons.vectors(versions, self._encoder_version)
        left = [
            replace(lesson, documents=tuple(d for d in lesson.documents if d.version_id in vectors))
            for lesson in lessons
        ]
        return [lesson for lesson in left if lesson.documents], vectors

    def _lineage(self, lessons: Sequence[Lesson]) -> dict[str, Any]:
        versions = sorted({document.version_id for lesson in lessons for document in lesson.documents})
        return {
            "training": self._settings,
            "encoder_version": self._encoder_version,
            "turns": [lesson.turn_id for lesson in lessons],
            "passages": versions,
            "last_turn": max(lesson.turn_id for lesson in lessons),
            "held_out": sum(lesson.is_held_out for lesson in lessons),
        }

    def _round(
        self,
        round_id: int,
        lessons: Sequence[Lesson],
        vectors: Mapping[int, bytes],
        folder: Path,
        budget_seconds: float | None,
        note: _Noting,
    ) -> Ended:
        note("reading", lessons=len(lessons))
        shown = [lesson for lesson in lessons if not lesson.is_held_out]
        versions = {document.version_id for lesson in shown for document in lesson.documents}
        made = self._train(
            folder,
            shown,
            {version: vector for version, vector in vectors.items() if version in versions},
            dimension=self._dimension,
            settings=self._settings,
            threads=self._threads,
            encoder=self._encoder,
            measured_on=lambda lesson: tells_when_to_end(lesson.question),
            budget_seconds=budget_seconds,
            tell=note.told,
        )
        if (start := started_from(made)) != self._encoder_version:
            raise TrainingFailed(f"it was trained from {start}, but searched is with {self._encoder_version}")
        card = {"round": round_id, "encoder_version": self._encoder_version, **self._settings}
        version = self._checkpoints.keep(RECIPE, _flat(made, folder / "flat"), card)
        try:
            return self._decided(round_id, version, lessons, note)
        finally:
            in_use = {self._live_models.live(ROLE) or "", self._live_models.previous(ROLE) or ""}
            with suppress(OSError):  # the next round deletes them; what was decided stands
                self._checkpoints.prune(RECIPE, keep=in_use, newest=_KEPT)

    def _decided(self, round_id: int, version: str, lessons: Sequence[Lesson], note: _Noting) -> Ended:
        """Live, or refused and why."""
        live = self._live_models.live(ROLE)
        known = {
            live: "Refused: it is the model that is live already.",
            self._live_models.declined(ROLE): "Refused: it is the model that was stepped back from.",
        }
        if version in known:
            return Ended(round_id, "refused", known[version], {"version": version}, version)
        served = self._checkpoints.verified(RECIPE, version)
        compared = self._compare(
            served, lessons, lambda done, of: note("comparing", questions=done, questions_in_all=of)
        )
        figures = {"comparison": dict(compared.figures), "version": version}
        reason = compared.decision.reason
        if not compared.decision.is_promoted:
            return Ended(round_id, "refused", reason, figures, version)
        if self._live_models.live(ROLE) != live:
            return Ended(round_id, "refused", "Refused: the live model changed meanwhile.", figures, version)
        details = {"encoder_version": self._encoder_version}
        if not self._rounds.promote(
            round_id, ROLE, version, reason, details=details, figures=figures, before_the_first=UNTRAINED
        ):
            raise _Stopped
        return Ended(round_id, "promoted", reason, figures, version)


class _Stopped(Exception):
    """The round was told to stop, or its lease ended."""


class _Noting:
    """Tells and stores progress, the latter twice a second at most, and with it that the learner lives."""

    def __init__(self, rounds: Rounds, round_id: int, tell: Callable[[Progress], None]) -> None:
        self._rounds, self._round_id, self._tell = rounds, round_id, tell
        self._phase, self._facts, self._noted = "", dict[str, Any](), 0.0

    def __call__(self, phase: str, **facts: Any) -> None:
        """Raises `_Stopped` where the round is to end."""
        self._tell(Progress(self._round_id, phase, facts))
        is_new, self._phase, self._facts = phase != self._phase, phase, facts
        self._store(even_if_soon=is_new)

    def told(self, told: Mapping[str, Any] | None) -> None:
        """What the child tells, or None where it is silent."""
        facts = dict(told or {})
        kind = facts.pop("kind", "")
        if kind == "step":
            self("training", **facts)
        elif kind == "phase":
            self(facts.pop("phase"), **facts)
        else:
            self._store()

    def _store(self, *, even_if_soon: bool = False) -> None:
        if not even_if_soon and time.monotonic() - self._noted < _NOTED_EVERY:
            return
        self._noted = time.monotonic()
        if not self._rounds.note(self._round_id, {"phase": self._phase, "progress": self._facts}):
            raise _Stopped


def _flat(made: Path, place: Path) -> Path:
    """What is kept of a candidate: the served form, its settings and figures, in one folder."""
    place.mkdir()
    for file in (*(made / SERVED).iterdir(), *made.iterdir()):  # the served form's own files come first
        target = place / file.name
        if file.is_file() and not target.exists():
            os.link(file, target)
    return place
