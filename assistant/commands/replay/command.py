"""vouch replay: a data set, or one's own conversation, played through the chat's own parts, and measured."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from assistant.cli import common_options
from assistant.commands.replay.checks import (
    check_alone,
    check_limits,
    check_options,
    check_plan,
    check_replies,
    must_be_no_sessions,
)
from assistant.commands.replay.parameters import AtLeast, Column, Limit, Pair, Place, Seeds, Share
from assistant.invocation import Invocation, Words, time_limit
from stores.base.errors import StoreUnavailable, UnreadableDocument, VouchError, WrongUsage
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.replay.runs.in_folder import InFolder
    from assistant.replay.runs.plan import ReplayPlan

R = TypeVar("R", bound="InFolder")


def give_report(
    call: Invocation, replay: InFolder, runs: Any, folder: Path, options: Mapping[str, Any]
) -> int:
    """Writes it into the replay's folder and gives it on standard output; the exit code."""
    from assistant.replay.report.page import page
    from assistant.replay.report.report import figure, report_of, times_of
    from assistant.replay.storage.folder import PAGE, REPORT, TIMES
    from assistant.replay.storage.line_file import encoded

    report, times = report_of(replay.identity, runs), times_of(runs)
    (folder / REPORT).write_bytes(encoded(report))
    (folder / PAGE).write_text(page(report), encoding="utf-8")
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
        call.tell(f"{folder / PAGE} shows all of it, {REPORT} beside it is for programs.")
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


_FULL = (errno.ENOSPC, errno.EDQUOT)
_NOT_TO_BE_WRITTEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO)
_AS_GOOD_AS_NOTHING = 1 << 16  # bytes
_NAME_ANOTHER = "Name another folder with --out."


