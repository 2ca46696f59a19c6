"""vouch sessions: which conversations there are."""

from __future__ import annotations

import sys
from typing import Literal

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from stores.one_line import one_line


@click.command("sessions")
@click.option(
    "--shelf",
    type=click.Choice(["open", "archived", "deleted"]),
    default="open",
    show_default=True,
    help="Which of them.",
)
@click.option("--query", type=Words(), default="", help="Words that must all stand in the title.")
@click.option("--limit", type=click.IntRange(min=1), default=1_000, help="How many at most.")
@common_options
@click.pass_context
def command(ctx: click.Context, shelf: Literal["open", "archived", "deleted"], query: str, limit: int) -> int:
    """List your sessions, those spoken in last first: id, when, turns and title. Exits with 1 without any."""
    call = Invocation(ctx)
    wanted = query.casefold().split()
    with call.assistant() as assistant:
        user_id = assistant.journal.known_user_id(call.user)
        lines = assistant.sessions.lines(user_id, shelf=shelf, limit=1_000_000)
    lines = [line for line in lines if all(word in line.title.casefold() for word in wanted)][:limit]
    for line in lines:
        if call.as_json:
            call.give(
                {
                    "session": line.session_id,
                    "title": line.title,
                    "turns": line.turns,
                    "created_at": line.created_at.isoformat(),
                    "last_at": line.last_at.isoformat(),
                    "imported_from": line.origin or None,
                    "private": line.is_private,
                }
            )
        elif sys.stdout.isatty():
            spoken = f"{line.last_at.astimezone():%Y-%m-%d %H:%M}"
            click.echo(f"{line.session_id:>6}  {spoken}  {line.turns:>4} turns  {one_line(line.title)}")
        else:
            click.echo(f"{line.session_id}\t{line.last_at.isoformat()}\t{line.turns}\t{one_line(line.title)}")
    return 0 if lines else 1
