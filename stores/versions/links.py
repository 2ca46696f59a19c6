"""What a user's statements do to each other: links are written with the statement, and read with it.

A link stands while its receipt is not undone and both ends are live; nothing else ever ends one. What a
person says of two statements is a link, too, and counts before every other one of the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import delete, insert, or_
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.statement_links import (
    KEPT_FROM,
    LINK_KINDS,
    READ_FROM,
    Link,
    NewLink,
    ReplacedBy,
    replaced_by,
)
from stores.database.rows import in_parts, rows
from stores.database.tables import StatementLink

_STANDS = (
    "(r.id IS NULL OR r.undone_at IS NULL) "
    "AND EXISTS (SELECT 1 FROM passage_versions AS a WHERE a.passage_id = l.newer AND a.removed_at IS NULL) "
    "AND EXISTS (SELECT 1 FROM passage_versions AS b WHERE b.passage_id = l.older AND b.removed_at IS NULL)"
)


def write_links(
    sql: SqlSession, space: str, passage_id: int, links: Sequence[NewLink], *, receipt_id: int | None
) -> None:
    """Keeps what a statement does to others of its space, or they to it.

    Raises the database's error where an end lies in another space. ValueError for a kind that is none.
    """
    kept = [link for link in links if link.probability >= KEPT_FROM]
    if unknown := {link.kind for link in kept}.difference(LINK_KINDS):
        raise ValueError(f"{unknown} is no kind of link")
    if kept:
        values = [
            {
                "space": space,
                "newer": link.other if link.is_newer else passage_id,
                "older": passage_id if link.is_newer else link.other,
                "kind": link.kind,
                "probability": min(1.0, link.probability),
                "author": link.by,
                "receipt_id": receipt_id,
            }
            for link in kept
        ]
        sql.execute(insert(StatementLink), values)


def links_of(sql: SqlSession, passage_ids: Iterable[int], spaces: Sequence[str]) -> list[Link]:
    """The links that stand and have one of these passages at either end, in the order of their writing."""
    found: dict[int, Link] = {}
    names = ",".join(f"'{space}'" for space in spaces if space.startswith("user:"))
    for some in in_parts(set(passage_ids)) if names else ():
        ids = ",".join(str(int(i)) for i in some)
        read = rows(
            sql,
            "SELECT l.newer, l.older, l.kind, l.probability, l.author, l.id, l.receipt_id "
            "FROM statement_links AS l LEFT JOIN receipts AS r ON r.id = l.receipt_id "
            f"WHERE (l.older IN ({ids}) OR l.newer IN ({ids})) AND l.space IN ({names}) AND {_STANDS} "
            "ORDER BY l.id",
        )
        found.update((row[5], Link(*row)) for row in read)
    return [found[i] for i in sorted(found)]


def newer_of(
    sql: SqlSession, passage_ids: Iterable[int], spaces: Sequence[str]
) -> dict[int, tuple[ReplacedBy, ...]]:
    """Of these passages, those that perhaps no longer hold, with what was told since."""
    return replaced_by(links_of(sql, passage_ids, spaces))


def linked_with(sql: SqlSession, passage_ids: Iterable[int], spaces: Sequence[str]) -> set[int]:
    """The other ends of sure links of these passages: of what they replaced or ended, or was so by."""
    wanted = set(passage_ids)
    found: set[int] = set()
    for older, newer in newer_of(sql, wanted, spaces).items():
        for each in newer:
            if each.probability >= READ_FROM:
                found |= {older, each.passage_id}
    return found - wanted


def forget_links(sql: SqlSession, passage_ids: Iterable[int]) -> None:
    """Takes away every link of passages of which nothing is left."""
    for some in in_parts(set(passage_ids)):
        sql.execute(
            delete(StatementLink).where(
                or_(col(StatementLink.newer).in_(some), col(StatementLink.older).in_(some))
            )
        )
