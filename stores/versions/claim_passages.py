"""The passages that claims become, and the messages whose words they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import own_space
from stores.base.well_formed import well_formed
from stores.database.tables import PassageIdentity, PassageVersion, StatedClaim, known_id
from stores.versions.changes import NewVersion, add_versions, remove_versions, text_hash
from stores.versions.receipts import open_receipt, shortened

AUTHOR = "remembering"  # of the versions written for claims


def live_with_text(sql: SqlSession, space: str, text: str) -> int | None:
    """A passage of the space that says exactly this; a message does not count, it was never weighed."""
    return sql.scalar(
        select(col(PassageVersion.passage_id))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(
            col(PassageVersion.space) == space,
            col(PassageVersion.text_hash) == text_hash("", well_formed(text)),
            col(PassageVersion.removed_at).is_(None),
            col(PassageIdentity.kind) != "message",
        )
        .limit(1)
    )


def set_words_aside(sql: SqlSession, claim: StatedClaim, grounds: Mapping[str, Any]) -> int | None:
    """Takes words that were weighed as incorrect out of the message they stand in; undo brings them back.

    Returns the receipt, None where the words are not found by anybody anyway.
    """
    if claim.turn_id is None:
        return None
    space = own_space(claim.user_id)
    rows = sql.execute(
        select(PassageVersion, PassageIdentity)
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(
            col(PassageIdentity.turn_id) == claim.turn_id,
            col(PassageIdentity.kind) == "message",
            col(PassageVersion.space) == space,
            col(PassageVersion.removed_at).is_(None),
        )
    ).all()
    holding = [(version, identity) for version, identity in rows if claim.quote in version.text]
    if not holding:
        return None
    version, identity = holding[0]
    rest = version.text.replace(claim.quote, " ").strip()
    receipt_id = open_receipt(
        sql, claim.user_id, "delete", space, shortened(claim.text), turn_id=claim.turn_id, grounds=grounds
    )
    remove_versions(sql, [known_id(version.id)], receipt_id=receipt_id)
    if any(character.isalnum() for character in rest):
        add_versions(
            sql,
            space,
            [
                NewVersion(
                    text=rest,
                    title=version.title,
                    passage_id=version.passage_id,
                    kind=identity.kind,
                    document_id=version.document_id,
                    turn_id=claim.turn_id,
                    position=version.position,
                )
            ],
            author=AUTHOR,
            receipt_id=receipt_id,
        )
    return receipt_id
