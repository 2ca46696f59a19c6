"""The log on the screen: rows, filter, levels, following, and nobody's words."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from screen_fixtures import ChatOnScreen, on_screen
from textual.events import MouseScrollDown, MouseScrollUp

from assistant.process.log import TextField, fields, start_log
from assistant.settings.config import Settings
from assistant.terminal.facts.log_lines import MOST_LINES, last_lines, log_file
from assistant.terminal.lists.log_screen import LogRows, LogScreen


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def line(event: str, *, level: str = "info", second: int = 0, **values: Any) -> dict[str, Any]:
    return {
        "time": f"2026-11-21T12:00:{second:02}.000+00:00",
        "level": level,
        "logger": "assistant.turns.host",
        "event": event,
        "fields": values,
    }


def write(folder: Path, *lines: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = log_file(folder)
    with file.open("a", encoding="utf-8") as opened:
        opened.writelines(json.dumps(each) + "\n" for each in lines)
    return file


SOME = (
    line("turn finished", turn=5, seconds=1.4, message={"characters": 31}),
    line("the indexer waits", level="warning", second=1, reason="[b]locked[/b] \x1b[31m"),
    line("the learner of the chat ended", level="error", second=2)
    | {"error": {"type": "OSError", "message": {"characters": 9}, "frames": ["learner.py:3 run"]}},
)


async def opens_log(chat: ChatOnScreen) -> None:
    await chat.opens(LogScreen, "f8")


async def test_its_keys_filter_choose_levels_and_open_a_line(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        write(chat.place.state, *SOME)
        await chat.sends("/log")
        await chat.shows("3 of 3 lines")
        await chat.shows("12:00:01  warning  the indexer waits  reason=[b]locked[/b] [31m")
        await chat.presses("l")
        await chat.shows("2 of 3 lines · warnings")
        assert "turn finished" not in chat.text
        await chat.presses("l")
        await chat.shows("1 of 3 lines · errors")
        await chat.presses("l")
        await chat.shows("3 of 3 lines · all")
        await chat.presses("slash")
        await chat.types("finished turn=5")
        await chat.shows("1 of 3 lines")
        await chat.presses("enter", "enter")
        await chat.shows('"characters": 31')
        await chat.opens(LogScreen, "escape")
        await chat.presses("slash", "escape")  # out of the filter first
        await chat.until(lambda: isinstance(chat.screen, LogScreen))
        await chat.goes_back()


async def test_it_follows_until_somebody_goes_up_and_again_with_f_or_the_wheel(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(80, 12)) as chat:
        await opens_log(chat)
        await chat.shows("nothing was logged today")
        await chat.presses("enter", "f", "l", "l", "l")
        write(chat.place.state, *(line(f"event {n}", n=n) for n in range(30)))
        await chat.shows("event 29")
        write(chat.place.state, line("another event"))
        await chat.shows("another event")
        await chat.presses("up", "up")
        await chat.shows("not following")
        write(chat.place.state, line("one more event"))
        await chat.shows("32 of 32")
        assert "one more event" not in chat.text
        await chat.presses("f")
        await chat.shows("one more event")
        await chat.pilot._post_mouse_events([MouseScrollUp], LogRows, button=0)
        await chat.shows("not following")
        for _ in range(40):
            await chat.pilot._post_mouse_events([MouseScrollDown], LogRows, button=0)
        await chat.until(lambda: "not following" not in chat.text)
        await chat.shows("one more event")


async def test_while_it_follows_the_newest_line_stays_in_view_through_resizes(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(80, 40)) as chat:
        write(chat.place.state, *(line(f"event {n}", n=n) for n in range(60)))
        await opens_log(chat)
        await chat.shows("event 59")
        for height in (12, 40, 8, 24):
            await chat.pilot.resize_terminal(80, height)
            await chat.until(lambda height=height: chat.app.screen.size.height == height)  # type: ignore[misc]
            await chat.shows("event 59")
            assert "not following" not in chat.text
        write(chat.place.state, line("another event"))
        await chat.shows("another event")


def test_what_a_log_really_writes_is_read_without_anyone_s_words(tmp_path: Path) -> None:
    from assistant.settings.locations import Locations

    place = Locations(data=tmp_path, settings=tmp_path, cache=tmp_path, state=tmp_path / "state")
    log = start_log(place, Settings())
    try:
        logger = logging.getLogger("assistant.turns.test")
        logger.info("turn %s finished", 5, extra=fields(turn=5, message=TextField("my secret")))
        try:
            raise ValueError("my secret")
        except ValueError:
            logger.exception("it failed")
    finally:
        log.close()
    first, second = last_lines(log_file(tmp_path / "state"), with_text=False)
    assert (first.level, first.event, first.fields) == (
        "info",
        "turn 5 finished",
        "turn=5 message=(9 characters)",
    )
    assert first.at is not None
    assert abs((datetime.now(UTC) - first.at).total_seconds()) < 3600
    assert (second.level, second.fields) == ("error", "error=ValueError")
    assert "secret" not in first.whole + second.whole


def test_a_text_that_was_logged_while_that_was_allowed_is_shown_only_while_it_is(tmp_path: Path) -> None:
    file = write(tmp_path, line("turn finished", message="my secret", turn=5))
    (hidden,) = last_lines(file, with_text=False)
    assert hidden.fields == "message=(9 characters) turn=5"
    assert "secret" not in hidden.whole
    (shown,) = last_lines(file, with_text=True)
    assert shown.fields == "message=my secret turn=5"


def test_torn_lines_and_long_files_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    file = write(tmp_path, *(line(f"event {n}", text="x" * 900) for n in range(1_000)))
    with file.open("a") as opened:
        opened.write('{"time": "2026-11-21T12')
    lines = last_lines(file, with_text=False)
    assert 300 < len(lines) <= MOST_LINES
    assert lines[-2].event == "event 999"
    assert lines[-1].event == "a line that cannot be read, 23 bytes"
    assert lines[-1].row.startswith("--:--:--  unknown")
    assert last_lines(tmp_path / "none", with_text=False) == []
    other = tmp_path / "other"
    other.write_text('[1]\n{"fields": [1], "time": 5, "error": 3}\n')
    assert [each.level for each in last_lines(other, with_text=False)] == ["unknown", "unknown"]
