"""Users, sessions and turns: what was said, found, judged and answered.

A message is durable, and searchable as its user's own words, before anything is computed from it. The
answer comes in a second transaction, with everything that explains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, func, insert, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.changes import NewVersion, add_versions
from stores.claim_jobs import ask_to_summarize, may_summarize
from stores.database import Database
from stores.errors import NotFound
from stores.forgotten_turns import blank_if_forgotten
from stores.records import (
    Document,
    Feedback,
    Judgement,
    PassageVersion,
    Retrieval,
    RetrievedPassage,
    Session,
    Turn,
    User,
    known_id,
    now,
    own_space,
    well_formed,
)

_retrieved: Table = RetrievedPassage.__table__  # type: ignore[attr-defined]
_judgements: Table = Judgement.__table__  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Accepted:
    """A message that will not be lost."""

    turn_id: int
    session_id: int
    version_ids: tuple[int, ...]  # of the passages that hold the user's words; none in a private session


@dataclass(frozen=True, kw_only=True)
class FoundPassage:
    """A passage of one search, as it is kept with the turn."""

    version_id: int
    found_rank: int  # from 1
    dense: float
    lexical: float
    lift: float
    score: float
    final_rank: int  # from 1
    citation: int | None  # the number under which the model saw it


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One judgement, as it is kept with the turn."""

    version_id: int
    judge: str
    label: str
    score: float
    found_rank: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a turn ended, with what explains it."""

    state: str  # done, stopped or failed
    answer: str = ""
    failure: str = ""
    model: str = ""
    standalone: str = ""
    query: str = ""
    strategy: str = "original"
    encoder_version: str = ""
    found: Sequence[FoundPassage] = ()
    judged: Sequence[Judged] = ()
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionLine:
    """A session in a list."""

    session_id: int
    title: str
    turns: int
    created_at: datetime


class Journal:
    """Keeps conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known_user_id(self, name: str) -> int:
        """The id of the user of this name; 0, who owns nothing, when there is none."""
        with self._database.reading() as sql:
            return sql.scalar(select(col(User.id)).where(col(User.name) == well_formed(name))) or 0

    def user_id(self, name: str) -> int:
        """The id of the user of this name, who is made on first use."""
        name = well_formed(name)
        if known := self.known_user_id(name):
            return known
        with self._database.writing() as sql:
            known = sql.scalar(select(col(User.id)).where(col(User.name) == name))
            if known is not None:
                return int(known)
            user = User(name=name, created_at=now())
            sql.add(user)
            sql.flush()
            return known_id(user.id)

    def open_session(self, user_id: int, *, title: str = "", is_private: bool = False) -> int:
        """A new session; its messages become passages unless it is private."""
        with self._database.writing() as sql:
            session = Session(
                user_id=user_id, title=well_formed(title), is_private=is_private, created_at=now()
            )
            sql.add(session)
            sql.flush()
            return known_id(session.id)

    def last_session(self, user_id: int) -> int | None:
        """The session this user spoke in last, private ones apart."""
        with self._database.reading() as sql:
            return sql.scalar(
                select(col(Turn.session_id))
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(col(Turn.user_id) == user_id, _was_held_here(), col(Session.is_private).is_(False))
                .order_by(col(Turn.id).desc())
                .limit(1)
            )

    def sessions(self, user_id: int, *, limit: int = 50) -> list[SessionLine]:
        """This user's sessions that hold something, newest first."""
        with self._database.reading() as sql:
            rows = sql.execute(
                select(col(Session.id), col(Session.title), func.count(col(Turn.id)), col(Session.created_at))
                .join(Turn, col(Turn.session_id) == col(Session.id))
                .where(col(Session.user_id) == user_id, _was_held_here())
                .group_by(col(Session.id))
                .order_by(func.max(Turn.id).desc())
                .limit(limit)
            )
            return [SessionLine(row[0] or 0, row[1], row[2], row[3]) for row in rows]

    def check_session(self, user_id: int, session_id: int) -> None:
        """Raises `NotFound` unless the session is this user's."""
        with self._database.reading() as sql:
            self._session(sql, user_id, session_id)

    def is_private(self, user_id: int, session_id: int) -> bool:
        """Whether a session of this user is private. Raises `NotFound` where it is none of theirs."""
        with self._database.reading() as sql:
            return self._session(sql, user_id, session_id).is_private

    def accept(
        self,
        user_id: int,
        session_id: int,
        message: str,
        *,
        parts: Sequence[str],
        material: str = "",
        learns: bool = False,
    ) -> Accepted:
        """Keeps a message for good. parts: the message cut into passages.

        learns: what it states is to be remembered, once the turn has ended; never in a private session.
        """
        message, material = well_formed(message), well_formed(material)
        parts = [well_formed(part) for part in parts]
        with self._database.writing() as sql:
            session = self._session(sql, user_id, session_id)
            turn = Turn(
                session_id=session_id,
                user_id=user_id,
                message=message,
                material=material,
                accepted_at=now(),
            )
            sql.add(turn)
            if not session.title:
                session.title = " ".join(message.split())[:60]
            sql.flush()
            turn_id = known_id(turn.id)
            versions = (
                [] if session.is_private else self._keep_words(sql, user_id, session_id, turn_id, parts)
            )
            if learns and not session.is_private:
                ask_to_summarize(sql, user_id, turn_id)
        return Accepted(turn_id, session_id, tuple(versions))

    def finish(self, turn_id: int, outcome: Outcome) -> None:
        """Keeps how a turn ended: all of it or nothing."""
        outcome = _well_formed(outcome)
        moment = now()
        with self._database.writing() as sql:
            turn = sql.get_one(Turn, turn_id)
            turn.state, turn.answer, turn.failure = outcome.state, outcome.answer, outcome.failure
            turn.model, turn.standalone = outcome.model, outcome.standalone
            turn.answered_at, turn.details = moment, outcome.details
            if outcome.query:
                retrieval = Retrieval(
                    turn_id=turn_id,
                    query=outcome.query,
                    strategy=outcome.strategy,
                    encoder_version=outcome.encoder_version,
                    created_at=moment,
                )
                sql.add(retrieval)
                sql.flush()
                # rows and no objects: forty of each would take longer than all else that a turn writes
                found = [{"retrieval_id": retrieval.id, **vars(each)} for each in outcome.found]
                if found:
                    sql.execute(insert(_retrieved), found)
            judged = [{"turn_id": turn_id, "created_at": moment, **vars(each)} for each in outcome.judged]
            if judged:
                sql.execute(insert(_judgements), judged)
            may_summarize(sql, turn_id)
            blank_if_forgotten(sql, turn_id)

    def turn(self, user_id: int, turn_id: int) -> Turn:
        """A turn of this user."""
        with self._database.reading() as sql:
            turn = sql.get(Turn, turn_id)
            if turn is None or turn.user_id != user_id:
                raise NotFound(f"there is no turn {turn_id} of yours")
            return turn

    def turns(self, user_id: int, session_id: int, *, limit: int = 30) -> list[Turn]:
        """The last turns of a session, oldest first."""
        with self._database.reading() as sql:
            self._session(sql, user_id, session_id)
            rows = sql.scalars(
                select(Turn)
                .where(col(Turn.session_id) == session_id)
                .order_by(col(Turn.id).desc())
                .limit(limit)
            ).all()
            return list(reversed(rows))

    def last_turn(self, user_id: int) -> Turn:
        """The last turn of this user."""
        with self._database.reading() as sql:
            turn = sql.scalar(
                select(Turn)
                .where(col(Turn.user_id) == user_id, _was_held_here())
                .order_by(col(Turn.id).desc())
                .limit(1)
            )
            if turn is None:
                raise NotFound("there is no turn of yours yet")
            return turn

    def found_in(self, user_id: int, turn_id: int) -> list[FoundPassage]:
        """What a turn found, in the order it was put before the model."""
        self.turn(user_id, turn_id)
        with self._database.reading() as sql:
            rows = sql.scalars(
                select(RetrievedPassage)
                .join(Retrieval, col(Retrieval.id) == col(RetrievedPassage.retrieval_id))
                .where(col(Retrieval.turn_id) == turn_id)
                .order_by(col(RetrievedPassage.final_rank))
            ).all()
            return [
                FoundPassage(
                    version_id=row.version_id,
                    found_rank=row.found_rank,
                    dense=row.dense,
                    lexical=row.lexical,
                    lift=row.lift,
                    score=row.score,
                    final_rank=row.final_rank,
                    citation=row.citation,
                )
                for row in rows
            ]

    def rate(
        self,
        user_id: int,
        turn_id: int,
        rating: str,
        *,
        reason: str = "",
        correction: str = "",
        version_id: int | None = None,
    ) -> int:
        """Keeps what a user says of a turn of theirs, or of a passage of it. rating: good, bad or taught."""
        self.turn(user_id, turn_id)
        with self._database.writing() as sql:
            feedback = Feedback(
                turn_id=turn_id,
                user_id=user_id,
                version_id=version_id,
                rating=rating,
                reason=well_formed(reason),
                correction=well_formed(correction),
                created_at=now(),
            )
            sql.add(feedback)
            sql.flush()
            return known_id(feedback.id)

    def _session(self, sql: SqlSession, user_id: int, session_id: int) -> Session:
        session = sql.get(Session, session_id)
        if session is None or session.user_id != user_id:
            raise NotFound(
                f"there is no session {session_id} of yours",
                hint="`vouch chat` and then /sessions lists them.",
            )
        return session

    def _keep_words(
        self, sql: SqlSession, user_id: int, session_id: int, turn_id: int, parts: Sequence[str]
    ) -> list[int]:
        space = own_space(user_id)
        document_id = _conversation(sql, space, session_id)
        newest = sql.scalar(
            select(func.max(PassageVersion.position)).where(col(PassageVersion.document_id) == document_id)
        )
        first = 0 if newest is None else newest + 1
        return add_versions(
            sql,
            space,
            [
                NewVersion(
                    text=part,
                    kind="message",
                    document_id=document_id,
                    turn_id=turn_id,
                    position=first + number,
                )
                for number, part in enumerate(parts)
            ],
            author="user",
            receipt_id=None,
        )


def _was_held_here() -> ColumnElement[bool]:
    """The condition that a turn was no import's: of those only what was said is known."""
    return col(Turn.state) != "imported"


def _well_formed(outcome: Outcome) -> Outcome:
    texts: dict[str, Any] = {
        name: well_formed(value) for name, value in vars(outcome).items() if isinstance(value, str)
    }
    return replace(outcome, **texts)


def _conversation(sql: SqlSession, space: str, session_id: int) -> int:
    source = f"session {session_id}"
    known = sql.scalar(
        select(col(Document.id)).where(col(Document.space) == space, col(Document.source) == source)
    )
    if known is not None:
        return known
    document = Document(space=space, source=source, created_at=now())
    sql.add(document)
    sql.flush()
    return known_id(document.id)
