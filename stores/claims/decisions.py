"""What is decided about a claim, carried out: all of it or nothing, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlalchemy.orm import Session as SqlSession

from stores.base.clock import now
from stores.base.passages import SHARED, own_space
from stores.base.well_formed import well_formed, well_formed_values
from stores.claims.proposals import propose, propose_change
from stores.claims.shared_changes import SharedChange
from stores.database.tables import PassageVersion, StatedClaim, known_id
from stores.versions.changes import NewVersion, add_versions, remove_versions
from stores.versions.claim_passages import AUTHOR, live_with_text, set_words_aside
from stores.versions.live import live_passages
from stores.versions.passage_lines import live_version_ids
from stores.versions.receipts import open_receipt, shortened
from stores.versions.supersession import Rewritten, claim_told, keep_earlier, rewrite, version_told


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What is to be done about a claim, and why."""

    status: Literal["correct", "incorrect", "unknown"]
    confidence: float
    scope: Literal["shared", "yours"]
    action: Literal["add", "modify", "delete", "nothing"]
    passage_id: int | None = None  # what is modified or deleted; with nothing: what says it already
    version_id: int | None = None  # of that passage as it was when this was decided
    text: str = ""  # of the new version
    reason: str = ""
    is_earlier: bool = False  # what it would change was told later: it is kept in the history of that
    rewritten: Sequence[Rewritten] = ()  # what else is another text once something earlier is known
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
    action: str
    reason: str
    passage_id: int | None
    receipt_id: int | None
    proposal_id: int | None = None  # that the claim was raised to
    proposed_action: str = "add"  # what accepting that does: add, modify or delete
    is_earlier: bool = False  # told before what is known, and kept in the history alone


class Outdated(Exception):
    """The passage that a decision rests on has changed meanwhile: decide again."""


def carry_out(sql: SqlSession, claim: StatedClaim, decision: Decision) -> Learned:
    """See `Claims.decide`; in the transaction of the caller."""
    space = SHARED if decision.scope == "shared" else own_space(claim.user_id)
    if decision.proposed is not None and not decision.proposed.is_due(sql):
        raise Outdated(f"passage {decision.proposed.passage_id} has changed")
    if _is_overtaken(sql, claim, decision):
        reason = "you have said something newer since"
        text = decision.text or claim.text
        decision = replace(decision, action="modify", is_earlier=True, text=text, reason=reason)
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
        is_earlier=decision.is_earlier and receipt_id is not None,
    )


def _is_overtaken(sql: SqlSession, claim: StatedClaim, decision: Decision) -> bool:
    """Whether its user told later what it would change: what was told first may be weighed last."""
    if decision.is_earlier or decision.version_id is None or decision.action not in ("modify", "delete"):
        return False
    version = sql.get(PassageVersion, decision.version_id)
    if version is None or version.space != own_space(claim.user_id):
        return False
    return version_told(sql, version) > claim_told(sql, claim)


def _write(
    sql: SqlSession, claim: StatedClaim, decision: Decision, space: str, grounds: Mapping[str, Any]
) -> tuple[int | None, int | None]:
    """The passage and the receipt; no receipt where the very words stand there already."""
    if decision.is_earlier:
        return decision.passage_id, _keep_earlier(sql, claim, decision, space, grounds)
    old: list[int] = []
    if decision.action in ("modify", "delete"):
        assert decision.passage_id is not None, "a change names its passage"
        old = live_version_ids(sql, decision.passage_id)
        if old != [decision.version_id] or not live_passages(sql, old, (space,)):
            raise Outdated(f"passage {decision.passage_id} has changed")
    new = decision.text or claim.text
    if decision.action == "add" and (known := live_with_text(sql, space, new)) is not None:
        return known, None
    receipt_id = open_receipt(
        sql,
        claim.user_id,
        decision.action,
        space,
        shortened(new if claim.is_hearsay else claim.text),  # with who says so
        turn_id=claim.turn_id,
        grounds=grounds,
    )
    remove_versions(sql, old, receipt_id=receipt_id)
    if decision.action == "delete":
        return decision.passage_id, receipt_id
    title = sql.get_one(PassageVersion, old[0]).title if old else ""
    version_ids = add_versions(
        sql,
        space,
        [
            NewVersion(
                text=new,
                title=title,
                passage_id=decision.passage_id if old else None,
                kind=claim.kind,
                turn_id=claim.turn_id,
            )
        ],
        author=AUTHOR,
        receipt_id=receipt_id,
    )
    return sql.get_one(PassageVersion, version_ids[0]).passage_id, receipt_id


def _keep_earlier(
    sql: SqlSession, claim: StatedClaim, decision: Decision, space: str, grounds: Mapping[str, Any]
) -> int:
    """Puts what was told earlier into a history; returns the receipt."""
    version = sql.get(PassageVersion, decision.version_id)
    live = live_version_ids(sql, decision.passage_id or 0)
    if version is None or version.space != space or live not in ([], [version.id]):
        raise Outdated(f"passage {decision.passage_id} has changed")
    if not live and version.removed_at is None:
        raise Outdated(f"passage {decision.passage_id} is gone")
    for each in decision.rewritten:
        if live_version_ids(sql, each.passage_id) != [each.version_id]:
            raise Outdated(f"passage {each.passage_id} has changed")
    receipt_id = open_receipt(
        sql, claim.user_id, "modify", space, shortened(claim.text), turn_id=claim.turn_id, grounds=grounds
    )
    keep_earlier(sql, claim, version, decision.text or claim.text, receipt_id=receipt_id)
    for each in decision.rewritten:
        rewrite(sql, each, space, receipt_id=receipt_id)
    return receipt_id
