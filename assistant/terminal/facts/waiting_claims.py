"""Why something that was said is not learned yet, in words."""

from __future__ import annotations

from datetime import datetime

from stores.base.clock import local, now
from stores.base.one_line import one_line
from stores.conversation.claim_jobs import WaitingJob


def told_reason(job: WaitingJob) -> str:
    """What a job waits for; empty where it only waits for its turn."""
    again = f"again after {_time(job.not_before)}" if job.not_before else ""
    if job.why == "left":
        return f"its chat ended; {'the next chat takes it up' if job.is_free else again}"
    return {
        "due": "",
        "answering": "its answer is being written",
        "running": "a chat is at it",
        "failed": again,
    }[job.why]


def told_failure(job: WaitingJob) -> str:
    """How often a job has failed and why; the attempt that runs is not counted."""
    failures = max(1, job.attempts - (job.why in ("running", "left")))
    at = f" at {_time(job.failed_at)}" if job.failed_at else ""
    return f"{failures} {'time' if failures == 1 else 'times'}, last{at}: {one_line(job.error)}"


def _time(moment: datetime) -> str:
    """The time of day by the clocks here, with the date where that is not today."""
    here = local(moment)
    is_today = here.date() == local(now()).date()
    return f"{here:%H:%M:%S}" if is_today else f"{here:%Y-%m-%d %H:%M:%S}"
