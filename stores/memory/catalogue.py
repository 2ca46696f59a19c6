"""What a user can see of what is known: the shared passages and their own, live and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, or_, select
from sqlmodel import col

from stores.base.passages import SHARED, Passage, own_space
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.tables import Document, PassageIdentity, PassageVersion, known_id
from stores.memory.passage_history import History, history_of
from stores.versions.live import live_passages, visible_spaces
from stores.versions.passage_lines import PassageLine, visible_line
from stores.versions.states import VersionState, version_states

_ROWS_AT_ONCE = 2_000


class Catalogue:
    """What each user can see of what is known."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lines(
        self,
        user_id: int,
        *,
        scope: Literal["yours", "shared", "all"] = "all",
        kind: str | None = None,
        memories_only: bool = False,
        query: str | None = None,
        since: datetime | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> list[PassageLine]:
        """Live passages that this user may see, newest first. query: words that all stand in the text.

        memories_only: of the user's own neither documents nor messages as they were said. before: only
        passages of smaller ids, as the next page has them.
        """
        spaces = _spaces(user_id, scope)
        statement = (
            select(col(PassageVersion.id))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(*_wanted(spaces, kind=kind, memories_only=memories_only, query=query, since=since))
            .order_by(col(PassageIdentity.id).desc())
        )
        if before is not None:
            statement = statement.where(col(PassageIdentity.id) < before)
        if limit is not None:
            statement = statement.limit(limit)
        with self._database.reading() as sql:
            ids = [known_id(i) for i in sql.scalars(statement)]
            found = live_passages(sql, ids, spaces)
        return [PassageLine.of(found[i]) for i in ids if i in found]

    def count(
        self,
        user_id: int,
        *,
        scope: Literal["yours", "shared", "all"] = "all",
        memories_only: bool = False,
        query: str | None = None,
    ) -> int:
        """How many `lines` there are."""
        wanted = _wanted(_spaces(user_id, scope), memories_only=memories_only, query=query)
        with self._database.reading() as sql:
            found = sql.scalar(
                select(func.count())
                .select_from(PassageVersion)
                .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                .where(*wanted)
            )
        return found or 0

    def line(self, user_id: int, passage_id: int) -> PassageLine:
        """One live passage that this user may see."""
        with self._database.reading() as sql:
            return visible_line(sql, user_id, passage_id)

    def history(self, user_id: int, passage_id: int) -> History:
        """One passage with its versions, receipts and uses; also when it was forgotten."""
        with self._database.reading() as sql:
            return history_of(sql, user_id, passage_id)

    def passages_of(self, user_id: int, version_ids: Iterable[int]) -> dict[int, tuple[Passage, bool]]:
        """Versions that this user may see, live or not, by id; with whether each is still live."""
        found: dict[int, tuple[Passage, bool]] = {}
        with self._database.reading() as sql:
            allowed = visible_spaces(sql, user_id)
            rows = sql.execute(
                select(PassageVersion, PassageIdentity, col(Document.source))
                .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                .outerjoin(Document, col(Document.id) == col(PassageVersion.document_id))
                .where(col(PassageVersion.id).in_(list(version_ids)), col(PassageVersion.space).in_(allowed))
            )
            for version, identity, source in rows:
                passage = Passage(
                    known_id(version.id),
                    version.passage_id,
                    version.space,
                    identity.kind,
                    version.title,
                    version.text,
                    version.document_id,
                    version.position,
                    source or "",
                    identity.external_id,
                    identity.created_at,
                )
                found[known_id(version.id)] = (passage, version.removed_at is None)
        return found

    def version_states(self, user_id: int, version_ids: Iterable[int]) -> dict[int, VersionState]:
        """What became of versions that this user may see, by id."""
        with self._database.reading() as sql:
            return version_states(sql, version_ids, visible_spaces(sql, user_id))

    def own_passages(self, user_id: int) -> list[int]:
        """Every live passage of the user's own space."""
        return [line.passage_id for line in self.lines(user_id, scope="yours")]

    def said_in(self, user_id: int, turn_id: int) -> list[PassageLine]:
        """The live passages that hold a user's words of a turn; none of another user's turn."""
        space = own_space(user_id)
        with self._database.reading() as sql:
            ids = sql.scalars(
                select(col(PassageVersion.id))
                .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                .where(
                    col(PassageIdentity.turn_id) == turn_id,
                    col(PassageIdentity.kind) == "message",
                    col(PassageVersion.space) == space,
                    col(PassageVersion.removed_at).is_(None),
                )
            )
            found = live_passages(sql, [known_id(i) for i in ids], (space,))
        return [PassageLine.of(passage) for passage in found.values()]

    def counts(self, user_id: int) -> tuple[int, int]:
        """How many live passages are this user's own, without mere messages, and how many are shared."""
        with self._database.reading() as sql:
            yours, shared = (
                sql.scalar(
                    select(func.count())
                    .select_from(PassageVersion)
                    .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                    .where(
                        col(PassageVersion.space) == space,
                        col(PassageVersion.removed_at).is_(None),
                        col(PassageIdentity.kind) != "message",
                    )
                )
                or 0
                for space in (own_space(user_id), SHARED)
            )
        return yours, shared


def _spaces(user_id: int, scope: Literal["yours", "shared", "all"]) -> tuple[str, ...]:
    own = own_space(user_id)
    return {"yours": (own,), "shared": (SHARED,), "all": (SHARED, own)}[scope]


def _wanted(
    spaces: Sequence[str],
    *,
    kind: str | None = None,
    memories_only: bool = False,
    query: str | None = None,
    since: datetime | None = None,
) -> list[Any]:
    """The conditions of a list of live passages, over versions and identities."""
    conditions: list[Any] = [col(PassageVersion.space).in_(spaces), col(PassageVersion.removed_at).is_(None)]
    if kind:
        conditions.append(col(PassageIdentity.kind) == kind)
    if memories_only:
        is_memory = col(PassageIdentity.kind).not_in(("document", "message"))
        conditions.append(or_(is_memory, col(PassageVersion.space) == SHARED))
    if since:
        conditions.append(col(PassageIdentity.created_at) >= since)
    return [*conditions, *says(query or "")]


def says(query: str) -> list[Any]:
    """The conditions that all words of a query stand in a version's text."""
    return [col(PassageVersion.text).icontains(word, autoescape=True) for word in well_formed(query).split()]
