"""A passage as one line of a list, and the one that a user names, if it is theirs to see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.errors import NotFound
from stores.base.passages import SHARED, Passage, own_space
from stores.database.tables import PassageVersion, known_id
from stores.versions.live import live_passages


@dataclass(frozen=True)
class PassageLine:
    """A passage in a list."""

    passage_id: int
    kind: str
    scope: Literal["yours", "shared", "kb"]
    title: str
    text: str
    source: str
    created_at: datetime

    @classmethod
    def of(cls, passage: Passage) -> PassageLine:
        """The line of a live passage."""
        return cls(
            passage.passage_id,
            passage.kind,
            passage.scope,
            passage.title,
            passage.text,
            passage.source,
            passage.created_at,
        )


def visible_line(sql: SqlSession, user_id: int, passage_id: int) -> PassageLine:
    """One live passage that this user may see."""
    found = live_passages(sql, live_version_ids(sql, passage_id), (SHARED, own_space(user_id)))
    if not found:
        raise not_visible(passage_id)
    return PassageLine.of(next(iter(found.values())))


def live_version_ids(sql: SqlSession, passage_id: int) -> list[int]:
    """The live version of a passage, if it has one, whoever may see it."""
    return [
        known_id(i)
        for i in sql.scalars(
            select(col(PassageVersion.id)).where(
                col(PassageVersion.passage_id) == passage_id, col(PassageVersion.removed_at).is_(None)
            )
        )
    ]


def not_visible(passage_id: int) -> NotFound:
    """The same for a passage of somebody else and for one that never was."""
    return NotFound(
        f"there is no passage {passage_id}, or it is not yours to see",
        hint="`vouch memory list` shows what there is.",
    )
