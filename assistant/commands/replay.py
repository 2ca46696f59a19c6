"""vouch replay: a data set, or one's own conversation, played through the chat's own parts, and measured."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words, time_limit
from stores.errors import WrongUsage
from stores.one_line import one_line

if TYPE_CHECKING:
    from assistant.replay.replay import Replay
    from assistant.replay.replay_plan import ReplayPlan

_SOONEST = 0.2  # seconds, after which a rate tells something
_LOSSES = "strict,flaccid,hard"
_PARTS_SHOWN = ("all", "last third")  # on the terminal; JSON and page have all


class Pair(click.ParamType[tuple[str, str]]):
    """NAME=VALUE."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Name and value."""
        name, equals, given = str(value).rpartition("=")
        if not (name and equals and given):
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        return name.strip(), given.strip()


class Limit(Pair):
    """METRIC=VALUE."""

    name = "metric=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Metric and number."""
        metric, number = super().convert(value, param, ctx)
        try:
            return metric, float(number)
        except ValueError:
            self.fail(f"{number!r} is no number", param, ctx)


class Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between."""

    name = "1,2,3"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The numbers, each once."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(dict.fromkeys(int(part) for part in str(value).replace(",", " ").split()))
        except ValueError:
            self.fail(f"{value!r} is not like 1,2,3", param, ctx)


@click.command("replay")
@click.argument("named", nargs=-1, required=True, metavar="DATASET_OR_FILE_OR_SESSION...", type=Words())
@click.option("--sets", type=click.Path(path_type=Path), metavar="DIR", help="The folder of the named sets.")
@click.option("--split", "splits", multiple=True, metavar="NAME", help="train, dev or test; again for more.")
@click.option("--column", "columns", multiple=True, type=Pair(), help="Where a table has what: text=ask.")
@click.option("--passages", type=click.Path(path_type=Path), metavar="FILE", help="A table of passages.")
@click.option("--passage-column", "passage_columns", multiple=True, type=Pair(), help="As --column, of it.")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="luf, luf:strict, rafe, frozen ...")
@click.option("--losses", default=_LOSSES, metavar="NAMES", help=f"Of luf; by default {_LOSSES}.")
@click.option("--judge", type=click.Choice(["reader", "simulated", "model"]), default="reader")
@click.option("--accuracy", type=click.FloatRange(0, 1), default=0.9, help="Of the simulated judge.")
@click.option("--answers", type=click.Choice(["own", "simulated"]), default="own", help="Who answers.")
@click.option("--interval", type=click.IntRange(min=0), default=400, help="Questions between trainings.")
@click.option(
    "--remembers", type=click.Choice(["all", "last"]), default="all", help="What luf is trained on."
)
@click.option("--user-feedback", is_flag=True, help="Users say right and wrong things after answers.")
@click.option("--seeds", type=Numbers(), default=(1,), help="As many runs of each method.")
@click.option("--order", type=click.Choice(["given", "seeded", "drift"]), default="drift")
@click.option("--first", type=click.IntRange(min=1), metavar="N", help="So many questions of each set.")
@click.option("--min-judged", type=click.IntRange(min=0), default=5, help="Passages judged at least.")
@click.option("--training", multiple=True, type=Pair(), help="Of the training: learning_rate=3e-5.")
@click.option("--replies", type=click.Path(path_type=Path), metavar="FILE", help="Chat models' recording.")
@click.option("--model", metavar="A", type=Words(), help="Compared: live, previous, a version, a name.")
@click.option("--against", metavar="B", type=Words(), help="The model that A is compared with.")
@click.option("--changed", is_flag=True, help="Only messages that A and B answer differently.")
@click.option("--up-to", type=int, metavar="TURN", hidden=True, help="Of a session, no turn behind this one.")
@click.option(
    "--newest",
    type=click.IntRange(min=1),
    metavar="N",
    help="Of a session or file compared, only the last N messages.",
)
@click.option(
    "--led", metavar="FOLDER", hidden=True, help="For a chat of that folder, whose input we end with."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Where it is played and kept.")
@click.option("--fresh", is_flag=True, help="Begin anew instead of going on.")
@click.option("--times", is_flag=True, help="Tell what took how long, too.")
@click.option("--fail-under", "limits", multiple=True, type=Limit(), help="Exit with 1 below it.")
@common_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Play questions through the chat's own parts, and measure what was found and answered.

    With --model and --against, play a session of your own, or a file of lines, under two models, and tell
    what would change. Everything happens in copies: nothing that you have stored is changed.

    \b
    Examples:
      vouch replay squad --sets data/ --method luf --judge simulated --first 2000
      vouch replay questions.jsonl --passages passages.jsonl --seeds 1,2,3 --out replays/mine
      vouch replay 12 --model live --against previous --changed
    """
    if options["led"]:
        os.chdir(options["led"])  # places in the settings are seen from there
    call = Invocation(ctx)
    with time_limit(call.timeout_seconds):
        return _run(call, options)


def _run(call: Invocation, options: Mapping[str, Any]) -> int:
    if options["model"] or options["against"] or options["changed"]:
        return _compare(call, options)
    _must_be_no_sessions(options["named"])
    replay, folder = _replay(call, options)
    progress = _Progress(call)
    runs = replay.play(progress.watch)
    progress.clear()
    return _report(call, replay, runs, folder, options)


