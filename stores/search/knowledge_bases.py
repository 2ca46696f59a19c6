"""Knowledge bases: tables of entities that can be talked over, each under a name.

    knowledge base 7, of a user or shared -> the space kb:7 -> one document -> a passage an entity

Its rows are versions like all others: added, replaced and removed under receipts, and back again by undo. A
knowledge base is there while it has live entities. A user is handed their own and the shared ones, and
nothing else names their spaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.entities import Entity, entity_of
from stores.base.errors import NotFound, WrongUsage
from stores.base.one_line import one_line
from stores.base.passages import SHARED, knowledge_space, own_space
from stores.database.database import Database
from stores.database.rows import rows
from stores.database.tables import DocumentVersion, KnowledgeBase, PassageVersion, known_id

_LONGEST_NAME = 60


@dataclass(frozen=True)
class KnownBase:
    """A knowledge base that a user sees."""

    id: int
    name: str
    is_shared: bool
    file: str  # that it was read from
    entities: int
    version: int  # its content's; another one after each change
    changed_at: datetime

    @property
    def space(self) -> str:
        """That holds its entities."""
        return knowledge_space(self.id)


class KnowledgeBases:
    """The knowledge bases of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, user_id: int, name: str, *, shared: bool) -> int:
        """The id of the knowledge base of this name, which may be new and empty. Raises `WrongUsage`."""
        if not name.strip() or name != one_line(name) or len(name) > _LONGEST_NAME:
            raise WrongUsage(
                f"{one_line(name)!r} is no name for a knowledge base",
                hint=f"Choose one of at most {_LONGEST_NAME} characters on one line.",
            )
        space = SHARED if shared else own_space(user_id)
        with self._database.writing() as sql:
            known = sql.scalars(
                select(KnowledgeBase).where(
                    col(KnowledgeBase.space) == space, col(KnowledgeBase.name) == name
                )
            ).one_or_none()
            if known is None:
                known = KnowledgeBase(name=name, space=space, created_at=now())
                sql.add(known)
                sql.flush()
            return known_id(known.id)

    def all(self, user_id: int) -> list[KnownBase]:
        """Those that this user sees, by name; of two with one name, the user's own first."""
        with self._database.reading() as sql:
            return _known(sql, user_id)

    def named(self, user_id: int, name: str, *, shared: bool | None = None) -> KnownBase:
        """The user's own of this name, else the shared one. Raises `NotFound`, naming those there are.

        shared: only the shared one, or only the user's own.
        """
        known = self.all(user_id)
        for base in known:
            if base.name == name and shared in (None, base.is_shared):
                return base
        if shared is False and any(base.name == name for base in known):
            raise NotFound(
                f"{one_line(name)!r} is shared, and none of yours", hint="--shared names that one."
            )
        names = ", ".join(base.name for base in known)
        raise NotFound(
            f"there is no knowledge base {one_line(name)!r}",
            hint=f"There are: {names}." if names else "Add one: vouch kb add NAME FILE",
        )

    def with_id(self, user_id: int, knowledge_base_id: int) -> KnownBase:
        """Raises `NotFound` where it was removed, or this user may not see it."""
        for base in self.all(user_id):
            if base.id == knowledge_base_id:
                return base
        raise NotFound(
            "the knowledge base of this session was removed", hint="/kb NAME takes another, /kb off none."
        )

    def entities(self, base: KnownBase) -> Iterator[tuple[int, Entity]]:
        """All that it holds, in the order of the file, each with the id of its version."""
        with self._database.reading() as sql:
            read = rows(
                sql,
                "SELECT id, title, text FROM passage_versions "
                "WHERE space = ? AND removed_at IS NULL ORDER BY position, id",
                [base.space],
            )
            for version_id, title, text in read:
                yield version_id, entity_of(title, text)


def _known(sql: SqlSession, user_id: int) -> list[KnownBase]:
    allowed = (own_space(user_id), SHARED)
    found = sql.scalars(select(KnowledgeBase).where(col(KnowledgeBase.space).in_(allowed))).all()
    by_space = {knowledge_space(known_id(base.id)): base for base in found}
    contents = sql.scalars(
        select(DocumentVersion).where(
            col(DocumentVersion.space).in_(list(by_space)), col(DocumentVersion.removed_at).is_(None)
        )
    ).all()
    counts = _counts(sql, list(by_space))
    known = [
        KnownBase(
            id=known_id(base.id),
            name=base.name,
            is_shared=base.space == SHARED,
            file=content.title,
            entities=counts[content.space],
            version=known_id(content.id),
            changed_at=content.created_at,
        )
        for content in contents
        if content.space in counts
        for base in (by_space[content.space],)
    ]
    return sorted(known, key=lambda base: (base.name, base.is_shared))


def _counts(sql: SqlSession, spaces: Sequence[str]) -> dict[str, int]:
    rows = sql.execute(
        select(col(PassageVersion.space), func.count())
        .where(col(PassageVersion.space).in_(spaces), col(PassageVersion.removed_at).is_(None))
        .group_by(col(PassageVersion.space))
    )
    return {row[0]: row[1] for row in rows}
