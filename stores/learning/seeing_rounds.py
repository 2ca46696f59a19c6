"""Which rounds of training saw a version or a turn, and which round's model answers now."""

from __future__ import annotations

from collections.abc import Set

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.tables import LiveModel, Round, known_id


def rounds_that_saw(sql: SqlSession, versions: Set[int], turns: Set[int]) -> tuple[int, ...]:
    """The rounds whose settings name one of these, oldest first.

    Under "passages" a round names the passage versions that it was shown, under "turns" its lessons' turns,
    under "earlier_turns" those whose words stood before them.
    """
    found = sql.execute(select(col(Round.id), col(Round.settings)).order_by(col(Round.id)))
    return tuple(
        known_id(round_id)
        for round_id, settings in found
        if not versions.isdisjoint(settings.get("passages", ()))
        or not turns.isdisjoint([*settings.get("turns", ()), *settings.get("earlier_turns", ())])
    )


def live_round(sql: SqlSession) -> int | None:
    """The latest round whose model answers now; None where no trained model does."""
    return sql.scalar(
        select(col(Round.id))
        .where(
            col(Round.state) == "promoted",
            col(Round.model_version_id).in_(select(col(LiveModel.model_version_id))),
        )
        .order_by(col(Round.id).desc())
        .limit(1)
    )
