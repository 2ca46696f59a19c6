"""vouch train: the retriever learns from what was judged, and goes live only where it wins."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NoReturn

import click

from assistant.cli import common_options
from assistant.invocation import Invocation
from assistant.terminal.facts.training import reason_of, version_of, without_state
from assistant.terminal.facts.training_lines import running_line
from assistant.wiring.recipes import RECIPES
from stores.base.clock import local, stamp
from stores.base.errors import StoreUnavailable, TryAgain, VouchError, WrongUsage
from stores.base.one_line import one_line
from stores.learning.rounds import in_words

if TYPE_CHECKING:
    from assistant.learning.outcome import Ended
    from assistant.learning.progress import Progress
    from assistant.learning.schedule import Awaited
    from assistant.wiring.assistant import Assistant
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


_WATCHED_EVERY = 30.0
_STANDARD_INPUT = 0
_PART = r"(\d+(?:\.\d+)?)"
_DURATION = re.compile(rf"(?:{_PART}h)?(?:{_PART}m)?(?:{_PART}s)?|{_PART}")


class Duration(click.ParamType[float]):
    """A time like 90s, 10m or 1h30m, in seconds; more than none."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        parts = _DURATION.fullmatch(str(value))
        if parts is None or not any(parts.groups()):
            self.fail(f"{value!r} is no time: write 90s, 10m or 1h30m", param, ctx)
        hours, minutes, seconds, alone = (float(part or 0) for part in parts.groups())
        if not (found := 3600 * hours + 60 * minutes + seconds + alone):
            self.fail(f"{value!r} is no time at all: write 90s, 10m or 1h30m", param, ctx)
        return found


@click.command("train")
@click.option("--once", is_flag=True, help="One round, and end. This is what happens by default.")
@click.option("--watch", is_flag=True, help="Stay, and begin a round whenever enough was judged.")
@click.option(
    "--recipe",
    type=click.Choice(list(RECIPES)),
    help="What is trained: the retriever, collections, the order of what was found, what replies over "
    "knowledge bases, what makes follow-up questions stand alone, or what finds entities of knowledge bases; "
    "else what is due.",
)
@click.option(
    "--budget",
    type=Duration(),
    help="Time for a round's training, which goes on later where that is not enough: 90s, 10m, 1h30m; "
    "a number alone is seconds.",
)
@click.option("--status", is_flag=True, help="Show the last rounds.")
@click.option("--stop", is_flag=True, help="Stop the round that runs.")
@click.option("--back", is_flag=True, help="Go back to the model before the live one, at once.")
@click.option(
    "--led",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False),
    hidden=True,
    help="One round for a chat, which was begun in that folder, and leads it by our input.",
)
@click.option("--require-better", is_flag=True, help="Exit with 1 unless the candidate went live.")
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    once: bool,
    watch: bool,
    recipe: str | None,
    budget: float | None,
    status: bool,
    stop: bool,
    back: bool,
    led: str | None,
    require_better: bool,
) -> int:
    """Learn from use: to find better, to reply better over knowledge bases, to understand follow-ups better.

    A candidate goes live only if it is better on the newest lessons, hardly by chance, and on no part surely
    worse.

    \b
    Examples:
      vouch train
      vouch train --recipe relevance
      vouch train --recipe dialogue
      vouch train --recipe query
      vouch train --recipe entities
      vouch train --status
      vouch train --back
    """
    if led is not None:
        os.chdir(led)  # places in the settings are seen from there
    call = Invocation(ctx)
    if sum((once, watch, status, stop, back)) > 1:
        raise WrongUsage("--once, --watch, --status, --stop and --back exclude one another")
    if led is not None:
        return _be_led(call)
    with call.assistant() as assistant:
        if status:
            return show(call, assistant.stores.rounds)
        if stop:
            return _stop(call, assistant.stores.rounds)
        if back:
            return _go_back(call, assistant, recipe or "")
        assistant.catch_up()
        if watch:
            _watch(call, assistant, recipe, budget)
        recipe = recipe or assistant.learning.recipe_wanted()
        if warning := assistant.learning.occasions_of(recipe).warning():
            call.tell(warning)
        return _exit_code(_one_round(call, assistant, recipe, budget), require_better)


def _be_led(call: Invocation) -> int:
    """A round that a chat has begun: it tells in JSON, and waits or leaves off when the chat says so."""
    from assistant.learning.background import follow

    call.as_json = True
    of_training = replace(call.settings.encoder, threads=call.settings.learning.threads)
    call.settings = replace(call.settings, encoder=of_training)
    with call.assistant() as assistant:
        follow(_STANDARD_INPUT, assistant.learning.steering)
        return _one_round(call, assistant, assistant.learning.recipe_wanted(), None).exit_code


def _one_round(call: Invocation, assistant: Assistant, recipe: str, budget: float | None) -> Ended:
    """Tells how far it is, and gives what came of it."""
    teller = _Teller(call)
    try:
        ended = assistant.learning.learner_of(recipe).run(budget_seconds=budget, tell=teller.tell)
    finally:
        teller.clear()
    _give(call, ended, recipe)
    return ended


