"""The losses of a round as a short curve, which its row in the database holds while it runs and for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

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
