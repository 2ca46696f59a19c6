"""The report on a terminal, laid out by its width: nothing wraps while one column of figures fits.

    60 questions over 300 passages, seed 1. Shares are in percent, ...

    all                 frozen             luf                over frozen
    dense R@5           85.3 [80.1, 90.2]  86.1 [81.0, 91.0]  +0.8 [-0.4, +2.0]

A row a measure, the ones that tell most first, and a column a method with its gain beside it. What does not
fit side by side stands in blocks one below the other. Of the last third only what tells most is shown;
the page, JSON and pipes have all measures of every part.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from assistant.replay.methods.choice import FROZEN
from assistant.replay.metrics.figures import ALL, THIRDS
from assistant.replay.metrics.measures import EVERY, OF_DIALOGUES, OF_FOLLOW_UPS
from assistant.replay.report.report import head_of, shown
from assistant.replay.report.trainings import told

_FIRST = (
    *OF_DIALOGUES,
    *OF_FOLLOW_UPS,
    "dense R@5",
    "fused R@5",
    "reranked R@5",
    "answer R@5",
    "reranked nDCG@10",
    "tokens",
)
ORDER = (*_FIRST, *(measure for measure in EVERY if measure not in _FIRST))
_SHOWN = {ALL: ORDER, THIRDS[-1]: _FIRST}
_OVER = f"over {FROZEN}"
_GAP = 2

Column = Sequence[str]  # its head, then a cell for each row


def terminal_lines(
    report: Mapping[str, Any], *, width: int, seconds: Mapping[str, float] | None = None
) -> list[str]:
    """All lines, none longer than `width` where a measure and one column fit.

    seconds: of the trainings, by method; None: not told.
    """
    lines = textwrap.wrap(head_of(report), width)
    for part in _SHOWN:
        if part in report["figures"][FROZEN]:
            for block in _blocks(report, part, width):
                lines += ["", *block]
    sentences = training_sentences(report, seconds=seconds)
    lines += [""] if sentences else []
    for sentence in sentences:
        lines += textwrap.wrap(sentence, width, subsequent_indent="  ")
    return lines


def training_sentences(report: Mapping[str, Any], *, seconds: Mapping[str, float] | None = None) -> list[str]:
    """What came of the trainings, a sentence a method. seconds: as above."""
    return [
        f"{told(label, found, seconds=(seconds or {}).get(label))}."
        for label, found in report["learning"].items()
    ]


def _blocks(report: Mapping[str, Any], part: str, width: int) -> list[list[str]]:
    """The table of a part, in as many blocks as its columns need."""
    figures, gains = report["figures"], report["gains"]
    measures = [measure for measure in _SHOWN[part] if measure in figures[FROZEN][part]]
    names: Column = [part, *measures]
    groups = []
    for label, table in figures.items():
        group = [_column(label, table.get(part, {}), measures)]
        if label in gains:
            group.append(_column(_OVER, gains[label].get(part, {}), measures, is_gain=True))
        groups.append(group)
    blocks: list[list[Column]] = [[names]]
    for group in groups:
        group = [(_cut(head, width - _width([names]) - _GAP), *cells) for head, *cells in group]
        for some in [group] if _width([names, *group]) <= width else [[column] for column in group]:
            if len(blocks[-1]) > 1 and _width([*blocks[-1], *some]) > width:
                blocks.append([names])
            blocks[-1] += some
    return [_rows(block) for block in blocks]


def _column(
    head: str, table: Mapping[str, Mapping[str, float]], measures: Sequence[str], *, is_gain: bool = False
) -> Column:
    return [head, *(shown(m, table[m], is_gain=is_gain) if m in table else "" for m in measures)]


def _cut(head: str, width: int) -> str:
    return head if len(head) <= width else f"{head[: max(0, width - 1)]}…"


def _width(columns: Sequence[Column]) -> int:
    return sum(max(map(len, column)) for column in columns) + _GAP * (len(columns) - 1)


def _rows(columns: Sequence[Column]) -> list[str]:
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return [
        (" " * _GAP).join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
