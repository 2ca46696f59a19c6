"""A model that comes with the product, over a stream: as it comes, and learning as in a chat.

turn -> answered, measured -> its user says what was right
  after an interval: those not held out -> training -> compared on the others -> live, or not

Each turn is answered before it is learned from.
"""

from __future__ import annotations

import json
import shutil
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from assistant.learning.held_out.retrieval import Comparison
from assistant.learning.lineage import Learnable, taught
from assistant.learning.newest_block import begins_behind, marked
from assistant.learning.recipes.run import SETTINGS
from assistant.learning.training_process import Further
from assistant.replay.methods.choice import FROZEN, MethodChoice
from assistant.replay.runs.in_folder import FORMAT, InFolder
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.replay_assistant import MIN_JUDGED, own_locations, own_settings
from assistant.replay.runs.run_progress import RunProgress, Watch
from assistant.replay.runs.steps import AskedStep, LearnedStep, Steps
from assistant.replay.storage.folder import STEPS, STORE, TRAINED
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant

_SERVED = "served"


class EndingLesson(Learnable, Protocol):
    """A lesson, some of which end a training."""

    @property
    def tells_when_to_end(self) -> bool: ...


L = TypeVar("L", bound=EndingLesson)
M = TypeVar("M")


@dataclass(frozen=True)
class Played(Generic[L, M]):
    """What a model is asked in one run, and how it learns."""

    shipped: Path  # the folder that it is served from as it comes
    begin: Callable[[Path], M]  # the model that a folder serves
    ask: Callable[[int, M], AskedStep]  # the turn of a number, from 0
    lessons: Callable[[int], Sequence[L]]  # of so many turns
    rows: Callable[[Sequence[L], Callable[[int, int], None]], Iterable[Mapping[str, Any]]]  # told how far
    compare: Callable[[Sequence[L], M, M], Comparison]  # the live one and a candidate, on what is held out
    training: Further


class ShippedReplay(InFolder, Generic[L, M]):
    """Plays a stream for one such model."""

    answers: str  # what answers
    judge: str  # who says what is right

    def __init__(
        self, plan: ReplayPlan, folder: Path, *, settings: Settings, live: Locations, offline: bool = False
    ) -> None:
        """live: of the chat, whose prepared encoder is used and whose data is not touched."""
        super().__init__(plan, folder, live, settings)
        self._offline = offline

    @property
    @abstractmethod
    def _data(self) -> Mapping[str, Any]:
        """Of what is played: names, sha256, passages, questions."""

    @property
    @abstractmethod
    def _begins_with(self) -> Mapping[str, Any]:
        """Encoder and model, by what tells them from others."""

    @abstractmethod
    def _played(self, folder: Path, seed: int, watch: Watch) -> AbstractContextManager[Played[L, M]]:
        """One run, in its own folder."""

    def _over(self, folder: Path) -> Assistant:
        settings = own_settings(self._settings, learns=False, min_judged=MIN_JUDGED)
        return Assistant(settings, own_locations(self._live, folder), offline=self._offline)

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        plan = self.plan
        return {
            "answers": self.answers,
            "format": FORMAT,
            "vouch": metadata.version("vouch"),
            "data": self._data,
            "methods": [choice.label for choice in plan.played],
            "judge": {"kind": self.judge, "accuracy": plan.accuracy},
            "interval": plan.interval,
            "seeds": list(plan.seeds),
            "first": plan.first,
            "threads": plan.threads,
            **self._begins_with,
        }

    @abstractmethod
    def turns(self, seed: int) -> Sequence[Any]:
        """The stream of a seed."""

    def _run(self, choice: MethodChoice, seed: int, folder: Path, watch: Watch, *, name: str) -> Steps:
        steps, turns = Steps(folder / STEPS), len(self.turns(seed))
        if len(steps.asked) == turns:
            return steps
        interval = self.plan.interval if choice.kind != FROZEN else 0
        progress = RunProgress(watch, name, questions=turns, interval=interval)
        with self._played(folder, seed, watch) as played:
            rounds = _Rounds(folder / TRAINED, played, progress)
            rounds.go_on(steps)
            for done in range(len(steps.asked), turns):
                is_due = interval and done and done % interval == 0
                if is_due and not any(step.after == done for step in steps.learned):
                    began = time.monotonic()
                    facts = rounds.learn(done)
                    steps.note_learned(LearnedStep(done, facts, time.monotonic() - began))
                steps.note_asked(played.ask(done, rounds.live))
                progress.asked(done + 1, turns)
        for left in (STORE, TRAINED):
            shutil.rmtree(folder / left, ignore_errors=True)
        return steps


class _Rounds(Generic[L, M]):
    """The model of one run, and how it learns."""

    def __init__(self, folder: Path, played: Played[L, M], progress: RunProgress) -> None:
        """folder: for what is trained."""
        self._folder, self._played, self._progress = folder, played, progress
        self.live = played.begin(played.shipped)
        self._judged_until = 0  # a turn

    def go_on(self, steps: Steps) -> None:
        """With the model that was live behind the steps so far."""
        self._judged_until = max((step.facts.get("judged_until", 0) for step in steps.learned), default=0)
        promoted = [step.after for step in steps.learned if step.facts.get("is_promoted")]
        if promoted:
            self.live = self._played.begin(self._place(promoted[-1]) / "candidate" / _SERVED)

    def learn(self, done: int) -> dict[str, Any]:
        """One round; its facts, none where there is too little to train, end and decide by."""
        lessons = self._played.lessons(done)
        turns = [each.turn_id for each in lessons]
        behind = begins_behind(turns, judged_until=self._judged_until)
        lessons = marked(lessons, behind=behind)
        held_out = [each for each in lessons if each.is_held_out]
        ends = [each.tells_when_to_end for each in taught(lessons)]
        if not held_out or not any(ends) or all(ends):
            return {}
        place = self._place(done)
        place.mkdir(parents=True, exist_ok=True)
        made = self._trained(place, taught(lessons))
        best = json.loads((made / SETTINGS).read_text(encoding="utf-8"))["best_epoch"]
        candidate = self._played.begin(made / _SERVED)
        decided = self._played.compare(held_out, self.live, candidate).promotion
        self._judged_until = turns[-1]
        if decided.is_promoted:
            self.live = candidate
        else:
            shutil.rmtree(place, ignore_errors=True)
        return {
            "lessons": len(ends),
            "best_epoch": best if decided.is_promoted else 0,
            "is_promoted": decided.is_promoted,
            "reason": decided.reason,
            "judged_until": self._judged_until,
        }

    def _trained(self, place: Path, lessons: Sequence[L]) -> Path:
        played, progress = self._played, self._progress

        def tell(done: int, of: int) -> None:
            progress.trains({"kind": "phase", "phase": f"trying {done} of {of}"})

        progress.trains({"kind": "phase", "phase": "starting"})
        rows = played.rows(lessons, tell)
        return played.training.on(place, rows, tell=progress.trains)

    def _place(self, after: int) -> Path:
        return self._folder / f"after-{after}"
