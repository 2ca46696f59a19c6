"""How far a round is: told to whoever watches, and noted in the database for everybody else."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from assistant.learning.steering import Steering
from assistant.learning.training_process import Left
from stores.learning.rounds import Rounds

MOST_POINTS = 120  # then every two neighbours become one

Point: TypeAlias = tuple[int, float, int]  # the last step it stands for, the mean loss of its steps, how many


class LossCurve:
    """Grows step by step, and never has more than `MOST_POINTS` points."""

    def __init__(self, points: Sequence[Sequence[float]] = ()) -> None:
        """points: of a round that is gone on with, as `points` gave them."""
        self._points: list[Point] = [(int(step), float(loss), int(of)) for step, loss, of in points]

    @property
    def points(self) -> list[Point]:
        """In the order of their steps; losses to four places."""
        return [(step, round(loss, 4), of) for step, loss, of in self._points]

    def add(self, step: int, loss: float) -> None:
        """One more step. What was noted of this step or later ones is replaced: it was trained again."""
        while self._points and self._points[-1][0] >= step:
            self._points.pop()
        widest = max((of for _, _, of in self._points), default=1)
        if self._points and self._points[-1][2] < widest:
            _, before, of = self._points.pop()
            self._points.append((step, (before * of + loss) / (of + 1), of + 1))
        else:
            self._points.append((step, loss, 1))
        if len(self._points) > MOST_POINTS:
            self._halve()

    def _halve(self) -> None:
        pairs = zip(self._points[::2], self._points[1::2], strict=False)
        halved = [
            (step, (before * n + loss * m) / (n + m), n + m) for (_, before, n), (step, loss, m) in pairs
        ]
        left = self._points[len(halved) * 2 :]
        self._points = [*halved, *left]


_NOTED_EVERY = 0.5  # seconds


@dataclass(frozen=True)
class Progress:
    """How far a round is."""

    round_id: int
    phase: str  # dropped, reading, trying, training, exporting, comparing
    facts: Mapping[str, Any]  # step, loss and so on, as the phase has them


class Stopped(Exception):
    """The round was told to stop, or its lease ended."""


class Noting:
    """Tells and stores progress, the latter twice a second at most, and with it that the learner lives."""

    def __init__(
        self, rounds: Rounds, round_id: int, tell: Callable[[Progress], None], steering: Steering
    ) -> None:
        self._rounds, self._round_id, self._tell, self._steering = rounds, round_id, tell, steering
        self._phase, self._facts, self._noted = "", dict[str, Any](), 0.0
        before = rounds.figures(round_id)  # of a round that is gone on with
        self._curve = LossCurve(before.get("curve", ()))
        self._measured = [dict(found) for found in before.get("measured", ())]

    def __call__(self, phase: str, **facts: Any) -> None:
        """Waits where the round is to wait. Raises `Stopped` or `Left` where it is to end."""
        self._tell(Progress(self._round_id, phase, facts))
        is_new, self._phase, self._facts = phase != self._phase, phase, facts
        self._store(even_if_soon=is_new)
        self._steering.hold(self._store)
        if self._steering.is_left:
            raise Left

    def told(self, told: Mapping[str, Any] | None) -> None:
        """What the child tells, or None where it is silent. Waits for nothing: the child is halted itself."""
        facts = dict(told or {})
        kind = facts.pop("kind", "")
        if kind == "held_out":  # of the share that tells when to end
            self._measured = [*self._measured[: facts.get("epoch", 0)], facts]
            self._store(even_if_soon=True)
        elif kind in ("step", "phase"):
            phase = facts.pop("phase", "training")
            if "loss" in facts:
                self._curve.add(facts["step"], facts["loss"])
            self._tell(Progress(self._round_id, phase, facts))
            is_new, self._phase, self._facts = phase != self._phase, phase, facts
            self._store(even_if_soon=is_new)
        else:
            self._store()

    def _store(self, *, even_if_soon: bool = False) -> None:
        if not even_if_soon and time.monotonic() - self._noted < _NOTED_EVERY:
            return
        self._noted = time.monotonic()
        facts = {
            "phase": self._phase,
            "progress": self._facts,
            "is_paused": self._steering.is_paused,
            "curve": self._curve.points,
            "measured": self._measured,
        }
        if not self._rounds.note(self._round_id, facts):
            raise Stopped
