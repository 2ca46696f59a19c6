"""Vectors of passages under the adapter of their collection, kept beside the plain ones.

A collection has a key: its space, and sixteen letters of the hash of its name, so that what names collections
outside the database tells no words. Only what the caller may see already is asked of here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import delete, select
from sqlmodel import col

from stores.base.passages import searchable_text
from stores.database.database import Database
from stores.database.rows import in_parts, rows
from stores.database.tables import PassageVector
from stores.vectors.exact import Vectors, vector_bytes
from stores.versions.live import in_parts as written

_MARK = "+"  # between the versions of an encoder and of an adapter; no other version holds it


def key_of(space: str, collection: str) -> str:
    """Of a collection."""
    return f"{space}/{hashlib.sha256(collection.encode()).hexdigest()[:16]}"


class AdaptedVectors:
    """Those of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, version_ids: Iterable[int], adapters: Mapping[str, str]) -> dict[str, dict[int, bytes]]:
        """By collection, the vectors of those of these versions that stand in it.

        adapters: by the key of a collection, the version of its adapter.
        """
        found: dict[str, dict[int, bytes]] = {}
        with self._database.reading() as sql:
            for some in written(version_ids):
                for version_id, space, collection, adapter, vector in rows(
                    sql,
                    "SELECT v.id, d.space, d.collection, x.encoder_version, x.vector "
                    "FROM passage_versions AS v JOIN documents AS d ON d.id = v.document_id "
                    "JOIN passage_vectors AS x ON x.version_id = v.id "
                    f"WHERE v.id IN ({some}) AND v.removed_at IS NULL AND d.collection <> '' "
                    f"AND x.encoder_version IN ({', '.join('?' * len(adapters))})",
                    list(adapters.values()),
                ):
                    if adapters.get(key := key_of(space, collection)) == adapter:
                        found.setdefault(key, {})[version_id] = vector
        return found

    def keys(self, version_ids: Iterable[int]) -> dict[int, str]:
        """Of those of these versions that stand in a collection, its key."""
        with self._database.reading() as sql:
            return {
                version_id: key_of(space, collection)
                for some in written(version_ids)
                for version_id, space, collection in rows(
                    sql,
                    "SELECT v.id, d.space, d.collection FROM passage_versions AS v "
                    "JOIN documents AS d ON d.id = v.document_id "
                    f"WHERE v.id IN ({some}) AND d.collection <> ''",
                )
            }

    def missing(self, key: str, adapter: str, *, most: int | None = None) -> list[tuple[int, str]]:
        """Version and text of live passages of a collection without a vector under this adapter.

        most: of so many; None: of all.
        """
        space, _, _ = key.rpartition("/")
        with self._database.reading() as sql:
            names = rows(sql, "SELECT DISTINCT collection FROM documents WHERE space = ?", [space])
            [name, *_] = [name for (name,) in names if name and key_of(space, name) == key] or [""]
            found = rows(
                sql,
                "SELECT v.id, v.title, v.text FROM passage_versions AS v "
                "JOIN documents AS d ON d.id = v.document_id "
                "LEFT JOIN passage_vectors AS x ON x.version_id = v.id AND x.encoder_version = ? "
                "WHERE d.space = ? AND d.collection = ? AND d.collection <> '' AND v.space || '' = d.space "
                "AND v.removed_at IS NULL AND x.id IS NULL ORDER BY v.id"
                + ("" if most is None else f" LIMIT {int(most)}"),
                [adapter, space, name],
            )
        return [(version_id, searchable_text(title, text)) for version_id, title, text in found]

    def store(self, key: str, adapter: str, version_ids: Sequence[int], vectors: Vectors) -> None:
        """Keeps those of versions that are there still; a known one stays. vectors: (N, D), unit length."""
        space, _, _ = key.rpartition("/")
        given = dict(zip(version_ids, vectors, strict=True))
        with self._database.writing() as sql:
            there: set[int] = set()
            for some in written(version_ids):
                known = rows(
                    sql,
                    "SELECT v.id FROM passage_versions AS v "
                    "LEFT JOIN passage_vectors AS x ON x.version_id = v.id AND x.encoder_version = ? "
                    f"WHERE v.id IN ({some}) AND v.space = ? AND v.removed_at IS NULL AND x.id IS NULL",
                    [adapter, space],
                )
                there |= {version_id for (version_id,) in known}
            sql.add_all(
                PassageVector(
                    version_id=i, space=space, encoder_version=adapter, vector=vector_bytes(given[i])
                )
                for i in sorted(there)
            )

    def discard(self, *, keep: Collection[str]) -> None:
        """Deletes the vectors under all adapters but these."""
        version = col(PassageVector.encoder_version)
        with self._database.reading() as sql:
            kept = set(
                sql.scalars(select(version).where(version.contains(_MARK, autoescape=True)).distinct())
            )
        for old in sorted(kept.difference(keep)):
            with self._database.reading() as sql:
                ids = list(sql.scalars(select(col(PassageVector.id)).where(version == old)))
            for some in in_parts(ids):
                with self._database.writing() as sql:
                    sql.execute(
                        delete(PassageVector)
                        .where(col(PassageVector.id).in_(some))
                        .execution_options(synchronize_session=False)
                    )
