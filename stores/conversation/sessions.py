"""The sessions of a user: listed, named, put away, deleted and brought back, with their branches.

Deleting hides a session at once: from lists, from Find and from what was sent before. It can be brought
back, and what it taught stays; only forgetting takes words away for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.orm import Session as SqlSession
from sqlalchemy.orm import aliased
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import NotFound, WrongUsage
from stores.base.well_formed import well_formed
from stores.conversation.branches import (
    BranchPlace,
    branch,
    branch_place,
    earlier_turns,
    parents_in,
    switch_by,
    switch_to,
)
from stores.database.database import Database
from stores.database.rows import found_by
from stores.database.tables import Session, Turn, known_id

Shelf: TypeAlias = Literal["open", "asked", "archived", "deleted"]
ASKED = "vouch ask"  # the origin of a session that one question of a script or a command line began
BY_PROGRAM = "a program"  # of one that a program holds, which sends all of it each time
_BEGUN_HERE = ("", ASKED, BY_PROGRAM)  # all other origins are whose exports were taken in
_LONGEST_TITLE = 200
_SAID_ALIKE = 50  # turns with the same message that are looked at, the newest first


@dataclass(frozen=True)
class SessionLine:
    """A session in a list."""

    session_id: int
    title: str
    turns: int
    created_at: datetime
    last_at: datetime  # when something was said in it last
    origin: str = ""  # whose export it was taken in from; empty of what was said here
    is_private: bool = False
    is_asked: bool = False  # one question of `vouch ask`, and nothing else yet


@dataclass(frozen=True)
class SessionTree:
    """A whole session, with every branch."""

    session_id: int
    title: str
    created_at: datetime
    origin: str
    is_private: bool
    turns: Sequence[Turn]  # in the order of their ids
    follows: Mapping[int, int]  # which turn each one follows; 0 for none
    branch: Sequence[int]  # the turns of the branch that is on


class Sessions:
    """What a user does with their sessions. Raises `NotFound` for a session or turn of anybody else."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lines(self, user_id: int, *, shelf: Shelf = "open", limit: int = 50) -> list[SessionLine]:
        """This user's sessions that hold something, those spoken in last first.

        Those of `vouch ask` are listed apart until a second thing is said in them.
        """
        with self._database.reading() as sql:
            return session_lines(sql, user_id, shelf=shelf, limit=limit)

    def count(self, user_id: int, shelf: Shelf) -> int:
        """How many sessions there are that hold something."""
        with self._database.reading() as sql:
            statement = (
                select(func.count(col(Turn.session_id).distinct()))
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(*_listed(user_id, shelf))
            )
            return sql.scalar(statement) or 0

    def title(self, user_id: int, session_id: int) -> str:
        """What a session is called; empty while nothing was said."""
        with self._database.reading() as sql:
            return session_of(sql, user_id, session_id).title

    def knowledge_base(self, user_id: int, session_id: int) -> int | None:
        """The id of the knowledge base that the session is about, whether or not it is still there."""
        with self._database.reading() as sql:
            return session_of(sql, user_id, session_id).knowledge_base_id

    def talk_over(self, user_id: int, session_id: int, knowledge_base_id: int | None) -> None:
        """From the next turn on the session is about this knowledge base; None: about none."""
        with self._database.writing() as sql:
            session_of(sql, user_id, session_id).knowledge_base_id = knowledge_base_id

    def system(self, user_id: int, session_id: int) -> str | None:
        """What a session asks of all answers in it; None: what the settings ask."""
        with self._database.reading() as sql:
            return session_of(sql, user_id, session_id).system

    def instruct(self, user_id: int, session_id: int, text: str | None) -> None:
        """From the next turn on this is asked of all answers in a session; None: what the settings ask."""
        with self._database.writing() as sql:
            session_of(sql, user_id, session_id).system = None if text is None else well_formed(text)

    def rename(self, user_id: int, session_id: int, title: str) -> str:
        """Gives a session another title and returns the old one."""
        written = " ".join(well_formed(title).split())[:_LONGEST_TITLE]
        if not written:
            raise WrongUsage("the title is empty")
        with self._database.writing() as sql:
            session = session_of(sql, user_id, session_id)
            old, session.title = session.title, written
        return old

    def archive(self, user_id: int, *session_ids: int, archived: bool = True) -> None:
        """Takes sessions out of the list, or back into it, all or none; Find still finds them."""
        with self._database.writing() as sql:
            for session_id in session_ids:
                session_of(sql, user_id, session_id).archived_at = now() if archived else None

    def delete(self, user_id: int, *session_ids: int) -> None:
        """Hides sessions, all or none; what they taught stays."""
        with self._database.writing() as sql:
            for session_id in session_ids:
                session_of(sql, user_id, session_id).deleted_at = now()

    def bring_back(self, user_id: int, *session_ids: int) -> None:
        """Shows deleted sessions again, all or none."""
        with self._database.writing() as sql:
            for session_id in session_ids:
                session_of(sql, user_id, session_id).deleted_at = None

    def gone_on_with(self, user_id: int, session_ids: Iterable[int]) -> set[int]:
        """Those of these sessions in which something was said here."""
        with self._database.reading() as sql:
            mine = (col(Turn.user_id) == user_id, was_held_here())
            return {turn.session_id for turn in found_by(sql, Turn, col(Turn.session_id), session_ids, *mine)}

    def is_deleted(self, user_id: int, session_id: int) -> bool:
        """Whether a session is hidden."""
        with self._database.reading() as sql:
            return session_of(sql, user_id, session_id).deleted_at is not None

    def shelf(self, user_id: int, session_id: int) -> Shelf:
        """On which shelf a session stands; one question of `vouch ask` counts as open."""
        with self._database.reading() as sql:
            session = session_of(sql, user_id, session_id)
            if session.deleted_at is not None:
                return "deleted"
            return "open" if session.archived_at is None else "archived"

    def prompts(self, user_id: int, *, limit: int = 20_000) -> list[str]:
        """What this user sent, newest first; nothing of private, deleted, imported or programs' sessions."""
        with self._database.reading() as sql:
            statement = (
                select(col(Turn.message))
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(
                    col(Turn.user_id) == user_id,
                    col(Turn.state) != "imported",
                    col(Turn.message) != "",
                    col(Session.is_private).is_(False),
                    col(Session.origin) != BY_PROGRAM,
                    col(Session.deleted_at).is_(None),
                )
                .order_by(col(Turn.id).desc())
                .limit(limit)
            )
            return list(dict.fromkeys(sql.scalars(statement)))

    # Branches

    def tree(self, user_id: int, session_id: int) -> SessionTree:
        """All that was said in a session."""
        with self._database.reading() as sql:
            session = session_of(sql, user_id, session_id)
            turns = sql.scalars(
                select(Turn).where(col(Turn.session_id) == session_id).order_by(col(Turn.id))
            ).all()
            return SessionTree(
                session_id,
                session.title,
                session.created_at,
                _imported_from(session),
                session.is_private,
                turns,
                parents_in(sql, session_id),
                branch(sql, session),
            )

    def branch(self, user_id: int, session_id: int) -> BranchPlace:
        """Which branch of a session is on, and how many there are."""
        with self._database.reading() as sql:
            return branch_place(sql, session_of(sql, user_id, session_id))

    def switch_branch(self, user_id: int, session_id: int, steps: int) -> BranchPlace:
        """Has another branch go on: the one so many behind this one, around at the ends."""
        with self._database.writing() as sql:
            return switch_by(sql, session_of(sql, user_id, session_id), steps)

    def show_turn(self, user_id: int, turn_id: int) -> int:
        """Has a branch go on in which a turn is; returns its session."""
        with self._database.reading() as sql:
            session_id = _turn_of(sql, user_id, turn_id).session_id
        with self._database.writing() as sql:
            switch_to(sql, session_of(sql, user_id, session_id), turn_id)
        return session_id

    def behind_what_was_said(
        self, user_id: int, said: Sequence[tuple[str, str]], system: str
    ) -> tuple[int, int] | None:
        """The session of a program that holds these messages and replies, and the last turn of them.

        said: from the beginning of a session on. system: what the program asks of all its answers. None
        where no session holds that.
        """
        messages, reply = [well_formed(message) for message, _ in said], well_formed(said[-1][1]).strip()
        with self._database.reading() as sql:
            found = sql.scalars(
                select(Turn)
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(
                    col(Turn.user_id) == user_id,
                    col(Turn.message) == messages[-1],
                    col(Session.deleted_at).is_(None),
                    col(Session.origin) == BY_PROGRAM,
                    func.coalesce(col(Session.system), "") == well_formed(system),
                    col(Session.is_private).is_(False),
                )
                .order_by(col(Turn.id).desc())
                .limit(_SAID_ALIKE)
            ).all()
            for turn in found:
                ids = earlier_turns(sql, turn, None)
                if turn.answer.strip() != reply or len(ids) != len(messages) - 1:
                    continue
                rows = sql.execute(select(col(Turn.id), col(Turn.message)).where(col(Turn.id).in_(ids)))
                before = {row.id: row.message for row in rows}
                if [before[number] for number in ids] == messages[:-1]:
                    return turn.session_id, known_id(turn.id)
        return None

    def is_on(self, user_id: int, turn_id: int) -> bool:
        """Whether a turn is in the branch of its session that is on."""
        with self._database.reading() as sql:
            turn = _turn_of(sql, user_id, turn_id)
            return turn_id in branch(sql, session_of(sql, user_id, turn.session_id))


