"""The rows that say which indexes of the shared space were filled, and what they have missed since.

A job is done once, by a process that writes one index. The transaction that marks it done notes in the rows
of all other indexes from where on they lack something; who writes one of these brings that in first.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED
from stores.database.rows import rows
from stores.database.tables import FilledIndex, Job, known_id
from stores.versions.changes import ask_to_index

_AT_ONCE = 2_000  # versions in one job


def fills(sql: SqlSession, encoder_version: str) -> dict[str, int | None]:
    """The fills of this encoder version, under any name: after which job each has missed some, if it has."""
    found = rows(
        sql,
        "SELECT fill_id, missed_after FROM filled_indexes WHERE encoder_version = ?",
        [encoder_version],
    )
    return dict(found)


def note_missed(sql: SqlSession, encoder_version: str, job_ids: Iterable[int], *, fill_id: str) -> None:
    """Notes which indexes lack what these shared jobs change, in the transaction that marks them done.

    fill_id: of the one that has it.
    """
    _lower(sql, encoder_version, min(job_ids) - 1, but=fill_id)


def note_whole(sql: SqlSession, fill_id: str) -> None:
    """Notes that a fill has missed nothing, or has brought it in."""
    sql.execute(update(FilledIndex).where(col(FilledIndex.fill_id) == fill_id).values(missed_after=None))


def done_after(sql: SqlSession, job: int) -> dict[int, list[int]]:
    """The shared jobs after this one that are done: the versions that each names, by its id."""
    found = sql.execute(_shared_after(job).where(col(Job.done_at).is_not(None)))
    return {known_id(row[0]): [int(i) for i in row[1]["version_ids"]] for row in found}


def before_going_live(sql: SqlSession, encoder_version: str) -> None:
    """Asks to index what a version's filled indexes have missed, in the transaction that makes it live."""
    of_version = col(FilledIndex.encoder_version) == encoder_version
    missed_after = sql.scalar(select(func.min(col(FilledIndex.missed_after))).where(of_version))
    if missed_after is None:
        return
    ids = {int(i) for row in sql.execute(_shared_after(missed_after)) for i in row[1]["version_ids"]}
    wanted = sorted(ids)
    for start in range(0, len(wanted), _AT_ONCE):
        ask_to_index(sql, SHARED, wanted[start : start + _AT_ONCE])
    sql.execute(update(FilledIndex).where(of_version).values(missed_after=None))


def after_being_live(sql: SqlSession, encoder_version: str) -> None:
    """Notes up to where the filled indexes of a version were kept up, in the transaction that replaces it."""
    _lower(sql, encoder_version, last_job_known(sql))


def last_job_known(sql: SqlSession) -> int:
    """The last job before the first shared one that waits; the last of all where none waits."""
    waiting = select(func.min(col(Job.id))).where(
        col(Job.kind) == "index", col(Job.space) == SHARED, col(Job.done_at).is_(None)
    )
    first = sql.scalar(waiting)
    return newest_job_id(sql) if first is None else first - 1


def newest_job_id(sql: SqlSession) -> int:
    """The last job that was committed; 0 before the first."""
    return sql.scalar(select(func.max(col(Job.id)))) or 0


def _lower(sql: SqlSession, encoder_version: str, job: int, *, but: str = "") -> None:
    missed_after = col(FilledIndex.missed_after)
    sql.execute(
        update(FilledIndex)
        .where(
            col(FilledIndex.encoder_version) == encoder_version,
            col(FilledIndex.fill_id) != but,
            or_(missed_after.is_(None), missed_after > job),
        )
        .values(missed_after=job)
    )


def _shared_after(job: int) -> Select[int | None, dict[str, list[int]]]:
    return select(col(Job.id), col(Job.payload)).where(
        col(Job.kind) == "index", col(Job.space) == SHARED, col(Job.id) > job
    )
