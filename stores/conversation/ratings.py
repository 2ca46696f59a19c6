"""What users say of answers: it helped, it did not; one judgement at a time, and each can be taken back.

A new one takes the place of the one before it. Both stay rows; only the one that stands is told or learned
from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.rows import in_parts
from stores.database.tables import Feedback, Turn, known_id

_JUDGEMENTS = ("good", "bad")  # of which one stands at a time; "taught" stands beside them


@dataclass(frozen=True)
class Rating:
    """A judgement that stands, of a whole answer or of one of its passages."""

    feedback_id: int
    turn_id: int
    rating: str  # good or bad
    created_at: datetime


class Ratings:
    """The ratings of all users. Every method names the user whose they are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_turns(self, user_id: int, turn_ids: Sequence[int]) -> dict[int, str]:
        """The newest rating that stands of each whole answer that has one: good, bad or taught."""
        found: dict[int, str] = {}
        with self._database.reading() as sql:
            for some in in_parts(turn_ids):
                statement = (
                    select(col(Feedback.turn_id), col(Feedback.rating))
                    .join(Turn, col(Turn.id) == col(Feedback.turn_id))
                    .where(
                        *_standing(user_id),
                        col(Turn.user_id) == user_id,
                        col(Feedback.turn_id).in_(some),
                        col(Feedback.version_id).is_(None),
                    )
                    .order_by(col(Feedback.id))
                )
                found.update((row[0], row[1]) for row in sql.execute(statement))
        return found

    def latest(self, user_id: int, *, session_id: int | None = None) -> Rating | None:
        """The newest judgement of this user that stands; session_id: in this session."""
        statement = _judgements(user_id).order_by(col(Feedback.id).desc()).limit(1)
        if session_id is not None:
            of_session = select(col(Turn.id)).where(col(Turn.session_id) == session_id)
            statement = statement.where(col(Feedback.turn_id).in_(of_session))
        with self._database.reading() as sql:
            found = sql.scalar(statement)
        if found is None:
            return None
        return Rating(known_id(found.id), found.turn_id, found.rating, found.created_at)

    def withdraw(self, user_id: int, turn_id: int) -> bool:
        """Takes back what this user judged of a whole answer; whether there was anything."""
        with self._database.writing() as sql:
            found = sql.scalars(
                _judgements(user_id).where(
                    col(Feedback.turn_id) == turn_id, col(Feedback.version_id).is_(None)
                )
            ).all()
            moment = now()
            for feedback in found:
                feedback.withdrawn_at = moment
        return bool(found)

    def undo(self, user_id: int, feedback_id: int) -> None:
        """Takes one judgement back; the one in whose place it stands comes back."""
        with self._database.writing() as sql:
            undone = sql.scalar(_judgements(user_id).where(col(Feedback.id) == feedback_id))
            if undone is None:
                return
            sql.execute(
                update(Feedback)
                .where(
                    *_of_the_same(user_id, undone.turn_id, undone.version_id),
                    col(Feedback.withdrawn_at) == undone.created_at,
                )
                .values(withdrawn_at=None)
            )
            undone.withdrawn_at = now()


def keep_rating(
    sql: SqlSession,
    user_id: int,
    turn_id: int,
    rating: str,
    *,
    reason: str,
    correction: str,
    version_id: int | None,
) -> int:
    """Writes a rating, in the caller's transaction, in place of the judgement that stood."""
    moment = now()
    if rating in _JUDGEMENTS:
        sql.execute(
            update(Feedback)
            .where(*_of_the_same(user_id, turn_id, version_id), col(Feedback.withdrawn_at).is_(None))
            .values(withdrawn_at=moment)
        )
    feedback = Feedback(
        turn_id=turn_id,
        user_id=user_id,
        version_id=version_id,
        rating=rating,
        reason=well_formed(reason),
        correction=well_formed(correction),
        created_at=moment,
    )
    sql.add(feedback)
    sql.flush()
    return known_id(feedback.id)


def _standing(user_id: int) -> tuple[ColumnElement[bool], ...]:
    return (col(Feedback.user_id) == user_id, col(Feedback.withdrawn_at).is_(None))


def _judgements(user_id: int) -> Select[Feedback]:
    return select(Feedback).where(*_standing(user_id), col(Feedback.rating).in_(_JUDGEMENTS))


def _of_the_same(user_id: int, turn_id: int, version_id: int | None) -> tuple[ColumnElement[bool], ...]:
    """Judgements of a user of the same answer, or of the same passage of it."""
    return (
        col(Feedback.user_id) == user_id,
        col(Feedback.turn_id) == turn_id,
        col(Feedback.version_id).is_not_distinct_from(version_id),
        col(Feedback.rating).in_(_JUDGEMENTS),
    )
