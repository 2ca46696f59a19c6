"""What somebody may do to the shared memory: take in a claim, or change or remove a passage.

A claim that could not be verified is proposed when a second user states it, when new evidence comes, or
when its user asks for it; one that is found correct against a shared passage is proposed as a change of
that. Neither is silently taken in. A user may propose that a shared passage be removed, and it stays until
that is accepted. Whoever stated or proposed it cannot accept it. Who offered a claim, or proposed a
removal, can take that back until it is decided; then it may be proposed again.

A removal that a user wishes has a row among the claims, as each proposal has, which holds no words.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import NotFound, WrongUsage
from stores.base.passages import SHARED
from stores.base.well_formed import well_formed
from stores.claims.shared_changes import SharedChange, carry_out_change
from stores.database.database import Database
from stores.database.tables import REMOVAL, PassageVersion, Proposal, StatedClaim, known_id
from stores.versions.changes import NewVersion, add_versions
from stores.versions.claim_passages import AUTHOR, live_with_text
from stores.versions.passage_lines import live_version_ids, visible_line
from stores.versions.receipts import open_receipt, shortened


@dataclass(frozen=True, kw_only=True)
class OpenProposal:
    """What waits for a decision, and what that decision does."""

    id: int
    reason: str
    action: str  # add, modify or delete
    text: str  # what would be shared; of a removal what would go
    replaces: str = ""  # what a change would put this in the place of
    because: str = ""  # the claim by which something would go
    is_outdated: bool = False  # the passage has changed since, and it cannot be accepted
    created_at: datetime


def told_of(sql: SqlSession, proposal: Proposal) -> OpenProposal | None:
    """With the words of the version that it is about; None where that passage is gone."""
    if proposal.action == "add":
        return _told(proposal, text=proposal.text)
    version = sql.get(PassageVersion, proposal.version_id) if proposal.version_id else None
    live = live_version_ids(sql, proposal.passage_id or 0)
    if version is None or version.erased_at is not None or not live:
        return None
    is_outdated = live != [proposal.version_id]
    if proposal.action == "delete":
        return _told(proposal, text=version.text, because=proposal.text, is_outdated=is_outdated)
    return _told(proposal, text=proposal.text, replaces=version.text, is_outdated=is_outdated)


def told_without(proposal: Proposal) -> OpenProposal:
    """Without any words: those of its passage are gone."""
    return _told(proposal, text="")


def _told(
    proposal: Proposal, *, text: str, replaces: str = "", because: str = "", is_outdated: bool = False
) -> OpenProposal:
    return OpenProposal(
        id=known_id(proposal.id),
        reason=proposal.reason,
        action=proposal.action,
        text=text,
        replaces=replaces,
        because=because,
        is_outdated=is_outdated,
        created_at=proposal.created_at,
    )


_BY_ONE_USER = ("share", REMOVAL)  # reasons that are one person's wish, who can take it back


class Proposals:
    """What waits for a person's decision. A list shows texts, never who stated them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> list[OpenProposal]:
        """Those not decided yet, oldest first; none about a passage that is gone."""
        with self._database.reading() as sql:
            rows = sql.scalars(
                select(Proposal).where(col(Proposal.state) == "open").order_by(col(Proposal.id))
            )
            return [told for row in rows.all() if (told := told_of(sql, row)) is not None]

    def shown_to(self, user_id: int, *, is_curator: bool) -> list[OpenProposal]:
        """Of the open ones, those that this user may read.

        Who may decide reads all. Others read what somebody offered, and what they stated themselves: what
        became a proposal because two users said it, or new evidence came, nobody meant for everybody.
        """
        shown = self.open()
        if is_curator:
            return shown
        with self._database.reading() as sql:
            return [
                proposal
                for proposal in shown
                if proposal.reason in _BY_ONE_USER
                or user_id in _stated_by(sql, sql.get_one(Proposal, proposal.id))
            ]

    def action(self, proposal_id: int) -> str:
        """What accepting an open proposal does: add, modify or delete."""
        with self._database.reading() as sql:
            return _open(sql, proposal_id).action

    def propose_removal(self, user_id: int, passage_id: int) -> int:
        """Proposes that a shared passage be removed for everybody; returns the proposal's id.

        What was proposed so and waits is then of the text that stands there now.
        Raises `WrongUsage` for a passage of the user's own, and where that was decided before.
        """
        with self._database.writing() as sql:
            line = visible_line(sql, user_id, passage_id)
            if line.scope != "shared":
                raise WrongUsage(f"passage {passage_id} is your own", hint="`/forget` forgets it.")
            key = f"{REMOVAL}:{passage_id}"  # no text has such a key
            known = sql.scalar(_standing(key).limit(1))
            if known is not None and known.state != "open":
                raise WrongUsage(f"passage {passage_id} was proposed for removal before, which was decided")
            [version_id] = live_version_ids(sql, passage_id)
            if known is not None:
                known.version_id = version_id
                return known_id(known.id)
            claim = StatedClaim(
                user_id=user_id,
                origin=REMOVAL,
                number=1,
                text="",
                text_key=key,
                quote="",
                kind="fact",
                about="world",
                state="rejected",
                scope="shared",
                action="nothing",
                passage_id=passage_id,
                created_at=now(),
            )
            sql.add(claim)
            sql.flush()
            wish = SharedChange(action="delete", passage_id=passage_id, version_id=version_id)
            return _add(sql, claim, REMOVAL, wish)

    def accept(self, user_id: int, proposal_id: int) -> tuple[int, int]:
        """Does what was proposed to the shared memory; returns the passage's id and the receipt's.

        Raises `WrongUsage` for one who stated or proposed it, and `CannotAccept` where the passage that it
        is about has changed since.
        """
        with self._database.writing() as sql:
            proposal = _open(sql, proposal_id)
            if user_id in _stated_by(sql, proposal):
                raise WrongUsage(
                    f"proposal {proposal_id} is what you stated yourself",
                    hint="Somebody else who may decide proposals can accept it.",
                )
            proposal.state, proposal.decided_at, proposal.decided_by = "accepted", now(), user_id
            if proposal.action != "add":
                passage_id, proposal.receipt_id = carry_out_change(sql, user_id, proposal)
                return passage_id, proposal.receipt_id
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

    def of_user(self, user_id: int) -> list[OpenProposal]:
        """The open ones that this user can take back, oldest first, as `open` tells them."""
        with self._database.reading() as sql:
            own = set(
                sql.scalars(
                    select(col(Proposal.id))
                    .join(StatedClaim, col(StatedClaim.id) == col(Proposal.claim_id))
                    .where(
                        col(Proposal.state) == "open",
                        col(Proposal.reason).in_(_BY_ONE_USER),
                        col(StatedClaim.user_id) == user_id,
                    )
                )
            )
        return [proposal for proposal in self.open() if proposal.id in own]

    def withdraw(self, user_id: int, proposal_id: int) -> OpenProposal:
        """Takes back what this user has offered, or proposed to remove; returns it as it was told.

        Raises `NotFound` where it is decided or gone, and `WrongUsage` for what is not this user's wish.
        """
        with self._database.writing() as sql:
            proposal = _open(sql, proposal_id)
            claim = sql.get_one(StatedClaim, proposal.claim_id)
            if claim.user_id != user_id or proposal.reason not in _BY_ONE_USER:
                raise WrongUsage(
                    f"proposal {proposal_id} is not one that you made",
                    hint="Who may decide proposals can put it away.",
                )
            proposal.state, proposal.decided_at, proposal.decided_by = "withdrawn", now(), user_id
            if proposal.reason == REMOVAL:  # the row was this wish alone, and stands in nobody's way
                claim.state, claim.text_key = "withdrawn", ""
            sql.flush()
            return told_of(sql, proposal) or told_without(proposal)


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
    """The new proposal; None where the same claim is proposed, or was decided before."""
    if sql.scalar(_standing(claim.text_key).limit(1)) is not None:
        return None
    return _add(sql, claim, reason)


