"""The work that is left when a turn has ended: find what it states, then weigh each claim.

    accept (with the message) -> summarize, when the turn has ended -> weigh, one job a claim -> done

Every job is done at least once, and its result counts once: it is marked done in the transaction that
writes the result. Who takes a job has it until its lease ends, or until its process is seen to be gone:
what a killed process had is due at once. A job belongs to its user; only what runs for that user takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import FURTHEST_AHEAD, has_come, now
from stores.base.passages import own_space
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.tables import Job, known_id

Why = Literal["due", "answering", "running", "left", "failed"]

ANSWERED_BY = "process"  # in a job's payload: the name of the process that answers the turn
TAKEN_BY = "taken_by"  # of the one that does the job
FAILED_AT = "failed_at"  # when the last attempt failed
MOST_DEATHS = 3  # attempts that may end with their process before a job waits for its lease as well


@dataclass(frozen=True)
class WaitingJob:
    """A job that is not done, as a person is told.

    why: due (whoever remembers next takes it), answering (its turn is still being answered), running (a
    process is at it), left (its process is gone), or failed (it waits before it is tried again).
    """

    id: int
    kind: str
    subject_id: int
    attempts: int
    error: str  # of the last attempt that failed
    not_before: datetime | None  # until then nobody takes it, if its process lives
    created_at: datetime
    why: Why = "due"
    failed_at: datetime | None = None

    @property
    def is_free(self) -> bool:
        """Whether the next chat of its user takes it, at once."""
        return self.why == "due" or (self.why == "left" and self.attempts < MOST_DEATHS)


def waiting_job(job: Job, moment: datetime, has_died: Callable[[str], bool]) -> WaitingJob:
    """A job as it stands at a moment. has_died: whether the process of a name is known to be gone."""
    failed_at = job.payload.get(FAILED_AT)
    return WaitingJob(
        known_id(job.id),
        job.kind,
        known_id(job.subject_id),
        job.attempts,
        job.error,
        job.not_before,
        job.created_at,
        _why(job, moment, has_died),
        datetime.fromisoformat(failed_at) if failed_at else None,
    )


def is_left(job: Job, has_died: Callable[[str], bool]) -> bool:
    """Whether a job that nobody may take yet waits in vain: for a process that is known to be gone."""
    name = ""
    if TAKEN_BY in job.payload:
        name = job.payload[TAKEN_BY]
    elif job.kind == "summarize" and job.attempts == 0:
        name = job.payload.get(ANSWERED_BY, "")
    return bool(name) and has_died(name)


def _why(job: Job, moment: datetime, has_died: Callable[[str], bool]) -> Why:
    if job.not_before is None or has_come(job.not_before, moment):
        return "due"
    if is_left(job, has_died):
        return "left"
    if TAKEN_BY in job.payload:
        return "running"
    if job.kind == "summarize" and job.attempts == 0:
        return "answering"
    return "failed" if job.error else "running"


# A turn that has not ended by then has lost its process; of one that ran here that is known before.
UNANSWERED_FOR = timedelta(minutes=10)
FIRST_WAIT = timedelta(seconds=20)  # after a failure; doubles
LONGEST_WAIT = timedelta(hours=1)

_KINDS = ("summarize", "weigh")


@dataclass(frozen=True)
class ClaimJob:
    """A job that was taken, until its lease ends."""

    id: int
    kind: str  # summarize or weigh
    subject_id: int  # the turn, or the claim
    attempts: int  # this one included


@dataclass(frozen=True)
class QueueState:
    """What waits, of all users together; no text."""

    waiting: int
    failed: int  # of these, whose last attempt failed
    last_error: str


class ClaimJobs:
    """The queue, user by user."""

    def __init__(
        self,
        database: Database,
        *,
        has_died: Callable[[str], bool] = lambda process: False,
        process: Callable[[], str] = lambda: "",
    ) -> None:
        """has_died: whether the process of a name, as it is noted with a job, is known to be gone.

        process: the name of this one, as in `stores.database.living_processes`.
        """
        self._database = database
        self._has_died = has_died
        self._process = process

    def take(self, user_id: int, *, lease: timedelta, kind: str = "") -> ClaimJob | None:
        """The oldest job that is due, which nobody else gets before the lease ends; None without one.

        kind: None as well where the oldest is of another.

        What a killed process left is due as soon as its death is seen here; a job that has seen several
        processes die waits for its lease, so that none dies of it again and again.
        """
        moment = now()
        # mostly there is none, and no lock is needed to know it
        if not self._is_any_due(user_id, moment) and not self._free_lost(user_id, moment):
            return None
        with self._database.writing() as sql:
            job = sql.scalar(select(Job).where(*_due(user_id, moment)).order_by(col(Job.id)).limit(1))
            if job is None or job.kind != (kind or job.kind):
                return None
            job.not_before, job.attempts = moment + lease, job.attempts + 1
            job.payload = {**job.payload, TAKEN_BY: self._process()}
            return ClaimJob(known_id(job.id), job.kind, known_id(job.subject_id), job.attempts)

    def _is_any_due(self, user_id: int, moment: datetime) -> bool:
        with self._database.reading() as sql:
            return sql.scalar(select(col(Job.id)).where(*_due(user_id, moment)).limit(1)) is not None

    def _free_lost(self, user_id: int, moment: datetime) -> int:
        """Makes due what waits for processes that are gone; returns how many jobs."""
        held = (*_held(user_id, moment), col(Job.attempts) < MOST_DEATHS)
        with self._database.reading() as sql:
            lost = {
                known_id(job.id): job.attempts
                for job in sql.scalars(select(Job).where(*held))
                if is_left(job, self._has_died)
            }
        if not lost:
            return 0
        with self._database.writing() as sql:
            still = [
                job
                for job in sql.scalars(select(Job).where(col(Job.id).in_(lost), *held))
                if job.attempts == lost[known_id(job.id)]  # nobody has taken it meanwhile
            ]
            for job in still:
                job.not_before = None
        return len(still)

    def renew(self, job: ClaimJob, *, lease: timedelta) -> None:
        """Has a job that is being done stay taken for another lease, unless somebody else has it by now."""
        with self._database.writing() as sql:
            sql.execute(
                update(Job)
                .where(
                    col(Job.id) == job.id,
                    col(Job.done_at).is_(None),
                    col(Job.attempts) == job.attempts,
                    col(Job.not_before).is_not(None),
                )
                .values(not_before=now() + lease)
            )

    def release(self, job: ClaimJob) -> None:
        """Gives a job back that was not done and did not fail, unless somebody else has it by now."""
        with self._database.writing() as sql:
            row = _open(sql, job)
            if row is not None:
                row.not_before, row.attempts = None, job.attempts - 1
                row.payload = _untaken(row)

    def postpone(self, job: ClaimJob, reason: str) -> datetime:
        """Has a failed job tried again, later each time, unless somebody else has it; returns when."""
        wait: timedelta = min(FIRST_WAIT * 2 ** min(job.attempts - 1, 10), LONGEST_WAIT)
        with self._database.writing() as sql:
            failed_at = now()
            row = _open(sql, job)
            if row is not None:
                row.not_before, row.error = failed_at + wait, well_formed(reason)
                row.payload = {**_untaken(row), FAILED_AT: failed_at.isoformat()}
        return failed_at + wait

    def retry_now(self, user_id: int) -> int:
        """Makes due what waits after a failure, or for a process that is gone; returns how many jobs."""
        moment = now()
        with self._database.writing() as sql:
            waits = [
                job
                for job in sql.scalars(select(Job).where(*_of(user_id), col(Job.done_at).is_(None)))
                if (why := waiting_job(job, moment, self._has_died).why) in ("failed", "left")
                or (why == "due" and job.error)
            ]
            for job in waits:
                job.not_before = None
        return len(waits)

    def waiting(self, user_id: int) -> list[WaitingJob]:
        """What is not done yet, and why, oldest first."""
        moment = now()
        with self._database.reading() as sql:
            jobs = sql.scalars(
                select(Job).where(*_of(user_id), col(Job.done_at).is_(None)).order_by(col(Job.id))
            )
            return [waiting_job(job, moment, self._has_died) for job in jobs]

    def state(self) -> QueueState:
        """How the queues of all users stand."""
        of_all = (col(Job.kind).in_(_KINDS), col(Job.done_at).is_(None))
        with self._database.reading() as sql:
            waiting = sql.scalar(select(func.count()).select_from(Job).where(*of_all)) or 0
            errors = sql.scalars(
                select(col(Job.error)).where(*of_all, col(Job.error) != "").order_by(col(Job.id))
            ).all()
        return QueueState(waiting, len(errors), errors[-1] if errors else "")

    def due(self, user_id: int) -> int:
        """How many jobs could be taken now."""
        with self._database.reading() as sql:
            count = select(func.count()).select_from(Job).where(*_due(user_id, now()))
            return sql.scalar(count) or 0


def ask_to_summarize(sql: SqlSession, user_id: int, turn_id: int, *, process: str = "") -> None:
    """Commits, with the message, that what it states is to be found once the turn has ended.

    process: the name of the one that answers it, as in `stores.database.living_processes`.
    """
    moment = now()
    sql.add(
        Job(
            kind="summarize",
            space=own_space(user_id),
            subject_id=turn_id,
            payload={ANSWERED_BY: process} if process else {},
            not_before=moment + UNANSWERED_FOR,
            created_at=moment,
        )
    )


def may_summarize(sql: SqlSession, turn_id: int) -> None:
    """The turn has ended: what it states may be found now."""
    sql.execute(
        update(Job)
        .where(col(Job.kind) == "summarize", col(Job.subject_id) == turn_id, col(Job.done_at).is_(None))
        .values(not_before=None)
    )


def ask_to_weigh(sql: SqlSession, user_id: int, claim_ids: Sequence[int]) -> None:
    """Commits, with the claims, the jobs to weigh them."""
    moment = now()
    sql.add_all(
        Job(kind="weigh", space=own_space(user_id), subject_id=claim_id, created_at=moment)
        for claim_id in claim_ids
    )


def is_open(sql: SqlSession, job_id: int) -> bool:
    """Whether a job still wants a result: another process may have done it meanwhile."""
    job = sql.get(Job, job_id)
    return job is not None and job.done_at is None


def mark_done(sql: SqlSession, job_id: int) -> None:
    """With the transaction that wrote the result."""
    job = sql.get_one(Job, job_id)
    job.done_at, job.error, job.not_before = now(), "", None


def _open(sql: SqlSession, job: ClaimJob) -> Job | None:
    """The row of a job that was taken, unless it is done or somebody else has it by now."""
    return sql.scalar(
        select(Job).where(
            col(Job.id) == job.id, col(Job.done_at).is_(None), col(Job.attempts) == job.attempts
        )
    )


def _untaken(job: Job) -> dict[str, Any]:
    return {key: value for key, value in job.payload.items() if key != TAKEN_BY}


def _of(user_id: int) -> tuple[ColumnElement[bool], ...]:
    return (col(Job.kind).in_(_KINDS), col(Job.space) == own_space(user_id))


def _held(user_id: int, moment: datetime) -> tuple[ColumnElement[bool], ...]:
    is_ahead = col(Job.not_before) > moment, col(Job.not_before) <= moment + FURTHEST_AHEAD
    return (*_of(user_id), col(Job.done_at).is_(None), *is_ahead)


def _due(user_id: int, moment: datetime) -> tuple[ColumnElement[bool], ...]:
    is_free = or_(  # as `has_come` has it
        col(Job.not_before).is_(None),
        col(Job.not_before) <= moment,
        col(Job.not_before) > moment + FURTHEST_AHEAD,
    )
    return (*_of(user_id), col(Job.done_at).is_(None), is_free)
