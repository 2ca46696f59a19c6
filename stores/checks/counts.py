"""How much there is of what a server tells of itself."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlmodel import col

from stores.database.database import Database
from stores.database.tables import Job, Round


@dataclass(frozen=True)
class Counts:
    """Rows of the database."""

    jobs: dict[str, int]  # that are not done, by kind
    rounds: dict[tuple[str, str], int]  # by recipe and state


def counts(database: Database) -> Counts:
    """As of one moment."""
    with database.reading() as sql:
        jobs = sql.execute(
            select(col(Job.kind), func.count()).where(col(Job.done_at).is_(None)).group_by(col(Job.kind))
        )
        rounds = sql.execute(
            select(col(Round.recipe), col(Round.state), func.count()).group_by(
                col(Round.recipe), col(Round.state)
            )
        )
        return Counts({row[0]: row[1] for row in jobs}, {(row[0], row[1]): row[2] for row in rounds})
