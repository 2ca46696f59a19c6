"""What became of a version: a turn names the versions it used, and knowledge changes after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.rows import found_by
from stores.database.tables import PassageVersion, Receipt, known_id

State: TypeAlias = Literal["live", "changed", "undone", "withdrawn", "forgotten"]


@dataclass(frozen=True)
class VersionState:
    """One version of a passage, and whether it still holds.

    state: live, also by a later version of the same words; changed, where a later version took its place;
    undone, with the write that made it; withdrawn, where the passage was set aside or its document has no
    such passage any more; forgotten, where its text is gone.
    """

    passage_id: int
    number: int
    newest: int  # the number of the passage's newest version
    created_at: datetime
    state: State
    since: datetime | None  # from when on it did not hold any more


def version_states(
    sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str]
) -> dict[int, VersionState]:
    """By version id; of versions that lie in none of these spaces nothing."""
    wanted = found_by(
        sql, PassageVersion, col(PassageVersion.id), set(version_ids), col(PassageVersion.space).in_(spaces)
    )
    passages = {version.passage_id for version in wanted}
    siblings: dict[int, list[PassageVersion]] = {}
    for version in found_by(sql, PassageVersion, col(PassageVersion.passage_id), passages):
        siblings.setdefault(version.passage_id, []).append(version)
    removers = {version.removed_by for version in wanted} - {None}
    undone = {
        known_id(i)
        for i in sql.scalars(
            select(col(Receipt.id)).where(col(Receipt.id).in_(removers), col(Receipt.undone_at).is_not(None))
        )
    }
    return {known_id(version.id): _state(version, siblings[version.passage_id], undone) for version in wanted}


def _state(version: PassageVersion, siblings: Sequence[PassageVersion], undone: set[int]) -> VersionState:
    says_it_still = {each.text_hash for each in siblings if each.removed_at is None}
    state: State = "withdrawn"
    if version.erased_at is not None:
        state = "forgotten"
    elif version.removed_at is None or version.text_hash in says_it_still:
        state = "live"
    elif version.removed_by in undone:
        state = "undone"
    elif any(each.added_by == version.removed_by and each is not version for each in siblings):
        state = "changed"
    return VersionState(
        version.passage_id,
        version.number,
        max(each.number for each in siblings),
        version.created_at,
        state,
        None if state == "live" else version.erased_at or version.removed_at,
    )
