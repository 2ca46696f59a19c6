"""vouch mcp: the memory as tools of an agent."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.commands.doors.listening import HOST, NAMES, TOKEN_FILE, extra, token_for
from assistant.invocation import Invocation
from assistant.process.own_names import is_loopback
from stores.base.errors import WrongUsage
from vouch import Vouch


@click.command("mcp")
@click.option("--read-only", is_flag=True, help="No tool that writes: search, history and why alone.")
@click.option(
    "--folder",
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="A folder that `ingest` may read from; without one there is no such tool.",
)
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="Over HTTP; 0: a free port."
)
@HOST
@NAMES
@TOKEN_FILE
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    read_only: bool,
    folders: tuple[Path, ...],
    port: int | None,
    host: str,
    names: tuple[str, ...],
    token_file: Path | None,
) -> int:
    """Offer your memory to an agent, by the Model Context Protocol.

    Without --http an agent's program begins this command itself, and talks to it over its standard streams.
    Whoever has the token of --http reads and writes your memory; nothing that is sent is encrypted.

    \b
    Examples:
      claude mcp add vouch -- vouch mcp
      codex mcp add vouch -- vouch mcp --read-only
      vouch mcp --http 8485 --folder notes/
    """
    call = Invocation(ctx)
    token = token_for(token_file)
    if port is None and token_file is not None:
        raise WrongUsage("--token-file goes with --http", hint="Leave it out, or add --http PORT.")
    with extra("vouch mcp", "mcp"):
        from assistant.doors.mcp_tools import mcp_server, over_http
    with call.assistant(tell=_told) as assistant:
        assistant.catch_up()
        vouch = Vouch.of(assistant, call.user)
        server = mcp_server(vouch, version=version("vouch"), read_only=read_only, folders=folders)
        if port is None:
            server.run("stdio")
            return 0

        from assistant.doors.listening import listen

        if not is_loopback(host):
            call.tell(f"Others can connect to {host}, and nothing that is sent is encrypted.")
        app = over_http(server, host=host, names=names, token=token)
        listen(app, host=host, port=port, tell=lambda address: _tell(call, f"{address}/mcp", token))
    return 0


def _told(sentence: str) -> None:
    click.echo(sentence, err=True)  # standard output is the protocol's


def _tell(call: Invocation, address: str, token: str) -> None:
    if call.as_json:
        call.give({"address": address, "token": token})
    else:
        click.echo(f"{address}\nAuthorization: Bearer {token}")
    sys.stdout.flush()
