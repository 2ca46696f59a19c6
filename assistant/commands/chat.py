"""vouch chat: a conversation, on the whole screen or line by line."""

from __future__ import annotations

import os
import sys

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId
from assistant.terminal.plainness import should_be_plain, wants_colour
from stores.errors import WrongUsage


@click.command("chat")
@click.option("--session", "session_id", type=RowId(), metavar="ID", help="Go on with this session.")
@click.option("--last", is_flag=True, help="Go on with the session you spoke in last.")
@common_options
@click.pass_context
def command(ctx: click.Context, session_id: int | None = None, last: bool = False) -> int:
    """Talk. What you say is remembered as yours; F1 or /help lists what else can be typed.

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
    if os.environ.get("VOUCH_SERVED"):  # by `vouch serve`: the screen is a browser's
        return _on_the_screen(call, session_id, last)
    is_typed = sys.stdin.isatty()
    reason = should_be_plain(
        call.is_plain, os.environ, call.settings, sys.stdout.isatty() and sys.stderr.isatty()
    )
    if is_typed and reason is None:
        return _on_the_screen(call, session_id, last)
    from assistant.terminal.plain import PlainChat
    from assistant.terminal.word_wrap import WordWrap, write_out

    if is_typed and sys.stdout.isatty() and not call.is_quiet:
        write_out(f"Plain mode, because of {reason}.\n")
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
                f"{assistant.pipeline.model_name} · {yours} passage{'s' if yours != 1 else ''} yours, "
                f"{shared} shared · "
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


def _on_the_screen(call: Invocation, session_id: int | None, last: bool) -> int:
    if not wants_colour(call.no_color, os.environ, True):
        os.environ["NO_COLOR"] = "1"  # what the screen library goes by
    from assistant.terminal.screens.desk import SessionChoice
    from assistant.terminal.screens.run import run_screens
    from stores.glance import Glance, glance

    def glances(session: int | None, turns: int) -> Glance | None:
        is_elsewhere = bool(call.settings.store.url)
        return None if is_elsewhere else glance(call.locations.data, call.user, session, turns=turns)

    terminal = call.settings.terminal
    return run_screens(
        lambda tell: call.assistant(limits_turns=True, tell=tell),
        SessionChoice(session_id, last),
        user=call.user,
        timeout_seconds=call.timeout_seconds,
        state=call.locations.state,
        data=call.locations.data,
        theme=terminal.theme,
        send_with=terminal.send_with,
        follows=terminal.follow,
        mouse=terminal.mouse,
        keys=terminal.keys,
        is_offline=call.is_offline,
        glances=glances,
    )


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
