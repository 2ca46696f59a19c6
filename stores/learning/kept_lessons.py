"""Whether all that a round learned from is still there, as its model is about to go live.

What was rated anew since is no matter here: the comparison has judged the model. What was forgotten or undone
is: no model that saw it may go live from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.errors import VouchError
from stores.database.rows import in_parts
from stores.database.tables import Session, Turn, known_id
from stores.learning.lessons import Lesson, teaches, texts_learned_from
from stores.learning.teachers import one_user_in


class LessonsGone(VouchError):
    """Something that a round learned from was taken back while it learned."""


def require_kept(sql: SqlSession, lessons: Sequence[Lesson], *, was_alone: bool = False) -> None:
    """Raises `LessonsGone` where words of a question or a passage are not there any more.

    In a writing transaction nothing is forgotten until that has ended. was_alone: what they learned from was
    also the ratings of the one user there was, which teach nobody else.
    """
    if was_alone and not one_user_in(sql):
        raise LessonsGone("another user has come, whom these ratings may not teach")
    asked = {lesson.turn_id: lesson.question for lesson in lessons}
    if _questions(sql, asked) != asked:
        raise LessonsGone("a message that it learns from was forgotten meanwhile")
    taught = {each.version_id: (each.title, each.text) for lesson in lessons for each in lesson.documents}
    if texts_learned_from(sql, taught) != taught:
        raise LessonsGone("a passage that it learns from was forgotten or undone meanwhile")


def _questions(sql: SqlSession, turns: Iterable[int]) -> dict[int, str]:
    """As they are searched with, of those of these turns that teach."""
    found: dict[int, str] = {}
    for some in in_parts(sorted(turns)):
        for turn_id, message, standalone in sql.execute(
            select(col(Turn.id), col(Turn.message), col(Turn.standalone))
            .join(Session, col(Session.id) == col(Turn.session_id))
            .where(col(Turn.id).in_(some), *teaches())
        ):
            found[known_id(turn_id)] = standalone or message
    return found
