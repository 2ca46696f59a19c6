"""vouch chat: a conversation, line by line."""

from __future__ import annotations

import os
import sys

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId
from assistant.terminal.plainness import should_be_plain
from stores.errors import WrongUsage


@click.command("chat")
@click.option("--session", "session_id", type=RowId(), metavar="ID", help="Go on with this session.")
@click.option("--last", is_flag=True, help="Go on with the session you spoke in last.")
@common_options
@click.pass_context
def command(ctx: click.Context, session_id: int | None = None, last: bool = False) -> int:
    """Talk. What you say is remembered as yours; /help lists what else can be typed.

    With a pipe, each line is a message and the transcript goes to standard output.

    \b
    Examples:
      vouch chat
      vouch chat --last
      vouch chat < questions.txt > transcript.txt
    """
    call = Invocation(ctx)
    if session_id is not None and last:
        raise WrongUsage("--session and --last exclude one another")
    from assistant.terminal.plain import PlainChat
    from assistant.terminal.word_wrap import WordWrap, write_out

    is_typed = sys.stdin.isatty()
    if is_typed and sys.stdout.isatty() and not call.is_quiet:
        reason = should_be_plain(call.is_plain, os.environ, call.settings, sys.stdout.isatty())
        because = f"of {reason}" if reason else "this release has no full screen yet"
        write_out(f"Plain mode, because {because}.\n")
    with call.assistant(limits_turns=True) as assistant:
        user_id = assistant.journal.user_id(call.user)
        assistant.catch_up(in_background=True)
        session = session_id
        if session is not None:
            assistant.journal.check_session(user_id, session)
        elif last:
            session = assistant.journal.last_session(user_id)
        if session is None:
            session = assistant.journal.open_session(user_id)
        if is_typed and not call.is_quiet:
            yours, shared = assistant.catalogue.counts(user_id)
            write_out(
                f"{assistant.pipeline.model_name} · {yours} passages yours, {shared} shared · "
                "/help lists commands, Ctrl+D leaves\n\n"
            )
        chat = PlainChat(
            assistant,
            user_id,
            session,
            ask=_typed if is_typed else _piped,
            say=WordWrap(write_out).say if is_typed and sys.stdout.isatty() else write_out,
            echoes=not is_typed,
            timeout_seconds=call.timeout_seconds,
        )
        chat.run()
    return chat.failure.exit_code if chat.failure is not None and not is_typed else 0


def _typed() -> str | None:
    import readline  # gives input() its line editing and history

    readline.parse_and_bind("set enable-bracketed-paste on")  # what is pasted is one message
    try:
        return input("You: ")
    except EOFError:
        print()
        return None
    except KeyboardInterrupt:
        print("\n(Ctrl+D leaves)")
        return ""


def _piped() -> str | None:
    line = sys.stdin.readline()
    return line if line else None
