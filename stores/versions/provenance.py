"""The messages that a memory was made from, as their user wrote them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import own_space
from stores.database.database import Database
from stores.database.tables import PassageVersion, StatedClaim, Turn, known_id
from stores.versions.claim_passages import AUTHOR

_LOOK_UP = 500  # ids in one statement


class MessageBehind(NamedTuple):
    """A message that a memory was made from.

    holds: nothing of it was taken back, forgotten or edited.
    """

    text: str
    holds: bool = True


def messages_behind(
    database: Database, user_id: int, version_ids: Sequence[int]
) -> dict[int, list[MessageBehind]]:
    """Of these versions of a user's own: those that were written for claims, each with what its claims say.

    These are the messages of all claims that the passage came from or that changed it, and that are there
    still. A version that somebody wrote by hand is not among them.
    """
    found: dict[int, list[MessageBehind]] = {}
    with database.reading() as sql:
        for start in range(0, len(version_ids), _LOOK_UP):
            rows = sql.execute(
                select(col(PassageVersion.id), Turn)
                .outerjoin(
                    StatedClaim,
                    (col(StatedClaim.passage_id) == col(PassageVersion.passage_id))
                    & (col(StatedClaim.user_id) == user_id),
                )
                .outerjoin(Turn, col(Turn.id) == col(StatedClaim.turn_id))
                .where(
                    col(PassageVersion.id).in_(version_ids[start : start + _LOOK_UP]),
                    col(PassageVersion.space) == own_space(user_id),
                    col(PassageVersion.author) == AUTHOR,
                )
                .order_by(col(Turn.id))
            )
            read = [(known_id(version_id), turn) for version_id, turn in rows]
            changed = _changed(sql, {turn.id for _, turn in read if turn is not None})
            for version_id, turn in read:
                behind = found.setdefault(version_id, [])
                if turn is not None and turn.message:
                    behind.append(MessageBehind(turn.message, turn.id not in changed))
    return found


def _changed(sql: SqlSession, turn_ids: Collection[int | None]) -> set[int | None]:
    """Those of the turns of which a claim was taken back or forgotten, or what it wrote is no longer live."""
    return set(
        sql.scalars(
            select(col(StatedClaim.turn_id))
            .outerjoin(
                PassageVersion,
                (col(PassageVersion.added_by) == col(StatedClaim.receipt_id))
                & (col(PassageVersion.passage_id) == col(StatedClaim.passage_id)),
            )
            .where(
                col(StatedClaim.turn_id).in_(turn_ids),
                col(StatedClaim.state).in_(("withdrawn", "forgotten"))
                | col(PassageVersion.removed_at).is_not(None),
            )
        )
    )
