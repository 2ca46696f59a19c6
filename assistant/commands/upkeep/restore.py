"""vouch restore: brings back what a backup holds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.invocation import Invocation
from stores.base.errors import WrongUsage


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Replace what is stored now; it is kept under another name.")
@common_options
@click.pass_context
def command(ctx: click.Context, file: Path, replace: bool) -> int:
    """Make what the backup FILE holds the contents of the data directory.

    No other Vouch process may be using the data directory. One that holds something already is left as it is
    without --replace; with it, the database of before is kept under another name. Indexes are filled again.

    \b
    Examples:
      vouch restore vouch-monday.db
      vouch restore --replace vouch-monday.db
      vouch restore --data /tmp/look vouch-monday.db
    """
    call = Invocation(ctx)
    call.locations.create_directories()
    from stores.database.database import database_file, server_address
    from stores.exchange.backup import restore_backup

    url = call.settings.store.url
    target = database_file(url) if url else call.locations.data / "vouch.db"
    if target is None:
        raise WrongUsage(
            "a database of PostgreSQL's is restored with its own programs",
            hint=f"Run: pg_restore --clean --if-exists --dbname='{server_address(url)}' {file}",
        )
    restored = restore_backup(file, target, data=call.locations.data, replace=replace)
    contents = restored.contents
    if call.as_json:
        call.give(
            {
                "file": str(file),
                "database": str(target),
                "kept": str(restored.kept) if restored.kept else None,
                **asdict(contents),
            }
        )
        return 0
    click.echo(
        f"{target}: users {contents.users}, passages {contents.passages}, turns {contents.turns}, "
        f"{contents.size_bytes / 1e6:.1f} MB"
    )
    if restored.kept is not None:
        call.tell(f"What was there before is kept as {restored.kept}.")
    return 0
