"""A curve in characters: a plot with axes drawn in dots, or one row of blocks where there is less room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

_BLOCKS = "▁▂▃▄▅▆▇█"
_EMPTY = 0x2800  # the Braille pattern without a dot
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row from above, by column
_DOWN, _ACROSS = 4, 2  # dots in a character
_FEWEST_COLUMNS, _FEWEST_ROWS = 4, 2  # of the plane


def plot(points: Sequence[tuple[float, float]], *, width: int, height: int, ends_at: float = 0) -> list[str]:
    """Rows of `width` characters at most: the curve, an axis with marks at its left, and one below.

    points: (x, y), x rising from 0. ends_at: where the lower axis ends, or at the last point if that is
    later. Empty where there are fewer than two points, one is not finite, or there is no room.
    """
    finite = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if len(finite) < 2:
        return []
    low, high = min(y for _, y in finite), max(y for _, y in finite)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    rows = height - 2  # the axis and its marks
    marks = _marks(low, high, rows)
    left = max((len(mark) for mark in marks), default=0)
    columns = width - left - 2
    if rows < _FEWEST_ROWS or columns < _FEWEST_COLUMNS:
        return []
    last = max(ends_at, finite[-1][0])
    drawn = _drawn(finite, columns, rows, last=last, low=low, high=high)
    lines = [f"{mark:>{left}} {'┤' if mark else '│'}{row}" for mark, row in zip(marks, drawn, strict=True)]
    return [*lines, f"{'':>{left}} └{'─' * columns}", f"{'':>{left}}  {_below(last, columns)}".rstrip()]


def sparkline(values: Sequence[float], width: int) -> str:
    """One row of blocks, the highest for the greatest value; means where there are more values than room."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite or width < 1:
        return ""
    count = min(width, len(finite))
    parts = [finite[i * len(finite) // count : (i + 1) * len(finite) // count] for i in range(count)]
    means = [sum(part) / len(part) for part in parts]
    low, high = min(means), max(means)
    steps = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round(steps * (m - low) / (high - low)) if high > low else 0] for m in means)


def _drawn(
    points: Sequence[tuple[float, float]], columns: int, rows: int, *, last: float, low: float, high: float
) -> list[str]:
    """The curve alone, neighbours joined."""
    cells = [[_EMPTY] * columns for _ in range(rows)]
    across, down = columns * _ACROSS - 1, rows * _DOWN - 1
    dots = [
        (round(x / last * across) if last > 0 else 0, round((high - y) / (high - low) * down))
        for x, y in points
    ]
    for (x, y), (to_x, to_y) in pairwise(dots):
        steps = max(abs(to_x - x), abs(to_y - y), 1)
        for i in range(steps + 1):
            column = x + round((to_x - x) * i / steps)
            row = y + round((to_y - y) * i / steps)
            cells[row // _DOWN][column // _ACROSS] |= _DOTS[row % _DOWN][column % _ACROSS]
    return ["".join(chr(cell) if cell != _EMPTY else " " for cell in row) for row in cells]


def _marks(low: float, high: float, rows: int) -> list[str]:
    """What stands left of each row: the value of every second one, of the first and of the last."""
    if rows < 1:
        return []
    digits = max(0, min(4, 1 - math.floor(math.log10(high - low))))
    values = [high - (high - low) * row / max(1, rows - 1) for row in range(rows)]
    told = [row == rows - 1 or (row % 2 == 0 and row < rows - 2) or row == 0 for row in range(rows)]
    return [f"{value:.{digits}f}" if shown else "" for value, shown in zip(values, told, strict=True)]


def _below(last: float, columns: int) -> str:
    """0, the middle and the end of the lower axis."""
    middle, end = f"{last / 2:.0f}", f"{last:.0f}"
    is_near = last >= 20 or last % 2 == 0  # a rounded middle is no more than that
    if columns < len(middle) + len(end) + 6 or not is_near:
        return f"0{end:>{columns - 1}}"
    at = columns // 2 - len(middle) // 2
    return f"0{middle:>{at + len(middle) - 1}}{end:>{columns - at - len(middle)}}"
