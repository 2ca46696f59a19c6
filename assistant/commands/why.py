"""vouch why: what an answer was made from, from what was stored with its turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assistant.cli import common_options
from assistant.commands.memory.claims import claim_as_json
from assistant.invocation import Invocation, RowId
from assistant.paging import paged
from stores.base.clock import stamp

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.base.passages import Passage
    from stores.conversation.journal import FoundPassage
    from stores.database.tables import Turn
    from stores.versions.states import VersionState


@click.command("why")
@click.argument("turn_id", type=RowId(), required=False, metavar="[TURN]")
@common_options
@click.pass_context
@paged
def command(ctx: click.Context, turn_id: int | None) -> int:
    """Show why an answer was given: what was searched, found, cited and learned.

    Without TURN it is your last one. It is told as it was then, and what became of each passage since.
    Exits with 1 where there is no such turn.

    \b
    Examples:
      vouch why
      vouch why 12
      vouch why 12 --json | jq -r '.found[] | select(.cited) | .text'
    """
    from assistant.terminal.facts.answer_lines import why_lines

    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        journal = assistant.stores.journal
        turn = journal.last_turn(user_id) if turn_id is None else journal.turn(user_id, turn_id)
        if call.as_json:
            call.give(_as_json(assistant, user_id, turn))
        else:
            for line in why_lines(assistant, user_id, turn):
                click.echo(line)
    return 0


def _as_json(assistant: Assistant, user_id: int, turn: Turn) -> dict[str, Any]:
    assert turn.id is not None, "a stored turn has an id"
    found = assistant.stores.journal.found_in(user_id, turn.id)
    versions = [entry.version_id for entry in found]
    passages = assistant.stores.catalogue.passages_of(user_id, versions)
    states = assistant.stores.catalogue.version_states(user_id, versions)
    return {
        "turn": turn.id,
        "session": turn.session_id,
        "question": turn.message,
        "searched_as": turn.standalone,
        "answer": turn.answer,
        "state": turn.state,
        "failure": turn.failure,
        "model": turn.model,
        "trained": assistant.turns.trained_behind(user_id, turn),
        "accepted_at": stamp(turn.accepted_at),
        "answered_at": stamp(turn.answered_at) if turn.answered_at else None,
        "milliseconds": turn.details.get("milliseconds", {}),
        "invented_citations": turn.details.get("invented_citations", []),
        "left_out": turn.details.get("left_out", []),
        "found": [
            _found_as_json(entry, passages[entry.version_id][0], states[entry.version_id], turn.details)
            for entry in found
            if entry.version_id in passages
        ],
        "learned": [claim_as_json(claim) for claim in assistant.stores.claims.of_turn(user_id, turn.id)],
    }


def _found_as_json(
    found: FoundPassage, passage: Passage, state: VersionState, details: dict[str, Any]
) -> dict[str, Any]:
    return {
        "passage": passage.passage_id,
        "version": state.number,
        "scope": passage.scope,
        "kind": passage.kind,
        "title": passage.title,
        "text": passage.text,
        "source": passage.source,
        "number": found.citation,
        "cited": found.citation is not None and found.citation in details.get("cited", []),
        "found_rank": found.found_rank,
        "final_rank": found.final_rank,
        "score": round(found.score, 4),
        "meaning": round(found.dense, 4),
        "words": round(found.lexical, 4),
        "lift": round(found.lift, 4),
        "given": details.get("given", {}).get(str(found.version_id), 0.0),
        "state": state.state,
        "state_since": stamp(state.since) if state.since is not None else None,
    }
