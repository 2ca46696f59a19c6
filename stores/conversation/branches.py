"""Branches of a session: a message that was changed, or asked again, begins one, and the old one is kept.

A turn follows the one before it in the session, unless it names another. So a session that was never
changed has one branch, and nothing is written for it; turns that were taken in name theirs, as what was said
here may stand between them. Turns of a branch stand in the order of their ids.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.tables import Session, Turn, known_id


@dataclass(frozen=True)
class BranchPlace:
    """Which branch of a session is on."""

    number: int  # from 1, in the order in which they were begun
    count: int  # 1 where nothing was ever changed


def branch(
    sql: SqlSession, session: Session, limit: int | None = None, *, before: int | None = None
) -> list[int]:
    """The ids of the turns of the branch that is on, oldest first: the last `limit` of them.

    before: of those alone that are older than this turn.
    """
    parents = parents_in(sql, known_id(session.id))
    last = session.head_id if session.head_id is not None else max(parents, default=0)
    if before is not None:
        return [turn_id for turn_id in _line(parents, last, None) if turn_id < before][-(limit or 0) :]
    return _line(parents, last, limit)


def earlier_turns(sql: SqlSession, turn: Turn, limit: int | None) -> list[int]:
    """The ids of the last turns that a turn follows in its branch, oldest first."""
    parents = parents_in(sql, turn.session_id)
    return _line(parents, parents.get(known_id(turn.id), 0), limit)


def branch_place(sql: SqlSession, session: Session) -> BranchPlace:
    """Which branch is on, and how many there are. Between two branches it is the newest one behind it."""
    parents = parents_in(sql, known_id(session.id))
    ends = _ends(parents)
    if not ends:
        return BranchPlace(1, 1)
    return BranchPlace(ends.index(_end_behind(parents, session.head_id)) + 1, len(ends))


def parent(sql: SqlSession, turn: Turn) -> int:
    """The id of the turn that a turn follows; 0 for the first one."""
    return parents_in(sql, turn.session_id)[known_id(turn.id)]


def switch_by(sql: SqlSession, session: Session, steps: int) -> BranchPlace:
    """Has another branch go on: the one so many behind this one, around at the ends."""
    parents = parents_in(sql, known_id(session.id))
    ends = _ends(parents)
    if not ends:
        return BranchPlace(1, 1)
    now_on = ends.index(_end_behind(parents, session.head_id))
    chosen = (now_on + steps) % len(ends)
    _go_to_end(session, parents, ends[chosen])
    return BranchPlace(chosen + 1, len(ends))


def switch_to(sql: SqlSession, session: Session, turn_id: int) -> None:
    """Has a branch go on in which this turn is: the one that is on, or else the newest."""
    if turn_id not in branch(sql, session):
        parents = parents_in(sql, known_id(session.id))
        _go_to_end(session, parents, _end_behind(parents, turn_id))


def parents_in(sql: SqlSession, session_id: int) -> dict[int, int]:
    """Which turn each turn of a session follows, in the order of their ids; 0 for none."""
    found: dict[int, int] = {}
    before = 0
    read = sql.execute(
        select(col(Turn.id), col(Turn.parent_id))
        .where(col(Turn.session_id) == session_id)
        .order_by(col(Turn.id))
    )
    for row_id, named in read:
        turn_id = known_id(row_id)
        follows = before if named is None else named
        found[turn_id] = follows if follows in found else 0  # an earlier one, so nothing goes round
        before = turn_id
    return found


def _line(parents: dict[int, int], last: int, limit: int | None) -> list[int]:
    found: list[int] = []
    while last in parents and (limit is None or len(found) < limit):
        found.append(last)
        last = parents[last]
    return found[::-1]


def _ends(parents: dict[int, int]) -> list[int]:
    followed = set(parents.values())
    return [turn_id for turn_id in parents if turn_id not in followed]


def _end_behind(parents: dict[int, int], turn_id: int | None) -> int:
    """The newest end of a branch that a turn is in; of all for null, and for 0."""
    ends = _ends(parents)
    if not turn_id:
        return ends[-1]
    return next((end for end in reversed(ends) if turn_id in _line(parents, end, None)), ends[-1])


def _go_to_end(session: Session, parents: dict[int, int], end: int) -> None:
    session.head_id = None if end == max(parents) else end
