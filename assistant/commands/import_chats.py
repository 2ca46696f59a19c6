"""vouch import: conversations held with other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, ProgressLine

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.session_import import SessionImport, TakenIn, ToldSession

_AT_ONCE = 20  # sessions in one transaction


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@click.option("--learn", is_flag=True, help="Remember what you stated in them, too.")
@click.option("--dry-run", is_flag=True, help="Tell what is in the file, and take nothing in.")
@common_options
@click.pass_context
def command(ctx: click.Context, file: Path, learn: bool, dry_run: bool) -> int:
    """Take in conversations of ChatGPT, Claude or llm as sessions of yours.

    FILE is an export of ChatGPT or Claude (the archive, or conversations.json in it), the database of `llm`
    (logs.db), or what `llm logs --json` prints. The same file twice adds nothing. Find (Ctrl+F in the chat)
    finds them; answers use nothing of them, unless --learn is given.

    \b
    Examples:
      vouch import export.zip
      vouch import "$(llm logs path)"
    """
    from assistant.library.chat_logs import read_chat_log
    from stores.session_import import SessionImport

    call = Invocation(ctx)
    counts: Counter[str] = Counter()
    progress = ProgressLine(is_shown=call.shows_progress)
    with call.assistant() as assistant:
        take_in = _take_in(assistant, SessionImport(assistant.database), call.user, learn=learn)
        sessions = read_chat_log(file)
        try:
            while some := list(islice(sessions, _AT_ONCE)):
                counts.update({"read": len(some), "told": sum(len(session.turns) for session in some)})
                if not dry_run:
                    taken = take_in(some)
                    counts.update(sessions=taken.sessions, turns=taken.turns, known=taken.known)
                progress.show(f"{counts['read']} sessions read, {counts['turns']} turns new")
        finally:
            progress.clear()
            if counts["read"]:
                _tell(call, counts, dry_run=dry_run)
        if learn and counts["turns"]:
            assistant.indexer.catch_up()
            call.tell("What you stated in them is learned by and by, while you chat.")
    return 0 if counts["read"] else 1


def _take_in(
    assistant: Assistant, store: SessionImport, user: str, *, learn: bool
) -> Callable[[Sequence[ToldSession]], TakenIn]:
    from functools import partial

    from assistant.library.cutting import cut

    user_id = assistant.journal.user_id(user)
    parts = partial(cut, whole_up_to_words=200) if learn else None
    return lambda told: store.take_in(user_id, told, cut=parts)


def _tell(call: Invocation, counts: Counter[str], *, dry_run: bool) -> None:
    if call.as_json:
        names = ("read", "told") if dry_run else ("read", "told", "sessions", "turns", "known")
        call.give({name: counts[name] for name in names})
    elif dry_run:
        click.echo(f"{_counted(counts['read'], 'session')}, {_counted(counts['told'], 'turn')}")
    else:
        click.echo(
            f"new: {_counted(counts['sessions'], 'session')}, {_counted(counts['turns'], 'turn')}; "
            f"known already: {_counted(counts['known'], 'turn')}"
        )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"
