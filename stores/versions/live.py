"""Live versions of given spaces, looked up by id: their texts, their vectors, and what waits to be indexed.

Every statement names the spaces it may answer from, so that an id from elsewhere finds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED, STANDING, STATEMENTS, Passage, knowledge_space, own_space
from stores.database.rows import moment, rows
from stores.database.tables import KnowledgeBase, PassageVector, PassageVersion, known_id
from stores.versions.links import newer_of
from stores.versions.told_at import LIVE_TOLD_AT

_LOOK_UP = 5_000  # ids in one statement


def live_among(sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str]) -> set[int]:
    """Which of these versions are live and in these spaces."""
    return set(live_spaces(sql, version_ids, spaces))


def live_spaces(sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str]) -> dict[int, str]:
    """In which of these spaces each version lies that is live and in one of them; by version id."""
    live: dict[int, str] = {}
    for some in in_parts(version_ids):
        found = rows(
            sql,
            f"SELECT id, space FROM passage_versions AS v WHERE id IN ({some}) "
            f"AND removed_at IS NULL AND {within(spaces, 'v')}",
        )
        live.update(found)
    return live


def standing_among(sql: SqlSession, space: str, most: int) -> list[int]:
    """Live versions of a space that say what always holds, the newest first."""
    found = rows(
        sql,
        "SELECT v.id FROM passage_versions AS v JOIN passages AS p ON p.id = v.passage_id "
        f"WHERE p.kind = '{STANDING}' AND v.removed_at IS NULL AND {within((space,), 'v')} "
        f"ORDER BY v.id DESC LIMIT {int(most)}",
    )
    return [row[0] for row in found]


def live_passages(sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str]) -> dict[int, Passage]:
    """The live versions of these spaces among the given ones, by id; each with what took its place."""
    found: dict[int, Passage] = {}
    for some in in_parts(version_ids):
        read = rows(
            sql,
            "SELECT v.id, v.passage_id, v.space, p.kind, v.title, v.text, v.document_id, v.position, "
            f"coalesce(d.source, ''), p.external_id, {LIVE_TOLD_AT} "
            "FROM passage_versions AS v JOIN passages AS p ON p.id = v.passage_id "
            "LEFT JOIN documents AS d ON d.id = v.document_id "
            f"WHERE v.id IN ({some}) AND v.removed_at IS NULL AND {within(spaces, 'v')}",
        )
        for *told, created_at in read:
            row = (*told, moment(created_at))
            found[told[0]] = Passage(*row)
    stated = [p.passage_id for p in found.values() if p.kind in STATEMENTS and not p.is_shared]
    newer = newer_of(sql, stated, spaces) if stated else {}
    if not newer:
        return found
    return {i: replace(p, replaced_by=newer.get(p.passage_id, ())) for i, p in found.items()}


def live_of(sql: SqlSession, passage_ids: Iterable[int], spaces: Sequence[str]) -> dict[int, Passage]:
    """The live versions of these passages, by version id, as far as they lie in these spaces."""
    ids = [
        row[0]
        for some in in_parts(passage_ids)
        for row in rows(
            sql, f"SELECT id FROM passage_versions WHERE passage_id IN ({some}) AND removed_at IS NULL"
        )
    ]
    return live_passages(sql, ids, spaces)


def stored_vectors(
    sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str], encoder_version: str
) -> dict[int, bytes]:
    """The vectors of these versions by one encoder version, as far as there are any and they are live."""
    found: dict[int, bytes] = {}
    for some in in_parts(version_ids):
        read = rows(
            sql,
            "SELECT v.id, x.vector FROM passage_versions AS v "
            "JOIN passage_vectors AS x ON x.version_id = v.id "
            f"WHERE v.id IN ({some}) AND v.removed_at IS NULL AND {within(spaces, 'v')} "
            "AND x.encoder_version = ?",
            [encoder_version],
        )
        found.update((row[0], row[1]) for row in read)
    return found


def without_vector(
    sql: SqlSession, encoder_version: str, *, after: int = 0, limit: int | None = None
) -> list[tuple[int, str]]:
    """The live versions of all spaces that have no vector of this encoder version: id and space, by id.

    after: only larger ids.
    """
    found = sql.execute(
        select(col(PassageVersion.id), col(PassageVersion.space))
        .outerjoin(
            PassageVector,
            (col(PassageVector.version_id) == col(PassageVersion.id))
            & (col(PassageVector.encoder_version) == encoder_version),
        )
        .where(
            col(PassageVersion.id) > after,
            col(PassageVersion.removed_at).is_(None),
            col(PassageVector.id).is_(None),
        )
        .order_by(col(PassageVersion.id))
        .limit(limit)
    )
    return [(known_id(row[0]), row[1]) for row in found]


def waiting_versions(sql: SqlSession, space: str) -> list[int]:
    """The versions of a space that a waiting job will index."""
    payloads = rows(
        sql, "SELECT payload FROM jobs WHERE kind = 'index' AND done_at IS NULL AND space = ?", [space]
    )
    read = (p if isinstance(p, dict) else json.loads(p) for (p,) in payloads)
    return sorted({int(i) for payload in read for i in payload["version_ids"]})


def in_parts(version_ids: Iterable[int]) -> Iterable[str]:
    """Ids as lists that can be written into a statement, so many at a time."""
    ids = [int(i) for i in version_ids]  # numbers only: they are written into the statement
    for start in range(0, len(ids), _LOOK_UP):
        yield ",".join(map(str, ids[start : start + _LOOK_UP]))


def within(spaces: Sequence[str], alias: str) -> str:
    """The condition that a version of this alias lies in one of the spaces. ValueError for no space."""
    names = ",".join(f"'{_checked(space)}'" for space in spaces)
    # The empty string keeps SQLite from walking all of a space by its index to find a few known ids.
    return f"{alias}.space || '' IN ({names})"


def _checked(space: str) -> str:
    kind, _, number = space.partition(":")
    if space != SHARED and not (kind in ("user", "kb") and number.isdigit()):
        raise ValueError(f"{space!r} is no space")
    return space


def own_spaces(sql: SqlSession, user_id: int) -> list[str]:
    """A user's own space, and those of their knowledge bases."""
    return _with_knowledge(sql, [own_space(user_id)])


def visible_spaces(sql: SqlSession, user_id: int) -> list[str]:
    """The spaces whose passages this user may be shown: shared, their own, and the knowledge bases of both.

    What a search may find is decided by `Spaces`, which names fewer.
    """
    return _with_knowledge(sql, [SHARED, own_space(user_id)])


def _with_knowledge(sql: SqlSession, spaces: list[str]) -> list[str]:
    bases = sql.scalars(select(col(KnowledgeBase.id)).where(col(KnowledgeBase.space).in_(spaces)))
    return [*spaces, *(knowledge_space(known_id(base)) for base in bases)]
