"""The report on a terminal: of all of the stream, and of its last third, a table for each method.

60 questions over 300 passages, seed 1. Shares are in percent, ...

all                 frozen             luf                over frozen
dense R@5           85.3 [80.1, 90.2]  86.1 [81.0, 91.0]  +0.8 [-0.4, +2.0]
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from assistant.replay.methods.choice import FROZEN
from assistant.replay.metrics.figures import ALL, THIRDS
from assistant.replay.report.report import cell, head_of

_GAP = "  "
_WIDEST_CELL = 24  # so that three fit beside a measure's name


def terminal_lines(report: Mapping[str, Any], *, width: int) -> list[str]:
    """All lines; from 90 columns on none is wider than the terminal."""
    lines = textwrap.wrap(head_of(report), width)
    for part in (ALL, THIRDS[-1]):
        if measures := report["figures"][FROZEN].get(part):
            for label in report["gains"] or [""]:
                lines += ["", *_table(report, part, list(measures), label)]
    if sentences := training_sentences(report):
        lines.append("")
        for sentence in sentences:
            lines += textwrap.wrap(sentence, width, subsequent_indent="  ")
    return lines


def training_sentences(report: Mapping[str, Any]) -> list[str]:
    """What came of the trainings, a sentence a method, and of a sequence of sets."""
    sequences = report.get("sequences", {}).items()
    return [
        *(f"{found['told']}." for found in report["learning"].values()),
        *(f"{label}: {found['told']}." for label, found in sequences),
    ]


def _table(report: Mapping[str, Any], part: str, measures: Sequence[str], label: str) -> list[str]:
    """The frozen figures, and those of a method beside them; label: empty: there is none."""
    figures, gains = report["figures"], report["gains"]
    rows = [[part, FROZEN, *([label, f"over {FROZEN}"] if label else [])]]
    for measure in measures:
        cells = [measure, cell(figures[FROZEN], part, measure)]
        if label:
            cells += [cell(figures[label], part, measure), cell(gains[label], part, measure, is_gain=True)]
        rows.append(cells)
    rows = [[textwrap.shorten(each, _WIDEST_CELL, placeholder="…") for each in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(each.ljust(wide) for each, wide in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
