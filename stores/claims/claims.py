"""What users stated: found, weighed, and written, each claim once and with a receipt.

A claim is a row from the moment it was found. What is decided about it is one transaction: passage
version, receipt, index job, the claim's new state, and its job done. A process that is killed leaves the
claim pending; one that repeats the work finds the job done and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import NotFound
from stores.base.passages import SHARED
from stores.base.well_formed import well_formed
from stores.claims.decisions import Decision, Learned, carry_out
from stores.claims.proposals import propose_as, propose_change
from stores.claims.shared_changes import SharedChange
from stores.conversation.branches import earlier_turns
from stores.conversation.claim_jobs import ask_to_weigh, is_open, mark_done
from stores.database.database import Database
from stores.database.rows import found_by
from stores.database.tables import (
    REMOVAL,
    PassageIdentity,
    PassageVersion,
    Retrieval,
    RetrievedPassage,
    StatedClaim,
    Turn,
    known_id,
)
from stores.versions.told_at import told_later
from stores.words.lexical import tokens

_EARLIER_TURNS = 6


@dataclass(frozen=True, kw_only=True)
class NewClaim:
    """A claim that was found."""

    text: str
    quote: str
    kind: str  # fact, preference or correction
    about: str  # world or user
    is_hearsay: bool = False


@dataclass(frozen=True)
class ToldTurn:
    """A turn as the summarizer needs it."""

    turn_id: int
    user_id: int
    message: str
    answer: str
    earlier: tuple[Turn, ...]  # of the session, oldest first
    recalled: tuple[str, ...]  # texts of the passages put before the model in those


def text_key(text: str) -> str:
    """Equal for statements of the same words in the same order, but for letters' case and endings.

    The smallest words count: "on" and "off", "before" and "after" say opposite things.
    """
    return " ".join(tokens(text.lower().replace("’", "'").replace("n't", " not"), all_words=True))


class Claims:
    """The claims of all users. Every method names the user whose claims it touches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def told(self, user_id: int, turn_id: int) -> ToldTurn:
        """A turn of this user, with what stood around it."""
        with self._database.reading() as sql:
            turn = sql.get(Turn, turn_id)
            if turn is None or turn.user_id != user_id:
                raise NotFound(f"you have no turn {turn_id}")
            ids = earlier_turns(sql, turn, _EARLIER_TURNS)
            before = sorted(found_by(sql, Turn, col(Turn.id), ids), key=lambda t: -known_id(t.id))
            recalled = sql.scalars(
                select(col(PassageVersion.text))
                .join(RetrievedPassage, col(RetrievedPassage.version_id) == col(PassageVersion.id))
                .join(Retrieval, col(Retrieval.id) == col(RetrievedPassage.retrieval_id))
                .where(
                    col(Retrieval.turn_id).in_([t.id for t in before]),  # what had been seen by then
                    col(RetrievedPassage.citation).is_not(None),
                )
            ).all()
            return ToldTurn(
                turn_id,
                user_id,
                turn.message,
                turn.answer,
                tuple(reversed(before)),
                tuple(dict.fromkeys(recalled)),
            )

    def put(
        self, user_id: int, job_id: int, turn_id: int, found: Sequence[NewClaim], *, by: str
    ) -> list[int]:
        """Keeps what a turn states, with a job to weigh each; returns the claims' ids.

        Nothing, and no claim, when that was done already. by: what found them.
        """
        with self._database.writing() as sql:
            if not is_open(sql, job_id):
                return []
            if _are_put(sql, turn_id):
                mark_done(sql, job_id)
                return []
            ids = [
                _add_claim(sql, user_id, turn_id, "turn", number, claim, {"summarizer": by})
                for number, claim in enumerate(found, start=1)
            ]
            ask_to_weigh(sql, user_id, ids)
            mark_done(sql, job_id)
        return ids

    def put_one(
        self,
        user_id: int,
        claim: NewClaim,
        *,
        origin: Literal["taught", "share"],
        turn_id: int | None = None,
        passage_id: int | None = None,
    ) -> int:
        """Keeps one claim that a person handed in, with a job to weigh it; returns its id.

        passage_id: of the user's own memory, which holds it already.
        """
        with self._database.writing() as sql:
            number = 1 + (
                sql.scalar(
                    select(func.count())
                    .select_from(StatedClaim)
                    .where(col(StatedClaim.turn_id) == turn_id, col(StatedClaim.origin) == origin)
                )
                or 0
            )
            claim_id = _add_claim(sql, user_id, turn_id, origin, number, claim, {}, passage_id=passage_id)
            ask_to_weigh(sql, user_id, [claim_id])
        return claim_id

    def claim(self, user_id: int, claim_id: int) -> StatedClaim:
        with self._database.reading() as sql:
            claim = sql.get(StatedClaim, claim_id)
            if claim is None or claim.user_id != user_id:
                raise NotFound(f"there is no claim {claim_id} of yours")
            return claim

    def of_turn(self, user_id: int, turn_id: int) -> list[StatedClaim]:
        """What was found in a turn of this user, in its order."""
        with self._database.reading() as sql:
            return list(
                sql.scalars(
                    select(StatedClaim)
                    .where(col(StatedClaim.turn_id) == turn_id, col(StatedClaim.user_id) == user_id)
                    .order_by(col(StatedClaim.id))
                )
            )

    def of_passage(self, user_id: int, passage_id: int) -> list[StatedClaim]:
        """This user's claims that a passage holds or said already, oldest first."""
        with self._database.reading() as sql:
            return list(
                sql.scalars(
                    select(StatedClaim)
                    .where(
                        col(StatedClaim.passage_id) == passage_id,
                        col(StatedClaim.user_id) == user_id,
                        col(StatedClaim.origin) != REMOVAL,
                    )
                    .order_by(col(StatedClaim.id))
                )
            )

    def settled_words(self, user_id: int, version_ids: Sequence[int]) -> dict[int, list[str]]:
        """Of these versions of a user's messages: the words that became claims and were written or known.

        They are found in the passage that the claim became, as it is now, and no more in the message; where
        that write was undone, nowhere. Words that were set aside as wrong are found again once that is undone
        ("nothing" was written for them).
        """
        was_written = col(StatedClaim.state).in_(("stored", "confirmed"))
        was_undone = (col(StatedClaim.state) == "withdrawn") & (col(StatedClaim.action) != "nothing")
        found: dict[int, list[str]] = {}
        with self._database.reading() as sql:
            for start in range(0, len(version_ids), 500):
                rows = sql.execute(
                    select(col(PassageVersion.id), col(StatedClaim.quote))
                    .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                    .join(StatedClaim, col(StatedClaim.turn_id) == col(PassageIdentity.turn_id))
                    .where(
                        col(PassageVersion.id).in_(version_ids[start : start + 500]),
                        col(PassageIdentity.kind) == "message",
                        col(StatedClaim.user_id) == user_id,
                        col(StatedClaim.origin) == "turn",
                        was_written | was_undone,
                    )
                )
                for version_id, quote in rows:
                    found.setdefault(known_id(version_id), []).append(quote)
        return found

    def pending(self, user_id: int) -> list[StatedClaim]:
        """Claims of this user that are not weighed yet, oldest first."""
        with self._database.reading() as sql:
            return list(
                sql.scalars(
                    select(StatedClaim)
                    .where(col(StatedClaim.user_id) == user_id, col(StatedClaim.state) == "pending")
                    .order_by(col(StatedClaim.id))
                )
            )

    def told_later(self, user_id: int, claim_id: int, version_ids: Sequence[int]) -> set[int]:
        """Those of these live versions of the user's own that were told later than a claim."""
        with self._database.reading() as sql:
            claim = sql.get(StatedClaim, claim_id)
            if claim is None or claim.user_id != user_id:
                raise NotFound(f"there is no claim {claim_id} of yours")
            return told_later(sql, claim, version_ids)

    def newest_shared(self) -> int:
        """The newest version in the shared space, live or not; 0 before the first."""
        with self._database.reading() as sql:
            newest = select(func.max(col(PassageVersion.id))).where(col(PassageVersion.space) == SHARED)
            return sql.scalar(newest) or 0

    def undecided(self, user_id: int, newest: int, *, limit: int) -> list[StatedClaim]:
        """Facts of the world that this user stated, no passage decided, and that are kept; newest first.

        newest: those laid beside everything up to this shared version are left out.
        """
        with self._database.reading() as sql:
            rows = sql.scalars(
                select(StatedClaim)
                .where(
                    col(StatedClaim.user_id) == user_id,
                    col(StatedClaim.state) == "stored",
                    col(StatedClaim.status) == "unknown",
                    col(StatedClaim.scope) == "yours",
                    col(StatedClaim.about) == "world",
                    col(StatedClaim.kind) == "fact",
                    col(StatedClaim.is_hearsay).is_(False),
                    col(StatedClaim.imported_by).is_(None),  # told by a file: its user may share it
                )
                .order_by(col(StatedClaim.id).desc())
            )
            return [row for row in rows if row.grounds.get("shared_up_to", 0) < newest][:limit]

    def note_new_evidence(
        self,
        user_id: int,
        claim_id: int,
        shared_up_to: int,
        *,
        status: Literal["correct", "incorrect", "unknown"],
        confidence: float,
        reason: str = "",
        change: SharedChange | None = None,
    ) -> Learned | None:
        """What shared passages say of a kept claim by now; what they bear out becomes a proposal.

        change: what of the shared memory it contradicts, which is to be proposed instead. None where there
        is nothing to tell, or that has changed meanwhile.
        """
        with self._database.writing() as sql:
            claim = sql.get(StatedClaim, claim_id)
            if claim is None or claim.user_id != user_id or claim.state != "stored":
                return None
            if change is not None and not change.is_due(sql):
                return None
            claim.grounds = {**claim.grounds, "shared_up_to": shared_up_to}
            if status == "unknown":
                return None
            claim.status, claim.confidence = status, confidence
            claim.grounds = {**claim.grounds, "reason": reason or "shared passages bear it out by now"}
            proposal_id = None
            if status == "correct":
                proposal_id = (
                    propose_as(sql, claim, "new evidence")
                    if change is None
                    else propose_change(sql, claim, change)
                )
            return Learned(
                claim_id=claim_id,
                turn_id=claim.turn_id,
                text=claim.text,
                kind=claim.kind,
                state=claim.state,
                status=status,
                confidence=confidence,
                scope=claim.scope,
                action="nothing",
                reason=reason,
                passage_id=claim.passage_id,
                receipt_id=None,
                proposal_id=proposal_id,
                proposed_action="add" if change is None else change.action,
            )

    def decide(self, user_id: int, job_id: int, claim_id: int, decision: Decision) -> Learned | None:
        """Carries a decision out, all of it or nothing; None when the claim was decided already.

        Raises `Outdated` when the shared passage that it proposes to change is not the one of then.
        """
        with self._database.writing() as sql:
            claim = sql.get(StatedClaim, claim_id)
            if claim is None or claim.user_id != user_id or not is_open(sql, job_id):
                return None
            mark_done(sql, job_id)
            if claim.state != "pending":
                return None
            return carry_out(sql, claim, decision)


def _are_put(sql: SqlSession, turn_id: int) -> bool:
    """Whether what a turn states was kept before: a job that is opened again finds it done."""
    of_turn = (col(StatedClaim.turn_id) == turn_id, col(StatedClaim.origin) == "turn")
    return sql.scalar(select(col(StatedClaim.id)).where(*of_turn).limit(1)) is not None


def _add_claim(
    sql: SqlSession,
    user_id: int,
    turn_id: int | None,
    origin: str,
    number: int,
    claim: NewClaim,
    grounds: dict[str, Any],
    *,
    passage_id: int | None = None,
) -> int:
    text = well_formed(claim.text)
    row = StatedClaim(
        user_id=user_id,
        turn_id=turn_id,
        origin=origin,
        number=number,
        text=text,
        text_key=text_key(text),
        quote=well_formed(claim.quote),
        kind=claim.kind,
        about=claim.about,
        is_hearsay=claim.is_hearsay,
        passage_id=passage_id,
        grounds=grounds,
        created_at=now(),
    )
    sql.add(row)
    sql.flush()
    return known_id(row.id)
