"""All there is to know about one passage: its versions, what wrote them, and what answers made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED
from stores.database.tables import (
    Document,
    Judgement,
    PassageIdentity,
    PassageVersion,
    Receipt,
    Retrieval,
    RetrievedPassage,
    Session,
    Turn,
    known_id,
)
from stores.memory.statement_links import Linked, linked_of
from stores.versions.live import visible_spaces
from stores.versions.passage_lines import PassageLine, not_visible
from stores.versions.states import VersionState, version_states
from stores.versions.told_at import written


@dataclass(frozen=True)
class History:
    """All there is to know about one passage."""

    passage: PassageLine
    is_forgotten: bool  # no longer live, for whatever reason
    states: Mapping[int, VersionState]  # what became of each version, by its id
    session_title: str  # of the session in which it was said or taught
    imported_at: datetime | None  # by an import, with its history
    versions: tuple[PassageVersion, ...]  # in the order in which they were written
    told: Mapping[int, datetime]  # when the words of each of one's own versions were told, by its id
    links: tuple[Linked, ...]  # of a statement, with others
    receipts: tuple[Receipt, ...]
    turn: Turn | None  # in which it was said or taught
    answers: int  # how many turns put it before the model
    judged_helpful: int
    judged_useless: int


def history_of(sql: SqlSession, user_id: int, passage_id: int) -> History:
    """One passage with its versions, receipts and uses; also when it was forgotten."""
    allowed = visible_spaces(sql, user_id)
    identity = sql.get(PassageIdentity, passage_id)
    if identity is None or identity.space not in allowed:
        raise not_visible(passage_id)
    versions = sql.scalars(
        select(PassageVersion)
        .where(col(PassageVersion.passage_id) == passage_id)
        .order_by(col(PassageVersion.number))
    ).all()
    newest = next((v for v in versions if v.removed_at is None), versions[-1])
    document = sql.get(Document, newest.document_id) if newest.document_id else None
    ids = [known_id(version.id) for version in versions]
    turn = sql.get(Turn, identity.turn_id) if identity.turn_id else None
    links = linked_of(sql, user_id, passage_id)
    named = {r for v in versions for r in (v.added_by, v.removed_by) if r is not None}
    named |= {each.link.receipt_id for each in links if each.link.is_by_user and each.link.receipt_id}
    receipts = sql.scalars(select(Receipt).where(col(Receipt.id).in_(named))).all()
    return History(
        PassageLine(
            passage_id,
            identity.kind,
            "shared" if identity.space == SHARED else "yours",
            newest.title,
            newest.text,
            document.source if document else "",
            identity.created_at,
        ),
        newest.removed_at is not None,
        version_states(sql, ids, allowed),
        _session_title(sql, user_id, turn),
        _imported_at(sql, identity),
        tuple(versions),
        {known_id(v.id): written(sql, v)[0] for v in versions if v.space != SHARED},
        tuple(links),
        tuple(r for r in receipts if r.user_id == user_id),
        turn if turn is not None and turn.user_id == user_id else None,  # a shared passage's may not be
        _answers_with(sql, user_id, ids),
        _judged(sql, user_id, ids, ("answer", "relevant")),
        _judged(sql, user_id, ids, ("irrelevant",)),
    )


def _session_title(sql: SqlSession, user_id: int, turn: Turn | None) -> str:
    session = sql.get(Session, turn.session_id) if turn is not None and turn.user_id == user_id else None
    return session.title if session is not None else ""


def _imported_at(sql: SqlSession, identity: PassageIdentity) -> datetime | None:
    receipt = sql.get(Receipt, identity.imported_by) if identity.imported_by is not None else None
    return receipt.created_at if receipt is not None else None


def _answers_with(sql: SqlSession, user_id: int, version_ids: Sequence[int]) -> int:
    return (
        sql.scalar(
            select(func.count(col(Retrieval.turn_id).distinct()))
            .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
            .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
            .where(
                col(RetrievedPassage.version_id).in_(version_ids),
                col(RetrievedPassage.citation).is_not(None),
                col(Turn.user_id) == user_id,
            )
        )
        or 0
    )


def _judged(sql: SqlSession, user_id: int, version_ids: Sequence[int], labels: Sequence[str]) -> int:
    return (
        sql.scalar(
            select(func.count())
            .select_from(Judgement)
            .join(Turn, col(Turn.id) == col(Judgement.turn_id))
            .where(
                col(Judgement.version_id).in_(version_ids),
                col(Judgement.label).in_(labels),
                col(Turn.user_id) == user_id,
            )
        )
        or 0
    )
