"""vouch keys: by which programs ask `vouch serve --api` in a user's name."""

from __future__ import annotations

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId, Words
from assistant.settings.identity import user_name


@click.group("keys", no_args_is_help=False)
@common_options
def command() -> None:
    """Keys by which programs ask in a user's name, over `vouch serve --api`.

    Whoever has a key reads and writes that user's memory.

    \b
    Examples:
      vouch keys add ann
      vouch keys list
      vouch keys revoke 2
    """


@command.command("add")
@click.argument("name", type=Words())
@common_options
@click.pass_context
def add(ctx: click.Context, name: str) -> int:
    """Give a user a new key. It is shown once and not kept."""
    call = Invocation(ctx)
    user = user_name(name, {})
    with call.assistant() as assistant:
        key = assistant.stores.api_keys.give(assistant.stores.journal.user_id(user))
    if call.as_json:
        call.give({"user": user, "key": key})
    else:
        click.echo(key)
        call.tell("It is not shown again. `vouch keys revoke` takes it back.")
    return 0


@command.command("list")
@common_options
@click.pass_context
def list_keys(ctx: click.Context) -> int:
    """List the keys: whose they are, when they were given, and which were taken back."""
    call = Invocation(ctx)
    with call.assistant() as assistant:
        lines = assistant.stores.api_keys.lines()
    if call.as_json:
        keys = [
            {
                "key": line.key_id,
                "user": line.user,
                "ends_on": line.ends_on,
                "created_at": line.created_at,
                "revoked_at": line.revoked_at,
            }
            for line in lines
        ]
        call.give({"keys": keys})
        return 0
    for line in lines:
        state = f"taken back {line.revoked_at:%Y-%m-%d}" if line.revoked_at else ""
        click.echo(
            f"{line.key_id:>4}  {line.created_at:%Y-%m-%d}  ...{line.ends_on}  {line.user}  {state}".rstrip()
        )
    if not lines:
        call.tell("There is no key. `vouch keys add NAME` gives one.")
    return 0


@command.command("revoke")
@click.argument("key", type=RowId())
@common_options
@click.pass_context
def revoke(ctx: click.Context, key: int) -> int:
    """Take a key back; programs that have it are refused from now on."""
    call = Invocation(ctx)
    with call.assistant() as assistant:
        assistant.stores.api_keys.revoke(key)
    if call.as_json:
        call.give({"key": key, "state": "revoked"})
    else:
        call.tell(f"Key {key} is taken back.")
    return 0
