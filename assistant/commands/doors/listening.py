"""What commands that listen on a port have in common."""

from __future__ import annotations

import secrets
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from stores.base.errors import BackendMissing, WrongUsage

_SHORTEST_TOKEN = 16  # characters


def _host(_ctx: click.Context, _param: click.Parameter, host: str) -> str:
    if not host.strip():
        raise WrongUsage("--host is empty", hint="Leave it out, or name an address of this machine.")
    return host


HOST = click.option("--host", default="127.0.0.1", show_default=True, callback=_host, help="Where to listen.")
NAMES = click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="By which others know this server, such as the name of what stands before it.",
)
TOKEN_FILE = click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The token is this file's line, and not a new one each time.",
)


@contextmanager
def extra(command: str, name: str) -> Iterator[None]:
    """While packages of an extra are imported. Raises `BackendMissing` where one is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BackendMissing(
            f"`{command}` needs the package {error.name}",
            hint=f"Install it: {_pip()} install 'vouch[{name}]'",
        ) from error


def token_for(file: Path | None) -> str:
    """The token of a file that nobody else can read, or a new one."""
    return secrets.token_urlsafe(32) if file is None else _read_token(file)


def _pip() -> str:
    """The pip that installs for this Vouch, as it is typed here."""
    beside, here = Path(sys.executable).with_name("pip"), Path.cwd()
    if not beside.exists():
        return "pip"
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


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
