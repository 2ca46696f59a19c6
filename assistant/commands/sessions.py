"""vouch sessions: which conversations there are; those listed deleted, brought back, or erased for good."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from assistant.paging import paged
from stores.clock import local, stamp
from stores.errors import WrongUsage
from stores.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.session_list import SessionLine


@click.command("sessions")
@click.option(
    "--shelf",
    type=click.Choice(["open", "asked", "archived", "deleted"]),
    default="open",
    show_default=True,
    help="Which of them; asked: one question of `vouch ask` each.",
)
@click.option("--from", "origin", type=Words(), default="", help="Taken in from this program, as ChatGPT.")
@click.option("--query", type=Words(), default="", help="Words that must all stand in the title.")
@click.option("--limit", type=click.IntRange(min=1), default=1_000, help="How many at most.")
@click.option("--delete", "change", flag_value="delete", help="Delete those listed; what they taught stays.")
@click.option("--bring-back", "change", flag_value="bring-back", help="With --shelf deleted: show again.")
@click.option("--erase", "change", flag_value="erase", help="With --shelf deleted: erase them for good.")
@click.option("--yes", is_flag=True, help="Erase without being asked.")
@common_options
@click.pass_context
@paged
def command(
    ctx: click.Context,
    shelf: Literal["open", "asked", "archived", "deleted"],
    origin: str,
    query: str,
    limit: int,
    change: str | None,
    yes: bool,
) -> int:
    """List your sessions, those spoken in last first: id, when, turns and title. Exits with 1 without any.

    \b
    Examples:
      vouch sessions --query "reading room"
      vouch sessions --from ChatGPT --delete
      vouch sessions --shelf deleted --from ChatGPT --bring-back
    """
    from assistant.terminal.session_text import not_listed

    call = Invocation(ctx)
    if (change in ("bring-back", "erase")) != (shelf == "deleted") and change is not None:
        needed = "--shelf deleted" if change != "delete" else "another shelf than the deleted ones"
        raise WrongUsage(f"--{change} needs {needed}")
    wanted = query.casefold().split()
    with call.assistant() as assistant:
        user_id = assistant.journal.known_user_id(call.user)
        lines = [
            line
            for line in assistant.sessions.lines(user_id, shelf=shelf, limit=1_000_000)
            if all(word in line.title.casefold() for word in wanted)
            and origin.casefold() in ("", line.origin.casefold())
        ][:limit]
        if change == "delete" and origin:
            lines = _without_those_gone_on_with(call, assistant, user_id, lines)
        if change == "erase" and lines and not yes:
            _ask(call, lines)
        _list(call, lines)
        if shelf == "open" and (asked := assistant.sessions.count(user_id, "asked")):
            call.tell(not_listed(asked, "--shelf asked"))
        if change is not None and lines:
            _change(call, assistant, user_id, change, [line.session_id for line in lines])
    return 0 if lines else 1


def _without_those_gone_on_with(
    call: Invocation, assistant: Assistant, user_id: int, lines: Sequence[SessionLine]
) -> list[SessionLine]:
    """An import is taken back; what was said here since is not."""
    gone_on = assistant.sessions.gone_on_with(user_id, [line.session_id for line in lines])
    if gone_on:
        ids = ", ".join(str(session_id) for session_id in sorted(gone_on))
        call.tell(f"Kept, since you went on with them here: {ids}.")
    return [line for line in lines if line.session_id not in gone_on]


def _ask(call: Invocation, lines: Sequence[SessionLine]) -> None:
    turns = sum(line.turns for line in lines)
    question = f"Erase {len(lines)} sessions with {turns} turns for good, with what was learned from them?"
    if call.no_input or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise WrongUsage(
            "erasing is final, and nobody can be asked here; nothing was erased", hint="To mean it: --yes."
        )
    if not click.confirm(f"{question} This cannot be undone.", err=True):
        raise WrongUsage("nothing was erased")


def _change(
    call: Invocation, assistant: Assistant, user_id: int, change: str, session_ids: Sequence[int]
) -> None:
    count = f"{len(session_ids)} session{'s' if len(session_ids) != 1 else ''}"
    if change == "delete":
        assistant.sessions.delete_all(user_id, session_ids)
        call.tell(f"Deleted: {count}. With --shelf deleted, --bring-back or --erase.")
    elif change == "bring-back":
        assistant.sessions.bring_back_all(user_id, session_ids)
        call.tell(f"Brought back: {count}.")
    else:
        from assistant.terminal.forgetting import forget_sessions

        for said in forget_sessions(assistant, user_id, session_ids):
            call.tell(said)


def _list(call: Invocation, lines: Sequence[SessionLine]) -> None:
    for line in lines:
        if call.as_json:
            call.give(
                {
                    "session": line.session_id,
                    "title": line.title,
                    "turns": line.turns,
                    "created_at": stamp(line.created_at),
                    "last_at": stamp(line.last_at),
                    "imported_from": line.origin or None,
                    "private": line.is_private,
                }
            )
        elif sys.stdout.isatty():
            spoken = f"{local(line.last_at):%Y-%m-%d %H:%M}"
            click.echo(f"{line.session_id:>6}  {spoken}  {line.turns:>4} turns  {one_line(line.title)}")
        else:
            spoken = stamp(line.last_at)
            click.echo(f"{line.session_id}\t{spoken}\t{line.turns}\t{one_line(line.title)}")