def _must_be_no_sessions(named: Sequence[str]) -> None:
    """Raises `WrongUsage` where all that is named are numbers of sessions: those need two models."""
    if all(name.isdecimal() and not Path(name).exists() for name in named):
        raise WrongUsage(
            "a session is replayed under two models, and none are named",
            hint=f"As in: vouch replay {named[0]} --model live --against previous",
        )


def _compare(call: Invocation, options: Mapping[str, Any]) -> int:
    from assistant.commands.replay_conversations import be_led, compare

    if not options["against"]:
        raise WrongUsage("a comparison needs --against", hint="As in --model live --against previous.")
    progress = _Progress(call)
    watch = be_led(call) if options["led"] else progress.watch
    return compare(
        call,
        options["named"],
        options["model"] or "live",
        options["against"],
        only_changed=options["changed"],
        limits=options["limits"],
        watch=watch,
        clear=progress.clear,
        up_to=options["up_to"],
        newest=options["newest"],
        is_session=bool(options["led"]),
        replies=options["replies"],
    )


def _replay(call: Invocation, options: Mapping[str, Any]) -> tuple[Replay, Path]:
    from assistant.replay.inputs import read_inputs
    from assistant.replay.replay import Replay
    from assistant.replay.replay_plan import plan_key

    streamed = read_inputs(
        options["named"],
        data=options["sets"],
        splits=options["splits"],
        columns=dict(options["columns"]),
        passages=options["passages"],
        passage_columns=dict(options["passage_columns"]),
    )
    plan = _plan(call, options)

    def over(folder: Path) -> Replay:
        return Replay(
            plan,
            streamed,
            folder,
            settings=call.settings,
            live=call.locations,
            api_key=call.api_key,
            offline=call.is_offline,
            replies=options["replies"],
        )

    replays = call.locations.cache / "replays"
    folder = options["out"] or replays / plan_key(over(replays / "unnamed").identity)
    made = over(folder)
    if options["fresh"]:
        made.forget_earlier()
    if options["replies"] and (broken := made.broken_replies):
        lines = ", ".join(map(str, broken[:5])) + (" ..." if len(broken) > 5 else "")
        call.tell(f"{options['replies']}: passed over what is no whole JSON, in line {lines}.")
    return made, folder


def _plan(call: Invocation, options: Mapping[str, Any]) -> ReplayPlan:
    from assistant.replay.method_choice import MethodChoice, checked_training
    from assistant.replay.replay_plan import ReplayPlan

    losses = [loss for loss in options["losses"].replace(",", " ").split() if loss]
    learning = call.settings.learning
    training = {"epochs": learning.epochs, "learning_rate": learning.learning_rate}
    if options["training"]:
        training |= checked_training({name: _value(given) for name, given in options["training"]})
    return ReplayPlan(
        methods=tuple(MethodChoice.read(text, losses=losses) for text in options["methods"] or ("luf",)),
        judge=options["judge"],
        accuracy=options["accuracy"],
        answers=options["answers"],
        interval=options["interval"],
        remembers=options["remembers"],
        seeds=options["seeds"],
        order=options["order"],
        first=options["first"],
        min_judged=options["min_judged"],
        user_feedback=options["user_feedback"],
        training=training,
        threads=learning.threads,
    )


def _value(given: str) -> bool | int | float | str:
    if given in ("true", "false"):
        return given == "true"
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            pass
    return given


class _Progress:
    """How far it is, how quickly it goes and how long it will take, where somebody watches."""

    def __init__(self, call: Invocation) -> None:
        self._line = call.progress_line()
        self._what, self._began, self._from = "", 0.0, 0
        self.clear = self._line.clear

    def watch(self, what: str, done: int, of: int) -> None:
        """Shows it. The rate is counted from where this run was taken up."""
        if what != self._what:
            self._what, self._began, self._from = what, time.monotonic(), done
        passed = time.monotonic() - self._began
        told = f"{what} {done} of {of}"
        if done > self._from and passed > _SOONEST:
            rate = (done - self._from) / passed
            told += f", {rate:.1f}/s, about {_lasting((of - done) / rate)} left"
        self._line.show(told)


def _lasting(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _report(call: Invocation, replay: Replay, runs: Any, folder: Path, options: Mapping[str, Any]) -> int:
    from assistant.replay.line_file import encoded
    from assistant.replay.report import figure, report_of, table_rows, times_of
    from assistant.replay.report_page import page

    report, times = report_of(replay.identity, runs), times_of(runs)
    (folder / "report.json").write_bytes(encoded(report))
    (folder / "report.html").write_text(page(report), encoding="utf-8")
    (folder / "times.json").write_bytes(encoded(times))
    failed = [
        f"{metric} is {found:.4f}, under {limit:g}"
        for metric, limit in options["limits"]
        if not (found := figure(report, metric)) >= limit
    ]
    if call.as_json:
        told = report | ({"times": times} if options["times"] else {})
        click.echo(encoded(told).decode(), nl=False)
    else:
        _show(table_rows(report))
        for name, seconds in times.items() if options["times"] else ():
            click.echo("\t".join([one_line(name), *(f"{what} {took:g}" for what, took in seconds.items())]))
        call.tell(f"{folder / 'report.html'} shows all of it, report.json beside it is for programs.")
    for sentence in failed:
        click.echo(sentence, err=True)
    return 1 if failed else 0


def _show(rows: list[list[str]]) -> None:
    """In columns on a terminal, with tabs into a pipe."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    head, *others = rows
    kept = [row for row in others if row[0] in _PARTS_SHOWN]
    widths = [max(len(row[i]) for row in (head, *kept)) for i in range(len(head))]
    for row in (head, *kept):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
