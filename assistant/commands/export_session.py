"""vouch export: a session, to be read elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId


@click.command("export")
@click.argument("session_id", type=RowId(), metavar="SESSION")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A new file; JSON where its name ends in .json.",
)
@common_options
@click.pass_context
def command(ctx: click.Context, session_id: int, output: Path | None) -> int:
    """Write a session out: Markdown, or with --json every turn of every branch as JSON.

    \b
    Examples:
      vouch export 12 > hours.md
      vouch export 12 -o hours.json
    """
    from assistant.terminal.facts.session_text import session_markdown, session_object, write_session
    from assistant.terminal.text.printable import printable

    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        if output is not None:
            turns = write_session(assistant, user_id, session_id, output)
            call.tell(f"{output}: {turns} turns")
            return 0
        tree = assistant.stores.sessions.tree(user_id, session_id)
        if call.as_json:
            call.give(session_object(assistant, user_id, tree))
        else:
            written = session_markdown(assistant, user_id, tree)
            click.echo(printable(written) if sys.stdout.isatty() else written, nl=False)
    return 0
