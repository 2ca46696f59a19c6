"""How far a replay is, and its report: on a terminal, into a pipe, for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from assistant.invocation import Invocation
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.replay.runs.in_folder import InFolder


def give_report(
    call: Invocation, replay: InFolder, runs: Any, folder: Path, options: Mapping[str, Any]
) -> int:
    """Writes it into the replay's folder and gives it on standard output; the exit code."""
    from assistant.replay.report.report import figure, report_of, times_of
    from assistant.replay.storage.folder import REPORT, TIMES
    from assistant.replay.storage.line_file import encoded

    report, times = report_of(replay.identity, runs), times_of(runs)
    (folder / REPORT).write_bytes(encoded(report))
    (folder / TIMES).write_bytes(encoded(times))
    failed = [
        f"{metric} of {replay.plan.played[-1].label} is {found:.4f}, under {limit:g}"
        for metric, limit in options["limits"]
        if not (found := figure(report, metric)) >= limit
    ]
    if call.as_json:
        told = report | ({"times": times} if options["times"] else {})
        click.echo(encoded(told).decode(), nl=False)
    else:
        _show(report, _of_trainings(times, report) if options["times"] else None, tell=call.tell)
        if options["times"]:
            _show_times(times)
        call.tell(f"{folder / REPORT} holds all of it.")
    for sentence in failed:
        click.echo(sentence, err=True)
    return 1 if failed else 0


def _of_trainings(times: Mapping[str, Mapping[str, float]], report: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of each method's trainings, over all seeds."""
    seeds = report["replay"]["seeds"]
    return {
        label: sum(times[f"{label}, seed {seed}"]["training"] for seed in seeds)
        for label in report["learning"]
    }


def _show(
    report: Mapping[str, Any], seconds: Mapping[str, float] | None, *, tell: Callable[[str], None]
) -> None:
    """By its width on a terminal; into a pipe all rows, with tabs, and what came of trainings is told aside.

    seconds: of each method's trainings; None: not told.
    """
    from assistant.replay.report.report import table_rows
    from assistant.replay.report.terminal_table import terminal_lines, training_sentences

    if sys.stdout.isatty():
        click.echo("\n".join(terminal_lines(report, width=get_terminal_size().columns, seconds=seconds)))
        return
    for row in table_rows(report):
        click.echo("\t".join(row))
    for sentence in training_sentences(report, seconds=seconds):
        tell(sentence)


def _show_times(times: Mapping[str, Mapping[str, float]]) -> None:
    from assistant.replay.report.times_table import times_lines, times_rows

    if sys.stdout.isatty():
        click.echo("\n".join(["", *times_lines(times, width=get_terminal_size().columns)]))
        return
    for row in times_rows(times):
        click.echo("\t".join(map(one_line, row)))


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

    def watch(self, what: str, done: int, of: int, left: str = "") -> None:
        """Shows it. The rate is counted since `what` is done. See `run_progress.Watch`."""
        from assistant.replay.runs.run_progress import lasting

        now = time.monotonic()
        if what != self._what:
            self._what, self._began, self._from = what, now, done
        passed = now - self._began
        told = f"{what} {done} of {of}" if of else what
        if of and done > self._from and passed > _SOONEST:
            rate = (done - self._from) / passed
            told += f", {rate:.1f}/s, {left or f'about {lasting((of - done) / rate)} left'}"
        if self._say is None:
            self._line.show(told)
        elif now >= self._next:
            self._say(f"{told}.")
            self._next = now + _SAID_EVERY_SECONDS
