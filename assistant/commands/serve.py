"""vouch serve: the chat in a browser."""

from __future__ import annotations

import secrets
import shlex
import stat
import sys
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.invocation import Invocation
from stores.base.errors import BackendMissing, WrongUsage

_SHORTEST_TOKEN = 16  # characters


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8484, show_default=True, help="0: a free one.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The token is this file's line, and not a new one each time.",
)
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
    if not host.strip():
        raise WrongUsage("--host is empty", hint="Leave it out, or name an address of this machine.")
    token = secrets.token_urlsafe(32) if token_file is None else _read_token(token_file)
    try:
        from assistant.terminal.app.serving import is_loopback, serve
    except ModuleNotFoundError as error:
        raise BackendMissing(
            f"`vouch serve` needs the package {error.name}",
            hint=f"Install it: {_pip()} install 'vouch[serve]'",
        ) from error
    if not is_loopback(host):
        call.tell(f"Others can connect to {host}, and nothing that is sent is encrypted.")
    return serve(_chat_command(call), host=host, port=port, token=token, tell=lambda told: _tell(call, told))


def _pip() -> str:
    """The pip that installs for this Vouch, as it is typed here."""
    beside, here = Path(sys.executable).with_name("pip"), Path.cwd()
    if not beside.exists():
        return "pip"
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


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


def _read_token(file: Path) -> str:
    try:
        is_open = file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{file} cannot be read as a token", hint="Name a file with one line.") from error
    if is_open:
        raise WrongUsage(f"{file} can be read by others", hint=f"Close it: chmod 600 {file}")
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise WrongUsage(
            f"the token in {file} must have {_SHORTEST_TOKEN} characters or more, all ASCII and no blanks",
            hint="Make one: openssl rand -hex 32",
        )
    return token
