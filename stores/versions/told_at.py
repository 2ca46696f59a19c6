"""When what is known was told, by which of two statements is the newer, whatever was learned first.

A claim was told when its message was written, also where the message was taken in from another program; one
that a person handed in, when it was handed in. A passage was told when the newest claim that it holds was;
or when a person wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.passages import SHARED
from stores.database.rows import found_by, in_parts, rows
from stores.database.rows import moment as in_utc
from stores.database.tables import PassageVersion, StatedClaim, Turn, known_id
from stores.versions.claim_passages import AUTHOR

Told: TypeAlias = tuple[datetime, int, int]  # when, then the turn, then the place among its claims

_STANDING = ("stored", "confirmed")
_SAID = "CASE WHEN t.accepted_at < {0} THEN t.accepted_at ELSE {0} END"

# SQL: when the live version `v` of a passage `p` was told. Of what is shared, which anybody may have told, it
# is when it came.
LIVE_TOLD_AT = (
    f"CASE WHEN v.space = '{SHARED}' THEN p.created_at WHEN p.kind = 'message' THEN coalesce("
    f"(SELECT {_SAID.format('p.created_at')} FROM turns AS t WHERE t.id = p.turn_id), p.created_at) "
    f"WHEN v.author = '{AUTHOR}' THEN coalesce("
    f"(SELECT max({_SAID.format('c.created_at')}) FROM claims AS c "
    "LEFT JOIN turns AS t ON t.id = c.turn_id AND c.origin = 'turn' "
    f"WHERE c.passage_id = v.passage_id AND c.state IN {_STANDING}), v.created_at) ELSE v.created_at END"
)


def claim_told(sql: SqlSession, claim: StatedClaim) -> Told:
    """When a claim was told, and its place behind what was told at the same time.

    Nothing was told after it was found to be a claim, whatever date another program gave it.
    """
    turn = sql.get(Turn, claim.turn_id) if claim.turn_id is not None and claim.origin == "turn" else None
    moment = min(turn.accepted_at, claim.created_at) if turn else claim.created_at
    return (moment, claim.turn_id or 0, claim.number)


def told_later(sql: SqlSession, claim: StatedClaim, version_ids: Iterable[int]) -> set[int]:
    """Those of live versions of the claim's user that were told later than a claim.

    Beside a claim of today, what was told by a clock that was ahead stands where its turn does.
    """
    moment, present = claim_told(sql, claim), now()
    turn = sql.get(Turn, claim.turn_id) if claim.turn_id is not None else None
    is_of_here = turn is None or turn.state != "imported"

    def is_later(told: Told) -> bool:
        if is_of_here and moment[0] <= present < told[0]:
            return told[1] > moment[1] > 0
        return told > moment

    versions = found_by(sql, PassageVersion, col(PassageVersion.id), set(version_ids))
    said = _claims_told(sql, "receipt_id", [version.added_by for version in versions])
    known = _claims_told(sql, "passage_id", [version.passage_id for version in versions])
    return {
        known_id(version.id)
        for version in versions
        if any(map(is_later, [_written(version, said), *known.get(version.passage_id, ())]))
    }


def written(sql: SqlSession, version: PassageVersion) -> Told:
    """When the words of one version were told."""
    return _written(version, _claims_told(sql, "receipt_id", [version.added_by]))


def _written(version: PassageVersion, said: Mapping[int, Sequence[Told]]) -> Told:
    """said: when the claims were told that a receipt was given for, by the receipt's id."""
    told = said.get(version.added_by or 0, ())
    return max(told) if version.author == AUTHOR and told else (version.created_at, 0, 0)


def _claims_told(
    sql: SqlSession, column: Literal["receipt_id", "passage_id"], numbers: Iterable[int | None]
) -> dict[int, list[Told]]:
    """When the claims that stand were told whose column has one of the numbers, by the number."""
    sql.flush()  # what is read below it does not know of what waits to be written
    found: dict[int, list[Told]] = {}
    for some in in_parts({number for number in numbers if number is not None}):
        read = rows(
            sql,
            f"SELECT c.{column}, c.created_at, t.accepted_at, c.turn_id, c.number FROM claims AS c "
            "LEFT JOIN turns AS t ON t.id = c.turn_id AND c.origin = 'turn' "
            f"WHERE c.{column} IN ({','.join(str(int(i)) for i in some)}) AND c.state IN {_STANDING} "
            "ORDER BY c.id",
        )
        for number, created_at, accepted_at, turn_id, place in read:
            moments = [in_utc(each) for each in (created_at, accepted_at) if each is not None]
            found.setdefault(number, []).append((min(moments), turn_id or 0, place))
    return found
