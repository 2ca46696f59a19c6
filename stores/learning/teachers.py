"""Whose words and ratings teach models that every user of a database shares.

A user who is alone teaches their own models. Among others the curators do, whom the settings name: what one
of them says over what is shared may be told to all.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.database import Database
from stores.database.tables import User


def one_user_in(sql: SqlSession) -> bool:
    """Whether nobody else is there whom a user's words or ratings could reach through what is learned."""
    return (sql.scalar(select(func.count()).select_from(User)) or 0) < 2


def one_user(database: Database) -> bool:
    """The same, asked by itself."""
    with database.reading() as sql:
        return one_user_in(sql)


def teachers_in(sql: SqlSession, curators: Collection[str]) -> frozenset[int] | None:
    """The users who teach all others; None where a user is alone and teaches themselves."""
    if one_user_in(sql):
        return None
    return frozenset(sql.scalars(select(col(User.id)).where(col(User.name).in_(curators))))
