"""What somebody may do to the shared memory: take in a claim that could not be verified, or remove a passage.

A claim is proposed when a second user states it, when new evidence comes, or when its user asks for it;
never silently taken in. A shared passage is proposed for removal by a user, and stays until that is
accepted. Whoever stated or proposed it cannot accept it. Who offered a claim, or proposed a removal, can
take that back until it is decided; then it may be proposed again.

A removal has a row among the claims, as each proposal has, which holds no words: they are the passage's.
"""

from __future__ import annotations

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.catalogue import live_version_ids, visible_line
from stores.changes import NewVersion, add_versions, remove_versions
from stores.claim_passages import AUTHOR, live_with_text
from stores.clock import now
from stores.database import Database
from stores.errors import NotFound, WrongUsage
from stores.receipts import open_receipt, shortened
from stores.records import REMOVAL, SHARED, PassageVersion, Proposal, StatedClaim, known_id

_BY_ONE_USER = ("share", REMOVAL)  # reasons that are one person's wish, who can take it back


class Proposals:
    """What waits for a person's decision. A list shows texts, never who stated them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> list[Proposal]:
        """Those not decided yet, oldest first; a removal with the text that would go, while it is there."""
        with self._database.reading() as sql:
            rows = list(
                sql.scalars(select(Proposal).where(col(Proposal.state) == "open").order_by(col(Proposal.id)))
            )
            sql.expunge_all()
            found = []
            for proposal in rows:
                if (text := _told(sql, proposal)) is not None:
                    proposal.text = text
                    found.append(proposal)
            return found

    def removes(self, proposal_id: int) -> int | None:
        """The passage that an open proposal would remove; None for one that would add."""
        with self._database.reading() as sql:
            proposal = _open(sql, proposal_id)
            return _removed_by(sql, proposal) if proposal.reason == REMOVAL else None

    def propose_removal(self, user_id: int, passage_id: int) -> int:
        """Proposes that a shared passage be removed for everybody; returns the proposal's id.

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
            if known is not None:
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
            return propose_as(sql, claim, REMOVAL) or 0

    def accept(self, user_id: int, proposal_id: int) -> tuple[int, int]:
        """Takes a proposal into the shared memory, or out of it; returns its passage's id and the receipt's.

        Raises `WrongUsage` for one who stated or proposed it.
        """
        with self._database.writing() as sql:
            proposal = _open(sql, proposal_id)
            if user_id in _stated_by(sql, proposal):
                raise WrongUsage(
                    f"proposal {proposal_id} is what you stated yourself",
                    hint="Somebody else who may decide proposals can accept it.",
                )
            proposal.state, proposal.decided_at, proposal.decided_by = "accepted", now(), user_id
            if proposal.reason == REMOVAL:
                passage_id = _removed_by(sql, proposal)
                proposal.receipt_id = _remove(sql, user_id, passage_id, proposal_id)
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

    def of_user(self, user_id: int) -> list[Proposal]:
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

    def withdraw(self, user_id: int, proposal_id: int) -> Proposal:
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
            sql.expunge(proposal)
            proposal.text = _told(sql, proposal) or ""
        return proposal


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


def _standing(text_key: str) -> Select[Proposal]:
    """What was proposed in these words, or to remove this passage, and not taken back."""
    return select(Proposal).where(col(Proposal.text_key) == text_key, col(Proposal.state) != "withdrawn")


def _told(sql: SqlSession, proposal: Proposal) -> str | None:
    """What it is about: a removal has the words of its passage; None where that is gone."""
    if proposal.reason != REMOVAL:
        return proposal.text
    live = live_version_ids(sql, _removed_by(sql, proposal))
    return sql.get_one(PassageVersion, live[0]).text if live else None


def _removed_by(sql: SqlSession, proposal: Proposal) -> int:
    passage_id = sql.scalar(
        select(col(StatedClaim.passage_id)).where(col(StatedClaim.id) == proposal.claim_id)
    )
    assert passage_id is not None, "a removal names its passage"
    return passage_id


def _remove(sql: SqlSession, user_id: int, passage_id: int, proposal_id: int) -> int:
    """Returns the receipt's id."""
    live = live_version_ids(sql, passage_id)
    if not live:
        raise NotFound(f"passage {passage_id} is gone already", hint="Put the proposal away.")
    told = shortened(sql.get_one(PassageVersion, live[0]).text)
    receipt_id = open_receipt(sql, user_id, "delete", SHARED, told, grounds={"proposal": proposal_id})
    remove_versions(sql, live, receipt_id=receipt_id)
    return receipt_id


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
