"""What a user told, and what it said before: the passages of their own that are statements in their words.

Read without an index of words or meanings: by a question such a statement is often not found.
"""

from __future__ import annotations

from sqlalchemy.orm import Session as SqlSession

from stores.records import Passage
from stores.rows import moment, rows
from stores.told_dates import OLD_WRITTEN_AT

_STATEMENTS = "('note', 'fact', 'preference', 'correction')"  # kinds of passages


def newest_statements(sql: SqlSession, space: str, most: int) -> list[tuple[int, str]]:
    """The live ones among the `most` newest statements of a user's own space, newest first.

    Returns version ids and texts.
    """
    read = rows(
        sql,
        "SELECT v.id, v.text FROM ("
        f"SELECT id FROM passages WHERE space = ? AND kind IN {_STATEMENTS} ORDER BY id DESC LIMIT ?"
        ") AS p JOIN passage_versions AS v ON v.passage_id = p.id "
        "WHERE v.removed_at IS NULL AND v.space = ? ORDER BY v.passage_id DESC",
        [space, most, space],
    )
    return [(version_id, text) for version_id, text in read]


def replaced_statements(sql: SqlSession, space: str, most: int) -> list[Passage]:
    """Earlier versions of the live statements of a user's own space, at most so many.

    Those just before the live ones come first, then those told last. A version that another one replaced
    names the receipt by which that came; one that was undone, set aside or forgotten does not count.
    """
    read = rows(
        sql,
        "SELECT old.id, old.passage_id, old.space, p.kind, old.title, old.text, p.external_id, "
        f"{OLD_WRITTEN_AT} AS told_at "
        "FROM passages AS p JOIN passage_versions AS new ON new.passage_id = p.id AND new.removed_at IS NULL "
        "JOIN passage_versions AS old ON old.passage_id = p.id AND old.removed_at IS NOT NULL "
        "AND old.erased_at IS NULL AND old.text_hash <> new.text_hash "
        "JOIN receipts AS r ON r.id = old.removed_by AND r.undone_at IS NULL "
        f"WHERE p.space = ? AND p.kind IN {_STATEMENTS} AND new.space = p.space AND old.space = p.space "
        "AND EXISTS (SELECT 1 FROM passage_versions AS next WHERE next.passage_id = p.id "
        "AND next.added_by = old.removed_by AND next.id <> old.id) "
        "ORDER BY CASE WHEN new.added_by = old.removed_by THEN 0 ELSE 1 END, told_at DESC, old.id DESC "
        "LIMIT ?",
        [space, most],
    )
    return [
        Passage(
            version_id, passage_id, space, kind, title, text, None, 0, "", external_id, moment(created_at),
            is_live=False,
        )
        for version_id, passage_id, space, kind, title, text, external_id, created_at in read
    ]  # fmt: skip
