"""What a user says in a session becomes passages of their own memory, in the order in which it is said."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.passages import own_space
from stores.conversation.branches import parents_in
from stores.database.tables import Document, PassageIdentity, PassageVersion, Turn, known_id
from stores.versions.changes import NewVersion, add_versions


def keep_words(
    sql: SqlSession, user_id: int, session_id: int, turn_id: int, parts: Sequence[str]
) -> list[int]:
    """Makes a message findable, cut into parts, in the caller's transaction; returns their version ids."""
    space = own_space(user_id)
    document_id = _conversation(sql, space, session_id)
    newest = sql.scalar(
        select(func.max(PassageVersion.position)).where(col(PassageVersion.document_id) == document_id)
    )
    first = 0 if newest is None else newest + 1
    new = [
        NewVersion(
            text=part,
            kind="message",
            document_id=document_id,
            turn_id=turn_id,
            position=first + number,
        )
        for number, part in enumerate(parts)
    ]
    return add_versions(sql, space, new, author="user", receipt_id=None)


def said_before(sql: SqlSession, turn: Turn) -> list[int]:
    """The versions that hold the same message already, said at the same place of the session."""
    parents = parents_in(sql, turn.session_id)
    follows = parents[known_id(turn.id)]
    same = select(col(Turn.id)).where(
        col(Turn.session_id) == turn.session_id, col(Turn.message) == turn.message, col(Turn.id) != turn.id
    )
    alike = [known_id(each) for each in sql.scalars(same) if parents[known_id(each)] == follows]
    statement = (
        select(col(PassageVersion.id))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(
            col(PassageIdentity.turn_id).in_(alike),
            col(PassageIdentity.kind) == "message",
            col(PassageVersion.removed_at).is_(None),
        )
    )
    return [known_id(i) for i in sql.scalars(statement)]


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
