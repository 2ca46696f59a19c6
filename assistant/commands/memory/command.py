"""vouch memory: what is remembered, and taking it back."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import click

from assistant.cli import common_options
from assistant.commands.memory import claims as memory_claims
from assistant.commands.memory import files
from assistant.invocation import Invocation, RowId, Words
from assistant.paging import paged
from stores.base.clock import stamp
from stores.base.errors import WrongUsage
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.forgetting.forgetting import Forgotten, Mentions

_NOTHING_YET = {
    "yours": "Nothing is remembered yet. What you said stands apart: --kind message.",
    "shared": "Nothing is shared yet.",
    "all": "Nothing is remembered or shared yet.",
}


@click.group("memory", no_args_is_help=False)
@common_options
def command() -> None:
    """What is remembered.

    \b
    Examples:
      vouch memory list
      vouch memory forget 12
      vouch memory export > mine.jsonl
    """


for each in (
    memory_claims.pending,
    memory_claims.edit,
    memory_claims.both,
    memory_claims.instead,
    memory_claims.link,
    memory_claims.share,
    memory_claims.proposals,
    files.export,
    files.import_,
):
    command.add_command(each)


@command.command("list")
@click.argument("words", nargs=-1, metavar="[WORDS]...", type=Words())
@click.option("--scope", type=files.SCOPES, default="yours", show_default=True, help="Whose.")
@click.option("--kind", type=Words(), help="fact, preference, note, correction, message, document or all.")
@click.option("--query", type=Words(), help="The same as WORDS.")
@click.option("--since", type=click.DateTime(), help="Only newer than this.")
@click.option("--limit", type=click.IntRange(min=1), help="How many at most.")
@common_options
@click.pass_context
@paged
def list_passages(
    ctx: click.Context,
    words: tuple[str, ...],
    scope: Literal["yours", "shared", "all"],
    kind: str | None,
    query: str | None,
    since: datetime | None,
    limit: int | None,
) -> int:
    """List memories, newest first: id, kind, scope and text. WORDS must all stand in the text.

    Exits with 1 when nothing fits WORDS, --kind or --since; a memory that is still empty is no fault.
    Your messages and your documents are left out, unless --kind names them or WORDS are looked for.
    """
    from assistant.terminal.facts.memory_history import passage_as_json

    call = Invocation(ctx)
    if words:
        query = " ".join(filter(None, (query, *words)))
    memories_only = kind is None and query is None
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        lines = assistant.stores.catalogue.lines(
            user_id,
            scope=scope,
            kind=None if kind == "all" else kind,
            memories_only=memories_only,
            query=query,
            since=_in_utc(since) if since else None,
            limit=limit,
        )
        for line in lines:
            if call.as_json:
                call.give(passage_as_json(line))
            elif sys.stdout.isatty():
                click.echo(f"{line.passage_id:>6}  {line.kind:<10}  {line.scope:<6}  {_short(line.text)}")
            else:
                click.echo(f"{line.passage_id}\t{line.kind}\t{line.scope}\t{one_line(line.text)}")
    is_narrowed = bool(kind or query or since)
    if not lines:
        if sys.stderr.isatty():
            call.tell("Nothing that is remembered fits." if is_narrowed else _NOTHING_YET[scope])
        return 1 if is_narrowed else 0
    if memories_only and scope != "shared" and sys.stdout.isatty():
        call.tell("What you said and read in stands apart: --kind message, --kind document, --kind all.")
    return 0


@command.command("show")
@click.argument("passage_id", type=RowId(), metavar="ID")
@common_options
@click.pass_context
@paged
def show(ctx: click.Context, passage_id: int) -> int:
    """Show one passage: its text, where it came from, every version it had, its receipts and uses."""
    from assistant.terminal.facts.memory_history import (
        claim_lines,
        deciding_versions,
        history_as_json,
        history_lines,
    )

    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        history = assistant.stores.catalogue.history(user_id, passage_id)
        claims = assistant.stores.claims.of_passage(user_id, passage_id)
        evidence = assistant.stores.catalogue.passages_of(user_id, deciding_versions(claims))
    if call.as_json:
        told = [memory_claims.claim_as_json(claim) for claim in claims]
        call.give(history_as_json(history) | {"claims": told})
    else:
        for line in (*history_lines(history), *claim_lines(claims, evidence)):
            click.echo(line)
    return 0


@command.command("forget")
@click.argument("passage_ids", nargs=-1, metavar="ID...")
@click.option("--all-mine", is_flag=True, help="Everything of yours: memory, transcripts, drafts.")
@click.option("--shared", is_flag=True, help="Shared passages that you added too, for every user.")
@click.option(
    "--everywhere", is_flag=True, help="Also what else of yours holds a number, code or name of them."
)
@click.option("--yes", is_flag=True, help="Do not ask. A script has to say it.")
@common_options
@click.pass_context
def forget(
    ctx: click.Context,
    passage_ids: tuple[str, ...],
    all_mine: bool,
    shared: bool,
    everywhere: bool,
    yes: bool,
) -> int:
    """Forget passages for good: their texts are erased, and nothing brings them back.

    What was said or learned with them goes along, and so do the answers that were made with them. With -
    the ids are read from standard input, one a line. At a terminal it asks before; elsewhere nothing is
    forgotten without --yes.
    """
    from assistant.terminal.actions.forgetting import forget_for_good, mentions_of, mentions_stay

    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        ids, stays = None, []
        if all_mine:
            _must_be_sure(call, yes)
        else:
            ids = _ids(sys.stdin.read().split() if passage_ids == ("-",) else passage_ids)
            if not ids:
                raise WrongUsage("no passage is named", hint="`vouch memory list` shows their ids.")
            _ask_if_sure(call, assistant, user_id, ids, shared=shared, yes=yes)
            mentions = mentions_of(assistant, user_id, ids)
            everywhere = everywhere or (not yes and _takes_them_too(mentions))
            stays = [mentions_stay(mentions)] if mentions and not everywhere else []
        forgotten, told = forget_for_good(assistant, user_id, ids, everywhere=everywhere)
        told = [*stays, *told]
    if all_mine and not (forgotten.lines or forgotten.turns):
        call.tell("There is nothing of yours to forget.")
        return 1
    if call.as_json:
        call.give(_forgotten_as_json(forgotten, told))
        return 0
    for state, lines in (("forgotten", forgotten.lines), ("went with it", forgotten.with_them)):
        for line in lines:
            click.echo(f"{line.passage_id}\t{state}\t{one_line(line.text)}")
    for sentence in told:
        call.tell(one_line(sentence))
    return 0


@command.command("undo")
@click.argument("receipt_id", type=RowId(), required=False, metavar="[RECEIPT]")
@click.option("--list", "lists", is_flag=True, help="Show what can be undone.")
@common_options
@click.pass_context
def undo(ctx: click.Context, receipt_id: int | None, lists: bool) -> int:
    """Take a write back: the one whose receipt is named, or the latest with all that its message taught."""
    from assistant.terminal.facts.memory_history import passage_as_json
    from stores.memory.edits import Undone

    call = Invocation(ctx)
    from assistant.terminal.actions.undoing import WROTE

    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        if lists:
            receipts = assistant.stores.knowledge.receipts(user_id)
            for receipt in receipts:
                if call.as_json:
                    call.give(
                        {
                            "receipt": receipt.id,
                            "action": receipt.action,
                            "summary": receipt.summary,
                            "created_at": stamp(receipt.created_at),
                        }
                    )
                else:
                    click.echo(
                        f"{receipt.id}\t{receipt.created_at.astimezone():%Y-%m-%d %H:%M}\t"
                        f"{receipt.action}\t{one_line(receipt.summary)}"
                    )
            return 0 if receipts else 1
        if receipt_id is None:
            undone = assistant.stores.knowledge.undo_latest(user_id)
        else:
            receipt, back = assistant.stores.knowledge.undo(user_id, receipt_id)
            undone = Undone((receipt,), tuple(back), ())
        if call.as_json:
            call.give(
                {
                    "receipt": undone.receipts[0].id,
                    "action": undone.receipts[0].action,
                    "receipts": [receipt.id for receipt in undone.receipts],
                    "still_shared": [receipt.id for receipt in undone.kept],
                    "back": [passage_as_json(line) for line in undone.back],
                }
            )
        else:
            for receipt in undone.receipts:
                click.echo(f"Undone: {WROTE[receipt.action]} {one_line(receipt.summary)}")
            for line in undone.back:
                click.echo(f"{line.passage_id}\tback\t{one_line(line.text)}")
            for receipt in undone.kept:
                call.tell(f"Still shared: {one_line(receipt.summary)}. `vouch memory undo {receipt.id}`")
    return 0


def _must_be_sure(call: Invocation, yes: bool) -> None:
    if yes:
        return
    if call.no_input or not sys.stdin.isatty():
        raise WrongUsage("--all-mine forgets everything of yours", hint="Add --yes to mean it.")
    click.confirm("Forget everything of yours for good? This cannot be undone.", abort=True, err=True)


def _ask_if_sure(
    call: Invocation, assistant: Assistant, user_id: int, ids: list[int], *, shared: bool, yes: bool
) -> None:
    """Names what would go, and asks. Raises `WrongUsage` where nobody can be asked and --yes is missing."""
    from assistant.terminal.actions.forgetting import named_lines, not_sure, sure_to_forget, to_be_forgotten

    passages = to_be_forgotten(assistant, user_id, ids, shared=shared)
    if yes:
        return
    if call.no_input or not sys.stdin.isatty():
        also = " --shared" if shared else ""
        raise not_sure(f"vouch memory forget {' '.join(map(str, ids))}{also} --yes")
    for line in named_lines(passages):
        click.echo(line, err=True)
    question = sure_to_forget(assistant, user_id, passages).removesuffix(" [y/N]")  # which click adds
    click.confirm(question, abort=True, err=True)


def _takes_them_too(mentions: Mentions) -> bool:
    """Names what else holds it, and asks; no is the default."""
    from assistant.terminal.actions.forgetting import mention_lines, sure_of_mentions

    if not mentions:
        return False
    for line in mention_lines(mentions):
        click.echo(line, err=True)
    return click.confirm(sure_of_mentions(mentions).removesuffix(" [y/N]"), err=True)


def _ids(words: Iterable[str]) -> list[int]:
    ids: list[int] = []
    for word in words:
        if not (word.isdecimal() and len(word) <= 18):  # more digits than the database counts to
            raise WrongUsage(f"{word!r} is no passage id", hint="`vouch memory list` shows them.")
        ids.append(int(word))
    return list(dict.fromkeys(ids))


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise WrongUsage(f"--since {moment:%Y-%m-%d} is beyond the calendar") from error


def _forgotten_as_json(forgotten: Forgotten, told: list[str]) -> dict[str, Any]:
    from assistant.terminal.facts.memory_history import passage_as_json

    return {
        "forgotten": [passage_as_json(line) for line in forgotten.lines],
        "went_with_it": [passage_as_json(line) for line in forgotten.with_them],
        "claims": forgotten.claims,
        "blank_turns": list(forgotten.turns),
        "blank_answers": list(forgotten.answers),
        "marked_turns": list(forgotten.marked),
        "blank_answers_of_others": forgotten.answers_of_others,
        "still_in": list(forgotten.still_in),
        "rounds": list(forgotten.rounds),
        "models": list(forgotten.models),
        "told": told,
    }


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= 100 else line[:99] + "…"
