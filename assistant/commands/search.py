"""vouch search: passages with every signal's score, without an answer."""

from __future__ import annotations

import sys

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, Words
from assistant.paging import paged
from stores.base.errors import WrongUsage
from stores.base.one_line import one_line

_ALIKE = 0.2  # cosine under which a passage without a shared word is not a find


@click.command("search")
@click.argument("query", nargs=-1, required=True, type=Words())
@click.option("-k", "count", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many.")
@common_options
@click.pass_context
@paged
def command(ctx: click.Context, query: tuple[str, ...], count: int) -> int:
    """Find passages in the shared memory and your own.

    Exits with 1 when nothing is found.

    \b
    Examples:
      vouch search opening hours
      vouch search --json -k 3 "undo what was learned"
    """
    call = Invocation(ctx)
    text = " ".join(query).strip()
    if not text:
        raise WrongUsage("there is nothing to search for")
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        assistant.catch_up()
        searching = assistant.search.searching
        retriever = assistant.search.retriever_keeping(searching.encoder, count)
        found = retriever.retrieve(text, searching.spaces.of(user_id))
        fitting = [c for c in found.candidates if c.lexical > 0 or c.dense >= _ALIKE]
        for candidate in fitting:
            passage = candidate.passage
            if call.as_json:
                call.give(
                    {
                        "rank": candidate.found_rank,
                        "passage": passage.passage_id,
                        "scope": passage.scope,
                        "kind": passage.kind,
                        "score": round(candidate.score, 6),
                        "dense": round(candidate.dense, 6),
                        "lexical": round(candidate.lexical, 6),
                        "lift": round(candidate.lift, 6),
                        "title": passage.title,
                        "source": passage.source,
                        "external_id": passage.external_id,
                        "text": passage.text,
                    }
                )
            else:
                click.echo(
                    f"{candidate.found_rank}. {candidate.score:.3f}  meaning {candidate.dense:.3f}  "
                    f"words {candidate.lexical:.2f}  lift +{candidate.lift:.2f}  "
                    f"{passage.scope} {passage.passage_id}  {one_line(passage.title)}"
                )
                text = one_line(passage.text)
                click.echo(f"   {text[:240] + '…' if sys.stdout.isatty() and len(text) > 240 else text}")
    return 0 if fitting else 1
