"""vouch serve: the chat in a browser."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.commands.doors.listening import HOST, TOKEN_FILE, extra, token_for
from assistant.invocation import Invocation
from assistant.process.own_names import is_loopback


@click.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8484, show_default=True, help="0: a free one.")
@HOST
@TOKEN_FILE
@common_options
@click.pass_context
def command(ctx: click.Context, host: str, port: int, token_file: Path | None) -> int:
    """Show the screens in a browser. Prints the address to open; Ctrl+C ends it.

    Whoever opens that address talks as you: it holds a token, new with each start. Only this machine can
    connect unless --host says otherwise. What is sent is not encrypted: over a network, put it behind
    something that does, such as an SSH tunnel.

    \b
    Examples:
      vouch serve
      vouch serve --port 9000 --user ann
      ssh -L 8484:127.0.0.1:8484 home vouch serve
    """
    call = Invocation(ctx)
    token = token_for(token_file)
    with extra("vouch serve", "serve"):
        from assistant.terminal.app.serving import serve
    if not is_loopback(host):
        call.tell(f"Others can connect to {host}, and nothing that is sent is encrypted.")
    return serve(_chat_command(call), host=host, port=port, token=token, tell=lambda told: _tell(call, told))


def _chat_command(call: Invocation) -> list[str]:
    """What opens one chat, with the options that this command was called with."""
    # -P: it begins in the person's folder, where anything could be named assistant
    chat = [sys.executable, "-P", "-m", "assistant.cli", "chat", "--user", call.user]
    chat += ["--data", str(call.locations.data)]
    if call.locations.settings_are_named:
        chat += ["--settings", str(call.locations.settings)]
    if call.is_offline:
        chat.append("--offline")
    if call.timeout_seconds is not None:
        chat += ["--timeout", f"{call.timeout_seconds:g}"]
    return chat


def _tell(call: Invocation, address: str) -> None:
    if call.as_json:
        call.give({"address": address})
    else:
        click.echo(address)
    sys.stdout.flush()
