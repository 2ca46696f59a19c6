"""Which rounds of training saw a version or a turn, which round's model answers now, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence, Set

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.database.tables import LiveModel, ModelVersion, Round, known_id
from stores.search.encoder_versions import ENCODER_ROLE, search_again_by
from stores.search.live_models import model_id


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


def turns_behind(sql: SqlSession, role: str, version: str) -> set[int]:
    """The turns that the rounds learned from which made a model."""
    made = select(Round).where(col(Round.model_version_id) == model_id(sql, role, version))
    return set[int]().union(*(row.settings.get("turns", ()) for row in sql.scalars(made)))


def take_models_back(sql: SqlSession, rounds: Sequence[int]) -> tuple[str, ...]:
    """Has no model answer any more that one of these rounds made; returns the roles that another one has now.

    The one before it answers where it did not see the same, else what Vouch comes with. An encoder of before
    has its vectors still; what was added meanwhile is found by its words until it is encoded. What the rounds
    of these recipes learned counts as not learned: it is due again, without what is gone.
    """
    saw = _models_made(sql, rounds)
    changed = []
    for pointer in sql.scalars(select(LiveModel)).all():
        if pointer.previous_id in saw:
            pointer.previous_id = None
        recipe = saw.get(pointer.model_version_id)
        if recipe is None:
            continue
        changed.append(pointer.role)
        replaced = sql.get_one(ModelVersion, pointer.model_version_id)
        before = pointer.previous_id or _untrained(sql, replaced)
        if before is None:
            sql.delete(pointer)
        else:
            pointer.model_version_id, pointer.previous_id = before, None
            pointer.changed_at = now()
            if pointer.role == ENCODER_ROLE:
                search_again_by(sql, sql.get_one(ModelVersion, before).version, replaced.version)
        decided = col(Round.state).in_(("promoted", "refused"))
        for row in sql.scalars(select(Round).where(col(Round.recipe) == recipe, decided)):
            row.settings = {**row.settings, "last_turn": 0}
    sql.flush()
    return tuple(changed)


def _models_made(sql: SqlSession, rounds: Sequence[int]) -> dict[int, str]:
    """By the id of each model that these rounds made, or that was trained on one of those, its recipe."""
    left = list(sql.scalars(select(Round).where(col(Round.model_version_id).is_not(None))))
    found: dict[int, str] = {}
    made = set[str]()  # encoder versions
    while more := [row for row in left if row.id in rounds or row.settings.get("encoder_version") in made]:
        left = [row for row in left if row not in more]
        found |= {row.model_version_id: row.recipe for row in more if row.model_version_id is not None}
        versions = select(col(ModelVersion.version)).where(
            col(ModelVersion.id).in_(found), col(ModelVersion.role) == ENCODER_ROLE
        )
        made = set(sql.scalars(versions))
    return found


def _untrained(sql: SqlSession, trained: ModelVersion) -> int | None:
    """The encoder that a trained one was made of, which the settings name; None for other models."""
    version = str(trained.details.get("trained_from", ""))
    return model_id(sql, trained.role, version) if version else None


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
