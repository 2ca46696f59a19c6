"""The grounds of receipts and claims, with the passages in them named so that another database knows them.

Here a passage is named by its number and a version by another; elsewhere these numbers mean something else.
Outside a passage is its public id, and a version that id with the version's number: 3f…c9/2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.rows import in_parts
from stores.database.tables import PassageIdentity, PassageVersion, known_id

_VERSIONS = ("version", "decided_by")  # keys under which a version is named
_PASSAGES = ("passage",)
_HERE_ONLY = ("shared_up_to", "proposal")  # where the work stands in this database: no grounds of anything
_PUBLIC = re.compile(r"([0-9a-f]{32})(?:/(\d{1,9}))?")

_Named = Callable[[str, Any], Any]


def outward(sql: SqlSession, grounds: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """As they are told to another database; what is not stored any more is named null."""
    numbers = [(key, each) for one in grounds for key, each in _names(one) if isinstance(each, int)]
    versions: dict[int, str] = {}
    for some in in_parts({each for key, each in numbers if key in _VERSIONS}):
        rows = sql.execute(
            select(col(PassageVersion.id), col(PassageIdentity.public_id), col(PassageVersion.number))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(col(PassageVersion.id).in_(some))
        )
        versions |= {known_id(row[0]): f"{row[1]}/{row[2]}" for row in rows}
    passages: dict[int, str] = {}
    for some in in_parts({each for key, each in numbers if key in _PASSAGES}):
        found = sql.execute(
            select(col(PassageIdentity.id), col(PassageIdentity.public_id)).where(
                col(PassageIdentity.id).in_(some)
            )
        )
        passages |= {known_id(row[0]): row[1] for row in found}

    def named(key: str, each: Any) -> Any:
        known = versions if key in _VERSIONS else passages
        return known.get(each) if isinstance(each, int) else each

    return [_renamed(one, named) for one in grounds]


def inward(
    sql: SqlSession, grounds: Sequence[Mapping[str, Any]], spaces: Sequence[str]
) -> list[dict[str, Any]]:
    """As they are kept here: what stands in these spaces by its number, the rest as it was named.

    A number in them is one of another database, and becomes null.
    """
    told = [each for one in grounds for _, each in _names(one) if isinstance(each, str)]
    wanted = {match[1] for each in told if (match := _PUBLIC.fullmatch(each))}
    passages: dict[str, int] = {}
    versions: dict[tuple[str, int], int] = {}
    for some in in_parts(wanted):
        rows = sql.execute(
            select(
                col(PassageIdentity.public_id),
                col(PassageIdentity.id),
                col(PassageVersion.number),
                col(PassageVersion.id),
            )
            .join(PassageVersion, col(PassageVersion.passage_id) == col(PassageIdentity.id))
            .where(col(PassageIdentity.public_id).in_(some), col(PassageIdentity.space).in_(spaces))
            .order_by(col(PassageIdentity.id))
        )
        for public_id, passage_id, number, version_id in rows:
            passages[public_id] = known_id(passage_id)
            versions[public_id, number] = known_id(version_id)

    def named(key: str, each: Any) -> Any:
        match = _PUBLIC.fullmatch(each) if isinstance(each, str) else None
        if match is None:
            return each if isinstance(each, str) else None
        if key in _PASSAGES:
            return passages.get(match[1], each)
        return versions.get((match[1], int(match[2] or 0)), each)

    return [_renamed(one, named) for one in grounds]


def _names(value: Any) -> Iterator[tuple[str, Any]]:
    """Each place where a passage or version is named, whatever lies around it."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key in _VERSIONS or key in _PASSAGES:
                yield key, each
            else:
                yield from _names(each)
    elif isinstance(value, list):
        for each in value:
            yield from _names(each)


def _renamed(value: Any, named: _Named) -> Any:
    if isinstance(value, Mapping):
        return {
            key: named(key, each) if key in _VERSIONS or key in _PASSAGES else _renamed(each, named)
            for key, each in value.items()
            if key not in _HERE_ONLY
        }
    return [_renamed(each, named) for each in value] if isinstance(value, list) else value
