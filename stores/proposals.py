"""Claims that could not be verified, which somebody may take into the shared memory.

A claim is proposed when a second user states it, when new evidence comes, or when its user asks for it;
never silently taken in. Whoever stated it cannot accept it.
"""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.changes import NewVersion, add_versions
from stores.claim_passages import AUTHOR, live_with_text
from stores.clock import now
from stores.database import Database
from stores.errors import NotFound, WrongUsage
from stores.receipts import open_receipt, shortened
from stores.records import SHARED, PassageVersion, Proposal, StatedClaim, known_id


class Proposals:
    """What waits for a person's decision. A list shows texts, never who stated them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> list[Proposal]:
        """Those not decided yet, oldest first."""
        with self._database.reading() as sql:
            return list(
                sql.scalars(select(Proposal).where(col(Proposal.state) == "open").order_by(col(Proposal.id)))
            )

    def accept(self, user_id: int, proposal_id: int) -> tuple[int, int]:
        """Takes a proposal into the shared memory; returns its passage's id and the receipt's.

        Raises `WrongUsage` for one who stated it.
        """
        with self._database.writing() as sql:
            proposal = _open(sql, proposal_id)
            if user_id in _stated_by(sql, proposal):
                raise WrongUsage(
                    f"proposal {proposal_id} is what you stated yourself",
                    hint="Somebody else who may decide proposals can accept it.",
                )
            proposal.state, proposal.decided_at, proposal.decided_by = "accepted", now(), user_id
            known = live_with_text(sql, SHARED, proposal.text)
            grounds = {"claim": proposal.text, "proposal": proposal_id, "reason": proposal.reason}
            receipt_id = open_receipt(sql, user_id, "add", SHARED, shortened(proposal.text), grounds=grounds)
            proposal.receipt_id = receipt_id
            if known is not None:
                return known, receipt_id
            new = NewVersion(text=proposal.text, kind="fact")
            version_ids = add_versions(sql, SHARED, [new], author=AUTHOR, receipt_id=receipt_id)
            return _passage_of(sql, version_ids[0]), receipt_id

    def refuse(self, user_id: int, proposal_id: int) -> None:
        """Puts a proposal away; the same claim is not proposed again."""
        with self._database.writing() as sql:
            proposal = _open(sql, proposal_id)
            proposal.state, proposal.decided_at, proposal.decided_by = "refused", now(), user_id


def propose(sql: SqlSession, claim: StatedClaim) -> int | None:
    """Raises a claim that could not be verified to a proposal, when another user states it too.

    Nothing about a user, and nothing said to be somebody else's, is proposed.
    """
    if claim.status != "unknown" or claim.about != "world" or claim.is_hearsay or not claim.text_key:
        return None
    if claim.kind == "preference":
        return None
    others = sql.scalar(
        select(func.count())
        .select_from(StatedClaim)
        .where(
            col(StatedClaim.text_key) == claim.text_key,
            col(StatedClaim.user_id) != claim.user_id,
            col(StatedClaim.about) == "world",
            col(StatedClaim.is_hearsay).is_(False),
            col(StatedClaim.state).in_(("stored", "confirmed")),
            col(StatedClaim.status) == "unknown",
            col(StatedClaim.imported_by).is_(None),  # a file is nobody's statement
        )
    )
    if claim.origin == "share":
        return propose_as(sql, claim, "share")
    return propose_as(sql, claim, "second user") if others else None


def propose_as(sql: SqlSession, claim: StatedClaim, reason: str) -> int | None:
    """The new proposal; None where the same claim was proposed before, whatever became of it."""
    if sql.scalar(select(col(Proposal.id)).where(col(Proposal.text_key) == claim.text_key).limit(1)):
        return None
    proposal = Proposal(
        claim_id=known_id(claim.id),
        text=claim.text,
        text_key=claim.text_key,
        reason=reason,
        created_at=now(),
    )
    sql.add(proposal)
    sql.flush()
    return known_id(proposal.id)


def _open(sql: SqlSession, proposal_id: int) -> Proposal:
    proposal = sql.get(Proposal, proposal_id)
    if proposal is None or proposal.state != "open":
        raise NotFound(f"there is no open proposal {proposal_id}")
    return proposal


def _stated_by(sql: SqlSession, proposal: Proposal) -> set[int]:
    return set(
        sql.scalars(
            select(col(StatedClaim.user_id)).where(col(StatedClaim.text_key) == proposal.text_key).distinct()
        )
    )


def _passage_of(sql: SqlSession, version_id: int) -> int:
    return sql.get_one(PassageVersion, version_id).passage_id
