"""What a killed chat had begun is taken over at once, and whoever asks is told why anything waits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from store_fixtures import Stores, fresh_database

from assistant.terminal.facts.waiting_claims import told_failure, told_reason
from benchmarks.remembering_checks import Told
from benchmarks.remembering_child import Life
from benchmarks.remembering_kills import Nursery
from stores.conversation.claim_jobs import MOST_DEATHS, ClaimJob, ClaimJobs, WaitingJob
from stores.conversation.journal import Journal, Outcome
from stores.database.database import Database
from stores.database.living_processes import LivingProcess

LEASE = timedelta(minutes=5)
LOCKER = "My locker is 12."


@pytest.fixture
def stores(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def ann(stores: Stores) -> int:
    return stores.journal.user_id("ann")


class Processes:
    """Who has died, and the queue as each sees it."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.dead: set[str] = set()

    def jobs(self, process: str) -> ClaimJobs:
        return ClaimJobs(self._stores.database, has_died=self.dead.__contains__, process=lambda: process)

    def takes(self, process: str, user: int) -> ClaimJob:
        job = self.jobs(process).take(user, lease=LEASE)
        assert job is not None
        return job

    def says(self, user: int, *, ends: bool = True) -> None:
        """A message, with what it states to be found."""
        journal = Journal(self._stores.database, process=lambda: "first")
        turn = journal.accept(user, journal.open_session(user), LOCKER, parts=[LOCKER], learns=True).turn_id
        if ends:
            journal.finish(turn, Outcome(state="done"))


@pytest.fixture
def processes(stores: Stores) -> Processes:
    return Processes(stores)


def test_what_a_dead_process_had_begun_is_taken_by_the_next_at_once(processes: Processes, ann: int) -> None:
    processes.says(ann)
    first = processes.takes("first", ann)
    assert processes.jobs("second").take(ann, lease=LEASE) is None  # the first one lives
    processes.dead.add("first")
    second = processes.takes("second", ann)
    assert (second.id, second.attempts) == (first.id, 2)
    assert processes.jobs("third").take(ann, lease=LEASE) is None  # it is the second one's now


def test_of_a_process_without_a_name_nothing_is_known(processes: Processes, ann: int) -> None:
    processes.says(ann)
    processes.takes("", ann)
    processes.dead |= {"first"}  # who answered the turn, and has nothing to do with the job any more
    assert processes.jobs("second").take(ann, lease=LEASE) is None


def test_of_which_several_processes_have_died_waits_for_its_lease(processes: Processes, ann: int) -> None:
    processes.says(ann)
    for number in range(MOST_DEATHS):
        processes.takes(f"p{number}", ann)
        processes.dead.add(f"p{number}")
    assert processes.jobs("next").take(ann, lease=LEASE) is None
    [waiting] = processes.jobs("next").waiting(ann)
    assert (waiting.why, waiting.is_free) == ("left", False)
    assert processes.jobs("next").retry_now(ann) == 1  # a person may have it tried again
    assert processes.takes("next", ann).attempts == MOST_DEATHS + 1


def test_a_retry_takes_nothing_from_who_lives(processes: Processes, ann: int) -> None:
    processes.says(ann)
    jobs = processes.jobs("first")
    jobs.postpone(processes.takes("first", ann), "no model")
    assert jobs.retry_now(ann) == 1
    processes.takes("first", ann)
    assert processes.jobs("second").retry_now(ann) == 0
    assert processes.jobs("second").take(ann, lease=LEASE) is None


def test_a_retry_takes_what_a_dead_process_left(processes: Processes, ann: int) -> None:
    processes.says(ann)
    processes.takes("first", ann)
    processes.dead.add("first")
    assert processes.jobs("second").retry_now(ann) == 1
    assert processes.jobs("second").retry_now(ann) == 0


