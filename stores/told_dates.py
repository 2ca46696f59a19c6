"""When what is known was told, which decides what holds: words of 2023 replace nothing that was told since.

A claim was told when its message was written, also where the message was taken in from another program; one
that a person handed in, when it was handed in. A passage was told when the newest claim that it holds, or
that it said already, was; or when a person wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import exists, select
from sqlalchemy.orm import Session as SqlSession
from sqlalchemy.orm import aliased
from sqlmodel import col

from stores.claim_passages import AUTHOR
from stores.records import (
    SHARED,
    Passage,
    PassageIdentity,
    PassageVersion,
    Receipt,
    StatedClaim,
    Turn,
    known_id,
    own_space,
)
from stores.rows_by_ids import found_by

Told: TypeAlias = tuple[datetime, int, int]  # when, then the turn, then the place among its claims

_STANDING = ("stored", "confirmed")
_MOST_GONE = 50  # passages that are gone, of those that went last
_KINDS = ("note", "fact", "preference", "correction")


def _told_at(version: str, claims: str) -> str:
    """SQL: when a version of a passage `p` was told, by the given claims `c` where it was written for any.

    A message was told when it was written, also where it was taken in from another program.
    Of what is shared, which anybody may have told, it is when it came.
    """
    said = "CASE WHEN t.accepted_at < {0} THEN t.accepted_at ELSE {0} END"
    return (
        f"CASE WHEN {version}.space = '{SHARED}' THEN p.created_at WHEN p.kind = 'message' THEN coalesce("
        f"(SELECT {said.format('p.created_at')} FROM turns AS t WHERE t.id = p.turn_id), p.created_at) "
        f"WHEN {version}.author = '{AUTHOR}' THEN coalesce("
        f"(SELECT max({said.format('c.created_at')}) FROM claims AS c "
        f"LEFT JOIN turns AS t ON t.id = c.turn_id AND c.origin = 'turn' "
        f"WHERE {claims} AND c.state IN {_STANDING}), {version}.created_at) ELSE {version}.created_at END"
    )


LIVE_TOLD_AT = _told_at("v", "c.passage_id = v.passage_id")  # of a live version `v`; its confirmations count
OLD_WRITTEN_AT = _told_at("old", "c.receipt_id = old.added_by")  # of any version: its very words


@dataclass(frozen=True)
class GonePassage:
    """A passage of the user's own that holds no more, and was ended by something told later than a claim."""

    last: Passage  # its last version
    later: tuple[Passage, ...]  # of its versions: those told later than the claim


@dataclass(frozen=True)
class ToldLater:
    """What was told later than a claim, of what it may meet."""

    live: Mapping[int, tuple[Passage, ...]]  # by live version: what its passage said before, told later too
    gone: tuple[GonePassage, ...]

    @property
    def texts(self) -> list[str]:
        """Of all that is live no more, each once."""
        before = (passage.text for passages in self.live.values() for passage in passages)
        gone = (passage.text for each in self.gone for passage in (each.last, *each.later))
        return sorted({*before, *gone})


def told_later(sql: SqlSession, claim: StatedClaim, version_ids: Iterable[int]) -> ToldLater:
    """version_ids: live versions of the claim's user."""
    moment = claim_told(sql, claim)
    versions = found_by(sql, PassageVersion, col(PassageVersion.id), set(version_ids))
    live = {
        known_id(version.id): tuple(_later(sql, version, moment))
        for version in versions
        if version_told(sql, version) > moment
    }
    return ToldLater(live, tuple(_gone_since(sql, claim, moment)))


def claim_told(sql: SqlSession, claim: StatedClaim) -> Told:
    """When a claim was told, and its place behind what was told at the same time.

    Nothing was told after it was found to be a claim, whatever date another program gave it.
    """
    turn = sql.get(Turn, claim.turn_id) if claim.turn_id is not None and claim.origin == "turn" else None
    moment = min(turn.accepted_at, claim.created_at) if turn else claim.created_at
    return (moment, claim.turn_id or 0, claim.number)


def version_told(sql: SqlSession, version: PassageVersion) -> Told:
    """When the last version of a passage was told; its confirmations count."""
    return max([written(sql, version), *_claims_told(sql, StatedClaim.passage_id, version.passage_id)])


def written(sql: SqlSession, version: PassageVersion) -> Told:
    """When the words of one version were told."""
    told = _claims_told(sql, StatedClaim.receipt_id, version.added_by)
    return max(told) if version.author == AUTHOR and told else (version.created_at, 0, 0)


def _claims_told(sql: SqlSession, column: object, number: int | None) -> list[Told]:
    if number is None:
        return []
    claims = sql.scalars(
        select(StatedClaim).where(column == number, col(StatedClaim.state).in_(_STANDING))  # type: ignore[arg-type]
    )
    return [claim_told(sql, claim) for claim in claims]


def _gone_since(sql: SqlSession, claim: StatedClaim, moment: Told) -> list[GonePassage]:
    """What has been ended, withdrawn or set aside by something told later; the last first."""
    live = aliased(PassageVersion)
    ended = sql.execute(
        select(PassageVersion, Receipt)
        .join(Receipt, col(Receipt.id) == col(PassageVersion.removed_by))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(
            col(PassageVersion.space) == own_space(claim.user_id),
            col(PassageIdentity.kind).in_(_KINDS),
            col(Receipt.created_at) > moment[0],  # a receipt is written after it was told
            col(Receipt.undone_at).is_(None),
            col(PassageVersion.erased_at).is_(None),
            ~exists().where(
                col(live.passage_id) == col(PassageVersion.passage_id), col(live.removed_at).is_(None)
            ),
        )
        .order_by(col(PassageVersion.removed_at).desc(), col(PassageVersion.id).desc())
    )
    found: dict[int, PassageVersion] = {}
    for version, receipt in ended:
        if version.passage_id not in found and len(found) < _MOST_GONE:
            told = _claims_told(sql, StatedClaim.receipt_id, receipt.id)
            if (max(told) if told else (receipt.created_at, 0, 0)) > moment:
                found[version.passage_id] = version
    return [_gone(sql, last, moment) for last in found.values()]


def _gone(sql: SqlSession, last: PassageVersion, moment: Told) -> GonePassage:
    later = _later(sql, last, moment)
    if version_told(sql, last) > moment:
        later = [_passage(sql, last), *later]
    return GonePassage(_passage(sql, last), tuple(later))


def _later(sql: SqlSession, last: PassageVersion, moment: Told) -> list[Passage]:
    """Of what a passage said before its last version: what was told later than a moment."""
    standing = sql.scalars(
        select(PassageVersion)
        .outerjoin(Receipt, col(Receipt.id) == col(PassageVersion.added_by))
        .where(
            col(PassageVersion.passage_id) == last.passage_id,
            col(PassageVersion.id) != last.id,
            col(PassageVersion.erased_at).is_(None),
            col(Receipt.undone_at).is_(None),
        )
    )
    return [_passage(sql, version) for version in standing if written(sql, version) > moment]


def _passage(sql: SqlSession, version: PassageVersion) -> Passage:
    return Passage(
        version_id=known_id(version.id),
        passage_id=version.passage_id,
        space=version.space,
        kind=sql.get_one(PassageIdentity, version.passage_id).kind,
        title=version.title,
        text=version.text,
        document_id=None,
        position=version.position,
        source="",
        external_id="",
        created_at=version.created_at,
    )
