"""What a list of memories tells beside their texts: where each is from, how often it was used, what waits.

Everything is counted for the rows of one page, so that a list of ten thousand opens as fast as one of ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, case, func, or_, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED, own_space
from stores.database.database import Database
from stores.database.tables import (
    PassageIdentity,
    PassageVersion,
    Receipt,
    Retrieval,
    RetrievedPassage,
    StatedClaim,
    Turn,
    known_id,
)
from stores.memory.catalogue import says
from stores.versions.passage_lines import PassageLine
from stores.versions.states import State, version_states


@dataclass(frozen=True)
class Beside:
    """What is told of a passage beside its text."""

    turn_id: int | None  # of this user, in which it was said, learned or taught
    is_written: bool  # by a person, as a note or another text
    is_imported: bool
    is_waiting: bool  # a claim about it is not weighed yet
    answers: int  # of this user, before whose model it was put


@dataclass(frozen=True)
class GoneLine:
    """A passage that is found no more."""

    line: PassageLine  # its last text; empty where that was forgotten for good
    state: State
    since: datetime | None


class MemoryRows:
    """The rows of one user's lists."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def beside(self, user_id: int, passage_ids: Sequence[int]) -> dict[int, Beside]:
        """By passage; of passages that this user may not see nothing."""
        with self._database.reading() as sql:
            identities = sql.execute(
                select(
                    col(PassageIdentity.id),
                    col(Turn.id),
                    col(PassageIdentity.imported_by),
                    func.max(case((col(PassageVersion.author) == "user", 1), else_=0)),
                )
                .join(PassageVersion, col(PassageVersion.passage_id) == col(PassageIdentity.id))
                .outerjoin(
                    Turn,
                    and_(col(Turn.id) == col(PassageIdentity.turn_id), col(Turn.user_id) == user_id),
                )
                .where(
                    col(PassageIdentity.id).in_(passage_ids),
                    col(PassageIdentity.space).in_((SHARED, own_space(user_id))),
                )
                .group_by(col(PassageIdentity.id), col(Turn.id), col(PassageIdentity.imported_by))
            ).all()
            answers = _answers(sql, user_id, passage_ids)
            waiting = set(
                sql.scalars(
                    select(col(StatedClaim.passage_id)).where(
                        col(StatedClaim.passage_id).in_(passage_ids),
                        col(StatedClaim.user_id) == user_id,
                        col(StatedClaim.state) == "pending",
                    )
                )
            )
        return {
            known_id(passage_id): Beside(
                turn_id,
                is_written > 0,
                imported_by is not None,
                passage_id in waiting,
                answers.get(known_id(passage_id), 0),
            )
            for passage_id, turn_id, imported_by, is_written in identities
        }

    def gone(
        self,
        user_id: int,
        *,
        memories_only: bool = False,
        query: str = "",
        before: int | None = None,
        limit: int | None = None,
    ) -> list[GoneLine]:
        """Passages without a live version, newest first: of the user's own, and shared ones that they wrote.

        As `Catalogue.lines` otherwise.
        """
        statement = (
            select(PassageVersion, PassageIdentity)
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(*_is_gone(user_id, memories_only=memories_only, query=query))
            .order_by(col(PassageIdentity.id).desc())
            .limit(limit)
        )
        if before is not None:
            statement = statement.where(col(PassageIdentity.id) < before)
        with self._database.reading() as sql:
            found = sql.execute(statement).all()
            ids = [known_id(version.id) for version, _ in found]
            states = version_states(sql, ids, (SHARED, own_space(user_id)))
        return [
            GoneLine(
                _line(identity, version),
                states[known_id(version.id)].state,
                states[known_id(version.id)].since,
            )
            for version, identity in found
        ]

    def count_gone(self, user_id: int, *, memories_only: bool = False, query: str = "") -> int:
        """How many there are of those."""
        with self._database.reading() as sql:
            found = sql.scalar(
                select(func.count())
                .select_from(PassageVersion)
                .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                .where(*_is_gone(user_id, memories_only=memories_only, query=query))
            )
        return found or 0

    def passages_of(self, receipt_id: int) -> int:
        """How many passages a write has touched."""
        with self._database.reading() as sql:
            found = sql.scalar(
                select(func.count(col(PassageVersion.passage_id).distinct())).where(
                    or_(
                        col(PassageVersion.added_by) == receipt_id,
                        col(PassageVersion.removed_by) == receipt_id,
                    )
                )
            )
        return found or 0

    def undone(self, user_id: int, receipt_ids: Iterable[int]) -> set[int]:
        """Which of these receipts of this user were taken back, or are there no more."""
        wanted = set(receipt_ids)
        with self._database.reading() as sql:
            standing = sql.scalars(
                select(col(Receipt.id)).where(
                    col(Receipt.id).in_(wanted),
                    col(Receipt.user_id) == user_id,
                    col(Receipt.undone_at).is_(None),
                )
            )
            return wanted.difference(known_id(i) for i in standing)

    def not_to_undo(self, user_id: int, receipt_ids: Iterable[int]) -> set[int]:
        """Those that are undone, and those whose text a later write replaced or took out."""
        wanted = set(receipt_ids)
        with self._database.reading() as sql:
            changed = sql.scalars(
                select(col(PassageVersion.added_by))
                .join(Receipt, col(Receipt.id) == col(PassageVersion.removed_by))
                .where(
                    col(PassageVersion.added_by).in_(wanted),
                    col(PassageVersion.removed_by) > col(PassageVersion.added_by),
                    col(Receipt.undone_at).is_(None),
                )
            )
            later = {receipt_id for receipt_id in changed if receipt_id is not None}
        return later | self.undone(user_id, wanted)


