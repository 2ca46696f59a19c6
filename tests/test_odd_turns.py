"""Turns that hold what no person types: nothing in them steers the terminal, and every list is shown."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from cli_helpers import Vouch
from store_fixtures import Stores, fresh_database

from assistant.terminal.facts.memory_history import when
from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.sessions_screen import SessionsScreen
from stores.base.clock import local, time_by
from stores.conversation.journal import Outcome
from stores.conversation.sessions import SessionLine
from stores.conversation.turn_search import FoundTurn

OBEYED = "\x1b]52;c;c3RvbGVu\x07\x1b[2J\x9b2J\x7f\r"  # fills the clipboard, clears the screen
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path / "home", minilm_folder.parent)
    made.data.mkdir(parents=True)
    fresh_database(made.data).close()
    return made


def holds(vouch: Vouch, message: str, *, at: datetime = datetime(2026, 5, 1, tzinfo=UTC)) -> None:
    """One turn of ann's, answered by a model that has the message in its name."""
    with vouch.database() as database, time_by(lambda: at):
        journal = Stores.over(database).journal
        ann = journal.user_id("ann")
        turn = journal.accept(ann, journal.open_session(ann, title=message), message, parts=[]).turn_id
        outcome = Outcome(state="done", answer=f"re {message}", model=f"m{message}", standalone=f"s{message}")
        journal.finish(turn, outcome)


@pytest.mark.slow
def test_nothing_in_a_turn_steers_the_terminal(vouch: Vouch) -> None:
    holds(vouch, f"see{OBEYED}\nthis")
    why = vouch.run("why").out  # which holds no control byte, as it is looked at there
    assert "Searched as: ssee]52;c;c3RvbGVu[2J2J this" in why
    assert "Answered by msee]52;c;c3RvbGVu[2J2J this: done" in why
    for command in ("export", "why", "sessions"):
        with vouch.terminal(command, *(["1"] if command == "export" else [])) as person:
            assert person.exit_code() == 0
        assert "see]52;c;c3RvbGVu[2J2J" in person.screen
        assert not re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)", person.screen), command


def test_an_export_into_a_file_or_a_pipe_is_what_was_said(vouch: Vouch) -> None:
    holds(vouch, "see\tthis\x9b2J")
    with vouch.start("export", "1") as process:
        out, _ = process.communicate()
    assert "\nsee\tthis\x9b2J\n" in out.decode()
    vouch.run("export", "1", "-o", str(vouch.folder / "out.md"))
    assert (vouch.folder / "out.md").read_bytes() == out


@pytest.mark.parametrize(("zone", "at"), [("America/New_York", FIRST), ("Asia/Tokyo", LAST)])
def test_a_moment_that_no_clock_here_can_tell_is_shown_as_it_is(
    vouch: Vouch, zone: str, at: datetime
) -> None:
    holds(vouch, "old", at=at)
    vouch.environment["TZ"] = zone
    year = f"{at.year}" if at.year > 1 else "1-01-01"
    assert year in vouch.run("export", "1").out
    with vouch.terminal("sessions") as person:
        assert person.exit_code() == 0
    assert year in person.screen
    assert "old" in person.screen


@pytest.fixture(params=["America/New_York", "Asia/Tokyo", "UTC"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with monkeypatch.context() as there:
        there.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


def test_the_clocks_of_every_zone_tell_every_moment(zone: str) -> None:
    noon = datetime(2026, 1, 15, 12, tzinfo=UTC)
    assert local(noon).hour == {"America/New_York": 7, "Asia/Tokyo": 21, "UTC": 12}[zone]
    for moment in (FIRST, LAST):
        assert local(moment) == moment
        assert f"{moment.year}" in when(moment)


def test_the_lists_of_the_screens_show_every_moment(zone: str) -> None:
    for moment in (FIRST, LAST):
        for width in (60, 120):
            screen = cast(Any, SimpleNamespace(_current=0, _session_id=0, _is_narrow=width < 80))
            screen.app = SimpleNamespace(size=SimpleNamespace(width=width))
            listed = SessionsScreen._told(screen, SessionLine(1, "old", 1, moment, moment))
            found = FindScreen._told(screen, FoundTurn(1, 1, "old", moment, False, "old"))
            assert f"{moment.year}" in listed
            assert f"{moment.year}" in found
