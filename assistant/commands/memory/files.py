"""vouch memory export, import: a memory as a file of JSON lines, to be taken along."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from stores.base.errors import WrongUsage
from stores.base.one_line import json_line

SCOPES = click.Choice(["yours", "shared", "all"])


@click.command("export")
@click.option("--scope", type=SCOPES, default="yours", show_default=True, help="Whose.")
@common_options
@click.pass_context
def export(ctx: click.Context, scope: Literal["yours", "shared", "all"]) -> int:
    """Write a memory as JSON lines: passages with all their versions, and what they come from.

    Imported elsewhere and exported again it is the same, byte for byte.
    """
    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        for line in assistant.stores.memory_export.lines(user_id, scope=scope):
            click.echo(json_line(line))
    return 0


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("--shared", is_flag=True, help="What the file calls shared becomes shared here.")
@click.option("--lines", is_flag=True, help="It is plain text: each line is a memory.")
@click.option("--of", type=Words(), metavar="NAME", help="Of another program's file: whose memories.")
@common_options
@click.pass_context
def import_(ctx: click.Context, file: str, shared: bool, lines: bool, of: str | None) -> int:
    """Read a memory into your own; what is known already is passed over.

    FILE holds exported JSON lines, or what another program wrote out: the results of mem0's get_all, the
    items of a LangGraph store, the memories.json of Claude's export, or with --lines a list that was copied
    from a chat window. With - it is read from standard input. With --shared, as with ingest --shared, the
    shared passages of the file become shared, for every user.
    """
    from stores.exchange.memory_lines import read_memory
    from stores.exchange.others_memories import converted, each_line

    call = Invocation(ctx)
    name = "standard input" if file == "-" else file
    content = _content_of(file, name)
    others = None if lines else converted(content, name, of=of)
    told = each_line(content) if lines else others or content.split("\n")
    memory = read_memory(told, name)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.user_id(call.user)
        imported = assistant.stores.memory_import.take_in(user_id, memory, shared=shared)
        assistant.catch_up()
    if call.as_json:
        call.give({"new": imported.new, "known": imported.known, "receipt": imported.receipt_id})
    else:
        click.echo(f"{imported.new} new, {imported.known} known already")
        if imported.receipt_id is not None:
            call.tell(f"`vouch memory undo {imported.receipt_id}` takes it back.")
    return 0


def _content_of(file: str, name: str) -> str:
    """name: the file, as a person is told of it."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise WrongUsage(f"{name} cannot be read: {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongUsage(f"{name} line {line}: it is not UTF-8 text", hint="Nothing was imported.") from None
