"""`vouch memory pending`: why each thing that was said is not learned yet, as a list and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_helpers import Vouch
from store_fixtures import Stores

from stores.conversation import claim_jobs
from stores.conversation.claim_jobs import ClaimJob, ClaimJobs
from stores.conversation.journal import Journal, Outcome
from stores.database.living_processes import LivingProcess

LEASE = timedelta(minutes=5)
MESSAGES = ("It is answered.", "A chat is busy.", "Its chat died.", "It failed.", "It is due.")


@pytest.fixture
def vouch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vouch]:
    """One message in each state, the first ones held by this process."""
    monkeypatch.setattr(claim_jobs, "FIRST_WAIT", timedelta(hours=1))  # longer than the test takes
    made = Vouch(tmp_path / "home", tmp_path / "encoders")  # for what loads no model
    made.run("memory", "pending", code=1)
    here = LivingProcess(made.data / "processes")
    assert here.name
    (made.data / "processes" / "dead.lock").touch(mode=0o600)  # nobody holds it
    with made.database() as database:
        for message in MESSAGES:
            journal = Journal(database, process=lambda: here.name)
            user = Stores.over(database).journal.user_id("ann")
            session = journal.open_session(user)
            turn = journal.accept(user, session, message, parts=[message], learns=True).turn_id
            if message == MESSAGES[0]:
                continue
            journal.finish(turn, Outcome(state="done"))
            if message == "A chat is busy.":
                _taken(ClaimJobs(database, process=lambda: here.name), user)
            elif message == "Its chat died.":
                _taken(ClaimJobs(database, process=lambda: "dead"), user)
            elif message == "It failed.":
                jobs = ClaimJobs(database)
                jobs.postpone(_taken(jobs, user), "it is down")
    yield made
    here.close()


def _taken(jobs: ClaimJobs, user: int) -> ClaimJob:
    job = jobs.take(user, lease=LEASE)
    assert job is not None
    return job


def test_the_list_says_why_each_waits(vouch: Vouch) -> None:
    lines = {text: why for _, why, text in vouch.run("memory", "pending").cells}
    assert lines["It is answered."] == "to be read: its answer is being written"
    assert lines["A chat is busy."] == "to be read: a chat is at it"
    assert lines["Its chat died."] == "to be read: its chat ended; the next chat takes it up"
    assert lines["It failed."].startswith("to be read: again after ")
    assert lines["It failed."].endswith(": it is down)")
    assert "(failed 1 time, last at " in lines["It failed."]
    assert lines["It is due."] == "to be read: the next chat takes it up"
    assert list(lines) == list(MESSAGES)
    plain = vouch.run("memory", "pending", "--plain").out
    assert plain == vouch.run("memory", "pending").out


def test_json_says_the_same_in_single_words(vouch: Vouch) -> None:
    jobs = {job["text"]: job for job in vouch.run("memory", "pending", "--json").objects}
    assert [jobs[message]["why"] for message in MESSAGES] == ["answering", "running", "left", "failed", "due"]
    failed = jobs["It failed."]
    assert failed["error"] == "it is down"
    failed_at, again = (datetime.fromisoformat(failed[name]) for name in ("failed_at", "not_before"))
    assert failed_at < again
    assert abs(datetime.now(UTC) - failed_at) < timedelta(hours=1)
    assert {jobs[message]["failed_at"] for message in MESSAGES if message != "It failed."} == {None}
