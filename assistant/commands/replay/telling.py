"""How far a replay is, and its report: on a terminal, into a pipe, for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from assistant.invocation import Invocation

if TYPE_CHECKING:
    from assistant.replay.runs.in_folder import InFolder


def give_report(
    call: Invocation, replay: InFolder, runs: Any, folder: Path, limits: Sequence[tuple[str, float]]
) -> int:
    """Writes it into the replay's folder and gives it on standard output; the exit code."""
    from assistant.replay.report.report import figure, report_of
    from assistant.replay.storage.folder import REPORT
    from assistant.replay.storage.line_file import encoded

    report = report_of(replay.identity, runs)
    (folder / REPORT).write_bytes(encoded(report))
    failed = [
        f"{metric} of {replay.plan.played[-1].label} is {found:.4f}, under {limit:g}"
        for metric, limit in limits
        if not (found := figure(report, metric)) >= limit
    ]
    if call.as_json:
        click.echo(encoded(report).decode(), nl=False)
    else:
        _show(report, tell=call.tell)
        call.tell(f"{folder / REPORT} holds all of it.")
    for sentence in failed:
        click.echo(sentence, err=True)
    return 1 if failed else 0


def _show(report: Mapping[str, Any], *, tell: Callable[[str], None]) -> None:
    """On a terminal tables; into a pipe all rows, with tabs, and what came of trainings is told aside."""
    from assistant.replay.report.report import table_rows
    from assistant.replay.report.terminal_table import terminal_lines, training_sentences

    if sys.stdout.isatty():
        click.echo("\n".join(terminal_lines(report, width=get_terminal_size().columns)))
        return
    for row in table_rows(report):
        click.echo("\t".join(row))
    for sentence in training_sentences(report):
        tell(sentence)


_SOONEST = 0.2  # seconds, after which a rate tells something
_SAID_EVERY_SECONDS = 60.0  # where standard error is no terminal


class Progress:
    """Tells whoever watches, and whoever reads a log later."""

    def __init__(self, call: Invocation) -> None:
        self._line = call.progress_line()
        self._say = None if sys.stderr.isatty() else call.tell
        self._next = time.monotonic() + _SAID_EVERY_SECONDS
        self._what, self._began, self._from = "", 0.0, 0
        self.clear = self._line.clear

    def watch(self, what: str, done: int, of: int) -> None:
        """Shows it. The rate is counted since `what` is done. See `run_progress.Watch`."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._began, self._from = what, now, done
        passed = now - self._began
        told = f"{what} {done} of {of}" if of else what
        if of and done > self._from and passed > _SOONEST:
            rate = (done - self._from) / passed
            told += f", {rate:.1f}/s, about {_lasting((of - done) / rate)} left"
        if self._say is None:
            self._line.show(told)
        elif now >= self._next:
            self._say(f"{told}.")
            self._next = now + _SAID_EVERY_SECONDS


def _lasting(seconds: float) -> str:
    """A span of time, roughly."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
