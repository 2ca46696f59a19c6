"""vouch doctor: what works, what does not, and what to do about it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from assistant.cli import common_options
from assistant.invocation import Invocation
from stores.errors import VouchError

if TYPE_CHECKING:
    from assistant.wiring import Assistant

_ROOM_BYTES = 500_000_000  # under it, ingest may fill the disk


@dataclass(frozen=True)
class Check:
    """What one look found."""

    name: str
    state: str  # ok, missing or broken
    found: str
    advice: str = ""  # what to do


@click.command("doctor")
@click.option("--online", is_flag=True, help="Also ask the configured model server; opens the network.")
@common_options
@click.pass_context
def command(ctx: click.Context, online: bool) -> int:
    """Check settings, stores, encoder, indexes and chat model, and bring the indexes up to date.

    Exits with 1 when something is broken. Opens no network unless --online.

    \b
    Examples:
      vouch doctor
      vouch doctor --json | jq -r 'select(.state != "ok")'
    """
    call = Invocation(ctx)
    call.is_offline = call.is_offline or not online
    is_broken = False
    with call.assistant() as assistant:
        for look in _checks(call, assistant, online=online):
            check = _looked(look)
            is_broken = is_broken or check.state == "broken"
            if call.as_json:
                call.give(
                    {
                        "check": check.name,
                        "state": check.state,
                        "found": check.found,
                        "advice": check.advice,
                    }
                )
            else:
                click.echo(f"{check.state:<8} {check.name:<16} {check.found}")
                if check.advice:
                    click.echo(f"{'':<8} {'':<16} {check.advice}")
    for key, value, origin in call.settings.in_force():
        if call.as_json:
            call.give({"setting": key, "value": value, "origin": origin})
        elif call.is_verbose or origin != "default":
            click.echo(f"setting  {key} = {value!r} ({origin})")
    if not (call.as_json or call.is_verbose or call.is_quiet):
        call.tell("All other settings have their defaults; `vouch doctor -v` lists them.")
    return 1 if is_broken else 0


def _checks(
    call: Invocation, assistant: Assistant, *, online: bool
) -> Iterator[tuple[str, Callable[[], Check]]]:
    yield "settings file", lambda: _settings_file(call)
    yield "data directory", lambda: _data_directory(call)
    yield "database", lambda: _database(assistant)
    yield "encoder", lambda: _encoder(assistant)
    yield "vectors", lambda: _vectors(assistant)
    yield "shared index", lambda: _shared_index(assistant)
    yield "chat model", lambda: _chat_model(call, assistant, online=online)


def _looked(look: tuple[str, Callable[[], Check]]) -> Check:
    name, run = look
    try:
        return run()
    except VouchError as error:
        return Check(name, "broken", error.message, error.hint)


def _settings_file(call: Invocation) -> Check:
    path = call.locations.settings
    if path.exists():
        return Check("settings file", "ok", str(path))
    return Check(
        "settings file", "missing", f"{path}: defaults are used", "Nothing to do; create it to change them."
    )


def _data_directory(call: Invocation) -> Check:
    path = call.locations.data
    free = shutil.disk_usage(path).free
    mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Check("data directory", "broken", f"{path} cannot be written", f"Run: chmod 700 {path}")
    if free < _ROOM_BYTES:
        return Check(
            "data directory", "broken", f"{path}: {free // 1_000_000} MB free", "Make room on that disk."
        )
    if mode & 0o077:
        return Check(
            "data directory", "broken", f"{path} is open to others (mode {mode:o})", f"Run: chmod 700 {path}"
        )
    return Check("data directory", "ok", f"{path}, {free / 1e9:.1f} GB free")


def _database(assistant: Assistant) -> Check:
    problems = assistant.database.integrity_problems()
    if problems:
        return Check("database", "broken", "; ".join(problems[:3]), "Restore a backup of the data directory.")
    return Check("database", "ok", f"schema {assistant.database.schema()}")


def _encoder(assistant: Assistant) -> Check:
    return Check("encoder", "ok", f"{assistant.encoder.version}, {assistant.encoder.dimension} dimensions")


def _vectors(assistant: Assistant) -> Check:
    missing = assistant.indexer.ask_for_missing_vectors()
    waiting = assistant.indexer.waiting()
    assistant.catch_up()
    left = assistant.indexer.waiting()
    if left:
        return Check(
            "vectors",
            "broken",
            f"{left} index jobs cannot be done",
            "Another process may be writing the shared index: end it, then run this again.",
        )
    if missing or waiting:
        return Check("vectors", "ok", f"{missing} were missing and {waiting} jobs waiting; all done now")
    return Check("vectors", "ok", "every live passage has one")


def _shared_index(assistant: Assistant) -> Check:
    index = assistant.shared_index(writes=True)
    if index is None:
        return Check(
            "shared index", "broken", "another process writes it", "End that process, then run this again."
        )
    there = index.version_ids()
    wanted = set(assistant.spaces.live_shared_versions())
    extra, missing = there - wanted, wanted - there
    if extra or missing:
        index.remove(extra)
        assistant.indexer.index_again(sorted(missing))
        return Check(
            "shared index",
            "ok",
            f"{len(missing)} passages were missing and {len(extra)} too many; repaired",
        )
    return Check("shared index", "ok", f"{len(there)} shared passages")


def _chat_model(call: Invocation, assistant: Assistant, *, online: bool) -> Check:
    model = call.settings.model
    if model.backend == "extractive":
        return Check(
            "chat model",
            "ok",
            "extractive: answers quote passages",
            "To have answers written, name a server: [model] in settings.toml.",
        )
    if not online:
        return Check("chat model", "ok", f"{model.name} at {model.base_url}, not asked", "--online asks it.")
    reply = assistant.player.ask_model("Answer with the word yes.")
    return Check("chat model", "ok", f"{model.name} at {model.base_url} answers ({len(reply)} characters)")