def make_folder(folder: Path) -> None:
    """Makes it where it is not there, and sees that it can be written to.

    Raises `WrongUsage` where a file is in the way, `StoreUnavailable` where it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError) as error:
        file = next(each for each in (folder, *folder.parents) if each.exists())
        raise WrongUsage(f"{folder} cannot be a folder: {file} is a file", hint=_NAME_ANOTHER) from error
    except OSError as error:
        if _is_full(error):
            raise _full(folder) from error
        said = f"{folder} cannot be written to: {error.strerror}"
        raise StoreUnavailable(said, hint=_NAME_ANOTHER) from error


@contextmanager
def disk_told(folder: Path, *, goes_on: bool = True) -> Iterator[None]:
    """Turns what the system says of the disk into our own error: full, not to be written, the folder gone.

    folder: of the replay. A child process whose disk is full cannot always say so: then the disk is asked.
    goes_on: the same command finds there what was played.
    """
    try:
        yield
    except OSError as error:
        if _is_full(error):
            raise _full(Path(error.filename or folder), goes_on=goes_on) from error
        if error.errno in _NOT_TO_BE_WRITTEN:
            said = f"{error.filename or folder}: {error.strerror}"
            raise StoreUnavailable(said, hint=_NAME_ANOTHER if goes_on else "") from error
        if isinstance(error, FileNotFoundError) and not folder.is_dir():
            raise _gone(folder) from error
        raise
    except VouchError as error:
        if _is_trainings(error) and not folder.is_dir():
            raise _gone(folder) from error
        if _is_trainings(error) and shutil.disk_usage(folder).free < _AS_GOOD_AS_NOTHING:
            raise _full(folder) from error
        raise


def _is_full(error: OSError) -> bool:
    """A copy of a folder tells of each file in words alone."""
    in_words = isinstance(error, shutil.Error) and any(os.strerror(number) in str(error) for number in _FULL)
    return error.errno in _FULL or in_words


def _is_trainings(error: VouchError) -> bool:
    from assistant.learning.training_process import TrainingFailed

    return isinstance(error, TrainingFailed)


def _gone(folder: Path) -> StoreUnavailable:
    return StoreUnavailable(f"{folder} was taken away meanwhile", hint="The same command begins anew.")


def _full(place: Path, *, goes_on: bool = True) -> StoreUnavailable:
    again = ", without --fresh: it goes on where it was." if goes_on else "."
    hint = f"Make room, then give the same command again{again}"
    return StoreUnavailable(f"{place}: the disk is full", hint=hint)


_LOSSES = "strict,flaccid,hard"


@click.command("replay")
@click.argument("named", nargs=-1, required=True, metavar="DATASET_OR_FILE_OR_SESSION...", type=Words())
@click.option("--sets", type=Place(), metavar="DIR", help="The folder of the named sets.")
@click.option(
    "--split",
    "splits",
    multiple=True,
    metavar="NAME",
    help="Of the sets, such as train, dev or test where a set has it; again for more. By default test, of "
    "squad dev.",
)
@click.option("--column", "columns", multiple=True, type=Column(), help="Where a table has what: text=ask.")
@click.option("--passages", type=Place(), metavar="FILE", help="A table of passages.")
@click.option("--passage-column", "passage_columns", multiple=True, type=Column(), help="As --column, of it.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    help="luf, luf:strict, query2doc, query-rewrite, rafe, tent or frozen; again for more. By default luf; "
    "frozen is always played, too. dual-feedback plays task dialogues and unirag conversations, each alone.",
)
@click.option("--losses", default=_LOSSES, metavar="NAMES", help=f"Of luf; by default {_LOSSES}.")
@click.option(
    "--judge",
    type=click.Choice(["reader", "simulated", "model"]),
    default="reader",
    help="Who says which passages help; by default reader, the built-in one.",
)
@click.option(
    "--accuracy",
    type=Share(),
    default=0.9,
    help="Of the simulated judge, or of corrections, 0 to 1; by default 0.9.",
)
@click.option(
    "--answers",
    type=click.Choice(["own", "simulated"]),
    default="own",
    help="Who answers; by default own: as in a chat.",
)
@click.option(
    "--interval", type=AtLeast(0), default=400, help="Questions between trainings; by default 400. 0: never."
)
@click.option(
    "--remembers",
    type=click.Choice(["all", "last"]),
    default="all",
    help="What luf is trained on; by default all.",
)
@click.option("--user-feedback", is_flag=True, help="Users say right and wrong things after answers.")
@click.option("--seeds", type=Seeds(), default=(1,), help="As many runs of each method; by default 1.")
@click.option(
    "--order",
    type=click.Choice(["given", "seeded", "drift"]),
    default="drift",
    help="Of the questions; by default drift, topic by topic.",
)
@click.option("--first", type=AtLeast(1), metavar="N", help="So many questions of each set; by default all.")
@click.option("--min-judged", type=AtLeast(0), default=5, help="Passages judged at least; by default 5.")
@click.option("--training", multiple=True, type=Pair(), help="Of the training: learning_rate=3e-5.")
@click.option("--replies", type=Place(), metavar="FILE", help="Chat models' recording.")
@click.option("--model", metavar="A", type=Words(), help="Compared: live, previous, a version, a name.")
@click.option("--against", metavar="B", type=Words(), help="The model that A is compared with.")
@click.option("--changed", is_flag=True, help="Only messages that A and B answer differently.")
@click.option("--up-to", type=int, metavar="TURN", hidden=True, help="Of a session, no turn behind this one.")
@click.option(
    "--newest",
    type=AtLeast(1),
    metavar="N",
    help="Of a session or file compared, only the last N messages.",
)
@click.option(
    "--led", metavar="FOLDER", hidden=True, help="For a chat of that folder, whose input we end with."
)
@click.option("--out", type=Place(), metavar="DIR", help="Where it is played and kept.")
@click.option("--fresh", is_flag=True, help="Begin anew instead of going on.")
@click.option("--times", is_flag=True, help="Tell what took how long, too.")
@click.option("--fail-under", "limits", multiple=True, type=Limit(), help="Exit with 1 below it: F1=0.4.")
@common_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Play questions through the chat's own parts, and measure what was found and answered.

    R@5 is the share of questions that have a passage that answers among the first five: by vectors alone
    (dense), as searched (fused), and as judged (reranked). For answer R@5 any passage counts in which an
    answer stands, whether it is known as one that answers or not.

    With --model and --against, play a session of your own, the questions of a table, or a file of lines,
    under two models, and tell what would change. Change is that of the answer's words, of citations and of
    memory writes, each from 0 for the same to 1 for nothing in common, and their sum, 0 to 3. Everything
    happens in copies: nothing that you have stored is changed.

    \b
    Examples:
      vouch replay squad --sets data/ --method luf --judge simulated --first 2000
      vouch replay questions.jsonl --passages passages.jsonl --seeds 1,2,3 --out replays/mine
      vouch replay smd --sets data/ --split train --method dual-feedback --interval 200
      vouch replay 12 --model live --against previous --changed
    """
    if options["led"]:
        os.chdir(options["led"])  # places in the settings are seen from there
    call = Invocation(ctx)
    logging.getLogger().addHandler(logging.NullHandler())  # it keeps no log, and tells what matters itself
    given = [name for name in options if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    with time_limit(call.timeout_seconds):
        return _run(call, options, given)


def _run(call: Invocation, options: Mapping[str, Any], given: Collection[str]) -> int:
    compares = bool(options["model"] or options["against"] or options["changed"])
    if compares and not options["against"]:
        raise WrongUsage("a comparison needs --against", hint="As in --model live --against previous.")
    check_options(given, compares=compares)
    if compares:
        return _compare(call, options)
    must_be_no_sessions(options["named"])
    replay, folder = _replay(call, options, given)
    progress = Progress(call)
    try:
        with disk_told(folder):
            runs = replay.play(progress.watch)
    except KeyboardInterrupt:
        progress.clear()
        again = "the same command without --fresh" if options["fresh"] else "the same command"
        call.tell(f"Interrupted. What was played is kept in {folder}; {again} goes on from there.")
        raise
    finally:
        progress.clear()
    with disk_told(folder):
        return give_report(call, replay, runs, folder, options)


def _compare(call: Invocation, options: Mapping[str, Any]) -> int:
    from assistant.commands.replay.conversations import be_led, compare

    check_replies(options["replies"], call.tell, asks_a_model=True)
    progress = Progress(call)
    watch = be_led(call) if options["led"] else progress.watch
    with disk_told(Path(gettempdir()), goes_on=False):
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
            columns=dict(options["columns"]),
            is_session=bool(options["led"]),
            replies=options["replies"],
        )


