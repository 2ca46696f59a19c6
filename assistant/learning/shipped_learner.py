"""A learner of a model that Vouch comes with: lessons from use -> trained further -> goes live where it wins.

The training runs in a process of its own, as that of the retriever does, and begins each time from what is
shipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from assistant.learning.lineage import Learnable, lineage, taught
from assistant.learning.outcome import Ended
from assistant.learning.progress import Noting
from assistant.learning.promotion import Compare, Deciding, Role, TrainedCandidate
from assistant.learning.round_runner import Begun, RoundRunner
from assistant.learning.steering import Steering
from assistant.learning.trained import SHIPPED, Trained
from assistant.learning.training_process import train_in_child
from stores.learning.checkpoints import Checkpoints
from stores.learning.rounds import Require, Rounds
from stores.search.live_models import LiveModels

L = TypeVar("L", bound=Learnable)
Rows: TypeAlias = Iterable[Mapping[str, Any]]
Tell: TypeAlias = Callable[[int, int], None]  # how many are done, of how many


@dataclass(frozen=True)
class Training:
    """How it is trained today."""

    settings: Mapping[str, Any]
    threads: int
    options: Sequence[str] = ()  # of the program, besides the settings
    encoder_version: str = ""  # of what it reads by
    train: Callable[..., Path] = field(default=train_in_child)


class ShippedLearner(RoundRunner[L]):
    """Trains one such model."""

    def __init__(
        self,
        trained: Trained,
        *,
        learnable: Callable[[], Sequence[L]],
        require: Callable[[Sequence[L]], Require],
        rows: Callable[[Sequence[L], Tell], Rows],
        training: Training,
        rounds: Rounds,
        live_models: LiveModels,
        checkpoints: Checkpoints,
        compare: Compare[L],
        fewest: int,
        steering: Steering | None = None,
    ) -> None:
        """rows: what the program reads of lessons, a JSON object each; told how far they are.

        See `Learner` for the others.
        """
        steering = steering or Steering()
        super().__init__(rounds=rounds, checkpoints=checkpoints, fewest=fewest, steering=steering)
        self.recipe, self.what_is_a_lesson = trained.recipe, trained.what_is_a_lesson
        self._trained, self._training = trained, training
        self._all, self._require, self._rows = learnable, require, rows
        self._live_models = live_models
        self._compare = compare

    def _learnable(self) -> Sequence[L]:
        return self._all()

    def _lineage(self, lessons: Sequence[L]) -> dict[str, Any]:
        training, live = self._training, self._live_models.live(self._trained.role)
        return lineage(
            lessons, settings=training.settings, encoder_version=training.encoder_version, live=live
        )

    def _round(self, begun: Begun[L], budget_seconds: float | None, note: Noting) -> Ended:
        note("reading", lessons=len(begun.lessons))
        folder, training = begun.workplace.resolve(), self._training

        def tell(done: int, of: int) -> None:
            note("trying", questions=done, questions_in_all=of)

        shown = taught(begun.lessons)
        made = train_on(
            folder,
            self._trained,
            self._rows(shown, tell),
            training,
            budget_seconds=budget_seconds,
            steering=self.steering,
            tell=note.told,
        )
        deciding = Deciding(
            Role(self.recipe, self._trained.role, SHIPPED),
            rounds=self._rounds,
            live_models=self._live_models,
            checkpoints=self._checkpoints,
            compare=self._compare,
            require=self._require,
            steering=self.steering,
        )
        card = {"round": begun.round_id, **training.settings}
        return deciding.decide(
            TrainedCandidate(begun.round_id, made, folder / "flat", begun.lessons, card), note
        )


def train_on(folder: Path, trained: Trained, rows: Rows, training: Training, **how: Any) -> Path:
    """A candidate; its folder, within `folder`. how: see `train_in_child`."""
    file = folder / "lessons.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    options = ["--settings", json.dumps(dict(training.settings)), "--threads", str(training.threads)]
    return training.train(folder, trained.module, [file], [*options, *training.options], **how)