def _watch(call: Invocation, assistant: Assistant, wanted: str | None, budget: float | None) -> NoReturn:
    """A round on every occasion; after one that decided nothing only with more to learn from, or later.

    wanted: a recipe; None for all.
    """
    is_told = False
    while True:
        due = wanted if wanted and assistant.learning.occasions_of(wanted).is_due() else ""
        if recipe := due if wanted else assistant.learning.recipe_due():
            is_told = False
            try:
                _one_round(call, assistant, recipe, budget)
            except StoreUnavailable as error:  # the round waits for its lease, and is tried again then
                call.tell(f"{error.message}. {error.hint}".strip())
            except TryAgain:
                pass  # another learner is at it
            except VouchError as error:  # what cannot be learned from yet
                call.tell(f"{error.message}. {error.hint}".strip())
                assistant.learning.occasions_of(recipe).came_to_nothing()
        if not is_told:
            is_told = True
            call.tell(_waits_for(assistant.learning.occasions_of(wanted or "retriever").awaited()))
        time.sleep(_WATCHED_EVERY)


def _waits_for(awaited: Awaited) -> str:
    """What `--watch` waits for, in a sentence."""
    if awaited.round_id is not None:
        return f"Round {awaited.round_id} has not ended; the next one waits for it. Ctrl+C leaves."
    if awaited.lack is not None:
        return f"{awaited.lack.sentence}. Ctrl+C leaves."
    done = f"{awaited.judged} of {awaited.wanted} {'new ' if awaited.is_later else ''}questions are judged"
    told = f"{done}; with {awaited.wanted} a round begins"
    if awaited.came_to_nothing:
        told = f"{done}; a round is tried again when one more is"
    elif awaited.at is not None:
        least = "" if awaited.judged else ", with one at least"
        told += f", or at {local(awaited.at):%Y-%m-%d %H:%M}{least}"
    return f"{told}. Ctrl+C leaves."


def _stop(call: Invocation, rounds: Rounds) -> int:
    stopped = rounds.ask_to_stop()
    if call.as_json:
        call.give({"round": stopped, "stopped": stopped is not None})
    else:
        click.echo(f"round {stopped} stops" if stopped else "no round runs")
    return 0 if stopped else 1


def _go_back(call: Invocation, assistant: Assistant, recipe: str) -> int:
    version = assistant.learning.step_back(recipe)
    if call.as_json:
        call.give({"live": version})
    else:
        click.echo(f"live now: {version}")
        call.tell("`vouch train --back` once more takes this back.")
    return 0


class _Teller:
    """How far a round is, for who watches; with --json all of it, as results."""

    def __init__(self, call: Invocation) -> None:
        self._call = call
        self._line = call.progress_line()
        self.clear = self._line.clear

    def tell(self, progress: Progress) -> None:
        """Shows it; that an earlier round cannot be gone on with is said to everybody."""
        if self._call.as_json:
            self._call.give({"round": progress.round_id, "phase": progress.phase, **progress.facts})
        elif progress.phase == "dropped":
            reason = one_line(progress.facts["reason"])
            self._call.tell(f"Round {progress.round_id} is not gone on with: {reason}.")
        else:
            self._line.show(_told(progress))


def _told(progress: Progress) -> str:
    facts = progress.facts
    if "seconds_left" in facts:
        return (
            f"round {progress.round_id}, step {facts['step']} of {facts['steps']}, loss {facts['loss']:.3f}, "
            f"{facts['examples_per_second']:.1f} lessons/s, about {facts['seconds_left']:.0f} s left"
        )
    if "questions_in_all" in facts:
        done, of = facts["questions"], facts["questions_in_all"]
        what = "searched for" if progress.phase == "trying" else "compared on"
        return f"round {progress.round_id}, {what} {done} of {of} questions"
    if "passages_in_all" in facts:
        done, of = facts["passages"], facts["passages_in_all"]
        return f"round {progress.round_id}, {in_words(progress.phase)}: {done} of {of} passages"
    return f"round {progress.round_id}, {in_words(progress.phase)}"


def _give(call: Invocation, ended: Ended, recipe: str) -> None:
    if call.as_json:
        call.give(
            {
                "round": ended.round_id,
                "recipe": recipe,
                "state": ended.state,
                "is_broken_off": _is_broken_off(ended),
                "reason": ended.reason,
                "version": ended.version,
                "figures": dict(ended.figures),
            }
        )
        return
    state = "broken off" if _is_broken_off(ended) else ended.state
    later = "; it goes on at the next occasion, or with `vouch train`" if _was_ended(ended) else ""
    click.echo(f"round {ended.round_id}\t{state}\t{without_state(ended.reason)}{later}")


def _was_ended(ended: Ended) -> bool:
    """Whether its training was killed or had its time, and the round goes on later."""
    return ended.state == "waiting" and ended.exit_code != 0


def _is_broken_off(ended: Ended) -> bool:
    return _was_ended(ended) and ended.exit_code == TryAgain.exit_code


def _exit_code(ended: Ended, require_better: bool) -> int:
    if ended.exit_code:
        return ended.exit_code
    return 1 if require_better and ended.state != "promoted" else 0
