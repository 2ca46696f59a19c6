"""Times in JSON have one form: ISO 8601 in UTC, to the second; test_scripts_view.py looks at each command."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from assistant.commands.training.train import _as_json
from stores.base.clock import stamp
from stores.database.tables import Round

MOMENT = datetime(2026, 11, 21, 9, 30, 0, 123456, tzinfo=UTC)


def test_a_time_is_told_in_utc_and_to_the_second() -> None:
    assert stamp(MOMENT) == "2026-11-21T09:30:00+00:00"
    assert stamp(MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))) == "2026-11-21T09:30:00+00:00"


def test_a_round_tells_its_times_so() -> None:
    row = Round(recipe="retriever", state="refused", settings={}, figures={}, created_at=MOMENT)
    row.ended_at = MOMENT
    told = _as_json(row)
    assert (told["created_at"], told["ended_at"]) == (stamp(MOMENT), stamp(MOMENT))


def test_a_round_that_waits_tells_so_until_when() -> None:
    figures = {"not_before": MOMENT.isoformat(), "lease_until": MOMENT.isoformat(), "steps": 9}
    row = Round(recipe="retriever", state="waiting", settings={}, figures=figures, created_at=MOMENT)
    told = _as_json(row)
    assert told["ended_at"] is None
    assert told["figures"] == {"not_before": stamp(MOMENT), "lease_until": stamp(MOMENT), "steps": 9}
    assert row.figures["not_before"] == MOMENT.isoformat()
