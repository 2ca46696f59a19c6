"""What of the memory's work is not done, and why: as a person is told who asks what still waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

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
    if job.not_before is None or job.not_before <= moment:
        return "due"
    if is_left(job, has_died):
        return "left"
    if TAKEN_BY in job.payload:
        return "running"
    if job.kind == "summarize" and job.attempts == 0:
        return "answering"
    return "failed" if job.error else "running"
