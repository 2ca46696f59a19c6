"""Whether the texts in the database are those that were written: each was stored with its hash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import text

from stores.database.database import Database
from stores.versions.changes import text_hash

_ROWS_AT_ONCE = 2_000


@dataclass(frozen=True)
class ChangedText:
    """A version whose text is not the one that was stored. Texts are the truth: it cannot be made again."""

    passage_id: int
    version_id: int
    is_live: bool


def changed_texts(
    database: Database, *, looked_at: Callable[[int], None] = lambda count: None
) -> list[ChangedText]:
    """The versions, live and past, whose title and text do not fit their hash."""
    found: list[ChangedText] = []
    after = 0
    with database.reading() as sql:
        while rows := sql.execute(text(_TEXTS), {"after": after, "limit": _ROWS_AT_ONCE}).all():
            after = rows[-1][0]
            found += [
                ChangedText(passage_id, version_id, removed_at is None)
                for version_id, passage_id, title, written, kept_hash, removed_at in rows
                if text_hash(title, written) != kept_hash
            ]
            looked_at(len(rows))
    return found


_TEXTS = (
    "SELECT id, passage_id, title, text, text_hash, removed_at FROM passage_versions "
    "WHERE id > :after ORDER BY id LIMIT :limit"
)
