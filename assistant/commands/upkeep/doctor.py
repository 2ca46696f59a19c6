"""vouch doctor: what works, what does not, what was repaired, and what to do about the rest."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain

import click

from assistant.checks.check import Check, Look, counted
from assistant.cli import common_options
from assistant.invocation import Invocation
from stores.base.errors import WrongUsage
from stores.base.one_line import one_line


@click.command("doctor")
@click.option("--online", is_flag=True, help="Also ask the model server, and download a missing encoder.")
@click.option("--no-repair", is_flag=True, help="Only look; repair nothing.")
@click.option("--migrate", is_flag=True, help="First give a server's database the schema of this release.")
@click.option("--thorough", is_flag=True, help="Look at every vector, not at a sample; takes long.")
@common_options
@click.pass_context
def command(ctx: click.Context, online: bool, no_repair: bool, migrate: bool, thorough: bool) -> int:
    """Check settings, stores, encoder, indexes and chat model, and repair what is derived.

    Vectors, words and indexes are made again from the texts where they are missing or wrong. What cannot be
    made again is named. Exits with 1 when something stays broken. Without --online it reaches only the
    PostgreSQL and Chroma servers that the settings name; it downloads nothing and asks no model server.

    A file gets a new schema when it is opened. A PostgreSQL database, which others may be writing, gets one
    by --migrate alone, and processes of an earlier release write nothing from then on.

    \b
    Examples:
      vouch doctor
      vouch doctor --no-repair --thorough
      vouch doctor --migrate
      vouch doctor --json | jq -r 'select(.state != "ok")'
    """
    call = Invocation(ctx)
    call.is_offline = call.is_offline or not online
    line = call.progress_line()
    how = Look(repairs=not no_repair, is_thorough=thorough, show=line.show)
    is_broken = False
    if migrate and no_repair:
        raise WrongUsage("--migrate changes the database, and --no-repair changes nothing")
    if migrate:
        _migrate(call)
    with call.assistant() as assistant:
        from assistant.checks.examination import examine

        try:
            for check in chain(examine(assistant, how, asks_server=online), [_keys(call)]):
                line.clear()
                is_broken = is_broken or check.state == "broken"
                _tell(call, check)
        finally:
            line.clear()
    for key, value, origin in call.settings.in_force():
        if call.as_json:
            call.give({"setting": key, "value": value, "origin": origin})
        elif call.is_verbose or origin != "default":
            click.echo(f"setting  {key} = {value!r} ({origin})")
    if not (call.as_json or call.is_verbose or call.is_quiet):
        call.tell("All other settings have their defaults; `vouch doctor -v` lists them.")
    return 1 if is_broken else 0


def _migrate(call: Invocation) -> None:
    from stores.database.database import HEAD, Database, database_file

    url = call.settings.store.url
    if url and database_file(url) is None:
        Database(url, migrates=True).close()
        call.tell(f"The database has schema {HEAD}, that of this release.")
    else:
        call.tell("The database is a file, and gets the schema of this release whenever it is opened.")


def _keys(call: Invocation) -> Check:
    """How many keys the settings change; an id that is of no key is told before anything is looked at."""
    changed = counted(len(call.settings.terminal.keys), "key is", "keys are")
    return Check("keys", "ok", f"{changed} changed by the settings")


def _tell(call: Invocation, check: Check) -> None:
    if call.as_json:
        told = asdict(check)
        call.give({"check": told.pop("name"), **told, "repaired": list(check.repaired)})
        return
    click.echo(f"{check.state:<8} {check.name:<16} {one_line(check.found)}")
    for sentence in check.repaired:
        click.echo(f"{'':<8} {'':<16} repaired: {one_line(sentence)}")
    if check.advice:
        click.echo(f"{'':<8} {'':<16} {one_line(check.advice)}")
