"""What took how long in each run of a replay, for people: a table, and what its columns are.

seconds         questions  turn  search  model  hearing  training
luf, seed 1            60  37.6     0.9    0.0      0.0      12.4
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

_HEAD = "seconds"  # over the names of the runs
_GAP = 2
_WHAT_THEY_ARE = (
    "Seconds are those of all questions together. turn: from a question to its answer, with search, which "
    "finds passages, and model, a chat model that writes for the search. hearing: what users say afterwards, "
    "as it is remembered. training: all trainings."
)

Times = Mapping[str, Mapping[str, float]]  # see `report.times_of`


def times_rows(times: Times) -> list[list[str]]:
    """Rows of cells: what each column has, then each run's numbers."""
    columns = list(dict.fromkeys(what for row in times.values() for what in row))
    return [
        [_HEAD, *columns],
        *([name, *(_number(what, row.get(what, 0.0)) for what in columns)] for name, row in times.items()),
    ]


def times_lines(times: Times, *, width: int) -> list[str]:
    """The same for a terminal, with what the columns are; only names are cut where it is narrow."""
    rows = times_rows(times)
    names, *columns = zip(*rows, strict=True)
    widths = [max(map(len, column)) + _GAP for column in columns]
    for_names = max(len(_HEAD), min(max(map(len, names)), width - sum(widths)))
    lines = [
        _cut(name, for_names).ljust(for_names)
        + "".join(cell.rjust(wide) for cell, wide in zip(cells, widths, strict=True))
        for name, *cells in rows
    ]
    return [*lines, *textwrap.wrap(_WHAT_THEY_ARE, width)]


def _number(what: str, value: float) -> str:
    return f"{value:.0f}" if what == "questions" else f"{value:.1f}"


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}…"
