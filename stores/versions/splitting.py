"""Statements of earlier releases, whose versions replaced each other: each becomes a passage of its own.

    passage of three versions -> three passages, and what each newer one did to the older as links

Earlier releases made a new version of the passage that a statement seemed to replace. What a person edited
stays a version. Only SQL, since a database is read that has the tables of that time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession

from stores.base.passages import searchable_text
from stores.database.rows import rows
from stores.versions.changes import ask_to_index
from stores.versions.claim_passages import AUTHOR
from stores.words.lexical import add_words

_KINDS = "('note', 'fact', 'preference', 'correction')"
_WITHOUT_PROBABILITY = 0.8  # of a link whose receipt tells none
_TOLD = re.compile(r"^it (replaces|ends) .*, with a probability of (\d\.\d+)$", re.DOTALL)


@dataclass
class _Version:
    id: int
    number: int
    author: str
    added_by: int | None
    removed_by: int | None
    removed_at: Any
    is_erased: bool
    title: str
    text: str
    created_at: Any
    told: tuple[str, int, int]  # when, the turn, the place among its claims
    claim: tuple[int, str, int | None] | None  # id, kind and turn of the claim that it was written for


def split_statements(sql: SqlSession, passage_ids: Sequence[int] | None = None) -> int:
    """Splits what needs it, of these passages or all; returns how many statements became passages."""
    if passage_ids is not None and not passage_ids:
        return 0
    only = "" if passage_ids is None else f"AND p.id IN ({','.join(str(int(i)) for i in passage_ids)})"
    found = rows(
        sql,
        "SELECT p.id, p.space, p.public_id, p.imported_by FROM passages AS p "
        f"WHERE p.kind IN {_KINDS} AND p.space LIKE ? {only} AND EXISTS (SELECT 1 FROM passage_versions AS v "
        "WHERE v.passage_id = p.id AND v.number > 1 AND v.author = ?) ORDER BY p.id",
        ["user:%", AUTHOR],
    )
    return sum(_split(sql, *row) for row in found)


def _split(sql: SqlSession, passage_id: int, space: str, public_id: str, imported_by: int | None) -> int:
    versions = _versions(sql, passage_id)
    statements = _statements(versions)
    if len(statements) < 2:
        return 0
    gone = None  # what took the whole passage away: all of it stays away
    if all(version.removed_at is not None for version in versions):
        gone = max(versions, key=lambda version: (str(version.removed_at), version.number))
    homes = [passage_id]
    for statement in statements[1:]:
        first = statement[0]
        kind, turn_id = (first.claim[1], first.claim[2]) if first.claim else ("fact", None)
        home = sql.execute(
            text(
                "INSERT INTO passages(public_id, space, kind, turn_id, external_id, created_at, imported_by) "
                "VALUES (:public_id, :space, :kind, :turn_id, '', :created_at, :imported_by) RETURNING id"
            ),
            {
                "public_id": hashlib.sha256(f"{public_id} {first.number}".encode()).hexdigest()[:32],
                "space": space,
                "kind": kind,
                "turn_id": turn_id,
                "created_at": first.created_at,
                "imported_by": imported_by,
            },
        ).scalar_one()
        homes.append(int(home))
        for number, version in enumerate(statement, start=1):
            sql.execute(
                text("UPDATE passage_versions SET passage_id = :home, number = :number WHERE id = :id"),
                {"home": home, "number": number, "id": version.id},
            )
    _bring_back(sql, space, versions, statements, gone)
    _move_claims(sql, passage_id, statements, homes)
    _link(sql, space, statements, homes)
    return len(statements) - 1


def _versions(sql: SqlSession, passage_id: int) -> list[_Version]:
    """In the order in which they were written."""
    read = rows(
        sql,
        "SELECT v.id, v.number, v.author, v.added_by, v.removed_by, v.removed_at, v.erased_at, v.title, "
        "v.text, v.created_at FROM passage_versions AS v WHERE v.passage_id = ? ORDER BY v.number",
        [passage_id],
    )
    found = []
    for id_, number, author, added_by, removed_by, removed_at, erased_at, title, written, created_at in read:
        claims = rows(
            sql,
            "SELECT c.id, c.kind, c.turn_id, c.created_at, t.accepted_at, c.number FROM claims AS c "
            "LEFT JOIN turns AS t ON t.id = c.turn_id AND c.origin = 'turn' "
            "WHERE c.receipt_id = ? AND c.passage_id = ? ORDER BY c.id LIMIT 1",
            [added_by or 0, passage_id],
        )
        told, claim = (_sortable(created_at), 0, 0), None
        if claims and author == AUTHOR:
            claim_id, kind, turn_id, claimed_at, accepted_at, place = claims[0]
            moments = [_sortable(each) for each in (claimed_at, accepted_at) if each is not None]
            told, claim = (min(moments), turn_id or 0, place), (claim_id, kind, turn_id)
        found.append(
            _Version(
                id_,
                number,
                author,
                added_by,
                removed_by,
                removed_at,
                erased_at is not None,
                title,
                written,
                created_at,
                told,
                claim,
            )
        )
    return found


def _sortable(moment: str | datetime) -> str:
    """A moment so that a later one is greater, whichever way the driver gives it."""
    return moment if isinstance(moment, str) else moment.isoformat(sep=" ")


def _statements(versions: Sequence[_Version]) -> list[list[_Version]]:
    """The versions of each statement, the statements in the order of telling.

    What remembering wrote begins one; what a person edited belongs to the version that it replaced.
    """
    statements: list[list[_Version]] = []
    for version in versions:
        edited = next(
            (each for each in statements if version.author != AUTHOR and _was_replaced(each[-1], version)),
            None,
        )
        if edited is not None:
            edited.append(version)
        elif statements and version.author != AUTHOR:
            statements[-1].append(version)
        else:
            statements.append([version])
    first, *others = statements
    return [first, *sorted(others, key=lambda each: each[0].told)]


def _was_replaced(version: _Version, by: _Version) -> bool:
    return version.removed_by is not None and version.removed_by == by.added_by


def _bring_back(
    sql: SqlSession,
    space: str,
    versions: Sequence[_Version],
    statements: Sequence[Sequence[_Version]],
    gone: _Version | None,
) -> None:
    """Makes the last version of each statement live that nothing but a newer statement had replaced."""
    for statement in statements:
        last = statement[-1]
        others = [each for each in versions if each not in statement]
        if last.removed_at is None or last.is_erased:
            continue
        if not any(_was_replaced(last, other) for other in others):
            continue
        removed_at, removed_by = (None, None) if gone is None else (gone.removed_at, gone.removed_by)
        sql.execute(
            text("UPDATE passage_versions SET removed_at = :at, removed_by = :by WHERE id = :id"),
            {"at": removed_at, "by": removed_by, "id": last.id},
        )
        if gone is None:
            add_words(sql, space, {last.id: searchable_text(last.title, last.text)})
            ask_to_index(sql, space, [last.id])


def _move_claims(
    sql: SqlSession, passage_id: int, statements: Sequence[Sequence[_Version]], homes: Sequence[int]
) -> None:
    """Each claim goes with what was written for it; one that confirmed, with what was known then."""
    of_receipt = {v.added_by: home for s, home in zip(statements, homes, strict=True) for v in s}
    read = rows(
        sql, "SELECT id, receipt_id, created_at FROM claims WHERE passage_id = ? ORDER BY id", [passage_id]
    )
    for claim_id, receipt_id, created_at in read:
        before = [
            home
            for statement, home in zip(statements, homes, strict=True)
            if _sortable(statement[0].created_at) <= _sortable(created_at)
        ]
        home = of_receipt.get(receipt_id) if receipt_id is not None else (before or homes)[-1]
        if home is not None and home != passage_id:
            sql.execute(
                text("UPDATE claims SET passage_id = :home WHERE id = :id"), {"home": home, "id": claim_id}
            )


def _link(
    sql: SqlSession, space: str, statements: Sequence[Sequence[_Version]], homes: Sequence[int]
) -> None:
    """Each newer statement with each older one: what replaced the last replaced those before it as well."""
    ordered = sorted(zip(statements, homes, strict=True), key=lambda one: one[0][0].told)
    for place, (newer, newer_home) in enumerate(ordered):
        for older, older_home in ordered[:place]:
            if newer[0].is_erased or older[0].is_erased:
                continue
            receipt_id = max(newer[0].added_by or 0, older[0].added_by or 0) or None
            kind, probability = _told_by(sql, receipt_id)
            sql.execute(
                text(
                    "INSERT INTO statement_links(space, newer, older, kind, probability, author, receipt_id) "
                    "VALUES (:space, :newer, :older, :kind, :probability, 'reader', :receipt_id)"
                ),
                {
                    "space": space,
                    "newer": newer_home,
                    "older": older_home,
                    "kind": kind,
                    "probability": probability,
                    "receipt_id": receipt_id,
                },
            )


def _told_by(sql: SqlSession, receipt_id: int | None) -> tuple[str, float]:
    """Kind and probability of a link, as the grounds of its receipt tell them."""
    reasons = rows(
        sql, "SELECT grounds ->> 'reason' FROM receipts WHERE id = ?", [receipt_id] if receipt_id else [0]
    )
    told = _TOLD.match(reasons[0][0] or "") if reasons else None
    return (told[1], min(1.0, float(told[2]))) if told else ("replaces", _WITHOUT_PROBABILITY)
