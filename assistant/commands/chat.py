"""vouch chat: a conversation, on the whole screen or in plain mode."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId, Words
from assistant.settings.changed_settings import change_settings
from assistant.terminal.plain.plainness import should_be_plain, wants_colour
from stores.base.errors import VouchError, WrongUsage

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

_WAITS_FOR_A_WRITER_SECONDS = 2.0  # at a terminal; then it is opened to be read


@click.command("chat")
@click.option("--session", "session_id", type=RowId(), metavar="ID", help="Go on with this session.")
@click.option("--last", is_flag=True, help="Go on with the session you spoke in last.")
@click.option("--model", metavar="NAME", type=Words(), help="Have this model answer.")
@click.option("--kb", "base", metavar="NAME", type=Words(), help="Talk over this knowledge base.")
@common_options
@click.pass_context
def command(
    ctx: click.Context, session_id: int | None, last: bool, model: str | None, base: str | None
) -> int:
    """Talk. What you say is remembered as yours; F1 or /help lists what else can be typed.

    With a pipe, each line is a message and the transcript goes to standard output.

    \b
    Examples:
      vouch chat
      vouch chat --last
      vouch chat < questions.txt > transcript.txt
    """
    call = Invocation(ctx)
    call.use_model(model)
    if call.as_json:
        raise WrongUsage(
            "a chat has no results to give as JSON",
            hint="`vouch ask --json TEXT` answers one message; `vouch export ID -o FILE` keeps a session.",
        )
    if session_id is not None and last:
        raise WrongUsage("--session and --last exclude one another")
    if base is not None:
        session_id, last = _session_about(call, base, session_id, last), False
    if os.environ.get("VOUCH_SERVED"):  # by `vouch serve`: the screen is a browser's
        return _on_the_screen(call, session_id, last)
    is_typed = sys.stdin.isatty()
    reason = should_be_plain(
        call.is_plain, os.environ, call.settings, sys.stdout.isatty() and sys.stderr.isatty()
    )
    if is_typed and reason is None:
        return _on_the_screen(call, session_id, last)
    return _plain(call, session_id, last, is_typed=is_typed, reason=reason or "a pipe")


def _session_about(call: Invocation, base: str, session_id: int | None, last: bool) -> int:
    """The session that is to be about this knowledge base: the one that is named, or a new one."""
    with call.assistant() as assistant:
        journal = assistant.stores.journal
        user_id = journal.user_id(call.user)
        known = assistant.stores.knowledge_bases.named(user_id, base)
        if last:
            session_id = journal.last_session(user_id)
        if session_id is None:
            session_id = journal.open_session(user_id)
        assistant.stores.sessions.talk_over(user_id, session_id, known.id)
    return session_id


def _plain(
    call: Invocation,
    session_id: int | None,
    last: bool,
    *,
    is_typed: bool,
    reason: str,
    goes_on: bool = False,
) -> int:
    """reason: why there is no screen. goes_on: a conversation that was on the screen, with its draft."""
    from assistant.terminal.plain.chat import PlainChat
    from assistant.terminal.plain.takeover import Takeover
    from assistant.terminal.text.word_wrap import printer

    say = printer()
    if is_typed and sys.stdout.isatty() and not call.is_quiet:
        say(f"Plain mode, because of {reason}.\n")
    with call.assistant(limits_turns=True) as assistant:
        journal = assistant.stores.journal
        refusal = _only_to_be_read(assistant, call.user) if is_typed else None
        user_id = journal.user_id(call.user)
        if refusal is None:
            assistant.catch_up(in_background=True)
        session = session_id
        if session is not None:
            journal.check_session(user_id, session)
        elif last:
            session = journal.last_session(user_id)
        if session is None and refusal is None:
            session = journal.open_session(user_id)
        if is_typed and not call.is_quiet:
            yours, shared = assistant.stores.catalogue.counts(user_id)
            say(
                f"{assistant.turns.pipeline.model_name} · {yours} passage{'s' if yours != 1 else ''} yours, "
                f"{shared} shared · "
                "/help lists commands, Ctrl+D leaves\n\n"
            )
        if refusal is not None:
            reason = refusal.message.rpartition(": ")[2]  # behind the address of the store
            say(f"Read-only: {reason}. It is tried again with each message.\n\n")
        ask = _typed if is_typed else _piped
        if goes_on and session is not None:
            takeover = Takeover(assistant, call.user, user_id, session)
            say("".join(f"{line}\n" for line in takeover.last_messages()))
            ask = takeover.asking(_typed)
        chat = PlainChat(
            assistant,
            user_id,
            session or 0,
            ask=ask,
            say=say,
            echoes=not is_typed,
            timeout_seconds=call.timeout_seconds,
        )
        chat.run()
    return chat.failure.exit_code if chat.failure is not None and not is_typed else 0


def _on_the_screen(call: Invocation, session_id: int | None, last: bool) -> int:
    has_colour = wants_colour(call.no_color, os.environ, True)
    os.environ.pop("NO_COLOR", None)
    if not has_colour:
        os.environ["NO_COLOR"] = "1"  # the screen library goes by it, also where it is empty
    from assistant.terminal.app.run import run_screens
    from assistant.terminal.engine.engine import SessionChoice
    from stores.conversation.glance import Glance, glance

    def glances(session: int | None, turns: int) -> Glance | None:
        is_elsewhere = bool(call.settings.store.url)
        return None if is_elsewhere else glance(call.locations.data, call.user, session, turns=turns)

    terminal = call.settings.terminal
    left = run_screens(
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
        keep_theme=lambda name: change_settings(call.locations.settings, "terminal", {"theme": name}),
    )
    if left.plain_session is None:
        return left.code
    return _plain(call, left.plain_session or None, False, is_typed=True, reason="/plain", goes_on=True)


def _only_to_be_read(assistant: Assistant, user: str) -> VouchError | None:
    """Why a store can only be read; None where it can be written, or holds nothing of the user."""
    from stores.database.write_lock import why_not_writable

    if not assistant.stores.journal.known_user_id(user):
        return None
    return why_not_writable(assistant.stores.database, patience_seconds=_WAITS_FOR_A_WRITER_SECONDS)


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
