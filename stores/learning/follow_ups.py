"""What the query model can learn: questions behind others, and the passages that answered them.

Read from the turns and never stored beside them, as `lessons.py` does. The model is everybody's, and writes
words that it has learned. What it learns from are questions about one's own things, which no curator accepts:
as soon as there is another user nothing is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.conversation.branches import earlier_turns
from stores.database.database import Database
from stores.database.tables import Judgement, Session, Turn, known_id
from stores.learning.dialogue_lessons import turns_of
from stores.learning.kept_lessons import LessonsGone
from stores.learning.lessons import (
    HeldOut,
    Lesson,
    lessons_of,
    teaches,
    tells_when_to_end,
)
from stores.learning.teachers import one_user_in


@dataclass(frozen=True)
class FollowUp:
    """A question with what was said before it, and which passages answer it."""

    turn_id: int
    user_id: int
    session: str  # its id: follow-ups of one session are held out together
    question: str  # as it was typed
    messages: tuple[str, ...]  # before it, oldest first
    answers: tuple[str, ...]  # to each of these
    earlier_turns: tuple[int, ...]  # the ids of these
    passages: tuple[int, ...]  # the versions that answer it, by its judge or its user
    message_versions: tuple[int, ...] = ()  # the question itself, as its user's own words are searched
    is_held_out: bool = field(default=False, compare=False)  # judges candidates, and is not trained on

    @property
    def unit(self) -> str:
        """The session."""
        return self.session

    @property
    def words(self) -> frozenset[str]:
        """None: its session alone tells whether it repeats another one."""
        return frozenset()

    @property
    def tells_when_to_end(self) -> bool:
        """Whether it is measured on during a training, and is never trained on either."""
        return tells_when_to_end(self.session)


class FollowUps:
    """Those of a database with one user; none where there are more."""

    def __init__(self, database: Database, *, history_turns: int) -> None:
        """history_turns: how many earlier turns the query model is given."""
        self._database = database
        self._history_turns = history_turns

    def count(self, *, after: int = 0) -> int:
        """How many there are of turns behind this one, but for what their user said of the passages."""
        with self._database.reading() as sql:
            return len(_turns(sql, after))

    def turns(self) -> Sequence[int]:
        """All of which there is one, in order."""
        with self._database.reading() as sql:
            return _turns(sql, 0)

    def held_out(self, *, after: int, enough: int) -> HeldOut:
        """Those of turns behind this one, each of which can judge. enough: all are counted all the same."""
        del enough
        return HeldOut(*[self.count(after=after)] * 2)

    def all(self, *, after: int = 0) -> list[FollowUp]:
        """Every one of a turn behind this one, in the order of the turns."""
        with self._database.reading() as sql:
            return self._of(sql, after)

    def require_kept(self, sql: SqlSession, follow_ups: Sequence[FollowUp]) -> None:
        """Raises `LessonsGone` where one of these is not there any more as it was."""
        known = {each.turn_id: each for each in self._of(sql, 0)}
        if any(known.get(each.turn_id) != each for each in follow_ups):
            raise LessonsGone(
                "a conversation that it learns from was forgotten, undone or rated anew meanwhile"
            )

    def _of(self, sql: SqlSession, after: int) -> list[FollowUp]:
        if not one_user_in(sql):
            return []
        found = (self._follow_up(sql, lesson) for lesson in lessons_of(sql, after))
        return [each for each in found if each is not None]

    def _follow_up(self, sql: SqlSession, lesson: Lesson) -> FollowUp | None:
        answering = tuple(each.version_id for each in lesson.documents if each.label == "answer")
        turn = sql.get_one(Turn, lesson.turn_id)
        if not answering or "knowledge_base" in turn.details:
            return None
        said = turns_of(sql, earlier_turns(sql, turn, self._history_turns))
        before = [each for each in said if each.message]
        if not before:
            return None
        return FollowUp(
            lesson.turn_id,
            lesson.user_id,
            sql.get_one(Session, turn.session_id).public_id,
            turn.message,
            tuple(each.message for each in before),
            tuple(each.answer for each in before),
            tuple(known_id(each.id) for each in before),
            answering,
            lesson.message_versions,
        )


def _turns(sql: SqlSession, after: int) -> Sequence[int]:
    """Those that their judge found an answer for and that others stand before, in order."""
    if not one_user_in(sql):
        return ()
    answered = select(col(Judgement.turn_id)).where(col(Judgement.label) == "answer")
    first = select(func.min(col(Turn.id))).group_by(col(Turn.session_id))
    found = sql.scalars(
        select(col(Turn.id))
        .join(Session, col(Turn.session_id) == col(Session.id))
        .where(*teaches(after), col(Turn.id).in_(answered), col(Turn.id).not_in(first))
        .order_by(col(Turn.id))
    )
    return [*map(known_id, found)]
