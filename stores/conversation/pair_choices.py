"""What a user chooses between two answers to a question of theirs, kept as feedback on passages.

There are no rows for a pair. What can be learned from is which passages help, so a choice is kept as that:
the passages that the better answer cites helped, as far as this turn had found them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import NotFound
from stores.database.database import Database
from stores.database.tables import (
    Feedback,
    Judgement,
    PassageVersion,
    Retrieval,
    RetrievedPassage,
    Turn,
    known_id,
)

REASON = "cited by the better of two answers"


@dataclass(frozen=True)
class FoundText:
    """A passage that a turn had found, by its words."""

    version_id: int
    text: str  # under its title, as "title: text"
    helps: bool | None  # as its user said, else as it was judged; None where neither did


class PairChoices:
    """The choices of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def found(self, user_id: int, turn_id: int) -> list[FoundText]:
        """What a turn of this user had found. Raises `NotFound`."""
        with self._database.reading() as sql:
            _require(sql, user_id, turn_id)
            labels = dict(
                sql.execute(
                    select(col(Judgement.version_id), col(Judgement.label)).where(
                        col(Judgement.turn_id) == turn_id
                    )
                ).all()
            )
            said = _said(sql, user_id, turn_id)
            rows = sql.execute(
                select(col(PassageVersion.id), col(PassageVersion.title), col(PassageVersion.text))
                .join(RetrievedPassage, col(RetrievedPassage.version_id) == col(PassageVersion.id))
                .join(Retrieval, col(Retrieval.id) == col(RetrievedPassage.retrieval_id))
                .where(col(Retrieval.turn_id) == turn_id, col(PassageVersion.erased_at).is_(None))
                .order_by(col(RetrievedPassage.final_rank))
            ).all()
        return [
            FoundText(
                known_id(version),
                f"{title}: {text}" if title else text,
                _helps(said, labels, known_id(version)),
            )
            for version, title, text in rows
        ]

    def choose(self, user_id: int, turn_id: int, texts: Collection[str]) -> int:
        """Keeps that these passages helped, in place of an earlier choice; returns how many were kept.

        texts: as in `FoundText`; none where neither answer is better. What its user has said of a passage
        already stays as it is. Raises `NotFound`.
        """
        chosen = [found.version_id for found in self.found(user_id, turn_id) if found.text in texts]
        with self._database.writing() as sql:
            sql.execute(
                update(Feedback)
                .where(
                    col(Feedback.turn_id) == turn_id,
                    col(Feedback.user_id) == user_id,
                    col(Feedback.reason) == REASON,
                    col(Feedback.withdrawn_at).is_(None),
                )
                .values(withdrawn_at=now())
            )
            said = _said(sql, user_id, turn_id)
            new = [version for version in dict.fromkeys(chosen) if version not in said]
            for version in new:
                sql.add(
                    Feedback(
                        turn_id=turn_id,
                        user_id=user_id,
                        version_id=version,
                        rating="good",
                        reason=REASON,
                        created_at=now(),
                    )
                )
            return len(new)


def _require(sql: SqlSession, user_id: int, turn_id: int) -> None:
    turn = sql.get(Turn, turn_id)
    if turn is None or turn.user_id != user_id:
        raise NotFound(f"you have no turn {turn_id}")


def _said(sql: SqlSession, user_id: int, turn_id: int) -> dict[int, str]:
    """Ratings of passages in force, the newest of each."""
    rows = sql.execute(
        select(col(Feedback.version_id), col(Feedback.rating))
        .where(
            col(Feedback.turn_id) == turn_id,
            col(Feedback.user_id) == user_id,
            col(Feedback.version_id).is_not(None),
            col(Feedback.withdrawn_at).is_(None),
        )
        .order_by(col(Feedback.id))
    ).all()
    return {version: rating for version, rating in rows if version is not None}


def _helps(said: dict[int, str], labels: dict[int, str], version: int) -> bool | None:
    if version in said:
        return said[version] == "good"
    return labels[version] == "answer" if version in labels else None
