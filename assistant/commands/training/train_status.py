"""The last rounds of training, as `vouch train --status` tells them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from assistant.invocation import Invocation
from assistant.terminal.facts.training import reason_of, version_of
from assistant.terminal.facts.training_lines import running_line
from stores.base.clock import stamp
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from stores.database.tables import Round
    from stores.learning.rounds import Rounds

_HEAD = ("round", "state", "began", "lessons", "version")
_INDENT = " " * 7  # of what a round came to, below its other cells


def show(call: Invocation, known: Rounds) -> int:
    """Newest first; on a terminal under a head and within its width. The exit code: 1 where there is none."""
    rounds = [(row, known.is_broken_off(row)) for row in known.latest()]
    if call.as_json:
        for row, is_broken_off in rounds:
            call.give(_as_json(row, is_broken_off=is_broken_off))
    else:
        for line in _lines([_cells(*each) for each in rounds], get_terminal_size().columns):
            click.echo(line)
    if not rounds:
        call.tell("No round was begun yet. `vouch train` begins one.")
    return 0 if rounds else 1


def _lines(rounds: list[tuple[str, ...]], width: int) -> Iterator[str]:
    """A round a line, or in a terminal of this width as many as it takes."""
    if not is_terminal():
        for number, state, began, lessons, version, told in rounds:
            yield "\t".join((number, state, began, f"{lessons} lessons", told, version))
        return
    if rounds and len(_row(_HEAD)) <= width:
        yield _row(_HEAD)
    for *cells, told in rounds:
        yield from wrap(_row(cells), width, subsequent_indent=_INDENT)
        yield from wrap(told, width, initial_indent=_INDENT, subsequent_indent=_INDENT)


def is_terminal() -> bool:
    """Whether a person reads it."""
    return sys.stdout.isatty()


def _row(cells: list[str] | tuple[str, ...]) -> str:
    number, state, began, lessons, version = cells
    return f"{number:>5}  {state:<10}  {began:<16}  {lessons:>7}  {version}".rstrip()


def _cells(row: Round, is_broken_off: bool) -> tuple[str, ...]:
    """Number, state, when it began, lessons, version, and how far it is or what came of it."""
    state, told = row.state, reason_of(row)
    is_paused = bool(row.figures.get("is_paused"))
    if is_broken_off:
        state, told = "broken off", told or "its learner is gone"
    elif state == "running":
        state, told = "paused" if is_paused else state, running_line(row, is_paused=is_paused)
    if is_broken_off or state == "waiting":
        told += "; it goes on at the next occasion"
    began, lessons = f"{row.created_at.astimezone():%Y-%m-%d %H:%M}", len(row.settings.get("turns", ()))
    return f"{row.id}", state, began, f"{lessons}", one_line(version_of(row)), told


def _as_json(row: Round, *, is_broken_off: bool = False) -> dict[str, Any]:
    moments = {name: row.figures[name] for name in ("lease_until", "not_before") if name in row.figures}
    told = {name: stamp(datetime.fromisoformat(moment)) for name, moment in moments.items()}
    return {
        "round": row.id,
        "recipe": row.recipe,
        "state": row.state,
        "is_broken_off": is_broken_off,
        "is_paused": row.state == "running" and not is_broken_off and bool(row.figures.get("is_paused")),
        "reason": row.reason,
        "version": version_of(row) or None,
        "created_at": stamp(row.created_at),
        "ended_at": stamp(row.ended_at) if row.ended_at else None,
        "settings": row.settings,
        "figures": row.figures | told,
    }
