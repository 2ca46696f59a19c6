"""Rounds of training: what was trained on what, how it went, and why it went live or did not.

One round runs at a time, whoever asks: the running row holds a lease that its learner renews. A learner
that died leaves a lease that ends, and the round is taken for dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database import Database
from stores.errors import TryAgain
from stores.live_models import live_version, model_id, swap
from stores.records import Round, known_id, now

LEASE = timedelta(seconds=60)
_ENDED = ("promoted", "refused", "stopped", "failed")


class Rounds:
    """The rounds of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, recipe: str, settings: Mapping[str, Any]) -> int:
        """A running round; returns its id. Raises `TryAgain` while another one runs."""
        moment = now()
        with self._database.writing() as sql:
            running = sql.scalars(select(Round).where(col(Round.state) == "running")).all()
            for other in running:
                if _lease_end(other) > moment:
                    raise TryAgain(
                        f"round {other.id} is being trained",
                        hint="`vouch train --status` shows how far it is; `vouch train --stop` ends it.",
                    )
                other.state, other.reason, other.ended_at = (
                    "failed",
                    "its learner ended without a word",
                    moment,
                )
            row = Round(
                recipe=recipe,
                state="running",
                settings=dict(settings),
                figures=_with_lease({}, moment),
                created_at=moment,
            )
            sql.add(row)
            sql.flush()
            return known_id(row.id)

    def note(self, round_id: int, figures: Mapping[str, Any]) -> bool:
        """Adds figures and renews the lease; False where the round is to stop."""
        with self._database.writing() as sql:
            row = sql.get_one(Round, round_id)
            if row.state != "running":
                return False
            row.figures = _with_lease({**row.figures, **figures}, now())
            return True

    def end(
        self,
        round_id: int,
        state: str,
        reason: str,
        *,
        figures: Mapping[str, Any] | None = None,
    ) -> None:
        """Ends a round, unless it has ended meanwhile. state: promoted, refused, stopped or failed."""
        assert state in _ENDED, "a round ends in one of these"
        with self._database.writing() as sql:
            _end(sql, round_id, state, reason, figures)

    def promote(
        self,
        round_id: int,
        role: str,
        version: str,
        reason: str,
        *,
        details: Mapping[str, Any],
        figures: Mapping[str, Any],
        before_the_first: str,
    ) -> bool:
        """Ends a round and makes its model live, both or neither; False where it was not running any more.

        before_the_first: the version to step back to from the first model of a role. details: of the model.
        """
        with self._database.writing() as sql:
            if not _end(sql, round_id, "promoted", reason, figures):
                return False
            if live_version(sql, role) is None:
                swap(sql, role, before_the_first, details={})
            swap(sql, role, version, details=details)
            sql.get_one(Round, round_id).model_version_id = model_id(sql, role, version)
            return True

    def ask_to_stop(self) -> int | None:
        """Asks the running round to stop, and returns its id; None where none runs."""
        with self._database.writing() as sql:
            row = sql.scalar(select(Round).where(col(Round.state) == "running").limit(1))
            if row is None:
                return None
            row.state, row.reason, row.ended_at = "stopped", "by command", now()
            return known_id(row.id)

    def latest(self, limit: int = 20) -> list[Round]:
        """The last rounds, newest first."""
        with self._database.reading() as sql:
            return list(sql.scalars(select(Round).order_by(col(Round.id).desc()).limit(limit)))

    def last_turn_learned(self, recipe: str) -> int:
        """The last turn that a judged round of this recipe was made from; 0 before the first."""
        with self._database.reading() as sql:
            rows = sql.scalars(
                select(Round).where(
                    col(Round.recipe) == recipe, col(Round.state).in_(("promoted", "refused"))
                )
            ).all()
        return max((int(row.settings.get("last_turn", 0)) for row in rows), default=0)


def _end(sql: SqlSession, round_id: int, state: str, reason: str, figures: Mapping[str, Any] | None) -> bool:
    row = sql.get_one(Round, round_id)
    if row.state != "running":
        return False
    left = {key: value for key, value in row.figures.items() if key != "lease_until"}
    row.figures = {**left, **(figures or {})}
    row.state, row.reason, row.ended_at = state, reason, now()
    return True


def _with_lease(figures: Mapping[str, Any], moment: datetime) -> dict[str, Any]:
    return {**figures, "lease_until": (moment + LEASE).isoformat()}


def _lease_end(row: Round) -> datetime:
    until = row.figures.get("lease_until")
    return datetime.fromisoformat(until) if until else row.created_at
