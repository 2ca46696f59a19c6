"""Receipts: every write of what is known has one, by which its user can take it back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Select, exists, or_, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import CannotUndo, NotFound
from stores.base.passages import SHARED
from stores.base.well_formed import well_formed
from stores.database.tables import (
    PassageIdentity,
    PassageVersion,
    Receipt,
    StatedClaim,
    StatementLink,
    Turn,
    known_id,
)


def open_receipt(
    sql: SqlSession,
    user_id: int,
    action: str,
    space: str,
    summary: str,
    *,
    turn_id: int | None = None,
    grounds: Mapping[str, Any] | None = None,
) -> int:
    """Writes a receipt, with the caller's change, and returns its id. action: add, modify or delete.

    grounds: why, as plain values: claim, evidence with scores, prior, verdict, models.
    """
    receipt = Receipt(
        user_id=user_id,
        turn_id=turn_id,
        action=action,
        space=space,
        summary=well_formed(summary),
        grounds=dict(grounds or {}),
        created_at=now(),
    )
    sql.add(receipt)
    sql.flush()
    return known_id(receipt.id)


def standing_receipts(user_id: int) -> Select[Receipt]:
    """This user's receipts that can be undone, newest first.

    One under which nothing was written in the end, as an ingest leaves that was killed before its first
    batch, is not among them.
    """
    has_written = or_(
        exists().where(
            or_(
                col(PassageVersion.added_by) == col(Receipt.id),
                col(PassageVersion.removed_by) == col(Receipt.id),
            )
        ),
        exists().where(col(PassageIdentity.imported_by) == col(Receipt.id)),
        exists().where(col(StatementLink.receipt_id) == col(Receipt.id)),
    )
    return (
        select(Receipt)
        .where(col(Receipt.user_id) == user_id, col(Receipt.undone_at).is_(None), has_written)
        .order_by(col(Receipt.id).desc())
    )


def receipt_to_undo(sql: SqlSession, user_id: int, receipt_id: int | None) -> Receipt:
    """A receipt of this user that stands; the latest when none is named, unless that one is shared."""
    if receipt_id is None:
        statement = standing_receipts(user_id)
    else:
        statement = select(Receipt).where(col(Receipt.user_id) == user_id, col(Receipt.id) == receipt_id)
    receipt = sql.scalars(statement.limit(1)).one_or_none()
    if receipt is None and receipt_id is None:
        raise nothing_to_undo()
    if receipt is not None and receipt_id is None and receipt.space == SHARED:
        raise is_shared(receipt)
    if receipt is None:
        raise NotFound(
            f"there is no receipt {receipt_id} of yours", hint="`vouch memory undo --list` shows them."
        )
    if receipt.undone_at is not None:
        raise CannotUndo(f"receipt {receipt_id} was undone already")
    return receipt


def nothing_to_undo(*, in_session: bool = False) -> NotFound:
    """No write stands that could be taken back."""
    if in_session:
        return NotFound(
            "there is nothing to undo of this session",
            hint="`vouch memory undo --list` shows all writes of yours; /undo 7 takes number 7 back.",
        )
    return NotFound("there is nothing to undo")


def is_shared(receipt: Receipt) -> CannotUndo:
    """Why a write is not taken back unless it is named."""
    return CannotUndo(
        f"the latest write is shared with every user: {receipt.action} “{receipt.summary}”",
        hint=f"`vouch memory undo {receipt.id}` takes it back for all of them.",
    )


def latest_receipts(
    sql: SqlSession, user_id: int, *, session_id: int | None = None, also: Collection[int] = ()
) -> list[Receipt]:
    """What one undo is about: the latest write, with all that its message taught; newest first.

    session_id: only of what was said in that session, and of the receipts that `also` names; None for all.
    Empty where there is none.
    """
    statement = standing_receipts(user_id)
    if session_id is not None:
        said = select(col(Turn.id)).where(col(Turn.session_id) == session_id)
        statement = statement.where(or_(col(Receipt.turn_id).in_(said), col(Receipt.id).in_(list(also))))
    newest = sql.scalars(statement.limit(1)).one_or_none()
    if newest is None:
        return []
    learned = select(col(StatedClaim.receipt_id)).where(
        col(StatedClaim.turn_id) == newest.turn_id,
        col(StatedClaim.origin) == "turn",
        col(StatedClaim.receipt_id).is_not(None),
    )
    if newest.turn_id is None or newest.id not in sql.scalars(learned).all():
        return [newest]
    return list(sql.scalars(standing_receipts(user_id).where(col(Receipt.id).in_(learned))))


def shortened(written: str) -> str:
    """Words of any length as a receipt sums them up, on one line."""
    words = " ".join(written.split())
    return words if len(words) <= 120 else words[:119] + "…"
