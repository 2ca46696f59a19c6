"""vouch replay: a data set, or one's own conversation, played through the chat's own parts, and measured."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from assistant.cli import common_options
from assistant.commands.replay.disk import disk_told
from assistant.commands.replay.parameters import Limit, Place, Seeds, Share
from assistant.commands.replay.streams import replay_of
from assistant.commands.replay.telling import Progress, give_report
from assistant.invocation import Invocation, Words, time_limit
from stores.base.errors import WrongUsage

if TYPE_CHECKING:
    from assistant.replay.runs.replay import Replay

# Options that a comparison of two models cannot have, and those that only a comparison has
_OF_SETS = (
    *("sets", "split", "passages", "method", "judge", "accuracy", "interval", "seeds", "first"),
    *("out", "fresh"),
)
_OF_A_COMPARISON = ("newest", "up_to")


@click.command("replay")
@click.argument("named", nargs=-1, required=True, metavar="DATASET_OR_FILE_OR_SESSION...", type=Words())
@click.option("--sets", type=Place(), metavar="DIR", help="The folder of the named sets.")
@click.option(
    "--split",
    multiple=True,
    metavar="NAME",
    help="Of the sets, such as train, dev or test where a set has it; again for more. By default test, of "
    "squad dev.",
)
@click.option("--passages", type=Place(), metavar="FILE", help="A table of passages.")
@click.option(
    "--method",
    multiple=True,
    metavar="NAME",
    help="luf, flowrag, evo, evo-cautious or frozen; by default luf; frozen is always played, too. flowrag "
    "plays several sets, each a collection that learns. evo and evo-cautious train the judge. "
    "dual-feedback plays task dialogues and unirag conversations, each alone.",
)
@click.option(
    "--judge",
    type=click.Choice(["reader", "simulated"]),
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
    "--interval",
    type=click.IntRange(min=0),
    default=400,
    metavar="N",
    help="Questions between trainings; by default 400. 0: never.",
)
@click.option("--seeds", type=Seeds(), default=(1,), help="As many runs of each method; by default 1.")
@click.option(
    "--first",
    type=click.IntRange(min=1),
    metavar="N",
    help="So many questions of each set; by default all.",
)
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
@click.option("--out", type=Place(), metavar="DIR", help="Where it is played and kept.")
@click.option("--fresh", is_flag=True, help="Begin anew instead of going on.")
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
      vouch replay covidqa friendsqa --sets data/ --method flowrag --judge simulated
      vouch replay smd --sets data/ --split train --method dual-feedback --interval 200
      vouch replay 12 --model live --against previous --changed
    """
    return run(ctx, options)


def run(
    ctx: click.Context, options: Mapping[str, Any], questions: Callable[..., Replay] | None = None
) -> int:
    """Plays what the options say; the exit code. questions: what plays questions; None: the product's."""
    if options["led"]:
        os.chdir(options["led"])  # places in the settings are seen from there
    call = Invocation(ctx)
    logging.getLogger().addHandler(logging.NullHandler())  # it keeps no log, and tells what matters itself
    compares = bool(options["model"] or options["against"] or options["changed"])
    for name in _OF_SETS if compares else _OF_A_COMPARISON:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            hint = "--newest N plays the last N messages." if name == "first" else "Leave it out."
            only = "does not go with" if compares else "goes only with"
            raise WrongUsage(f"--{name.replace('_', '-')} {only} --model and --against", hint=hint)
    with time_limit(call.timeout_seconds):
        return _compare(call, options) if compares else _play(call, options, questions)


def _play(call: Invocation, options: Mapping[str, Any], questions: Callable[..., Replay] | None) -> int:
    named = options["named"]
    if all(name.isdecimal() and not Path(name).exists() for name in named):
        raise WrongUsage(
            "a session is replayed under two models, and none are named",
            hint=f"As in: vouch replay {named[0]} --model live --against previous",
        )
    replay, folder = replay_of(call, options, questions)
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
        return give_report(call, replay, runs, folder, options["limits"])


def _compare(call: Invocation, options: Mapping[str, Any]) -> int:
    from assistant.commands.replay.conversations import compare

    if not options["against"]:
        raise WrongUsage("a comparison needs --against", hint="As in --model live --against previous.")
    with disk_told(call.locations.data, goes_on=False):  # where it works on copies
        return compare(call, options)