def _replay(call: Invocation, options: Mapping[str, Any], given: Collection[str]) -> tuple[InFolder, Path]:
    from assistant.replay.methods.choice import OF_DIALOGUES

    plan = _plan(call, options)
    if alone := check_alone(plan, given):
        play = _of_dialogues if alone == OF_DIALOGUES else _of_conversations
        return _in_folder(call, options, play(call, plan, options))
    from assistant.replay.runs.inputs import read_inputs
    from assistant.replay.runs.replay import Replay

    asks_a_model = call.settings.model.backend != "extractive"
    check_plan(plan, given, call.tell, seeds=options["seeds"], asks_a_model=asks_a_model)
    check_replies(options["replies"], call.tell, asks_a_model=asks_a_model)
    try:
        streamed = read_inputs(
            options["named"],
            data=options["sets"],
            splits=options["splits"],
            columns=dict(options["columns"]),
            passages=options["passages"],
            passage_columns=dict(options["passage_columns"]),
            tell=call.tell,
        )
    except UnreadableDocument as error:  # as an empty one: 1 is kept for a figure under its limit
        raise WrongUsage(error.message, hint=error.hint) from error
    questions = [question for part in streamed.parts for question in part]
    if options["limits"]:
        from assistant.replay.metrics.figure_names import measures_of

        check_limits(options, plan, questions, measures_of(questions, users_speak=plan.user_feedback))

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

    made, folder = _in_folder(call, options, over)
    if options["replies"] and (broken := made.broken_replies):
        lines = ", ".join(map(str, broken[:5])) + (" ..." if len(broken) > 5 else "")
        call.tell(f"{options['replies']}: passed over what is no whole JSON, in line {lines}.")
    return made, folder


def _of_dialogues(
    call: Invocation, plan: ReplayPlan, options: Mapping[str, Any]
) -> Callable[[Path], InFolder]:
    from assistant.replay.metrics.measures import OF_DIALOGUES as MEASURES
    from assistant.replay.runs.dialogues import DialogueReplay, read_dialogue_sets

    try:
        streamed = read_dialogue_sets(options["named"], data=options["sets"], splits=options["splits"])
    except UnreadableDocument as error:
        raise WrongUsage(error.message, hint=error.hint) from error
    check_limits(options, plan, streamed.domains, MEASURES)

    return lambda folder: DialogueReplay(
        plan, streamed, folder, settings=call.settings, live=call.locations, offline=call.is_offline
    )


def _of_conversations(
    call: Invocation, plan: ReplayPlan, options: Mapping[str, Any]
) -> Callable[[Path], InFolder]:
    from assistant.replay.metrics.measures import OF_FOLLOW_UPS as MEASURES
    from assistant.replay.runs.follow_ups import FollowUpReplay
    from assistant.replay.streams.follow_ups import read_conversations

    data, named, parts = options["sets"], options["named"], options["splits"] or ("test",)
    if data is None or not data.is_dir():
        raise WrongUsage("--sets names the folder of the sets of conversations", hint="As in --sets data/.")
    if len(named) > 1 or len(parts) > 1:
        raise WrongUsage("unirag plays one part of one set", hint="Play one after the other.")
    with call.assistant() as assistant:
        base = assistant.query_base_to_train()
    try:
        streamed = read_conversations(named[0], data, parts[0])
    except UnreadableDocument as error:
        raise WrongUsage(error.message, hint=error.hint) from error
    check_limits(options, plan, streamed.domains, MEASURES)
    return lambda folder: FollowUpReplay(
        plan,
        streamed,
        folder,
        settings=call.settings,
        live=call.locations,
        base=base,
        offline=call.is_offline,
    )


def _in_folder(call: Invocation, options: Mapping[str, Any], over: Callable[[Path], R]) -> tuple[R, Path]:
    """The replay in the folder that is named, or in one of its own in the cache."""
    from assistant.replay.runs.plan import plan_key
    from assistant.replay.storage.folder import check_folder

    replays = call.locations.cache / "replays"
    folder = options["out"] or replays / plan_key(over(replays / "unnamed").identity)
    made = over(folder)
    check_folder(folder)
    make_folder(folder)
    if options["fresh"]:
        with disk_told(folder):
            made.begin_anew()
    return made, folder


def _plan(call: Invocation, options: Mapping[str, Any]) -> ReplayPlan:
    from assistant.replay.methods.choice import MethodChoice, checked_training
    from assistant.replay.runs.plan import ReplayPlan

    losses = options["losses"].replace(",", " ").split()
    if not losses:
        raise WrongUsage("--losses names none", hint=f"As in --losses {_LOSSES}")
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
        seeds=tuple(dict.fromkeys(options["seeds"])),
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
