"""Taking an import back: its passages go with their history, and nothing of it stands any more."""

from __future__ import annotations

from sqlalchemy import delete, exists, or_, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.database.tables import (
    DocumentVersion,
    PassageIdentity,
    PassageVersion,
    Receipt,
    StatedClaim,
    known_id,
)


def imported_versions(sql: SqlSession, receipt_id: int) -> list[int]:
    """Every version, live or not, that came as the history of a passage by this receipt."""
    statement = (
        select(col(PassageVersion.id))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(
            col(PassageIdentity.imported_by) == receipt_id,
            or_(col(PassageVersion.added_by).is_(None), col(PassageVersion.added_by) < receipt_id),
        )
        .order_by(col(PassageVersion.id))
    )
    return [known_id(i) for i in sql.scalars(statement)]


def withdraw_history(sql: SqlSession, receipt_id: int) -> None:
    """The writes and claims that came by this receipt cannot be undone or learned from any more.

    To be called when its versions are tombstones. A document that holds nothing now has no content.
    """
    moment = now()
    sql.execute(
        update(Receipt)
        .where(col(Receipt.imported_by) == receipt_id, col(Receipt.undone_at).is_(None))
        .values(undone_at=moment)
    )
    sql.execute(
        update(StatedClaim)
        .where(col(StatedClaim.imported_by) == receipt_id, col(StatedClaim.state) != "forgotten")
        .values(state="withdrawn")
    )
    came = (
        select(col(PassageVersion.document_id))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(col(PassageIdentity.imported_by) == receipt_id, col(PassageVersion.document_id).is_not(None))
    )
    is_live = exists().where(
        col(PassageVersion.document_id) == col(DocumentVersion.document_id),
        col(PassageVersion.removed_at).is_(None),
    )
    sql.execute(
        update(DocumentVersion)
        .where(
            col(DocumentVersion.document_id).in_(came), col(DocumentVersion.removed_at).is_(None), ~is_live
        )
        .values(removed_at=moment, removed_by=receipt_id)
        .execution_options(synchronize_session=False)
    )


def make_room_after_undone(sql: SqlSession, user_id: int) -> None:
    """What came by undone imports of this user may come again: their documents' contents, their claims."""
    undone = select(col(Receipt.id)).where(
        col(Receipt.user_id) == user_id,
        col(Receipt.undone_at).is_not(None),
        exists().where(col(PassageIdentity.imported_by) == col(Receipt.id)),
    )
    writes = select(col(Receipt.id)).where(col(Receipt.imported_by).in_(undone))
    sql.execute(
        delete(DocumentVersion)
        .where(col(DocumentVersion.added_by).in_(writes))
        .execution_options(synchronize_session=False)
    )
    sql.execute(  # a turn has each number once, and these are below all that are given
        update(StatedClaim)
        .where(col(StatedClaim.imported_by).in_(undone), col(StatedClaim.number) > 0)
        .values(number=-StatedClaim.id)  # type: ignore[operator]
        .execution_options(synchronize_session=False)
    )
