"""vouch kb: knowledge bases, which are tables of entities to talk over."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from stores.base.errors import UnreadableDocument
from stores.base.one_line import one_line

_TOLD_PROBLEMS = 10
_TOLD_VALUES = 5


@click.group("kb", no_args_is_help=False)
@common_options
def command() -> None:
    """Knowledge bases: tables of entities, such as restaurants, that you can talk over.

    An entity is a row. A column `name`, or else the first column, names it.

    \b
    Examples:
      vouch kb add restaurants data/restaurants.jsonl
      vouch chat --kb restaurants
    """


@command.command("add")
@click.argument("name", type=Words())
@click.argument("file", type=Words())
@click.option("--shared", is_flag=True, help="For every user; without it, for you alone.")
@common_options
@click.pass_context
def add(ctx: click.Context, name: str, file: str, shared: bool) -> int:
    """Read FILE as the knowledge base NAME; what was under that name before is replaced.

    FILE is .csv or .tsv with the columns in its first line, or .jsonl with an object a line. It is checked
    whole before anything is stored: of a file with a bad row nothing is. `vouch memory undo` takes it back.
    """
    call = Invocation(ctx)
    from assistant.library.ingest import Encoding, Ingested
    from assistant.library.knowledge_file import prepared
    from assistant.library.reading_process import ReadingProcess
    from stores.base.passages import SHARED, knowledge_space, own_space

    path = Path(file).expanduser().absolute()
    with ReadingProcess() as reading:
        read = reading.read_table(path)
    if read.problems:
        for problem in read.problems[:_TOLD_PROBLEMS]:
            click.echo(f"vouch: {one_line(file)}: {one_line(problem)}", err=True)
        count = len(read.problems)
        more = f"; {count - _TOLD_PROBLEMS} more are not listed" if count > _TOLD_PROBLEMS else ""
        rows = "1 row cannot" if count == 1 else f"{count} rows cannot"
        raise UnreadableDocument(file, f"{rows} be read{more}. Nothing was added")
    line = call.progress_line()
    change = ""
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.user_id(call.user)
        assistant.catch_up()
        base_id = assistant.stores.knowledge_bases.open(user_id, name, shared=shared)
        try:
            for step in assistant.turns.ingest.run(
                user_id,
                knowledge_space(base_id),
                [prepared(name, path, read.entities)],
                summary=f"knowledge base {name} from {path.name}",
                of_space=SHARED if shared else own_space(user_id),
            ):
                if isinstance(step, Encoding):
                    line.show(f"{step.passages:,} of {len(read.entities):,} entities")
                elif isinstance(step, Ingested):
                    change = step.change
                else:
                    raise step
        except KeyboardInterrupt:
            line.clear()
            call.tell("Interrupted. Nothing was added.")
            raise
        finally:
            line.clear()
    if call.as_json:
        call.give({"name": name, "entities": len(read.entities), "change": change, "columns": read.columns})
    elif not call.is_quiet:
        became = {"same": "holds the same as before", "new": "was added"}.get(change, "was replaced")
        click.echo(
            f"{one_line(name)} {became}: {_entities(len(read.entities))}. `vouch chat --kb {one_line(name)}`"
            " talks over it."
        )
    return 0


@command.command("list")
@common_options
@click.pass_context
def list_bases(ctx: click.Context) -> int:
    """List your knowledge bases and the shared ones."""
    call = Invocation(ctx)
    with call.assistant() as assistant:
        known = assistant.stores.knowledge_bases.all(assistant.stores.journal.known_user_id(call.user))
    if call.as_json:
        told = [
            {
                "name": base.name,
                "scope": "shared" if base.is_shared else "yours",
                "entities": base.entities,
                "file": base.file,
            }
            for base in known
        ]
        call.give({"knowledge_bases": told})
        return 0
    for base in known:
        scope = "shared" if base.is_shared else "yours"
        click.echo(f"{one_line(base.name)}\t{scope}\t{_entities(base.entities)}\t{one_line(base.file)}")
    if not known:
        call.tell("There is none. `vouch kb add --help` shows how to add one.")
    return 0


@command.command("show")
@click.argument("name", type=Words())
@common_options
@click.pass_context
def show(ctx: click.Context, name: str) -> int:
    """Show the columns of a knowledge base, with their commonest values."""
    call = Invocation(ctx)
    columns: dict[str, Counter[str]] = {}
    with call.assistant() as assistant:
        base = assistant.stores.knowledge_bases.named(assistant.stores.journal.known_user_id(call.user), name)
        for _, entity in assistant.stores.knowledge_bases.entities(base):
            for column, value in entity.values.items():
                columns.setdefault(column, Counter())[value] += 1
    if call.as_json:
        told = {
            column: {"values": len(c), "commonest": dict(c.most_common(_TOLD_VALUES))}
            for column, c in columns.items()
        }
        call.give({"name": name, "entities": base.entities, "file": base.file, "columns": told})
        return 0
    click.echo(f"{one_line(name)}: {_entities(base.entities)}, from {one_line(base.file)}")
    for column, counted in columns.items():
        common = ", ".join(value for value, _ in counted.most_common(_TOLD_VALUES))
        more = ", …" if len(counted) > _TOLD_VALUES else ""
        values = f"{len(counted)} value{'s' if len(counted) != 1 else ''}"
        click.echo(f"{one_line(column)}\t{values}\t{one_line(common)}{more}")
    return 0


@command.command("remove")
@click.argument("name", type=Words())
@click.option("--shared", is_flag=True, help="The shared one of this name, for every user.")
@common_options
@click.pass_context
def remove(ctx: click.Context, name: str, shared: bool) -> int:
    """Remove a knowledge base; the file stays, and `vouch memory undo` brings it back."""
    call = Invocation(ctx)
    from stores.base.passages import SHARED, own_space

    with call.assistant() as assistant:
        user_id = assistant.stores.journal.user_id(call.user)
        base = assistant.stores.knowledge_bases.named(user_id, name, shared=shared)
        receipt_id = assistant.stores.stored_documents.remove(
            user_id,
            base.space,
            [base.name],
            of_space=SHARED if base.is_shared else own_space(user_id),
            summary=f"knowledge base {name} removed",
        )
    if call.as_json:
        call.give({"name": name, "receipt": receipt_id})
    elif not call.is_quiet:
        click.echo(f"Removed {one_line(name)}. `vouch memory undo {receipt_id}` brings it back.")
    return 0


def _entities(count: int) -> str:
    return f"{count:,} {'entity' if count == 1 else 'entities'}"
