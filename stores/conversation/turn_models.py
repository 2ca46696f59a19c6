"""By which models a turn was searched and judged, as it was stored with the turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import col

from stores.database.database import Database
from stores.database.tables import Judgement, ModelVersion, Retrieval, Round, Turn

REWRITTEN = "made to stand alone"  # the strategy of a question that the query model rewrote in time


@dataclass(frozen=True)
class TurnModels:
    """Empty where nothing was searched or judged."""

    encoder_version: str
    round_id: int | None  # that trained this encoder; None where no round did
    strategy: str  # how what was searched with came about
    judges: tuple[str, ...]  # in the order in which they judged
    trained: Mapping[str, int]  # by role, the rounds that trained what else answered then


def models_of(database: Database, user_id: int, turn_id: int) -> TurnModels:
    """Of a turn of this user; empty for a turn of somebody else."""
    own = col(Turn.id) == turn_id, col(Turn.user_id) == user_id
    of_round = select(col(Round.id)).join(ModelVersion, col(ModelVersion.id) == col(Round.model_version_id))
    with database.reading() as sql:
        searched, strategy = sql.execute(
            select(col(Retrieval.encoder_version), col(Retrieval.strategy))
            .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
            .where(*own)
            .order_by(col(Retrieval.id).desc())
            .limit(1)
        ).first() or ("", "")
        round_id = sql.scalar(of_round.where(col(ModelVersion.version) == searched)) if searched else None
        details = sql.scalar(select(col(Turn.details)).where(*own)) or {}
        rounds = {
            role: sql.scalar(
                of_round.where(col(ModelVersion.role) == role, col(ModelVersion.version) == version)
            )
            for role, version in details.get("trained", {}).items()
        }
        judges = sql.scalars(
            select(col(Judgement.judge))
            .join(Turn, col(Turn.id) == col(Judgement.turn_id))
            .where(*own)
            .order_by(col(Judgement.id))
        ).all()
    trained = {role: number for role, number in rounds.items() if number is not None}
    return TurnModels(searched, round_id, strategy, tuple(dict.fromkeys(judges)), trained)
