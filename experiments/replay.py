"""vouch replay, with methods that are compared with the product's, and users who say right and wrong things.

    python -m experiments.replay SET ... [--method query2doc, query2doc:0.8, query-rewrite, rafe, tent or
        luf:strict+hard] [--answers simulated] [--user-feedback] [--remembers last]
        [--training update_side=both] ...

All other arguments are those of `vouch replay`. The methods:

    query2doc      searched with a passage that a chat model makes up; with a number, a simulated one, which
                   is right so often
    query-rewrite  searched with a chat model's rewrites; or a simulated one's
    rafe           rewrites by templates that a policy learns to choose
    tent           the query side adapts by entropy
    luf:strict     luf with some of its losses: strict, flaccid and hard
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import fields
from functools import partial
from typing import Any

import click

from assistant.cli import run
from assistant.commands.replay import command as product
from assistant.replay.methods.choice import OTHERS
from experiments.compared_replay import ComparedReplay, How
from experiments.methods.luf_variants import losses_of
from stores.base.errors import InvalidSetting, WrongUsage


def main() -> None:
    """Runs the command."""
    take_part()
    sys.exit(run(["replay", *sys.argv[1:]]))


def take_part() -> None:
    """Has the replays of this process know the methods and the options."""
    OTHERS.update(METHODS)
    product.command = command


def _quality(how: str) -> None:
    try:
        quality = float(how or 1)
    except ValueError:
        quality = -1.0
    if not 0 <= quality <= 1:
        hint = "As in query2doc:0.8, whose writer is simulated and right so often."
        raise WrongUsage(f"{how!r} is no quality between 0 and 1", hint=hint)


def _nothing(how: str) -> None:
    if how:
        raise WrongUsage(f"nothing stands behind this method's colon, and {how!r} does")


METHODS = {
    "luf": losses_of,
    "query2doc": _quality,
    "query-rewrite": _quality,
    "rafe": _nothing,
    "tent": _nothing,
}


@click.pass_context
def _command(
    ctx: click.Context,
    /,
    answers: Any,
    remembers: Any,
    user_feedback: bool,
    training: Iterable[str],
    **options: Any,
) -> int:
    how = How(answers, remembers, user_feedback, checked_training(training))
    return product.run(ctx, options, partial(ComparedReplay, how=how))


command = click.Command(
    "replay",
    callback=_command,
    help=__doc__,
    params=[
        *product.command.params,
        click.Option(["--answers"], type=click.Choice(["own", "simulated"]), default="own"),
        click.Option(["--remembers"], type=click.Choice(["all", "last"]), default="all"),
        click.Option(["--training"], multiple=True, metavar="NAME=VALUE"),
        click.Option(["--user-feedback"], is_flag=True),
    ],
)


def checked_training(given: Iterable[str]) -> dict[str, Any]:
    """Settings of the training, each NAME=VALUE; loads torch. Raises `WrongUsage` for what cannot be."""
    settings: dict[str, Any] = {
        name: _value(value) for name, _, value in (each.partition("=") for each in given)
    }
    if not settings:
        return {}
    from assistant.learning.recipes.retriever.training import RetrieverTraining

    known = [each.name for each in fields(RetrieverTraining) if each.name != "seed"]
    if unknown := set(settings) - set(known):
        there_are = f"There are {', '.join(known)}."
        raise WrongUsage(f"a replay's training has no setting {sorted(unknown)[0]!r}", hint=there_are)
    try:
        RetrieverTraining(**settings)
    except InvalidSetting as wrong:
        name = wrong.key.rpartition(".")[2]
        raise WrongUsage(f"--training {name} is {wrong.found!r}, but must be {wrong.expected}") from wrong
    return settings


def _value(given: str) -> bool | int | float | str:
    if given in ("true", "false"):
        return given == "true"
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            pass
    return given


if __name__ == "__main__":
    main()