def propose_change(sql: SqlSession, claim: StatedClaim, change: SharedChange) -> int | None:
    """The new proposal; None where the same claim is proposed for this version, or was decided for it.

    One of the same claim about an earlier version of the passage, which cannot be accepted, goes.
    """
    of_passage = _standing(claim.text_key).where(col(Proposal.passage_id) == change.passage_id)
    if sql.scalar(of_passage.where(col(Proposal.version_id) == change.version_id).limit(1)) is not None:
        return None
    sql.execute(
        update(Proposal)
        .where(
            col(Proposal.text_key) == claim.text_key,
            col(Proposal.passage_id) == change.passage_id,
            col(Proposal.state) == "open",
        )
        .values(state="withdrawn", decided_at=now())
    )
    return _add(sql, claim, "share" if claim.origin == "share" else "change", change)


def _add(sql: SqlSession, claim: StatedClaim, reason: str, change: SharedChange | None = None) -> int:
    proposal = Proposal(
        claim_id=known_id(claim.id),
        text=well_formed(change.text) if change is not None and change.text else claim.text,
        text_key=claim.text_key,
        reason=reason,
        created_at=now(),
    )
    if change is not None:
        proposal.action = change.action
        proposal.passage_id, proposal.version_id = change.passage_id, change.version_id
    sql.add(proposal)
    sql.flush()
    return known_id(proposal.id)


def _standing(text_key: str) -> Select[Proposal]:
    """What was proposed in these words, or to remove this passage, and not taken back."""
    return select(Proposal).where(col(Proposal.text_key) == text_key, col(Proposal.state) != "withdrawn")


def _open(sql: SqlSession, proposal_id: int) -> Proposal:
    proposal = sql.get(Proposal, proposal_id)
    if proposal is None or proposal.state != "open":
        raise NotFound(
            f"there is no open proposal {proposal_id}",
            hint="It was decided, taken back, or forgotten; `vouch memory proposals` lists what is open.",
        )
    return proposal


def _stated_by(sql: SqlSession, proposal: Proposal) -> set[int]:
    return set(
        sql.scalars(
            select(col(StatedClaim.user_id)).where(col(StatedClaim.text_key) == proposal.text_key).distinct()
        )
    )


def _passage_of(sql: SqlSession, version_id: int) -> int:
    return sql.get_one(PassageVersion, version_id).passage_id
