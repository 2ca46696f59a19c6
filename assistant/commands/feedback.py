"""vouch feedback: what a user says of an answer."""

from __future__ import annotations

import sys

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId, Words
from stores.base.errors import NotFound, WrongUsage
from stores.base.one_line import short


@click.command("feedback")
@click.argument("turn_id", type=RowId(), metavar="TURN")
@click.option("--good", is_flag=True, help="It helped.")
@click.option("--bad", is_flag=True, help="It did not help.")
@click.option("--why", type=Words(), default="", metavar="TEXT", help="Why it did not help.")
@click.option(
    "--teach",
    type=Words(),
    metavar="TEXT",
    help="What it should have said; - reads it from standard input.",
)
@click.option("--passage", "number", type=int, metavar="N", help="Say it of source N of the answer.")
@common_options
@click.pass_context
def command(
    ctx: click.Context, turn_id: int, good: bool, bad: bool, why: str, teach: str | None, number: int | None
) -> int:
    """Rate an answer, one of its sources, or teach what was right.

    \b
    Examples:
      vouch feedback 12 --good
      vouch feedback 12 --bad --why "that was last year's timetable"
      vouch feedback 12 --teach "The room closes at four."
    """
    call = Invocation(ctx)
    if sum((good, bad, teach is not None)) != 1:
        raise WrongUsage("say one of --good, --bad and --teach")
    if why and not bad:
        raise WrongUsage("--why goes with --bad")
    if number is not None and teach is not None:
        raise WrongUsage("--passage goes with --good or --bad")
    from assistant.terminal.actions.rating import rate, reaches_all

    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        assistant.stores.journal.turn(user_id, turn_id)
        if teach is not None:
            from assistant.terminal.actions.teaching import says_something
            from assistant.terminal.actions.teaching import teach as keep_correction

            text = (sys.stdin.read() if teach == "-" else teach).strip()
            if not text:
                raise WrongUsage("there is nothing to teach")
            if not says_something(text):
                raise WrongUsage(
                    f"“{short(text)}” says nothing by itself, and was not kept",
                    hint=f'Write a sentence: vouch feedback {turn_id} --teach "The room closes at four."',
                )
            passage_id = keep_correction(assistant, user_id, turn_id, text)
            recorded = {"turn": turn_id, "rating": "taught", "passage": passage_id}
            said = f"Turn {turn_id}: kept as correction {passage_id}, yours."
            to_all = reaches_all(assistant, user_id, turn_id)
            said += f" {to_all} `vouch memory undo` takes it back.".replace("  ", " ")
        else:
            rating = "good" if good else "bad"
            version_id = None
            if number is not None:
                cited = {
                    f.citation: f.version_id for f in assistant.stores.journal.found_in(user_id, turn_id)
                }
                if number not in cited:
                    raise NotFound(f"turn {turn_id} has no source {number}")
                version_id = cited[number]
            unlearned = rate(assistant, user_id, turn_id, rating, reason=why, version_id=version_id)
            recorded = {"turn": turn_id, "rating": rating, "source": number, "is_learned_from": not unlearned}
            said = f"Turn {turn_id}{f', source {number}' if number else ''}: {rating}."
            more = unlearned or reaches_all(assistant, user_id, turn_id)
            said += f" {more}" if more else ""
        if call.as_json:
            call.give(recorded)
        else:
            click.echo(said)
    return 0
