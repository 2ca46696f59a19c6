"""vouch import: conversations held with other programs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from assistant.cli import common_options
from assistant.invocation import Invocation

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.conversation.imported_sessions import TakenIn, ToldSession

_WRITES_SECONDS = 0.5  # and then lets others write, who would wait in vain for a moment between two parts
_LETS_OTHERS_WRITE_SECONDS = 0.12  # SQLite looks every 100 ms whether it may


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
    from assistant.library.chat_logs.batches import in_batches
    from assistant.library.chat_logs.exports import read_chat_log

    call = Invocation(ctx)
    counts: Counter[str] = Counter()
    progress = call.progress_line()
    with call.assistant() as assistant:
        take_in = None if dry_run else _take_in(assistant, call.user, learn=learn)
        origin = ""
        try:
            for some in in_batches(_counted_sessions(read_chat_log(file), counts)):
                if take_in is not None:
                    counts.update(asdict(take_in(some)))
                    origin = some[-1].origin
                progress.show(f"{counts['read']} sessions read, {counts['turns']} turns new")
        finally:
            progress.clear()
            if counts["read"]:
                _tell(call, counts, dry_run=dry_run)
            if counts["sessions"]:
                call.tell(f"`vouch sessions --from {quote(origin)} --delete` takes it out again.")
        if counts["to_learn"]:
            assistant.search.indexer.catch_up()
            call.tell("What you stated in them is learned by and by, while you chat.")
    return 0 if counts["read"] else 1


def _counted_sessions(sessions: Iterable[ToldSession], counts: Counter[str]) -> Iterator[ToldSession]:
    for session in sessions:
        counts.update(read=1, told=len(session.turns))
        yield session


def _take_in(assistant: Assistant, user: str, *, learn: bool) -> Callable[[Sequence[ToldSession]], TakenIn]:
    from assistant.library.chat_logs.formats import NO_WORDS, holds_attached_text
    from assistant.library.cutting import cut
    from stores.conversation.imported_sessions import SessionImport

    def parts(message: str) -> list[str]:
        """What is learned from: a text that was attached may be anybody's."""
        is_own = message != NO_WORDS and not holds_attached_text(message)
        return cut(message, whole_up_to_words=200) if is_own else []

    store, user_id = SessionImport(assistant.stores.database), assistant.stores.journal.user_id(user)
    written_seconds = 0.0

    def take_in(told: Sequence[ToldSession]) -> TakenIn:
        nonlocal written_seconds
        if written_seconds > _WRITES_SECONDS:
            time.sleep(_LETS_OTHERS_WRITE_SECONDS)
            written_seconds = 0.0
        began = time.monotonic()
        taken = store.take_in(user_id, told, cut=parts if learn else None)
        written_seconds += time.monotonic() - began
        return taken

    return take_in


def _tell(call: Invocation, counts: Counter[str], *, dry_run: bool) -> None:
    if call.as_json:
        names = ["read", "told"]
        names += [] if dry_run else ["sessions", "turns", "known", "answered", "to_learn"]
        call.give({name: counts[name] for name in names})
    elif dry_run:
        click.echo(f"{_counted(counts['read'], 'session')}, {_counted(counts['told'], 'turn')}")
    else:
        answered = f" ({counts['answered']} answered since)" if counts["answered"] else ""
        click.echo(
            f"new: {_counted(counts['sessions'], 'session')}, {_counted(counts['turns'], 'turn')}; "
            f"known already: {_counted(counts['known'], 'turn')}{answered}"
        )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"
