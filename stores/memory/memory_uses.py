"""What became of what is remembered: answers made with it, marks, rounds, and what left the machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED, own_space
from stores.database.database import Database
from stores.database.rows import all_ids
from stores.database.tables import (
    Feedback,
    PassageIdentity,
    PassageVersion,
    Receipt,
    Retrieval,
    RetrievedPassage,
    Session,
    StatedClaim,
    Turn,
    User,
    known_id,
)
from stores.learning.seeing_rounds import live_round, rounds_that_saw


@dataclass(frozen=True)
class Sent:
    """What one model was asked with."""

    server: str | None  # empty: it ran in this process; None: that was not kept then
    model: str
    turns: int
    last: datetime


@dataclass(frozen=True)
class Uses:
    """What became of one passage, as far as it concerns one user."""

    answers: int  # before whose model it was put
    last: datetime | None  # of those
    helped: int  # how often the user marked it so, the latest mark of a turn alone
    not_helped: int
    rounds: tuple[int, ...]  # of training, which saw it
    live_round: int | None  # the round of the model that answers now
    sent: tuple[Sent, ...]


@dataclass(frozen=True)
class Kept:
    """What is kept about one user."""

    live: dict[str, int]  # passages of their own, by kind
    old_texts: int  # versions that are found no more and can still be read
    erased: int  # versions whose text is gone
    shared: int  # live shared passages that they wrote or read in
    sessions: int
    private_sessions: int
    turns: int
    marks: int
    waiting: int  # claims that are not weighed yet
    rounds: tuple[int, ...]
    sent: tuple[Sent, ...]


class MemoryUses:
    """Counted from stored turns and rounds, whenever it is asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def uses(self, user_id: int, passage_id: int) -> Uses:
        """Of a passage with all its versions; of one that this user may not see nothing."""
        with self._database.reading() as sql:
            seen = sql.execute(_seen(user_id, passage_id)).first()
            if seen is None:
                return Uses(0, None, 0, 0, (), live_round(sql), ())
            said_in: int | None = seen[0]
            of_passage = select(col(PassageVersion.id)).where(col(PassageVersion.passage_id) == passage_id)
            versions = all_ids(sql, of_passage)
            shown = (
                select(col(Retrieval.turn_id))
                .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
                .where(
                    col(RetrievedPassage.version_id).in_(of_passage),
                    col(RetrievedPassage.citation).is_not(None),
                    col(RetrievedPassage.found_rank) > 0,  # else the conversation had it
                )
            )
            answers, last = sql.execute(
                select(func.count(), func.max(Turn.accepted_at)).where(
                    col(Turn.user_id) == user_id, col(Turn.id).in_(shown)
                )
            ).one()
            marks = _marks(sql, user_id, versions)
            with_it = or_(col(Turn.id).in_(shown), col(Turn.id) == said_in)
            return Uses(
                answers,
                last,
                marks["good"],
                marks["bad"],
                rounds_that_saw(sql, versions, set() if said_in is None else {said_in}),
                live_round(sql),
                _sent(sql, user_id, with_it),
            )

    def user_name(self, user_id: int) -> str:
        """By which a user is known; empty where there is no such user."""
        with self._database.reading() as sql:
            return sql.scalar(select(col(User.name)).where(col(User.id) == user_id)) or ""

    def kept(self, user_id: int) -> Kept:
        """All that is kept about a user; no text."""
        own = col(PassageVersion.space) == own_space(user_id)
        is_live = col(PassageVersion.removed_at).is_(None)
        with self._database.reading() as sql:
            kinds = sql.execute(
                select(col(PassageIdentity.kind), func.count())
                .join(PassageVersion, col(PassageVersion.passage_id) == col(PassageIdentity.id))
                .where(own, is_live)
                .group_by(col(PassageIdentity.kind))
            )
            turns = all_ids(sql, select(col(Turn.id)).where(col(Turn.user_id) == user_id))
            mine = select(col(Receipt.id)).where(col(Receipt.user_id) == user_id)
            sessions = col(Session.user_id) == user_id
            erased = col(PassageVersion.erased_at)
            return Kept(
                live={row[0]: row[1] for row in kinds},
                old_texts=_count(sql, PassageVersion, own, ~is_live, erased.is_(None)),
                erased=_count(sql, PassageVersion, own, erased.is_not(None)),
                shared=_count(
                    sql,
                    PassageVersion,
                    col(PassageVersion.space) == SHARED,
                    is_live,
                    col(PassageVersion.added_by).in_(mine),
                ),
                sessions=_count(sql, Session, sessions, col(Session.is_private).is_(False)),
                private_sessions=_count(sql, Session, sessions, col(Session.is_private)),
                turns=len(turns),
                marks=_count(
                    sql, Feedback, col(Feedback.user_id) == user_id, col(Feedback.withdrawn_at).is_(None)
                ),
                waiting=_count(
                    sql, StatedClaim, col(StatedClaim.user_id) == user_id, col(StatedClaim.state) == "pending"
                ),
                rounds=rounds_that_saw(sql, all_ids(sql, select(col(PassageVersion.id)).where(own)), turns),
                sent=_sent(sql, user_id),
            )


def _seen(user_id: int, passage_id: int) -> Any:
    """A row where this user may see a passage: their turn in which it was said, or null."""
    return (
        select(col(Turn.id))
        .select_from(PassageIdentity)
        .outerjoin(Turn, and_(col(Turn.id) == col(PassageIdentity.turn_id), col(Turn.user_id) == user_id))
        .where(
            col(PassageIdentity.id) == passage_id,
            col(PassageIdentity.space).in_((SHARED, own_space(user_id))),
        )
    )


def _count(sql: SqlSession, table: Any, *conditions: Any) -> int:
    return sql.scalar(select(func.count()).select_from(table).where(*conditions)) or 0


def _marks(sql: SqlSession, user_id: int, versions: set[int]) -> Counter[str]:
    """The ratings that stand: of a turn and a version the latest."""
    latest: dict[tuple[int, int], str] = {}
    for feedback in sql.scalars(
        select(Feedback)
        .where(
            col(Feedback.user_id) == user_id,
            col(Feedback.version_id).in_(versions),
            col(Feedback.withdrawn_at).is_(None),
        )
        .order_by(col(Feedback.id))
    ):
        latest[feedback.turn_id, known_id(feedback.version_id)] = feedback.rating
    return Counter(latest.values())


def _sent(sql: SqlSession, user_id: int, *conditions: Any) -> tuple[Sent, ...]:
    """By which models a user's turns were answered, and where those ran; the latest first."""
    server = col(Turn.details)["sent_to"].as_string()
    last = func.max(Turn.accepted_at)
    found = sql.execute(
        select(server, col(Turn.model), func.count(), last)
        .where(col(Turn.user_id) == user_id, col(Turn.model) != "", *conditions)
        .group_by(server, col(Turn.model))
        .order_by(last.desc())
    ).all()
    return tuple(Sent(server, model, turns, last) for server, model, turns, last in found)
