"""What is decided about a claim, carried out: all of it or nothing, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy.orm import Session as SqlSession

from stores.base.clock import now
from stores.base.passages import SHARED, Passage, own_space
from stores.base.statement_links import GONE_FROM, NewLink
from stores.base.well_formed import well_formed, well_formed_values
from stores.claims.proposals import propose, propose_change
from stores.claims.shared_changes import SharedChange
from stores.database.tables import PassageVersion, StatedClaim, known_id
from stores.versions.changes import NewVersion, add_versions
from stores.versions.claim_passages import AUTHOR, live_with_text, set_words_aside
from stores.versions.links import newer_of, write_links
from stores.versions.live import live_of
from stores.versions.receipts import open_receipt, shortened


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What is to be done about a claim, and why."""

    status: Literal["correct", "incorrect", "unknown"]
    confidence: float
    scope: Literal["shared", "yours"]
    action: Literal["add", "nothing"]
    passage_id: int | None = None  # with nothing: what says it already
    text: str = ""  # in place of the claim's own
    reason: str = ""
    links: Sequence[NewLink] = ()  # what it does to other statements of its user, or they to it
    proposed: SharedChange | None = None  # what a person is to decide, whatever else becomes of the claim
    grounds: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A model's words hold anything; what is stored is what any database holds."""
        object.__setattr__(self, "reason", well_formed(self.reason))
        object.__setattr__(self, "grounds", well_formed_values(self.grounds))


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What became of a claim."""

    claim_id: int
    turn_id: int | None
    text: str
    kind: str
    state: str  # stored, confirmed or rejected
    status: str
    confidence: float
    scope: str
    action: str  # add, or nothing
    reason: str
    passage_id: int | None
    receipt_id: int | None
    proposal_id: int | None = None  # that the claim was raised to
    proposed_action: str = "add"  # what accepting that does: add, modify or delete
    instead_of: tuple[Passage, ...] = ()  # statements that surely hold no longer because of it
    is_earlier: bool = False  # its user has told since what took its place


class Outdated(Exception):
    """What of the shared memory a decision would change has changed meanwhile: decide again."""


def carry_out(sql: SqlSession, claim: StatedClaim, decision: Decision) -> Learned:
    """See `Claims.decide`; in the transaction of the caller."""
    space = SHARED if decision.scope == "shared" else own_space(claim.user_id)
    if decision.proposed is not None and not decision.proposed.is_due(sql):
        raise Outdated(f"passage {decision.proposed.passage_id} has changed")
    grounds = {
        "claim": claim.text,
        "quote": claim.quote,
        "status": decision.status,
        "confidence": decision.confidence,
        "reason": decision.reason,
        **decision.grounds,
    }
    receipt_id: int | None = None
    passage_id = decision.passage_id
    if decision.status == "incorrect":
        state = "rejected"
        receipt_id = set_words_aside(sql, claim, grounds)
    elif decision.action == "nothing":
        state = "confirmed"
    else:
        state = "stored"
        passage_id, receipt_id = _write(sql, claim, decision, space, grounds)
        if receipt_id is None:
            state = "confirmed"
    claim.state, claim.status, claim.confidence = state, decision.status, decision.confidence
    claim.scope, claim.action = decision.scope, "nothing" if receipt_id is None else decision.action
    claim.passage_id, claim.receipt_id = passage_id or claim.passage_id, receipt_id
    claim.grounds = {**claim.grounds, **decision.grounds, "reason": decision.reason}
    claim.decided_at = now()
    sql.flush()
    instead_of, is_earlier = _replaced(sql, claim, space) if decision.links and receipt_id else ((), False)
    change = decision.proposed
    proposal_id = propose(sql, claim) if change is None else propose_change(sql, claim, change)
    return Learned(
        claim_id=known_id(claim.id),
        turn_id=claim.turn_id,
        text=claim.quote if claim.is_hearsay else claim.text,  # with who says so
        kind=claim.kind,
        state=state,
        status=claim.status,
        confidence=claim.confidence,
        scope=claim.scope,
        action=claim.action,
        reason=decision.reason,
        passage_id=claim.passage_id,
        receipt_id=receipt_id,
        proposal_id=proposal_id,
        proposed_action="add" if change is None else change.action,
        instead_of=instead_of,
        is_earlier=is_earlier,
    )


def _replaced(sql: SqlSession, claim: StatedClaim, space: str) -> tuple[tuple[Passage, ...], bool]:
    """What a claim took the place of, and whether something told later took its own."""
    passage_id = claim.passage_id or 0
    newer = newer_of(sql, [passage_id], (space,))
    older = [
        each
        for each, by in newer.items()
        if any(one.passage_id == passage_id and one.probability >= GONE_FROM for one in by)
    ]
    is_earlier = any(one.probability >= GONE_FROM for one in newer.get(passage_id, ()))
    return tuple(live_of(sql, older, (space,)).values()), is_earlier


def _write(
    sql: SqlSession, claim: StatedClaim, decision: Decision, space: str, grounds: Mapping[str, Any]
) -> tuple[int, int | None]:
    """The passage and the receipt; no receipt where the very words are shared already.

    Of their own, a user says again what they like: it is linked, and kept.
    """
    new = decision.text or claim.text
    if space == SHARED and (known := live_with_text(sql, space, new)) is not None:
        return known, None
    summary = shortened(new if claim.is_hearsay else claim.text)  # with who says so
    receipt_id = open_receipt(
        sql, claim.user_id, "add", space, summary, turn_id=claim.turn_id, grounds=grounds
    )
    written = NewVersion(text=new, kind=claim.kind, turn_id=claim.turn_id)
    [version_id] = add_versions(sql, space, [written], author=AUTHOR, receipt_id=receipt_id)
    passage_id = sql.get_one(PassageVersion, version_id).passage_id
    write_links(sql, space, passage_id, decision.links, receipt_id=receipt_id)
    return passage_id, receipt_id
