"""Every change of what can be found goes through here.

A version row, its words, the statistics and the job that will index it are written in the caller's one
transaction: either all of them are there after a crash, or none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table, bindparam, insert, select, text, update
from sqlalchemy.orm import Session as SqlSession

from stores.base.clock import now
from stores.base.passages import searchable_text
from stores.base.well_formed import well_formed
from stores.database.tables import Job, PassageIdentity, PassageVector, PassageVersion, known_id
from stores.words.lexical import add_words, remove_words

if TYPE_CHECKING:
    from stores.vectors.exact import Vector

_passages: Table = PassageIdentity.__table__  # type: ignore[attr-defined]
_versions: Table = PassageVersion.__table__  # type: ignore[attr-defined]
_vectors: Table = PassageVector.__table__  # type: ignore[attr-defined]
_jobs: Table = Job.__table__  # type: ignore[attr-defined]


@dataclass(frozen=True, kw_only=True)
class NewVersion:
    """A text that is to become the live version of a passage."""

    text: str
    title: str = ""
    passage_id: int | None = None  # None: of a new passage
    kind: str = "document"
    document_id: int | None = None
    turn_id: int | None = None
    position: int = 0
    external_id: str = ""
    vector: Vector | None = None  # None: encoded later, by the indexer


def text_hash(title: str, written: str) -> str:
    """Equal for equal title and text, and for practical purposes only for them."""
    return hashlib.sha256(f"{title}\0{written}".encode()).hexdigest()


def add_versions(
    sql: SqlSession,
    space: str,
    new: Sequence[NewVersion],
    *,
    author: str,
    receipt_id: int | None,
    encoder_version: str = "",
) -> list[int]:
    """Makes texts live and returns their version ids, in order. The version before must be removed first.

    encoder_version: of the vectors that come along.
    """
    if not new:
        return []
    from stores.vectors.exact import vector_bytes  # brings numpy, which what only reads does without

    moment = now()
    new = [replace(each, title=well_formed(each.title), text=well_formed(each.text)) for each in new]
    passage_ids = _identities(sql, space, new)
    numbers = _next_numbers(
        sql, [p for p, n in zip(passage_ids, new, strict=True) if n.passage_id is not None]
    )
    rows = [
        {
            "passage_id": passage_id,
            "document_id": version.document_id,
            "position": version.position,
            "space": space,
            "number": numbers.get(passage_id, 1),
            "title": version.title,
            "text": version.text,
            "text_hash": text_hash(version.title, version.text),
            "author": author,
            "created_at": moment,
            "added_by": receipt_id,
        }
        for passage_id, version in zip(passage_ids, new, strict=True)
    ]
    ids = list(
        sql.execute(insert(_versions).returning(_versions.c.id, sort_by_parameter_order=True), rows).scalars()
    )
    vectors = [
        {
            "version_id": version_id,
            "space": space,
            "encoder_version": encoder_version,
            "vector": vector_bytes(version.vector),
        }
        for version_id, version in zip(ids, new, strict=True)
        if version.vector is not None
    ]
    if vectors:
        sql.execute(insert(_vectors), vectors)
    add_words(
        sql,
        space,
        {i: searchable_text(version.title, version.text) for i, version in zip(ids, new, strict=True)},
    )
    ask_to_index(sql, space, ids)
    return ids


def add_history(sql: SqlSession, space: str, versions: Sequence[PassageVersion]) -> None:
    """Keeps versions as they were in another database, tombstones among them; the live ones can be found.

    They are new rows of passages of this space, in their order, and bring their own times and numbers.
    """
    for version in versions:
        version.text_hash = text_hash(version.title, version.text)
    sql.add_all(versions)
    sql.flush()
    live = {known_id(v.id): searchable_text(v.title, v.text) for v in versions if v.removed_at is None}
    add_words(sql, space, live)
    ask_to_index(sql, space, list(live))


def remove_versions(sql: SqlSession, version_ids: Iterable[int], *, receipt_id: int | None) -> list[int]:
    """Turns live versions into tombstones and returns the ids of those that were live."""
    live = _rows(sql, version_ids, live=True)
    moment = now()
    for space, ids in _by_space(live).items():
        sql.execute(
            update(_versions).where(_versions.c.id == bindparam("tombstone")),
            [{"tombstone": i, "removed_at": moment, "removed_by": receipt_id} for i in ids],
        )
        remove_words(sql, space, ids)
        ask_to_index(sql, space, ids)
    return sorted(live)


def revive_versions(sql: SqlSession, version_ids: Iterable[int]) -> list[int]:
    """Makes tombstones live again and returns their ids.

    Their vectors get new ids, so that whoever reads vectors by growing id takes them in again.
    """
    dead = _rows(sql, version_ids, live=False)
    for space, ids in _by_space(dead).items():
        sql.execute(
            update(_versions).where(_versions.c.id == bindparam("tombstone")),
            [{"tombstone": i, "removed_at": None, "removed_by": None} for i in ids],
        )
        add_words(sql, space, {i: searchable_text(dead[i]["title"], dead[i]["text"]) for i in ids})
        for version_id in ids:
            kept = sql.execute(select(_vectors).where(_vectors.c.version_id == version_id)).mappings().all()
            sql.execute(_vectors.delete().where(_vectors.c.version_id == version_id))
            for vector in kept:
                sql.execute(insert(_vectors), {key: vector[key] for key in vector if key != "id"})
        ask_to_index(sql, space, ids)
    return sorted(dead)


def ask_to_index(sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
    """Commits, with the caller's change, the job that will bring it into the indexes."""
    if version_ids:
        sql.execute(
            insert(_jobs),
            {
                "kind": "index",
                "space": space,
                "payload": {"version_ids": list(version_ids)},
                "attempts": 0,
                "error": "",
                "created_at": now(),
            },
        )


def _identities(sql: SqlSession, space: str, new: Sequence[NewVersion]) -> list[int]:
    moment = now()
    rows = [
        {
            "space": space,
            "kind": version.kind,
            "turn_id": version.turn_id,
            "external_id": version.external_id,
            "created_at": moment,
        }
        for version in new
        if version.passage_id is None
    ]
    fresh = iter(
        sql.execute(insert(_passages).returning(_passages.c.id, sort_by_parameter_order=True), rows).scalars()
        if rows
        else ()
    )
    return [next(fresh) if version.passage_id is None else version.passage_id for version in new]


def _next_numbers(sql: SqlSession, passage_ids: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for passage_id in passage_ids:
        newest = sql.execute(
            text("SELECT max(number) FROM passage_versions WHERE passage_id = :id"), {"id": passage_id}
        ).scalar()
        found[passage_id] = int(newest or 0) + 1
    return found


def _rows(sql: SqlSession, version_ids: Iterable[int], *, live: bool) -> dict[int, Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    wanted = sorted(set(version_ids))
    for start in range(0, len(wanted), 5_000):
        some = wanted[start : start + 5_000]
        state = _versions.c.removed_at.is_(None) if live else _versions.c.removed_at.is_not(None)
        statement = select(_versions).where(_versions.c.id.in_(some), state)
        found.update((row["id"], dict(row)) for row in sql.execute(statement).mappings())
    return found


def _by_space(rows: Mapping[int, Mapping[str, Any]]) -> dict[str, list[int]]:
    ordered = sorted(rows.values(), key=lambda row: (row["space"], row["id"]))
    return {
        space: [row["id"] for row in group] for space, group in groupby(ordered, key=lambda r: r["space"])
    }
