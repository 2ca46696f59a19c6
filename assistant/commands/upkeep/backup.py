"""vouch backup: the database, in one file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.invocation import Invocation
from stores.base.errors import WrongUsage


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Replace the file if there is one.")
@common_options
@click.pass_context
def command(ctx: click.Context, file: Path, replace: bool) -> int:
    """Write users, sessions, passages and receipts into one FILE.

    Other Vouch processes can go on meanwhile: the backup holds what was stored when it began. The file is
    checked before the command ends, and replaces another only as a whole. Models that were trained here are
    not in it: copy the folder `models` of the data directory too.

    \b
    Examples:
      vouch backup vouch-monday.db
      vouch backup --replace /media/stick/vouch.db
      vouch backup vouch.db --json | jq .passages
    """
    call = Invocation(ctx)
    with call.assistant() as assistant:
        from stores.database.database import server_address
        from stores.exchange.backup import write_backup

        database = assistant.stores.database
        if database.is_postgresql:
            raise WrongUsage(
                f"{database.place} is backed up with PostgreSQL's own programs",
                hint=f"Run: pg_dump --format=custom --file={file} '{server_address(database.url)}'",
            )
        contents = write_backup(database, file, replace=replace)
    if call.as_json:
        call.give({"file": str(file), **asdict(contents)})
        return 0
    click.echo(
        f"{file}: users {contents.users}, passages {contents.passages}, turns {contents.turns}, "
        f"{contents.size_bytes / 1e6:.1f} MB"
    )
    return 0
