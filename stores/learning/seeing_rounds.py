"""Which rounds of training saw a version or a turn, which round's model answers now, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence, Set

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.database.tables import LiveModel, Round, known_id

_OF_SEARCH = ("encoder", "query encoder")  # roles


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


def take_models_back(sql: SqlSession, rounds: Sequence[int]) -> tuple[str, ...]:
    """Has no model answer any more that one of these rounds made; returns the roles that another one has now.

    The one before it answers where it did not see the same, else what Vouch comes with. Models of search
    stay: they tell no words, and what they are searched by would have to be made anew.
    """
    made = select(col(Round.model_version_id)).where(col(Round.id).in_(rounds))
    saw = {version_id for version_id in sql.scalars(made) if version_id is not None}
    changed = []
    for pointer in sql.scalars(select(LiveModel).where(col(LiveModel.role).not_in(_OF_SEARCH))).all():
        if pointer.previous_id in saw:
            pointer.previous_id = None
        if pointer.model_version_id not in saw:
            continue
        changed.append(pointer.role)
        if pointer.previous_id is None:
            sql.delete(pointer)
        else:
            pointer.model_version_id, pointer.previous_id = pointer.previous_id, None
            pointer.changed_at = now()
    sql.flush()
    return tuple(changed)


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
