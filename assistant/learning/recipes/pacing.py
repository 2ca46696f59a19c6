"""How quickly a training goes, and when it writes a checkpoint."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

RATE_OVER = 20  # steps
WARM_UP = 300  # steps

FIRST_CHECKPOINT_SECONDS = 10.0

QUICK_CHECKPOINT_SECONDS = 0.4  # MiniLM's 360 MB took 1.4 s on a busy machine's disk


class Checkpoints:
    """When one is written: soon at first, then after as long as the run has lasted, or `every` seconds.

    So a run that is stopped again and again still gets on: once it has written one, it loses at most half.
    """

    def __init__(self, write: Callable[[], None], every: float) -> None:
        self._write, self._every = write, every
        self._due = min(FIRST_CHECKPOINT_SECONDS, every)
        self._began = self._last = time.monotonic()
        self._took = float("inf")

    def after_step(self) -> None:
        """Writes one when it is due."""
        began = time.monotonic()
        if began - self._last >= self._due:
            self._write()
            self._last = time.monotonic()
            self._took = self._last - began
            self._due = min(self._last - self._began, self._every)

    def before_stop(self, *, is_urgent: bool = True) -> None:
        """Writes one, of an urgent stop when that is known to be quick: whoever stops a run waits for it."""
        if not is_urgent or self._took < QUICK_CHECKPOINT_SECONDS:
            self._write()


class Pace:
    """How quickly the last steps went."""

    def __init__(self) -> None:
        self._ends = deque([time.monotonic()], maxlen=RATE_OVER + 1)
        self._questions: deque[int] = deque(maxlen=RATE_OVER)

    def after(self, examples: int, *, steps_left: int) -> dict[str, float]:
        """The figures to tell after a step of so many examples."""
        self._ends.append(time.monotonic())
        self._questions.append(examples)
        passed = max(1e-9, self._ends[-1] - self._ends[0])
        left = steps_left * passed / len(self._questions)
        return {
            "examples_per_second": round(sum(self._questions) / passed, 2),
            "seconds_left": round(left, 1),
        }


def rate(step: int, steps: int) -> float:
    """Of the highest: up over the first steps, then down to nothing along a cosine."""
    warm = min(WARM_UP, steps // 10) or 1
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
