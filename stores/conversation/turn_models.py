"""By which models a turn was searched and judged, as it was stored with the turn."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import col

from stores.database.database import Database
from stores.database.tables import Judgement, ModelVersion, Retrieval, Round, Turn


@dataclass(frozen=True)
class TurnModels:
    """Empty where nothing was searched or judged.

    A query encoder that a round trained for vectors that stay is not stored with a turn: the encoder is
    that of the vectors.
    """

    encoder_version: str
    round_id: int | None  # that trained this encoder; None where no round did
    judges: tuple[str, ...]  # in the order in which they judged


def models_of(database: Database, user_id: int, turn_id: int) -> TurnModels:
    """Of a turn of this user; empty for a turn of somebody else."""
    with database.reading() as sql:
        searched = sql.scalar(
            select(col(Retrieval.encoder_version))
            .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
            .where(col(Turn.id) == turn_id, col(Turn.user_id) == user_id)
            .order_by(col(Retrieval.id).desc())
            .limit(1)
        )
        trained = select(col(Round.id)).join(
            ModelVersion, col(ModelVersion.id) == col(Round.model_version_id)
        )
        round_id = sql.scalar(trained.where(col(ModelVersion.version) == searched)) if searched else None
        judges = sql.scalars(
            select(col(Judgement.judge))
            .join(Turn, col(Turn.id) == col(Judgement.turn_id))
            .where(col(Turn.id) == turn_id, col(Turn.user_id) == user_id)
            .order_by(col(Judgement.id))
        ).all()
    return TurnModels(searched or "", round_id, tuple(dict.fromkeys(judges)))
