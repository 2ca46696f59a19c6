"""How far one run of a replay is, for whoever watches: its questions and its trainings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# What is done, how much of it, and of how much; 0: that is unknown
Watch = Callable[[str, int, int], None]


class RunProgress:
    """Tells of one run."""

    def __init__(self, watch: Watch, name: str, *, questions: int, interval: int) -> None:
        """name: of the run. questions: of its stream. interval: between two trainings; 0: none."""
        self._watch, self._name, self._interval = watch, name, interval
        self._trainings = (questions - 1) // interval if interval else 0
        self._asked = 0
        self._at = "starting", 0, 0  # where a training is

    def asked(self, done: int, of: int) -> None:
        """So many questions are answered."""
        self._asked = done
        self._watch(f"{self._name}: questions", done, of)

    def trains(self, told: Mapping[str, Any] | None) -> None:
        """What a training tells of itself, as it tells it; None while it is silent."""
        if told is not None and told["kind"] == "step":
            self._at = "step", told["step"], told.get("steps", 0)
        elif told is not None and told["kind"] == "phase" and told["phase"] != "training":
            self._at = told["phase"], 0, 0
        doing, done, of = self._at
        number = max(1, -(-self._asked // self._interval))
        self._watch(f"{self._name}: training {number} of {self._trainings}, {doing}", done, of)
