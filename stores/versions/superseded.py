"""What was told before what is known: kept in the history of what took its place, and live at no time.

    told in 2021: A, told in 2026: C       A ─(C)─> C
    told in 2023: B, learned last          A ─(B)─> B ─(C)─> C      as if learned in the order of their dates

A version names the receipt that removed it. So B comes to stand between the two by its receipts alone:
undoing C brings B back, and undoing B leaves C as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.tables import PassageVersion, Receipt, StatedClaim, known_id
from stores.versions.changes import NewVersion, add_versions, remove_versions
from stores.versions.claim_passages import AUTHOR
from stores.versions.supersession import claim_told, written


@dataclass(frozen=True)
class Rewritten:
    """A live passage of the user's own that is another one once something earlier is known."""

    passage_id: int
    version_id: int
    text: str  # empty: it holds no more


def keep_earlier(
    sql: SqlSession, claim: StatedClaim, version: PassageVersion, text: str, *, receipt_id: int
) -> None:
    """Puts a text into the history of a passage, before the version that was told later.

    version: the last one of the passage, or the one before which it was told.
    """
    moment = claim_told(sql, claim)
    after, before = version, _before(sql, version)
    passed = {known_id(version.id)}
    while before is not None and before.id not in passed and written(sql, before) > moment:
        passed.add(known_id(before.id))
        after, before = before, _before(sql, before)
    new = NewVersion(
        text=text,
        title=version.title,
        passage_id=version.passage_id,
        kind=claim.kind,
        turn_id=claim.turn_id,
    )
    ids = add_versions(sql, version.space, [new], author=AUTHOR, receipt_id=receipt_id)
    remove_versions(sql, ids, receipt_id=after.added_by or receipt_id)
    if before is not None:
        before.removed_by = receipt_id
    sql.flush()


def rewrite(sql: SqlSession, rewritten: Rewritten, space: str, *, receipt_id: int) -> None:
    """Gives a passage its new text, or ends it."""
    old = sql.get_one(PassageVersion, rewritten.version_id)
    remove_versions(sql, [rewritten.version_id], receipt_id=receipt_id)
    if rewritten.text:
        new = NewVersion(text=rewritten.text, title=old.title, passage_id=rewritten.passage_id)
        add_versions(sql, space, [new], author=AUTHOR, receipt_id=receipt_id)


def close_up(sql: SqlSession, added: Sequence[int], removed: Sequence[int], receipt_id: int) -> set[int]:
    """Takes earlier versions out of their histories, of a receipt that is undone.

    added, removed: the versions that the receipt added and removed. Returns those of the removed ones that
    stay removed, because of what was told later.
    """
    stay: set[int] = set()
    for version_id in added:
        earlier = sql.get_one(PassageVersion, version_id, populate_existing=True)
        after = earlier.removed_by
        if after is None or after >= receipt_id or not _stands(sql, after):
            continue
        for other in (sql.get_one(PassageVersion, i, populate_existing=True) for i in removed):
            if other.passage_id == earlier.passage_id and other.added_by not in (after, receipt_id):
                other.removed_by = after
                stay.add(known_id(other.id))
    sql.flush()
    return stay


def _before(sql: SqlSession, version: PassageVersion) -> PassageVersion | None:
    """The version in whose place one came; None for a first one.

    A receipt that rewrote what was told later has removed that as well, which came after.
    """
    if version.added_by is None:
        return None
    return sql.scalar(
        select(PassageVersion)
        .outerjoin(Receipt, col(Receipt.id) == col(PassageVersion.added_by))
        .where(
            col(PassageVersion.passage_id) == version.passage_id,
            col(PassageVersion.removed_by) == version.added_by,
            col(PassageVersion.id) != version.id,
            col(PassageVersion.added_by).is_distinct_from(version.removed_by),
            col(Receipt.undone_at).is_(None),
        )
        .order_by(col(PassageVersion.id).desc())
        .limit(1)
    )


def _stands(sql: SqlSession, receipt_id: int) -> bool:
    receipt = sql.get(Receipt, receipt_id)
    return receipt is not None and receipt.undone_at is None
