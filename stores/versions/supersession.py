"""When what is known was told, which decides what holds: words of 2023 replace nothing that was told since.

A claim was told when its message was written, also where the message was taken in from another program; one
that a person handed in, when it was handed in. A passage was told when the newest claim that it holds, or
that it said already, was; or when a person wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import exists, select
from sqlalchemy.orm import Session as SqlSession
from sqlalchemy.orm import aliased
from sqlmodel import col

from stores.base.passages import SHARED, Passage, own_space
from stores.database.rows import found_by, in_parts, rows
from stores.database.rows import moment as in_utc
from stores.database.tables import PassageIdentity, PassageVersion, Receipt, StatedClaim, Turn, known_id
from stores.versions.changes import NewVersion, add_versions, remove_versions
from stores.versions.claim_passages import AUTHOR

Told: TypeAlias = tuple[datetime, int, int]  # when, then the turn, then the place among its claims

_STANDING = ("stored", "confirmed")
_MOST_GONE = 50  # passages that are gone, of those that went last
_LOOKED_AT = 200  # of what was ended since, at a time
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
    told = _versions_told(sql, versions)
    newer = [version for version in versions if told[known_id(version.id)] > moment]
    return ToldLater(_later(sql, newer, moment), tuple(_gone_since(sql, claim, moment)))


def claim_told(sql: SqlSession, claim: StatedClaim) -> Told:
    """When a claim was told, and its place behind what was told at the same time.

    Nothing was told after it was found to be a claim, whatever date another program gave it.
    """
    turn = sql.get(Turn, claim.turn_id) if claim.turn_id is not None and claim.origin == "turn" else None
    moment = min(turn.accepted_at, claim.created_at) if turn else claim.created_at
    return (moment, claim.turn_id or 0, claim.number)


def version_told(sql: SqlSession, version: PassageVersion) -> Told:
    """When the last version of a passage was told; its confirmations count."""
    return _versions_told(sql, [version])[known_id(version.id)]


def written(sql: SqlSession, version: PassageVersion) -> Told:
    """When the words of one version were told."""
    return _written(version, _claims_told(sql, "receipt_id", [version.added_by]))


def _versions_told(sql: SqlSession, versions: Sequence[PassageVersion]) -> dict[int, Told]:
    """When the last versions of passages were told, by version id; as many statements as for one."""
    said = _claims_told(sql, "receipt_id", [version.added_by for version in versions])
    known = _claims_told(sql, "passage_id", [version.passage_id for version in versions])
    return {
        known_id(version.id): max([_written(version, said), *known.get(version.passage_id, ())])
        for version in versions
    }


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


def _gone_since(sql: SqlSession, claim: StatedClaim, moment: Told) -> list[GonePassage]:
    """What has been ended, withdrawn or set aside by something told later; the last first."""
    found: dict[int, int] = {}  # the version that was ended, by its passage
    since = _ended_since(sql, claim.user_id, moment[0])
    for start in range(0, len(since), _LOOKED_AT):
        some = since[start : start + _LOOKED_AT]
        said = _claims_told(sql, "receipt_id", {receipt_id for _, _, receipt_id, _ in some})
        for version_id, passage_id, receipt_id, written_at in some:
            ended = max(said.get(receipt_id, [(written_at, 0, 0)]))
            if ended > moment and len(found) < _MOST_GONE:
                found.setdefault(passage_id, version_id)
        if len(found) == _MOST_GONE:
            break
    versions = found_by(sql, PassageVersion, col(PassageVersion.id), found.values())
    told, later = _versions_told(sql, versions), _later(sql, versions, moment)
    by_id = _passages(sql, versions)
    return [
        GonePassage(by_id[i], (*([by_id[i]] if told[i] > moment else ()), *later[i])) for i in found.values()
    ]


def _ended_since(sql: SqlSession, user_id: int, moment: datetime) -> list[tuple[int, int, int, datetime]]:
    """What was ended by a receipt that was written later; the last first.

    The version, its passage, the receipt that ended it, and when that was written.
    """
    live = aliased(PassageVersion)
    ended = sql.execute(
        select(
            col(PassageVersion.id), col(PassageVersion.passage_id), col(Receipt.id), col(Receipt.created_at)
        )
        .join(Receipt, col(Receipt.id) == col(PassageVersion.removed_by))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(
            col(Receipt.user_id)
            == user_id,  # who alone writes there: few receipts are later than most claims
            # The empty string keeps SQLite from walking all of the space instead.
            col(PassageVersion.space).concat("") == own_space(user_id),
            col(PassageIdentity.kind).in_(_KINDS),
            col(Receipt.created_at) > moment,  # a receipt is written after it was told
            col(Receipt.undone_at).is_(None),
            col(PassageVersion.erased_at).is_(None),
            ~exists().where(
                col(live.passage_id) == col(PassageVersion.passage_id), col(live.removed_at).is_(None)
            ),
        )
        .order_by(col(PassageVersion.removed_at).desc(), col(PassageVersion.id).desc())
    )
    return [(known_id(row[0]), row[1], known_id(row[2]), row[3]) for row in ended]


def _later(sql: SqlSession, lasts: Sequence[PassageVersion], moment: Told) -> dict[int, tuple[Passage, ...]]:
    """Of what passages said before their last versions, by these: what was told later than a moment."""
    of_passage = {last.passage_id: known_id(last.id) for last in lasts}
    standing = [
        version
        for some in in_parts(of_passage)
        for version in sql.scalars(
            select(PassageVersion)
            .outerjoin(Receipt, col(Receipt.id) == col(PassageVersion.added_by))
            .where(
                col(PassageVersion.passage_id).in_(some),
                col(PassageVersion.erased_at).is_(None),
                col(Receipt.undone_at).is_(None),
            )
            .order_by(col(PassageVersion.id))
        )
        if version.id != of_passage[version.passage_id]
    ]
    said = _claims_told(sql, "receipt_id", [version.added_by for version in standing])
    newer = [version for version in standing if _written(version, said) > moment]
    found: dict[int, list[Passage]] = {known_id(last.id): [] for last in lasts}
    for passage in _passages(sql, newer).values():
        found[of_passage[passage.passage_id]].append(passage)
    return {i: tuple(passages) for i, passages in found.items()}


def _passages(sql: SqlSession, versions: Sequence[PassageVersion]) -> dict[int, Passage]:
    """By version id, in the order of the versions."""
    identities = found_by(
        sql, PassageIdentity, col(PassageIdentity.id), {version.passage_id for version in versions}
    )
    kinds = {known_id(identity.id): identity.kind for identity in identities}
    return {
        known_id(version.id): Passage(
            version_id=known_id(version.id),
            passage_id=version.passage_id,
            space=version.space,
            kind=kinds[version.passage_id],
            title=version.title,
            text=version.text,
            document_id=None,
            position=version.position,
            source="",
            external_id="",
            created_at=version.created_at,
        )
        for version in versions
    }


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
