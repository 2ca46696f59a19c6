"""Users, sessions and turns: what was said, found, judged and answered.

A message is durable, and searchable as its user's own words, before anything is computed from it. The
answer comes in a second transaction, with everything that explains it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Table, insert, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import NotFound
from stores.base.well_formed import well_formed
from stores.conversation.branches import branch, earlier_turns, parent
from stores.conversation.claim_jobs import ask_to_summarize, may_summarize
from stores.conversation.erased_turns import blank_if_forgotten
from stores.conversation.ratings import keep_rating
from stores.conversation.said_passages import keep_words, said_before
from stores.conversation.sessions import (
    ASKED,
    BY_PROGRAM,
    SessionLine,
    holds_one_question,
    session_lines,
    session_of,
    was_held_here,
)
from stores.database.database import Database
from stores.database.rows import found_by, in_parts
from stores.database.tables import (
    Feedback,
    Judgement,
    PassageIdentity,
    PassageVersion,
    Retrieval,
    RetrievedPassage,
    Session,
    Turn,
    User,
    known_id,
)
from stores.words.turn_words import note_turns

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
    found_rank: int  # from 1; 0: it was not found for this message, and the model saw it all the same
    dense: float
    lexical: float
    lift: float
    score: float
    final_rank: int  # from 1
    citation: int | None  # the number under which the model saw it; 0: without one


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


class Journal:
    """Keeps conversations."""

    def __init__(self, database: Database, *, process: Callable[[], str] = lambda: "") -> None:
        """process: the name of the one that answers, as `living_processes` gives it; empty tells nothing."""
        self._database = database
        self._process = process

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

    def open_session(
        self,
        user_id: int,
        *,
        title: str = "",
        is_private: bool = False,
        is_asked: bool = False,
        by_program: bool = False,
    ) -> int:
        """A new session; its messages become passages unless it is private.

        is_asked: by `vouch ask`. by_program: which sends all of it each time.
        """
        with self._database.writing() as sql:
            session = Session(
                user_id=user_id,
                title=well_formed(title),
                is_private=is_private,
                created_at=now(),
                origin=BY_PROGRAM if by_program else ASKED if is_asked else "",
            )
            sql.add(session)
            sql.flush()
            return known_id(session.id)

    def last_session(self, user_id: int, *, also_asked: bool = False) -> int | None:
        """The session this user spoke in last, private ones apart.

        also_asked: it may be a single question from the shell.
        """
        with self._database.reading() as sql:
            return sql.scalar(
                select(col(Turn.session_id))
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(
                    col(Turn.user_id) == user_id,
                    was_held_here(),
                    *(() if also_asked else (~holds_one_question(),)),
                    col(Session.is_private).is_(False),
                    col(Session.deleted_at).is_(None),
                )
                .order_by(col(Turn.id).desc())
                .limit(1)
            )

    def sessions(self, user_id: int, *, limit: int = 50) -> list[SessionLine]:
        """This user's sessions that hold something, newest first; archived and deleted ones apart."""
        with self._database.reading() as sql:
            return session_lines(sql, user_id, shelf=None, limit=limit)

    def check_session(self, user_id: int, session_id: int) -> None:
        """Raises `NotFound` unless the session is this user's, and not deleted."""
        with self._database.reading() as sql:
            _kept_session(sql, user_id, session_id)

    def is_private(self, user_id: int, session_id: int) -> bool:
        """Whether a session of this user is private. Raises `NotFound` where it is none of theirs."""
        with self._database.reading() as sql:
            return session_of(sql, user_id, session_id).is_private

    def accept(
        self,
        user_id: int,
        session_id: int,
        message: str,
        *,
        parts: Sequence[str],
        material: str = "",
        details: Mapping[str, Any] | None = None,
        learns: bool = False,
        instead_of: int | None = None,
        behind: int | None = None,
    ) -> Accepted:
        """Keeps a message for good. parts: the message cut into passages. details: what else is kept of it.

        learns: what it states is to be remembered, once the turn has ended; never in a private session.
        instead_of: the turn of this session in whose place it comes; that is kept, in a branch of its own.
        behind: the turn of this session that it follows, where that is not the one that was said last.
        Raises `NotFound` where the session was deleted, and keeps nothing.
        """
        message, material = well_formed(message), well_formed(material)
        parts = [well_formed(part) for part in parts]
        process = self._process() if learns else ""
        with self._database.writing() as sql:
            session = _kept_session(sql, user_id, session_id)
            turn = Turn(
                session_id=session_id,
                user_id=user_id,
                message=message,
                material=material,
                details=dict(details or {}),
                accepted_at=now(),
                parent_id=_parent(sql, session, instead_of, behind),
            )
            session.head_id = None  # the newest turn's branch is on
            sql.add(turn)
            if not session.title:
                session.title = " ".join(message.split())[:60]
            sql.flush()
            turn_id = known_id(turn.id)
            note_turns(sql, [turn])
            if session.is_private:
                return Accepted(turn_id, session_id, ())
            if turn.parent_id is not None and (said := said_before(sql, turn)):
                return Accepted(turn_id, session_id, tuple(said))  # asked again: it is known already
            versions = keep_words(sql, user_id, session_id, turn_id, parts)
            if learns:
                ask_to_summarize(sql, user_id, turn_id, process=process)
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
            note_turns(sql, [turn])

    def turn(self, user_id: int, turn_id: int) -> Turn:
        with self._database.reading() as sql:
            turn = sql.get(Turn, turn_id)
            if turn is None or turn.user_id != user_id:
                raise NotFound(f"you have no turn {turn_id}")
            return turn

    def turns(
        self, user_id: int, session_id: int, *, limit: int = 30, before: int | None = None
    ) -> list[Turn]:
        """The last turns of the branch that is on, oldest first. before: only those older than this."""
        with self._database.reading() as sql:
            ids = branch(sql, session_of(sql, user_id, session_id), limit, before=before)
            return _turns_of(sql, ids)

    def turns_before(self, user_id: int, turn_id: int, *, limit: int = 30, steps: int = 1) -> list[Turn]:
        """The last turns that lead to a turn of this user, oldest first.

        steps: the first of them is, counted from the beginning, one behind a multiple of this.
        """
        turn = self.turn(user_id, turn_id)
        with self._database.reading() as sql:
            ids = earlier_turns(sql, turn, None)
            gone = max(0, -(-(len(ids) - limit) // steps) * steps)
            return _turns_of(sql, ids[gone:])

    def last_turn(self, user_id: int) -> Turn:
        with self._database.reading() as sql:
            turn = sql.scalar(
                select(Turn)
                .where(col(Turn.user_id) == user_id, was_held_here())
                .order_by(col(Turn.id).desc())
                .limit(1)
            )
            if turn is None:
                raise NotFound("you have no turn yet")
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

    def listed_in(self, user_id: int, turn_ids: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
        """What these turns of a user put before the model: by turn, numbers with versions, in their order."""
        listed: dict[int, list[tuple[int, int]]] = {}
        with self._database.reading() as sql:
            for some in in_parts(turn_ids):
                rows = sql.execute(
                    select(
                        col(Retrieval.turn_id),
                        col(RetrievedPassage.citation),
                        col(RetrievedPassage.version_id),
                    )
                    .join(Retrieval, col(Retrieval.id) == col(RetrievedPassage.retrieval_id))
                    .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
                    .where(
                        col(Retrieval.turn_id).in_(some),
                        col(Turn.user_id) == user_id,
                        col(RetrievedPassage.citation).is_not(None),
                    )
                    .order_by(col(RetrievedPassage.citation))
                )
                for turn_id, number, version_id in rows:
                    listed.setdefault(turn_id, []).append((number or 0, version_id))
        return listed

    def turns_of_messages(self, user_id: int, version_ids: Sequence[int]) -> dict[int, Turn]:
        """The answered turns of this user whose messages these versions hold, by version."""
        statement = (
            select(col(PassageVersion.id), Turn)
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .join(Turn, col(Turn.id) == col(PassageIdentity.turn_id))
            .where(col(PassageVersion.id).in_(version_ids), col(PassageIdentity.kind) == "message")
        )
        with self._database.reading() as sql:
            found = sql.execute(_answered(statement, user_id)).all()
            return {known_id(i): turn for i, turn in found if "knowledge_base" not in turn.details}

    def judged_in(self, user_id: int, turn_id: int) -> dict[int, tuple[str, float]]:
        """What was judged for a turn, by version: label and score from 0 to 1; the last judgement counts."""
        self.turn(user_id, turn_id)
        with self._database.reading() as sql:
            rows = sql.execute(
                select(col(Judgement.version_id), col(Judgement.label), col(Judgement.score))
                .where(col(Judgement.turn_id) == turn_id)
                .order_by(col(Judgement.id))
            ).all()
            return {version_id: (label, score) for version_id, label, score in rows}

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
        """Keeps what a user says of a turn of theirs, or of a passage of it. rating: good, bad or taught.

        A good or bad takes the place of the one before it.
        """
        self.turn(user_id, turn_id)
        with self._database.writing() as sql:
            return keep_rating(
                sql, user_id, turn_id, rating, reason=reason, correction=correction, version_id=version_id
            )


def _answered(statement: Any, user_id: int) -> Any:
    """Of a statement over turns those of this user's sessions with an answer that nobody spoke against.

    None of a deleted session, nor of one about a knowledge base.
    """
    against = select(col(Feedback.turn_id)).where(
        col(Feedback.rating) != "good", col(Feedback.withdrawn_at).is_(None)
    )
    return statement.join(Session, col(Session.id) == col(Turn.session_id)).where(
        col(Turn.user_id) == user_id,
        col(Turn.state).in_(("done", "stopped")),
        col(Turn.answer) != "",
        col(Session.deleted_at).is_(None),
        col(Session.knowledge_base_id).is_(None),
        col(Turn.id).not_in(against),
    )


def _kept_session(sql: SqlSession, user_id: int, session_id: int) -> Session:
    """A session of this user that is not deleted; raises `NotFound` for any other."""
    session = session_of(sql, user_id, session_id)
    if session.deleted_at is not None:
        raise NotFound(
            f"session {session_id} is deleted", hint="F5 in the chat brings it back, under Deleted."
        )
    return session


def _parent(sql: SqlSession, session: Session, instead_of: int | None, behind: int | None) -> int | None:
    if behind is not None:
        _place_of(sql, session, behind)  # it must be one of this session
        return behind
    return session.head_id if instead_of is None else _place_of(sql, session, instead_of)


def _place_of(sql: SqlSession, session: Session, turn_id: int) -> int:
    """The id of the turn that a turn of a session follows; 0 for the first one."""
    turn = sql.get(Turn, turn_id)
    if turn is None or turn.session_id != session.id:
        raise NotFound(f"you have no turn {turn_id} in session {session.id}")
    return parent(sql, turn)


def _turns_of(sql: SqlSession, ids: Sequence[int]) -> list[Turn]:
    return sorted(found_by(sql, Turn, col(Turn.id), ids), key=lambda turn: known_id(turn.id))


def _well_formed(outcome: Outcome) -> Outcome:
    texts: dict[str, Any] = {
        name: well_formed(value) for name, value in vars(outcome).items() if isinstance(value, str)
    }
    return replace(outcome, **texts)
