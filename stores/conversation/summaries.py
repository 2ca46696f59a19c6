"""What was said in a session before what is still sent of it, summed up by a chat model.

A summary is a transcript in short: no passage, never searched, never evidence. Whatever is forgotten takes
all summaries along; they are written again from what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.well_formed import well_formed
from stores.conversation.branches import earlier_turns
from stores.conversation.sessions import session_of
from stores.database.database import Database
from stores.database.rows import found_by
from stores.database.tables import Session, Turn, known_id

GONE_TO = "gone_to"  # among the details of a turn: the last one that was not sent with it


@dataclass(frozen=True)
class DueSummary:
    """What a summary lacks."""

    session_id: int
    before: str  # the summary so far
    summed_to: int  # the turn that it reaches to
    said: tuple[tuple[int, str, str], ...]  # behind it: turns with message and answer, oldest first


class Summaries:
    """The summaries of users' sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, user_id: int, session_id: int) -> str:
        """Empty where there is none."""
        with self._database.reading() as sql:
            return session_of(sql, user_id, session_id).summary

    def due(self, user_id: int) -> DueSummary | None:
        """What the session that the user spoke in last lacks; None where it lacks nothing."""
        with self._database.reading() as sql:
            newest = select(Turn).where(col(Turn.user_id) == user_id).order_by(col(Turn.id).desc()).limit(1)
            turn = sql.scalar(newest)
            gone_to = turn.details.get(GONE_TO, 0) if turn is not None else 0
            if turn is None or not gone_to:
                return None
            session = session_of(sql, user_id, turn.session_id)
            ids = [i for i in earlier_turns(sql, turn, None) if session.summed_to < i <= gone_to]
            said = tuple(_said(sql, ids))
            return DueSummary(turn.session_id, session.summary, session.summed_to, said) if said else None

    def keep(self, user_id: int, due: DueSummary, text: str) -> bool:
        """Keeps a summary of what was due; not where any of it was changed or forgotten meanwhile."""
        with self._database.writing() as sql:
            session = session_of(sql, user_id, due.session_id)
            is_same = (session.summary, session.summed_to) == (due.before, due.summed_to)
            if not is_same or tuple(_said(sql, [i for i, *_ in due.said])) != due.said:
                return False
            session.summary, session.summed_to = well_formed(text), due.said[-1][0]
            return True


def clear_summaries(sql: SqlSession) -> None:
    """Takes all summaries away, in the caller's transaction: words of what is forgotten may stand in any."""
    sql.execute(update(Session).values(summary="", summed_to=0))


def _said(sql: SqlSession, turn_ids: Sequence[int]) -> list[tuple[int, str, str]]:
    turns = sorted(found_by(sql, Turn, col(Turn.id), turn_ids), key=lambda turn: known_id(turn.id))
    return [(known_id(turn.id), turn.message, turn.answer) for turn in turns if turn.message]
