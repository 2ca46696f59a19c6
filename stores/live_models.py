"""Which model of each role answers now, and which one before it."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import col

from stores.database import Database
from stores.records import LiveModel, ModelVersion, known_id, now


class LiveModels:
    """The pointers to the models that answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def live(self, role: str) -> str | None:
        """The version that answers in this role; None before the first."""
        with self._database.reading() as sql:
            return sql.scalar(
                select(col(ModelVersion.version))
                .join(LiveModel, col(LiveModel.model_version_id) == col(ModelVersion.id))
                .where(col(LiveModel.role) == role)
            )

    def make_live(self, role: str, version: str, *, description: str = "") -> None:
        """Swaps the pointer; the version before is remembered for one step back."""
        with self._database.writing() as sql:
            model = sql.scalar(
                select(ModelVersion).where(
                    col(ModelVersion.role) == role, col(ModelVersion.version) == version
                )
            )
            if model is None:
                model = ModelVersion(role=role, version=version, description=description, created_at=now())
                sql.add(model)
                sql.flush()
            model_id = known_id(model.id)
            pointer = sql.get(LiveModel, role)
            if pointer is None:
                sql.add(LiveModel(role=role, model_version_id=model_id, changed_at=now()))
            elif pointer.model_version_id != model_id:
                pointer.previous_id, pointer.model_version_id = pointer.model_version_id, model_id
                pointer.changed_at = now()