def test_why_a_job_waits(processes: Processes, ann: int) -> None:
    processes.says(ann, ends=False)
    seen = processes.jobs("second")
    assert [job.why for job in seen.waiting(ann)] == ["answering"]
    processes.dead.add("first")
    assert [job.why for job in seen.waiting(ann)] == ["left"]
    job = processes.takes("third", ann)
    assert [job.why for job in seen.waiting(ann)] == ["running"]
    processes.jobs("third").postpone(job, "no model")
    processes.dead.add("third")  # it was not at it any more
    [failed] = seen.waiting(ann)
    assert (failed.why, failed.error) == ("failed", "no model")
    assert failed.failed_at is not None
    assert failed.not_before is not None
    assert failed.failed_at < failed.not_before
    seen.retry_now(ann)
    assert [job.why for job in seen.waiting(ann)] == ["due"]
    seen.release(processes.takes("second", ann))
    assert [job.why for job in seen.waiting(ann)] == ["due"]


# In words


def waiting(why: str, *, attempts: int = 1, error: str = "", minute: int | None = 5) -> WaitingJob:
    midday = datetime(2020, 5, 1, 12, 0).astimezone()
    until = midday.replace(minute=minute) if minute is not None else None
    failed_at = midday.astimezone(UTC) if error else None
    return WaitingJob(7, "weigh", 1, attempts, error, until, midday, why, failed_at)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (waiting("due", minute=None), ""),
        (waiting("answering", attempts=0), "its answer is being written"),
        (waiting("running"), "a chat is at it"),
        (waiting("left"), "its chat ended; the next chat takes it up"),
        (waiting("left", attempts=MOST_DEATHS), "its chat ended; again after 2020-05-01 12:05:00"),
        (waiting("failed", error="no model"), "again after 2020-05-01 12:05:00"),
    ],
)
def test_each_reason_in_words(job: WaitingJob, reason: str) -> None:
    assert told_reason(job) == reason


def test_a_failure_in_words() -> None:
    told = "last at 2020-05-01 12:00:00: no model"
    assert told_failure(waiting("failed", error="no model")) == f"1 time, {told}"
    assert told_failure(waiting("failed", attempts=2, error="no model")) == f"2 times, {told}"
    assert told_failure(waiting("running", attempts=2, error="no model")) == f"1 time, {told}"


# kill -9, between the message and what is learned of it


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


@pytest.mark.parametrize(
    "point",
    ["after Journal.accept", "after ClaimJobs.take", "in the agent's summarize", "in the agent's weigh"],
)
def test_what_a_killed_chat_was_told_the_next_one_learns_at_once(
    tmp_path: Path, nursery: Nursery, point: str
) -> None:
    (tmp_path / "data").mkdir()
    database = fresh_database(tmp_path / "data")
    told = Told()
    nursery.begin(Life(folder=str(tmp_path), scene="new value", number=1, point=point))
    nursery.end(told)
    assert told.code == -9

    here = LivingProcess(tmp_path / "data" / "processes")
    jobs = ClaimJobs(database, has_died=here.has_died, process=lambda: here.name)
    [ann] = [Stores.over(database).journal.known_user_id("ann")]
    assert {job.why for job in jobs.waiting(ann)} <= {"left", "due"}
    assert any(job.why == "left" for job in jobs.waiting(ann))

    nursery.begin(Life(folder=str(tmp_path)))  # without a wait, as a chat that opens
    nursery.end(told)
    assert told.code == 0
    assert jobs.waiting(ann) == []
    assert "My locker in hall 1 is 12." in Stores.over(database).own_texts(ann)
    here.close()
    database.close()


def test_what_a_chat_that_lives_is_at_is_left_to_it(tmp_path: Path, database: Database) -> None:
    stores = Stores.over(database)
    ann = stores.journal.user_id("ann")
    Processes(stores).says(ann)
    here, other = (LivingProcess(tmp_path / "processes") for _ in range(2))
    of_here = ClaimJobs(database, has_died=here.has_died, process=lambda: here.name)
    of_other = ClaimJobs(database, has_died=other.has_died, process=lambda: other.name)
    assert of_here.take(ann, lease=LEASE) is not None
    assert of_other.take(ann, lease=LEASE) is None
    assert of_other.retry_now(ann) == 0
    elsewhere = LivingProcess(tmp_path / "another machine")
    of_elsewhere = ClaimJobs(database, has_died=elsewhere.has_died, process=lambda: elsewhere.name)
    assert of_elsewhere.take(ann, lease=LEASE) is None
    assert [job.why for job in of_elsewhere.waiting(ann)] == ["running"]
    for each in (here, other, elsewhere):
        each.close()
