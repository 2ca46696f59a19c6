"""How far one run of a replay is, in words for whoever watches: its questions, its trainings, what is left.

steps so far -> seconds a question, seconds a training -> seconds that this run will still take
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from assistant.replay.runs.steps import Steps

_LATEST = 50  # questions, whose mean time the next ones will take


class Watch(Protocol):
    """Is told what is done."""

    def __call__(self, what: str, done: int, of: int, left: str = "") -> None:
        """How much of `what` is done, of how much; of: 0 where that is unknown. left: in words."""


class RunProgress:
    """Tells of one run."""

    def __init__(
        self,
        watch: Watch,
        name: str,
        steps: Steps,
        *,
        questions: int,
        interval: int,
        is_trained: bool = False,
        grows: bool = True,
        earlier: Sequence[Steps] = (),
    ) -> None:
        """name: of the run. questions: of its stream. is_trained: its method's trainings take their time.

        grows: each training is made of all lessons so far. earlier: the method's runs of other seeds.
        """
        self._watch, self._name, self._steps = watch, name, steps
        self._questions = questions
        self._due = [*range(interval, questions, interval)] if interval else []
        self._is_trained, self._grows, self._earlier = is_trained, grows, earlier
        self._at = "starting", 0, 0  # where a training is

    def asked(self, done: int, of: int) -> None:
        """So many questions are answered."""
        self._watch(f"{self._name}: questions", done, of, self.left())

    def trains(self, told: Mapping[str, Any] | None) -> None:
        """What a training tells of itself, as it tells it; None while it is silent."""
        if told is not None and told["kind"] == "step":
            self._at = "step", told["step"], told.get("steps", 0)
        elif told is not None and told["kind"] == "phase" and told["phase"] != "training":
            self._at = told["phase"], 0, 0
        number = 1 + sum(after < len(self._steps.asked) for after in self._due)
        doing, done, of = self._at
        self._watch(f"{self._name}: training {number} of {len(self._due)}, {doing}", done, of)

    def left(self) -> str:
        """How long this run will still take, in words; empty while nothing tells."""
        done = len(self._steps.asked)
        latest = [sum(_of_the_question(step.seconds)) for step in self._steps.asked[-_LATEST:]]
        if not latest or done >= self._questions:
            return ""
        seconds = fmean(latest) * (self._questions - done)
        to_come = [after for after in self._due if after > done] if self._is_trained else []
        if to_come:
            known = [step for run in (*self._earlier, self._steps) for step in run.learned if step.facts]
            if not known:
                return f"about {lasting(seconds)} and trainings left"
            cost = sum(step.seconds for step in known) / sum(self._weight(step.after) for step in known)
            seconds += cost * sum(map(self._weight, to_come))
        return f"about {lasting(seconds)} left of this run"

    def _weight(self, after: int) -> int:
        """How long the training after so many questions takes, against others."""
        return after if self._grows else 1


def told_to(
    listener: Callable[[Mapping[str, Any] | None], None],
    train: Callable[..., Path],
    *given: Any,
    tell: Callable[[Mapping[str, Any] | None], None],
    **how: Any,
) -> Path:
    """A training, which tells the listener as well what it tells. train: as `train_apart`."""
    listener({"kind": "phase", "phase": "starting"})

    def both(told: Mapping[str, Any] | None) -> None:
        listener(told)
        tell(told)

    return train(*given, tell=both, **how)


def _of_the_question(seconds: Mapping[str, float]) -> Sequence[float]:
    return [seconds.get(name, 0.0) for name in ("turn", "hearing")]


def lasting(seconds: float) -> str:
    """A span of time, roughly."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
