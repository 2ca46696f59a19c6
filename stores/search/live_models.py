"""Which model of each role answers now, and which one before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import CannotUndo
from stores.database.database import Database
from stores.database.tables import LiveModel, ModelVersion, known_id


@dataclass(frozen=True)
class KnownModel:
    """A model that answers or has answered."""

    version: str
    details: Mapping[str, Any]  # what it takes to load it again


class LiveModels:
    """The pointers to the models that answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def live(self, role: str) -> str | None:
        """The version that answers in this role; None before the first."""
        with self._database.reading() as sql:
            return live_version(sql, role)

    def known(self, role: str, version: str) -> KnownModel | None:
        """What is known of a version; None where it never was live."""
        with self._database.reading() as sql:
            model = _find(sql, role, version)
            return None if model is None else KnownModel(model.version, dict(model.details))

    def previous(self, role: str) -> str | None:
        """The version that answered before the live one; None where there was none."""
        with self._database.reading() as sql:
            return sql.scalar(
                select(col(ModelVersion.version))
                .join(LiveModel, col(LiveModel.previous_id) == col(ModelVersion.id))
                .where(col(LiveModel.role) == role)
            )

    def declined(self, role: str) -> str:
        """The version that was last stepped back from; empty when there is none."""
        with self._database.reading() as sql:
            pointer = sql.get(LiveModel, role)
            return "" if pointer is None else pointer.declined

    def make_live(self, role: str, version: str, *, details: Mapping[str, Any] | None = None) -> None:
        """Swaps the pointer; the version before is remembered for one step back."""
        with self._database.writing() as sql:
            swap(sql, role, version, details=details)

    def step_back(self, role: str) -> str:
        """Points to the version before the live one, and returns it. Raises `CannotUndo`."""
        with self._database.writing() as sql:
            return step_back(sql, role)


def live_version(sql: SqlSession, role: str) -> str | None:
    """The version that answers in this role; None before the first."""
    return sql.scalar(
        select(col(ModelVersion.version))
        .join(LiveModel, col(LiveModel.model_version_id) == col(ModelVersion.id))
        .where(col(LiveModel.role) == role)
    )


def model_id(sql: SqlSession, role: str, version: str) -> int | None:
    """The row of a version; None where it never was live."""
    model = _find(sql, role, version)
    return None if model is None else known_id(model.id)


def swap(
    sql: SqlSession,
    role: str,
    version: str,
    *,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Points to a version, in the caller's transaction."""
    model = _find(sql, role, version)
    if model is None:
        model = ModelVersion(role=role, version=version, created_at=now())
        sql.add(model)
    if details is not None:
        model.details = dict(details)
    sql.flush()
    model_id = known_id(model.id)
    pointer = sql.get(LiveModel, role)
    if pointer is None:
        sql.add(LiveModel(role=role, model_version_id=model_id, changed_at=now()))
    elif pointer.model_version_id != model_id:
        pointer.previous_id, pointer.model_version_id = pointer.model_version_id, model_id
        pointer.changed_at, pointer.declined = now(), ""


_WORDS = {"encoder": "encoder"}  # what people call the models of a role, where it is not "model"


def step_back(sql: SqlSession, role: str) -> str:
    """Points to the version before, in the caller's transaction, and returns it.

    The version that answered until now is the one before from then on, and is declined. Raises `CannotUndo`.
    """
    pointer = sql.get(LiveModel, role)
    if pointer is None or pointer.previous_id is None:
        raise CannotUndo(f"there is no {_WORDS.get(role, 'model')} before the live one")
    back = sql.get_one(ModelVersion, pointer.previous_id)
    declined = sql.get_one(ModelVersion, pointer.model_version_id)
    pointer.model_version_id, pointer.previous_id = known_id(back.id), known_id(declined.id)
    pointer.changed_at, pointer.declined = now(), declined.version
    return back.version


def _find(sql: SqlSession, role: str, version: str) -> ModelVersion | None:
    return sql.scalar(
        select(ModelVersion).where(col(ModelVersion.role) == role, col(ModelVersion.version) == version)
    )
