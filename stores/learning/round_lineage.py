"""From what a round learned: which turns, who judged them, and what users said of them, as far as kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlmodel import col

from stores.database.database import Database
from stores.database.tables import Feedback, Judgement, Round, Turn

_AT_ONCE = 500


@dataclass(frozen=True)
class RoundLineage:
    """The lessons of a round by kind; all that was forgotten since counts in `forgotten` alone."""

    turns: tuple[int, ...]  # ids
    forgotten: int  # of these turns, since
    judged: Mapping[str, int]  # turns, by the name of the judge
    rated: Mapping[str, int]  # ratings in force when the round began: good, bad or taught


def lineage_of(database: Database, row: Round) -> RoundLineage:
    """What the round was made from."""
    turns = [int(turn) for turn in row.settings.get("turns", ())]
    judged: dict[str, int] = {}
    rated: dict[str, int] = {}
    kept = 0
    with database.reading() as sql:
        for start in range(0, len(turns), _AT_ONCE):
            some = turns[start : start + _AT_ONCE]
            kept += (
                sql.scalar(
                    select(func.count())
                    .select_from(Turn)
                    .where(col(Turn.id).in_(some), col(Turn.message) != "")
                )
                or 0
            )
            by_judge = (
                select(col(Judgement.judge), func.count(col(Judgement.turn_id).distinct()))
                .join(Turn, col(Turn.id) == col(Judgement.turn_id))
                .where(col(Judgement.turn_id).in_(some), col(Turn.message) != "")
                .group_by(col(Judgement.judge))
            )
            _count(judged, sql.execute(by_judge).all())
            by_rating = (
                select(col(Feedback.rating), func.count())
                .join(Turn, col(Turn.id) == col(Feedback.turn_id))
                .where(
                    col(Feedback.turn_id).in_(some),
                    col(Turn.message) != "",
                    col(Feedback.created_at) <= row.created_at,
                    col(Feedback.withdrawn_at).is_(None) | (col(Feedback.withdrawn_at) > row.created_at),
                )
                .group_by(col(Feedback.rating))
            )
            _count(rated, sql.execute(by_rating).all())
    return RoundLineage(tuple(turns), len(turns) - kept, judged, rated)


def _count(into: dict[str, int], found: Sequence[tuple[str, int]]) -> None:
    for name, count in found:
        into[name] = into.get(name, 0) + count
