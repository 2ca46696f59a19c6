"""The learner of the dialogue generator: corrected replies -> trained further -> goes live where it wins.

The training runs in a process of its own, as that of the retriever does, and begins each time from what is
shipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from assistant.learning.lineage import lineage, taught
from assistant.learning.outcome import Ended
from assistant.learning.progress import Noting
from assistant.learning.promotion import Compare, Deciding, Role, TrainedCandidate
from assistant.learning.round_runner import Begun, RoundRunner
from assistant.learning.steering import Steering
from assistant.learning.training_process import train_in_child
from stores.learning.checkpoints import Checkpoints
from stores.learning.dialogue_lessons import DialogueLesson, DialogueLessons
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels

RECIPE = "dialogue"
ROLE = "dialogue generator"
SHIPPED = "shipped"  # in place of a version: what Vouch comes with
IS_OF_OWN = "is_of_own"  # of a model's details: it has seen replies over a user's own knowledge base
_MODULE = "assistant.learning.recipes.dialogue.from_use"


class DialogueLearner(RoundRunner[DialogueLesson]):
    """Trains the generator of replies over knowledge bases."""

    recipe = RECIPE
    what_is_a_lesson = "Every reply over a knowledge base that was rated good or corrected is a lesson."

    def __init__(
        self,
        *,
        lessons: DialogueLessons,
        rounds: Rounds,
        live_models: LiveModels,
        checkpoints: Checkpoints,
        is_sound: Callable[[DialogueLesson], bool],
        encoder: Path,
        compare: Compare[DialogueLesson],
        settings: Mapping[str, Any],
        fewest: int,
        threads: int,
        train: Callable[..., Path] = train_in_child,
        steering: Steering | None = None,
    ) -> None:
        """is_sound: of a reply that tells what is not so nothing is learned.

        encoder: the packaged one, exported. See `Learner` for the others.
        """
        steering = steering or Steering()
        super().__init__(rounds=rounds, checkpoints=checkpoints, fewest=fewest, steering=steering)
        self._lessons = lessons
        self._is_sound = is_sound
        self._live_models = live_models
        self._encoder = encoder
        self._compare = compare
        self._settings = dict(settings)
        self._threads = threads
        self._train = train

    def _learnable(self) -> list[DialogueLesson]:
        return [lesson for lesson in self._lessons.all() if self._is_sound(lesson)]

    def _lineage(self, lessons: Sequence[DialogueLesson]) -> dict[str, Any]:
        live = self._live_models.live(ROLE)
        return lineage(lessons, settings=self._settings, encoder_version=self._encoder.name, live=live)

    def _round(self, begun: Begun[DialogueLesson], budget_seconds: float | None, note: Noting) -> Ended:
        note("reading", lessons=len(begun.lessons))
        folder = begun.workplace.resolve()
        made = train_on(
            folder,
            begun.lessons,
            settings=self._settings,
            threads=self._threads,
            encoder=self._encoder,
            train=self._train,
            budget_seconds=budget_seconds,
            steering=self.steering,
            tell=note.told,
        )
        is_of_own = any(lesson.is_of_own for lesson in taught(begun.lessons))
        deciding = Deciding(
            Role(RECIPE, ROLE, SHIPPED, {IS_OF_OWN: is_of_own}),
            rounds=self._rounds,
            live_models=self._live_models,
            checkpoints=self._checkpoints,
            compare=self._compare,
            require=lambda lessons: partial(self._lessons.require_kept, lessons=lessons),
            steering=self.steering,
        )
        card = {"round": begun.round_id, **self._settings}
        return deciding.decide(
            TrainedCandidate(begun.round_id, made, folder / "flat", begun.lessons, card), note
        )


def train_on(
    folder: Path,
    lessons: Sequence[DialogueLesson],
    *,
    settings: Mapping[str, Any],
    threads: int,
    encoder: Path,
    train: Callable[..., Path] = train_in_child,
    **how: Any,
) -> Path:
    """A candidate, trained on those that are not held out; its folder. encoder, how: see `train_in_child`."""
    file = folder / "lessons.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for lesson in taught(lessons):
            told = asdict(lesson) | {"measured": lesson.tells_when_to_end}
            out.write(json.dumps(told, ensure_ascii=False) + "\n")
    options = ["--settings", json.dumps(dict(settings)), "--threads", str(threads)]
    return train(folder, _MODULE, [file], [*options, "--encoder", str(encoder.resolve())], **how)
