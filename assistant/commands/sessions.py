"""vouch sessions: which conversations there are; those listed renamed, archived, deleted or brought back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId, Words
from assistant.paging import paged
from stores.base.clock import local, stamp
from stores.base.errors import NotFound, WrongUsage
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.conversation.sessions import SessionLine


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
@click.option("--session", "named", type=RowId(), metavar="ID", multiple=True, help="This one alone.")
@click.option("--rename", "title", type=Words(), metavar="TITLE", help="Give the one listed another title.")
@click.option(
    "--archive", "change", flag_value="archive", help="Archive those listed; Find still finds them."
)
@click.option("--delete", "change", flag_value="delete", help="Delete those listed; what they taught stays.")
@click.option(
    "--bring-back", "change", flag_value="bring-back", help="With --shelf archived or deleted: show again."
)
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
    named: tuple[int, ...],
    title: str | None,
    change: str | None,
    yes: bool,
) -> int:
    """List your sessions, those spoken in last first: id, when, turns and title. Exits with 1 without any.

    \b
    Examples:
      vouch sessions --query "reading room"
      vouch sessions --session 12 --rename "Holidays in May"
      vouch sessions --from ChatGPT --delete
      vouch sessions --shelf deleted --from ChatGPT --bring-back
    """
    from assistant.terminal.facts.session_text import not_listed

    call = Invocation(ctx)
    _must_fit(shelf, change, title)
    wanted = query.casefold().split()
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        lines = [
            line
            for line in assistant.stores.sessions.lines(user_id, shelf=shelf, limit=1_000_000)
            if all(word in line.title.casefold() for word in wanted)
            and origin.casefold() in ("", line.origin.casefold())
            and (not named or line.session_id in named)
        ][:limit]
        if missing := set(named).difference(line.session_id for line in lines):
            raise _not_listed(min(missing), shelf)
        if title is not None:
            lines = _rename(call, assistant, user_id, lines, title)
        if change == "delete" and origin:
            lines = _without_those_gone_on_with(call, assistant, user_id, lines)
        if change == "erase" and lines and not yes:
            _ask(call, lines)
        _list(call, lines)
        if shelf == "open" and (asked := assistant.stores.sessions.count(user_id, "asked")):
            call.tell(not_listed(asked, "--shelf asked"))
        if change is not None and lines:
            _change(call, assistant, user_id, shelf, change, [line.session_id for line in lines])
    return 0 if lines else 1


_SHELVES = {  # on which each change can be made
    "archive": ("open", "asked"),
    "delete": ("open", "asked", "archived"),
    "bring-back": ("archived", "deleted"),
    "erase": ("deleted",),
}


def _must_fit(shelf: str, change: str | None, title: str | None) -> None:
    """Raises `WrongUsage` for a change that cannot be made with what is listed."""
    if change is not None and title is not None:
        raise WrongUsage(f"--rename and --{change} are two changes: one at a time")
    if title is not None and not title.strip():
        raise WrongUsage("the title is empty")
    if change is not None and shelf not in _SHELVES[change]:
        needed = " or ".join(f"--shelf {name}" for name in _SHELVES[change])
        raise WrongUsage(f"--{change} needs {needed}")


def _not_listed(session_id: int, shelf: str) -> NotFound:
    others = ", ".join(
        f"--shelf {name}" for name in ("open", "asked", "archived", "deleted") if name != shelf
    )
    return NotFound(f"session {session_id} is not among those listed", hint=f"Others: {others}.")


def _rename(
    call: Invocation, assistant: Assistant, user_id: int, lines: Sequence[SessionLine], title: str
) -> list[SessionLine]:
    """The one that is listed, with its other title."""
    if len(lines) > 1:
        raise WrongUsage(
            f"--rename is for one session, and {len(lines)} are listed", hint="Name it: --session ID."
        )
    renamed = []
    for line in lines:
        old = assistant.stores.sessions.rename(user_id, line.session_id, title)
        call.tell(f"Renamed: it was “{one_line(old)}”.")
        renamed.append(replace(line, title=assistant.stores.sessions.title(user_id, line.session_id)))
    return renamed


def _without_those_gone_on_with(
    call: Invocation, assistant: Assistant, user_id: int, lines: Sequence[SessionLine]
) -> list[SessionLine]:
    """An import is taken back; what was said here since is not."""
    gone_on = assistant.stores.sessions.gone_on_with(user_id, [line.session_id for line in lines])
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
    call: Invocation,
    assistant: Assistant,
    user_id: int,
    shelf: str,
    change: str,
    session_ids: Sequence[int],
) -> None:
    count = f"{len(session_ids)} session{'s' if len(session_ids) != 1 else ''}"
    if change == "archive":
        assistant.stores.sessions.archive(user_id, *session_ids)
        call.tell(f"Archived: {count}. With --shelf archived, --bring-back.")
    elif change == "delete":
        assistant.stores.sessions.delete(user_id, *session_ids)
        call.tell(f"Deleted: {count}. With --shelf deleted, --bring-back or --erase.")
    elif change == "bring-back" and shelf == "archived":
        assistant.stores.sessions.archive(user_id, *session_ids, archived=False)
        call.tell(f"Out of the archive: {count}.")
    elif change == "bring-back":
        assistant.stores.sessions.bring_back(user_id, *session_ids)
        call.tell(f"Brought back: {count}.")
    else:
        from assistant.terminal.actions.forgetting import forget_sessions

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