def session_of(sql: SqlSession, user_id: int, session_id: int) -> Session:
    """A session of this user, in the caller's transaction. Raises `NotFound` where it is none of theirs."""
    session = sql.get(Session, session_id)
    if session is None or session.user_id != user_id:
        raise NotFound(
            f"there is no session {session_id} of yours",
            hint="`vouch chat` and then /sessions lists them.",
        )
    return session


def session_lines(
    sql: SqlSession, user_id: int, *, shelf: Shelf | None = "open", limit: int = 50
) -> list[SessionLine]:
    """See `Sessions.lines`, in the caller's transaction. shelf: None is what is open or asked."""
    last_at = func.max(Turn.accepted_at)
    read = sql.execute(
        select(Session, func.count(col(Turn.id)), last_at)
        .join(Turn, col(Turn.session_id) == col(Session.id))
        .where(*_listed(user_id, shelf))
        .group_by(col(Session.id))
        .order_by(last_at.desc(), func.max(Turn.id).desc())
        .limit(limit)
    )
    return [
        SessionLine(
            session.id or 0,
            session.title,
            turns,
            session.created_at,
            last,
            _imported_from(session),
            session.is_private,
            session.origin in (ASKED, BY_PROGRAM) and turns == 1,
        )
        for session, turns, last in read
    ]


