"""The encoder versions that have vectors here, and the swap from one to another.

Vectors of a new version are made beside those of the live one. The pointer is swapped in a transaction
that finds every live passage encoded, so a query never meets a version that lacks some. A step back is
the same swap the other way; what was added meanwhile is asked to be encoded, and found by its words
until then.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.database import Database
from stores.database.tables import PassageVector, PassageVersion
from stores.search.index_fills import after_being_live, before_going_live, newest_job_id
from stores.search.live_models import LiveModels, live_version, step_back, swap
from stores.versions.changes import ask_to_index
from stores.versions.live import without_vector

ENCODER_ROLE = "encoder"
TRAINED = "trained"  # how version and source begin of an encoder that was trained here
_AT_ONCE = 2_000  # versions in one job


@dataclass(frozen=True)
class EncoderVersion:
    """An encoder that has made vectors here, and where it can be loaded from."""

    version: str
    source: str  # as the settings named it; empty is the one that comes with Vouch
    dimension: int
    trained_from: str = ""  # the version that the settings name, where it was made of that one here

    @property
    def kept_as(self) -> str:
        """What an encoder that was trained here is kept as; empty for others."""
        name, _, kept = self.source.partition(":")
        return kept if name == TRAINED else ""


class EncoderVersions:
    """Which encoder answers."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._models = LiveModels(database)

    def live(self) -> EncoderVersion | None:
        """The version whose vectors are searched; None before the first."""
        version = self._models.live(ENCODER_ROLE)
        return None if version is None else self.known(version)

    def previous(self) -> EncoderVersion | None:
        """The version before it."""
        version = self._models.previous(ENCODER_ROLE)
        return None if version is None else self.known(version)

    def declined(self) -> str:
        """The version last stepped back from, which is not taken up again by itself; empty if none."""
        return self._models.declined(ENCODER_ROLE)

    def live_passages(self) -> int:
        """How many live passages there are in all spaces."""
        with self._database.reading() as sql:
            return (
                sql.scalar(
                    select(func.count())
                    .select_from(PassageVersion)
                    .where(col(PassageVersion.removed_at).is_(None))
                )
                or 0
            )

    def missing(self, version: str) -> int:
        """How many live passages have no vector of this version."""
        with self._database.reading() as sql:
            return len(without_vector(sql, version))

    def newest_job(self) -> int:
        """The last job committed: asked before everything is encoded, and told when an index is filled."""
        with self._database.reading() as sql:
            return newest_job_id(sql)

    def make_live(self, encoder: EncoderVersion) -> bool:
        """Swaps the pointer to a version whose vectors are all there; False where some are not."""
        with self._database.writing() as sql:
            return make_encoder_live(sql, encoder)

    def discard_vectors(self, *, beginning: str) -> list[str]:
        """Deletes the vectors of versions that begin so, save the live one and the one before; names them."""
        with self._database.reading() as sql:
            column = col(PassageVector.encoder_version)
            found = set(sql.scalars(select(column).where(column.startswith(beginning)).distinct()))
        for known in (self.live(), self.previous()):
            found.discard(known.version if known else "")
        for version in found:
            self._delete_vectors(version)
        return sorted(found)

    def _delete_vectors(self, version: str) -> None:
        """In parts, so that nobody waits long for the write lock."""
        of_version = col(PassageVector.encoder_version) == version
        while True:
            with self._database.writing() as sql:
                if live_version(sql, ENCODER_ROLE) == version:
                    return
                ids = sql.scalars(
                    select(col(PassageVector.version_id)).where(of_version).limit(_AT_ONCE)
                ).all()
                sql.execute(
                    delete(PassageVector)
                    .where(of_version, col(PassageVector.version_id).in_(ids))
                    .execution_options(synchronize_session=False)
                )
            if not ids:
                return

    def step_back(self) -> EncoderVersion:
        """Makes the version before live at once. Raises `CannotUndo` where there is none."""
        with self._database.writing() as sql:
            replaced = live_version(sql, ENCODER_ROLE)
            version = step_back(sql, ENCODER_ROLE)
            search_again_by(sql, version, replaced)
        back = self.known(version)
        assert back is not None, "it was live before"
        return back

    def known(self, version: str) -> EncoderVersion | None:
        """A version that is or was live; None for others."""
        model = self._models.known(ENCODER_ROLE, version)
        if model is None:
            return None
        details = model.details
        return EncoderVersion(
            model.version,
            str(details.get("source", "")),
            int(details.get("dimension", 0)),
            str(details.get("trained_from", "")),
        )


def make_encoder_live(sql: SqlSession, encoder: EncoderVersion) -> bool:
    """Swaps the pointer in the caller's transaction; False where a live passage has no vector."""
    if without_vector(sql, encoder.version, limit=1):
        return False
    replaced = live_version(sql, ENCODER_ROLE)
    if replaced != encoder.version:
        before_going_live(sql, encoder.version)
        details = {"source": encoder.source, "dimension": encoder.dimension}
        if encoder.trained_from:
            details["trained_from"] = encoder.trained_from
        swap(sql, ENCODER_ROLE, encoder.version, details=details)
        if replaced is not None:
            after_being_live(sql, replaced)
    return True


def search_again_by(sql: SqlSession, version: str, replaced: str | None) -> None:
    """Asks to index what an earlier version lacks, in the transaction that has made it live again.

    replaced: the version that was live until now.
    """
    if replaced is not None:
        after_being_live(sql, replaced)
    before_going_live(sql, version)
    by_space: dict[str, list[int]] = {}
    for version_id, space in without_vector(sql, version):
        by_space.setdefault(space, []).append(version_id)
    for space, ids in sorted(by_space.items()):
        for start in range(0, len(ids), _AT_ONCE):
            ask_to_index(sql, space, ids[start : start + _AT_ONCE])
