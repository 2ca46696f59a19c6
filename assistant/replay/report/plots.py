"""Plots as SVG, to stand within a page: lines along the stream, and bars with their intervals.

Every text is escaped. Colours are the page's own (`--series-1` ...), so that they fit light and dark; lines
also differ by their dashes, so that none is told by its colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 16, 14, 40
_TICKS = 5
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 4 1 4")
_SERIES = 5
_BAR = 26  # of a bar's row

Points = Sequence[tuple[float, float]]


def line_plot(
    title: str,
    series: Mapping[str, Points],
    *,
    across: str,
    up: str,
    marks: Sequence[float] = (),
    is_counted: bool = False,
    is_percentage: bool = False,
) -> str:
    """Lines with a legend. across, up: what the axes show. marks: places across for a fine upright line.

    is_counted: across are whole numbers only, and ticks at no others. is_percentage: up is from 0 to 100.
    """
    points = [point for line in series.values() for point in line]
    if not points:
        return ""
    ticks_x = ticks(min(x for x, _ in points), max(x for x, _ in points), is_counted=is_counted)
    most = 100.0 if is_percentage else math.inf
    ticks_y = ticks(min(y for _, y in points), max(y for _, y in points), most=most)
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        along = (x - ticks_x[0]) / (ticks_x[-1] - ticks_x[0])
        above = (y - ticks_y[0]) / (ticks_y[-1] - ticks_y[0])
        return _LEFT + along * width, _TOP + (1 - above) * height

    parts: list[str] = []
    for mark in marks:
        x, _ = place(mark, ticks_y[0])
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + height}"/>')
    for tick in ticks_y:
        _, y = place(ticks_x[0], tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + width}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, told(tick), "end"))
    for tick in ticks_x:
        x, _ = place(tick, ticks_y[0])
        parts.append(_text(x, _TOP + height + 16, told(tick), "middle"))
    for number, line in enumerate(series.values()):
        drawn = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line)
        dashes = f' stroke-dasharray="{_DASHES[number % len(_DASHES)]}"'
        parts.append(f'<polyline class="series-{number % _SERIES + 1}"{dashes} points="{drawn}"/>')
    parts.append(_text(_LEFT + width / 2, HEIGHT - 6, across, "middle"))
    return _figure(title, f"{up}. {_legend(series)}", "".join(parts), HEIGHT)


def bar_plot(title: str, rows: Sequence[tuple[str, float, float, float]], *, across: str) -> str:
    """A bar from 0 for each row: name, mean, and the ends of its interval as a thin line."""
    if not rows:
        return ""
    ends = [0.0, *(end for _, mean, low, high in rows for end in (mean, low, high))]
    found = ticks(min(ends), max(ends))
    left, height = 200, _TOP + _BAR * len(rows) + _BOTTOM
    width = WIDTH - left - _RIGHT

    def place(x: float) -> float:
        return left + (x - found[0]) / (found[-1] - found[0]) * width

    parts = []
    for tick in found:
        x = place(tick)
        style = "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{style}" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>')
        parts.append(_text(x, height - _BOTTOM + 16, told(tick), "middle"))
    for number, (name, mean, low, high) in enumerate(rows):
        y = _TOP + _BAR * number
        start, wide = min(place(0), place(mean)), abs(place(mean) - place(0))
        parts.append(
            f'<rect class="bar" x="{start:.1f}" y="{y + 5}" width="{wide:.1f}" height="{_BAR - 10}"/>'
        )
        middle = y + _BAR / 2
        span = f'x1="{place(low):.1f}" x2="{place(high):.1f}" y1="{middle}" y2="{middle}"'
        parts.append(f'<line class="interval" {span}/>')
        parts.append(_text(left - 8, middle + 4, name if len(name) <= 30 else f"{name[:29]}…", "end"))
    parts.append(_text(left + width / 2, height - 6, across, "middle"))
    return _figure(title, "Thin lines are 95 % intervals.", "".join(parts), height)


def ticks(low: float, high: float, *, is_counted: bool = False, most: float = math.inf) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten (of 25 too), evenly apart; at least two.

    They reach from at most `low` to at least `high`. is_counted: at whole numbers only. most: a round number
    that nothing is above, no tick either.
    """
    if high <= low:
        low, high = low - (abs(low) or 10) / 10, min(most, high + (abs(high) or 10) / 10)
    rough = max((high - low) / _TICKS, 1.0 if is_counted else 0.0)
    power = 10.0 ** math.floor(math.log10(rough))
    times = (1, 2, 2.5, 5, 10) if power >= 10 else (1, 2, 5, 10)  # 2.5 or 0.25 has a digit more than its like
    step = next(power * each for each in times if power * each >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]


def told(number: float) -> str:
    """A tick, in as few digits as tell it."""
    return f"{round(number, 6):,.10g}"


def _legend(series: Mapping[str, Points]) -> str:
    styles = ("whole line", "long dashes", "dots", "dash and dot", "dashes and dots")
    return "; ".join(f"{name}: {styles[number % len(styles)]}" for number, name in enumerate(series))


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _figure(title: str, caption: str, drawn: str, height: int) -> str:
    box = f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}"'
    return (
        f"<figure><h3>{escape(title)}</h3><svg {box}>{drawn}</svg>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
