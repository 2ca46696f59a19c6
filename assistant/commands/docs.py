"""vouch docs: the documents that were read."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from assistant.library import shelf
from stores.base.clock import stamp
from stores.base.errors import WrongUsage
from stores.base.one_line import one_line
from stores.base.passages import SHARED

if TYPE_CHECKING:
    from stores.memory.library import KnownDocument


@click.group("docs", no_args_is_help=False, invoke_without_command=True)
@common_options
@click.pass_context
def command(ctx: click.Context) -> int | None:
    """Documents that Vouch has read: your own and the shared ones. Alone it lists them.

    NAME is a path, a file's name, a title, a folder, or a collection: documents under one name. A folder that
    was ingested is a collection; `vouch ingest --into` and `vouch docs move` make others.

    \b
    Examples:
      vouch docs list
      vouch docs show manual.pdf
      vouch docs refresh
      vouch docs move report.pdf notes/ --into work
      vouch docs remove notes/old.md
    """
    if ctx.invoked_subcommand is None:
        listed: int = ctx.invoke(list_documents)
        return listed
    return None


@command.command("list")
@common_options
@click.pass_context
def list_documents(ctx: click.Context) -> int:
    """List documents with their passages, the day they were read, and whether the file has changed since."""
    call = Invocation(ctx)
    with call.assistant() as assistant:
        known = assistant.stores.library.all(assistant.stores.journal.known_user_id(call.user))
    if call.as_json:
        call.give({"documents": [_as_json(each) for each in known]})
        return 0
    for each in known:
        click.echo("\t".join(shelf.cells(each)))
    if not known:
        call.tell("There is none. `vouch ingest PATH` reads some.")
    return 0


@command.command("show")
@click.argument("name")
@common_options
@click.pass_context
def show(ctx: click.Context, name: str) -> int:
    """Show what a document was read as: its passages, in their order."""
    from assistant.terminal.text.printable import printable

    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        found = assistant.stores.library.named(user_id, name)
        read = [(each, list(assistant.stores.library.passages(each, user_id))) for each in found]
    for document, passages in read:
        if call.as_json:
            told = [{"title": title, "text": text} for title, text in passages]
            call.give(_as_json(document) | {"text": told})
            continue
        click.echo("\t".join(shelf.cells(document)))
        for number, (title, text) in enumerate(passages, start=1):
            click.echo(f"\n{number}. {one_line(title)}\n{printable(text)}")
    return 0


@command.command("refresh")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@common_options
@click.pass_context
def refresh(ctx: click.Context, names: tuple[str, ...]) -> int:
    """Read changed files anew; without NAME, all that have changed."""
    from assistant.commands.ingest import Errors, read, store
    from assistant.library import documents
    from assistant.library.ingest import count_documents

    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        known = assistant.stores.library.all(user_id)
        if names:
            known = [each for name in names for each in assistant.stores.library.named(user_id, name)]
        else:
            sources = [source for each in known if each.is_shared for source in each.sources]
            others = assistant.stores.stored_documents.of_others(user_id, SHARED, sources)
            known = [each for each in known if not (each.is_shared and others.keys() & set(each.sources))]
    errors = Errors(call)
    became = [(each, each.on_disk()) for each in known]
    for each, on_disk in became:
        if on_disk == "gone":
            call.tell(f"{one_line(each.source)} is no longer on disk. `vouch docs remove` takes it out.")
    changed = [each for each, on_disk in became if on_disk == "changed"]
    for shared in (False, True):
        here = [each for each in changed if each.is_shared == shared]
        files = [each.file for each in here]
        if files:
            told_as_one = documents.record_files(files)
            total, summary = count_documents(files), f"refreshed {shelf.names(here)}"
            store(
                call, read(files, None, call.settings.scale), total, errors, told_as_one,
                shared=shared, summary=summary, into=shelf.placed(here),
            )  # fmt: skip
    if not changed:
        call.tell("Nothing has changed on disk.")
    return 1 if errors.count else 0


@command.command("move")
@click.argument("names", nargs=-1, metavar="NAME...", required=True)
@click.option("--into", metavar="COLLECTION", type=Words(), help="The collection that they come into.")
@click.option("--out", is_flag=True, help="Out of the collection that they stand in, into none.")
@common_options
@click.pass_context
def move(ctx: click.Context, names: tuple[str, ...], into: str | None, out: bool) -> int:
    """Put documents into a collection, which `vouch ask --in` and @ ask alone; the files stay."""
    from stores.memory.collections import require_name

    call = Invocation(ctx)
    if (into is None) != out:
        raise WrongUsage(
            "say where to: --into COLLECTION, or --out", hint="`vouch docs move --help` shows how."
        )
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.user_id(call.user)
        found = [each for name in names for each in assistant.stores.library.named(user_id, name)]
        for shared in {each.is_shared for each in found} if into is not None else ():
            require_name(into or "", assistant.stores.library.all(user_id), shared=shared)
        before = shelf.move(assistant.stores.stored_documents, user_id, found, into or "")
    if call.as_json:
        call.give({"moved": [each.source for each in found], "into": into or None})
    elif not call.is_quiet:
        where = f"into {one_line(into)}" if into else "out of its collection"
        click.echo(f"Moved {shelf.names(found)} {where}.")
        if len(before) == 1 and before[0] != (into or ""):
            back = f"--into {shlex.quote(one_line(before[0]))}" if before[0] else "--out"
            moved = one_line(" ".join(map(shlex.quote, names)))
            call.tell(f"`vouch docs move {moved} {back}` moves it back.")
    return 0


@command.command("remove")
@click.argument("name")
@click.option("--shared", is_flag=True, help="What is shared under this name, for every user.")
@common_options
@click.pass_context
def remove(ctx: click.Context, name: str, shared: bool) -> int:
    """Remove a document, or all of a folder; the files stay, and `vouch memory undo` brings it back."""
    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.user_id(call.user)
        found = assistant.stores.library.named(user_id, name, shared=shared)
        receipts = shelf.remove(assistant.stores.stored_documents, user_id, found)
    if call.as_json:
        call.give({"removed": [each.source for each in found], "receipts": receipts})
    elif not call.is_quiet:
        undo = " and ".join(f"`vouch memory undo {receipt}`" for receipt in receipts)
        brings = "brings" if len(receipts) == 1 else "bring"
        click.echo(f"Removed {shelf.names(found)}. {undo} {brings} it back.")
    return 0


def _as_json(document: KnownDocument) -> dict[str, Any]:
    return {
        "name": document.name,
        "title": document.title,
        "source": document.source,
        "collection": document.collection or None,
        "scope": "shared" if document.is_shared else "yours",
        "records": len(document.sources),
        "passages": document.passages,
        "read_at": stamp(document.added_at),
        "on_disk": document.on_disk() or "same",
    }