def _answers(sql: SqlSession, user_id: int, passage_ids: Sequence[int]) -> dict[int, int]:
    """By passage: in how many of the user's turns it was put before the model."""
    found = sql.execute(
        select(col(PassageVersion.passage_id), func.count(col(Retrieval.turn_id).distinct()))
        .join(RetrievedPassage, col(RetrievedPassage.version_id) == col(PassageVersion.id))
        .join(Retrieval, col(Retrieval.id) == col(RetrievedPassage.retrieval_id))
        .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
        .where(
            col(PassageVersion.passage_id).in_(passage_ids),
            col(RetrievedPassage.citation).is_not(None),
            col(RetrievedPassage.found_rank) > 0,  # else the conversation had it
            col(Turn.user_id) == user_id,
        )
        .group_by(col(PassageVersion.passage_id))
    )
    return {row[0]: row[1] for row in found}


def _is_gone(user_id: int, *, memories_only: bool, query: str) -> list[Any]:
    """The conditions, over versions and identities: the last version of a passage that has no live one."""
    later = PassageVersion.__table__.alias("later")  # type: ignore[attr-defined]
    own = select(col(Receipt.id)).where(col(Receipt.user_id) == user_id)
    conditions = [
        or_(
            col(PassageVersion.space) == own_space(user_id),
            and_(col(PassageVersion.space) == SHARED, col(PassageVersion.added_by).in_(own)),
        ),
        col(PassageVersion.removed_at).is_not(None),
        ~select(later.c.id)
        .where(
            later.c.passage_id == col(PassageVersion.passage_id),
            or_(later.c.number > col(PassageVersion.number), later.c.removed_at.is_(None)),
        )
        .exists(),
        *says(query),
    ]
    if memories_only:
        conditions.append(col(PassageIdentity.kind).not_in(("document", "message")))
    return conditions


def _line(identity: PassageIdentity, version: PassageVersion) -> PassageLine:
    return PassageLine(
        version.passage_id,
        identity.kind,
        "shared" if identity.space == SHARED else "yours",
        version.title,
        version.text,
        "",
        identity.created_at,
    )
