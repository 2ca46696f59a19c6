"""vouch memory pending, edit, both, instead, link, share, proposals: what is weighed, what people decide."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from assistant.cli import common_options
from assistant.invocation import Invocation, RowId, Words
from assistant.paging import paged
from stores.base.clock import stamp
from stores.base.errors import WrongUsage
from stores.base.one_line import one_line
from stores.base.statement_links import LINK_KINDS, LinkKind

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned
    from stores.claims.proposals import OpenProposal
    from stores.conversation.claim_jobs import WaitingJob
    from stores.database.tables import StatedClaim


@click.command("pending")
@click.option("--retry", is_flag=True, help="Try again now what failed, or was left by a chat that is gone.")
@common_options
@click.pass_context
@paged
def pending(ctx: click.Context, retry: bool) -> int:
    """Show what you said that is not weighed yet, and why it waits. Exits with 1 when nothing waits."""
    call = Invocation(ctx)
    with call.assistant(limits_turns=True) as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        if retry and user_id:
            assistant.stores.claim_jobs.retry_now(user_id)
            _learn(assistant, user_id, call)
        jobs = assistant.stores.claim_jobs.waiting(user_id)
        claims = {claim.id: claim for claim in assistant.stores.claims.pending(user_id)}
        for job in jobs:
            about = _about(assistant, user_id, job, claims.get(job.subject_id))
            if call.as_json:
                call.give(_job_as_json(job, about))
            else:
                click.echo(_job_line(job, about))
    return 0 if jobs else 1


@click.command("edit")
@click.argument("passage_id", type=RowId(), metavar="ID")
@click.argument("text", nargs=-1)
@common_options
@click.pass_context
def edit(ctx: click.Context, passage_id: int, text: tuple[str, ...]) -> int:
    """Give a memory of yours another text; without TEXT, in your editor. With - it is read from a pipe."""
    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        old = assistant.stores.catalogue.line(user_id, passage_id).text
        new = sys.stdin.read() if text == ("-",) else " ".join(text)
        if not text:
            if call.no_input or not sys.stdin.isatty():
                raise WrongUsage("there is no new text", hint="Write it behind the id, or - to read it.")
            new = click.edit(old) or old
        if new.strip() == old.strip():
            call.tell("Nothing was changed.")
            return 1
        receipt_id = assistant.stores.knowledge.edit(user_id, passage_id, new)
        assistant.catch_up()
    if call.as_json:
        call.give({"passage": passage_id, "receipt": receipt_id})
    else:
        click.echo(f"{passage_id}\tedited\t{one_line(new)}")
        call.tell(f"`vouch memory undo {receipt_id}` brings the old text back.")
    return 0


@click.command("both")
@click.argument("passage_id", type=RowId(), metavar="ID")
@common_options
@click.pass_context
def both(ctx: click.Context, passage_id: int) -> int:
    """Say that a memory and those that it took the place of, or that took its place, all hold."""
    from assistant.terminal.actions.undoing import both_line

    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        receipt_id, others = assistant.stores.statement_links.keep_both(user_id, passage_id)
    if call.as_json:
        named = [other.passage_id for other in others]
        call.give({"passage": passage_id, "both_hold": named, "receipt": receipt_id})
    else:
        click.echo(both_line(passage_id, others, f"`vouch memory undo {receipt_id}`"))
    return 0


@click.command("instead")
@click.argument("passage_id", type=RowId(), metavar="ID")
@click.argument("text", nargs=-1, required=True, type=Words())
@common_options
@click.pass_context
def instead(ctx: click.Context, passage_id: int, text: tuple[str, ...]) -> int:
    """Have what you write take the place of a memory of yours, which stays as what held before."""
    from assistant.terminal.actions.undoing import instead_line

    call, written = Invocation(ctx), " ".join(text)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        older = assistant.stores.catalogue.line(user_id, passage_id)
        newer_id, receipt_id = assistant.stores.statement_links.instead(user_id, passage_id, written)
        assistant.catch_up()
    if call.as_json:
        call.give({"passage": newer_id, "instead_of": passage_id, "receipt": receipt_id})
    else:
        click.echo(instead_line(newer_id, written, older, f"`vouch memory undo {receipt_id}`"))
    return 0


@click.command("link")
@click.argument("one", type=RowId(), metavar="ID")
@click.argument("other", type=RowId(), metavar="ID")
@click.option("--kind", type=click.Choice(LINK_KINDS), required=True, help="What the later told does.")
@common_options
@click.pass_context
def link(ctx: click.Context, one: int, other: int, kind: LinkKind) -> int:
    """Say what the later of two memories of yours does to the earlier. Your word counts before all others."""
    call = Invocation(ctx)
    with call.assistant() as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        receipt_id = assistant.stores.statement_links.say(user_id, one, other, kind)
    if call.as_json:
        call.give({"memories": [one, other], "kind": kind, "receipt": receipt_id})
    else:
        click.echo(f"{one}\t{other}\t{kind}")
        call.tell(f"`vouch memory undo {receipt_id}` takes it back.")
    return 0


@click.command("share")
@click.argument("passage_id", type=RowId(), metavar="ID")
@common_options
@click.pass_context
def share(ctx: click.Context, passage_id: int) -> int:
    """Offer a memory of yours to every user. It is shared if shared passages bear it out.

    What they say nothing of becomes a proposal, which somebody else may accept. Exits with 1 unless it
    is shared now, or was known already.
    """
    call = Invocation(ctx)
    from assistant.terminal.actions.sharing import share_memory, shared_line

    with call.assistant(limits_turns=True) as assistant:
        user_id = assistant.stores.journal.known_user_id(call.user)
        assistant.catch_up()
        learned = share_memory(assistant, user_id, passage_id)
    if learned is None:
        call.tell("It is not weighed yet: a model is missing. `vouch memory pending` shows why.")
        return 3
    if call.as_json:
        call.give(_learned_as_json(learned))
    else:
        click.echo(shared_line(learned))
    return 0 if learned.scope == "shared" else 1


@click.command("proposals")
@click.option("--accept", type=RowId(), metavar="ID", help="Take one into the shared memory.")
@click.option("--refuse", type=RowId(), metavar="ID", help="Put one away for good.")
@click.option("--withdraw", type=RowId(), metavar="ID", help="Take back one that you made.")
@common_options
@click.pass_context
@paged
def proposals(ctx: click.Context, accept: int | None, refuse: int | None, withdraw: int | None) -> int:
    """Show what is proposed for the shared memory: claims that no passage decides, changes and removals.

    A change tells what it would put in the place of what. Shown are those that somebody offered or that you
    stated, and all to whom may decide: those whom memory.curators names, and nobody what they stated
    themselves. Who offered a memory, or proposed to remove a shared passage, may take that back until it is
    decided.
    """
    call = Invocation(ctx)
    if sum(number is not None for number in (accept, refuse, withdraw)) > 1:
        raise WrongUsage("--accept, --refuse and --withdraw exclude one another")
    with call.assistant() as assistant:
        if withdraw is not None:
            assistant.stores.proposals.withdraw(assistant.stores.journal.known_user_id(call.user), withdraw)
            click.echo(f"{withdraw}\twithdrawn")
            return 0
        if accept is None and refuse is None:
            from assistant.terminal.facts.proposals import proposals_shown

            user_id = assistant.stores.journal.known_user_id(call.user)
            own = {it.id for it in assistant.stores.proposals.of_user(user_id)}
            found = proposals_shown(assistant, user_id)
            for proposal in found:
                is_own = proposal.id in own
                call.give(_proposal_as_json(proposal, is_own)) if call.as_json else click.echo(
                    _proposal_line(proposal, is_own)
                )
            return 0 if found else 1
        _must_be_curator(call)
        user_id = assistant.stores.journal.user_id(call.user)
        if refuse is not None:
            assistant.stores.proposals.refuse(user_id, refuse)
            click.echo(f"{refuse}\trefused")
            return 0
        assert accept is not None, "one of both was given"
        action = assistant.stores.proposals.action(accept)
        passage_id, receipt_id = assistant.stores.proposals.accept(user_id, accept)
        assistant.catch_up()
    done = {"modify": "changed ", "delete": "removed "}.get(action, "")
    click.echo(f"{accept}\taccepted\t{done}shared passage {passage_id}")
    call.tell(f"`vouch memory undo {receipt_id}` takes it back for everybody.")
    return 0


def claim_as_json(claim: StatedClaim) -> dict[str, Any]:
    """A claim with all that it rests on, as plain values."""
    return {
        "claim": claim.id,
        "turn": claim.turn_id,
        "origin": claim.origin,
        "text": claim.text,
        "quote": claim.quote,
        "kind": claim.kind,
        "about": claim.about,
        "hearsay": claim.is_hearsay,
        "state": claim.state,
        "status": claim.status,
        "confidence": round(claim.confidence, 4),
        "scope": claim.scope,
        "action": claim.action,
        "passage": claim.passage_id,
        "receipt": claim.receipt_id,
        "grounds": claim.grounds,
        "imported": claim.imported_by is not None,
    }


def _learn(assistant: Assistant, user_id: int, call: Invocation) -> None:
    from assistant.turns.notices import Notices

    notices = Notices("vouch memory undo")
    assistant.turns.host.remember(user_id, notices.put)
    assistant.turns.host.settle()
    for line in notices.take():
        call.tell(line)


def _about(assistant: Assistant, user_id: int, job: WaitingJob, claim: StatedClaim | None) -> str:
    if job.kind == "summarize":
        return assistant.stores.journal.turn(user_id, job.subject_id).message
    return claim.text if claim is not None else ""


def _job_line(job: WaitingJob, about: str) -> str:
    from assistant.terminal.facts.waiting_claims import told_failure, told_reason

    step = "to be weighed" if job.kind == "weigh" else "to be read"
    why = told_reason(job) or "the next chat takes it up"
    failed = f" (failed {told_failure(job)})" if job.error else ""
    return f"{job.id}\t{step}: {why}{failed}\t{one_line(about)}"


def _job_as_json(job: WaitingJob, about: str) -> dict[str, Any]:
    return {
        "job": job.id,
        "step": job.kind,
        "text": about,
        "why": job.why,
        "attempts": job.attempts,
        "error": job.error,
        "failed_at": stamp(job.failed_at) if job.failed_at else None,
        "not_before": stamp(job.not_before) if job.not_before else None,
        "created_at": stamp(job.created_at),
    }


def _learned_as_json(learned: Learned) -> dict[str, Any]:
    return {
        "claim": learned.claim_id,
        "text": learned.text,
        "state": learned.state,
        "status": learned.status,
        "confidence": round(learned.confidence, 4),
        "scope": learned.scope,
        "action": learned.action,
        "reason": learned.reason,
        "passage": learned.passage_id,
        "receipt": learned.receipt_id,
        "proposal": learned.proposal_id,
    }


def _proposal_line(proposal: OpenProposal, is_own: bool) -> str:
    from assistant.terminal.facts.proposals import proposed_line

    whose = ["yours"] if is_own else []
    return "\t".join([str(proposal.id), proposal.reason, proposed_line(proposal), *whose])


def _proposal_as_json(proposal: OpenProposal, is_own: bool) -> dict[str, Any]:
    return {
        "proposal": proposal.id,
        "reason": proposal.reason,
        "action": proposal.action,
        "text": proposal.text,
        "replaces": proposal.replaces,
        "because": proposal.because,
        "changed_since": proposal.is_outdated,
        "yours": is_own,
        "created_at": stamp(proposal.created_at),
    }


def _must_be_curator(call: Invocation) -> None:
    from assistant.terminal.actions.proposals import must_be_curator

    must_be_curator(call.user, call.settings.memory.curators)