def was_held_here() -> ColumnElement[bool]:
    """The condition that a turn was no import's: of those only what was said is known."""
    return col(Turn.state) != "imported"


def _imported_from(session: Session) -> str:
    return "" if session.origin in _BEGUN_HERE else session.origin


def holds_one_question() -> ColumnElement[bool]:
    """The condition that a session holds the one question that began it."""
    said = aliased(Turn)
    turns = select(func.count(col(said.id))).where(col(said.session_id) == col(Session.id))
    return and_(col(Session.origin).in_((ASKED, BY_PROGRAM)), turns.correlate(Session).scalar_subquery() == 1)


def _listed(user_id: int, shelf: Shelf | None) -> tuple[ColumnElement[bool], ...]:
    is_deleted = col(Session.deleted_at).is_not(None)
    is_archived = col(Session.archived_at).is_not(None)
    return (
        col(Session.user_id) == user_id,
        or_(was_held_here(), col(Session.origin).not_in(_BEGUN_HERE)),
        is_deleted if shelf == "deleted" else ~is_deleted,
        # of a session that was erased nothing is left to be brought back
        or_(col(Turn.message) != "", col(Turn.answer) != "") if shelf == "deleted" else true(),
        *(() if shelf == "deleted" else (is_archived if shelf == "archived" else ~is_archived,)),
        *({"asked": (holds_one_question(),), "open": (~holds_one_question(),)}.get(shelf or "", ())),
    )


def _turn_of(sql: SqlSession, user_id: int, turn_id: int) -> Turn:
    turn = sql.get(Turn, turn_id)
    if turn is None or turn.user_id != user_id:
        raise NotFound(f"you have no turn {turn_id}")
    return turn
