"""The log and the crash report: what they hold, what they keep out, and that they stop nothing."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import _command_names
from assistant.process.log import (
    DailyLog,
    TextField,
    delete_old_logs,
    fields,
    start_log,
    telling_arguments,
    write_crash_report,
)
from assistant.settings.config import Json, LogSettings, ModelSettings, Settings
from assistant.settings.locations import Locations

ours = logging.getLogger("assistant.turns.turn")
theirs = logging.getLogger("some_library")

Start = Callable[..., DailyLog]


def locations(folder: Path) -> Locations:
    return Locations(data=folder, settings=folder / "settings.toml", cache=folder, state=folder / "state")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    def begin(**log: Any) -> DailyLog:
        started.append(start_log(locations(tmp_path), Settings(log=LogSettings(**log))))
        return started[-1]

    started: list[DailyLog] = []
    yield begin
    for log in started:
        log.close()
    for name in ("assistant", "agents", "stores"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def lines(folder: Path) -> list[dict[str, Any]]:
    written = sorted((folder / "state").glob("log-*.jsonl"))
    return [json.loads(line) for path in written for line in path.read_text("utf-8").splitlines()]


def record(event: str, moment: datetime) -> logging.LogRecord:
    made = logging.LogRecord("assistant", logging.INFO, __file__, 1, event, None, None)
    made.created = moment.timestamp()
    return made


# Lines


def test_a_line_tells_time_level_logger_event_and_fields(tmp_path: Path, start: Start) -> None:
    start()
    ours.info("turn %s finished", "5", extra=fields(turn=5, seconds=1.5))
    (line,) = lines(tmp_path)
    assert datetime.fromisoformat(line.pop("time")).utcoffset() == UTC.utcoffset(None)
    assert line == {
        "level": "info",
        "logger": "assistant.turns.turn",
        "event": "turn 5 finished",
        "fields": {"turn": 5, "seconds": 1.5},
    }


def test_a_text_is_logged_as_its_length(tmp_path: Path, start: Start) -> None:
    start()
    ours.info("said %s", TextField("hidden"), extra=fields(message=TextField("hidden")))
    (line,) = lines(tmp_path)
    assert (line["event"], line["fields"]) == ("said (6 characters)", {"message": {"characters": 6}})


def test_a_text_is_logged_itself_when_that_was_asked_for(tmp_path: Path, start: Start) -> None:
    start(log_text=True)
    ours.info("said", extra=fields(message=TextField("shown")))
    assert lines(tmp_path)[0]["fields"] == {"message": "shown"}


def test_what_the_settings_send_to_a_server_is_in_no_line_whoever_says_it(tmp_path: Path) -> None:
    model = ModelSettings(extra_body=Json('{"key": "Bearer sk-\\u00e412345"}'))
    log = start_log(locations(tmp_path), Settings(model=model, log=LogSettings(log_text=True)))
    theirs.warning("sent sk-ä12345, and got 401")
    log.close()
    assert lines(tmp_path)[0]["fields"]["message"] == "sent ..., and got 401"


def test_a_text_prints_as_its_length() -> None:
    assert f"{TextField('hidden')} {TextField('hidden')!r}" == "(6 characters) (6 characters)"


def test_what_another_library_says_is_logged_as_its_length(tmp_path: Path, start: Start) -> None:
    start()
    theirs.warning("cannot send %s", "hidden")
    assert lines(tmp_path)[0]["fields"]["message"] == {"characters": len("cannot send hidden")}


def test_an_error_is_logged_by_type_and_frames_without_its_message(tmp_path: Path, start: Start) -> None:
    start()
    try:
        int("hidden")
    except ValueError:
        ours.exception("failed")
    error = lines(tmp_path)[0]["error"]
    assert error["type"] == "ValueError"
    assert error["frames"][0].endswith("without_its_message")
    assert "hidden" not in json.dumps(error)


def test_an_object_is_logged_by_its_type_alone(tmp_path: Path, start: Start) -> None:
    class Passage:
        def __repr__(self) -> str:
            return "hidden"

    start()
    ours.info("found", extra=fields(passages=[Passage()], day=date(2026, 11, 21), cost=float("nan")))
    found = lines(tmp_path)[0]["fields"]
    assert found["passages"][0].endswith("Passage>")
    assert (found["day"], found["cost"]) == ("2026-11-21", "nan")


def test_a_line_holds_no_control_characters(tmp_path: Path, start: Start) -> None:
    start(log_text=True)
    ours.info("said", extra=fields(message=TextField("\x1b[31m\x9b\n\u2028\udc80")))
    (path,) = (tmp_path / "state").iterdir()
    assert path.read_text("ascii").rstrip("\n").isprintable()


def test_the_level_decides_what_is_logged(tmp_path: Path, start: Start) -> None:
    start(level="warning")
    ours.info("left out")
    ours.warning("kept")
    assert [line["event"] for line in lines(tmp_path)] == ["kept"]


def test_a_second_log_ends_the_first(tmp_path: Path, start: Start) -> None:
    start()
    start()
    ours.info("once")
    assert len(lines(tmp_path)) == 1


def test_a_closed_log_takes_no_more_lines(tmp_path: Path, start: Start) -> None:
    start().close()
    ours.warning("late")
    assert lines(tmp_path) == []


# Files


def test_each_day_has_a_file(tmp_path: Path) -> None:
    log = DailyLog(tmp_path, with_text=False)
    log.handle(record("before", datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC)))
    log.handle(record("after", datetime(2026, 11, 22, tzinfo=UTC)))
    log.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "log-2026-11-21.jsonl",
        "log-2026-11-22.jsonl",
    ]


def test_a_log_is_for_its_owner_alone(tmp_path: Path, start: Start) -> None:
    today = datetime.now(UTC).date().isoformat()
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / f"log-{today}.jsonl").touch(mode=0o644)
    start()
    ours.info("event")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").iterdir()} == {0o600}


def test_old_files_are_deleted_at_the_start(tmp_path: Path) -> None:
    names = [
        "log-2026-11-07.jsonl",
        "log-2026-11-08.jsonl",
        "log-2026-11-21.jsonl",
        "log-mine.jsonl",
        "draft",
    ]
    for name in names:
        (tmp_path / name).touch()
    delete_old_logs(tmp_path, days=14, today=date(2026, 11, 21))  # the 8th is the fourteenth day back
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


# What must not stop the program


def test_an_unwritable_folder_stops_nothing(tmp_path: Path, start: Start, capfd: Any) -> None:
    (tmp_path / "state").touch()  # a file where the folder should be
    start()
    ours.error("lost")
    assert capfd.readouterr() == ("", "")


def test_a_full_disk_stops_nothing_and_is_tried_again(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    def full(file: int, line: bytes) -> int:
        raise OSError(28, "No space left on device")

    start()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        ours.error("lost")
    ours.error("kept")
    assert [line["event"] for line in lines(tmp_path)] == ["kept"]
    assert capfd.readouterr() == ("", "")


def test_the_line_after_a_torn_one_can_be_read(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    start()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda file, line: write(file, line[:10]))
        ours.error("torn")
    ours.error("whole")
    (path,) = (tmp_path / "state").iterdir()
    torn, whole = path.read_text("utf-8").splitlines()
    assert (len(torn), json.loads(whole)["event"]) == (10, "whole")


def test_a_logging_call_with_wrong_arguments_stops_nothing(tmp_path: Path, start: Start, capfd: Any) -> None:
    wrong = record("%d passages", datetime.now(UTC))
    wrong.args = ("three",)
    start().handle(wrong)
    assert [line["event"] for line in lines(tmp_path)] == ["%d passages"]
    assert capfd.readouterr() == ("", "")


# Crashes


def crash() -> BaseException:
    try:
        try:
            int("hidden")
        except ValueError as error:
            raise ExceptionGroup("hidden", [KeyError("hidden"), OSError(28, "hidden")]) from error
    except ExceptionGroup as error:
        crashed = error
    return crashed


def test_a_report_tells_the_way_to_the_error_and_versions(tmp_path: Path) -> None:
    argv, commands = ["/usr/bin/vouch", "ask"], _command_names()
    report = write_crash_report(tmp_path, crash(), argv=argv, commands=commands).read_text("utf-8")
    for part in ("vouch ask", "in crash", "\nValueError: ", "\nExceptionGroup: ", "KeyError", "errno 28"):
        assert part in report
    assert "python " in report
    assert "platform " in report


def test_a_report_holds_nobodys_words(tmp_path: Path) -> None:
    arguments = ["vouch", "ask", "--api-key", "hidden", "--key=hidden", "-khidden", "hidden words"]
    report = write_crash_report(tmp_path, crash(), argv=arguments).read_text("utf-8")
    frames_aside = [
        line for line in report.splitlines() if not line.startswith("    ")
    ]  # lines of our source
    assert "hidden" not in "\n".join(frames_aside)


def test_a_report_holds_the_errors_message_when_that_was_asked_for(tmp_path: Path) -> None:
    report = write_crash_report(tmp_path, ValueError("shown"), argv=["vouch"], with_text=True)
    assert "ValueError: shown" in report.read_text("utf-8")


def test_a_report_is_for_its_owner_alone(tmp_path: Path) -> None:
    report = write_crash_report(tmp_path / "state", ValueError(), argv=["vouch"])
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert report.parent == tmp_path / "state"


def test_a_report_goes_elsewhere_when_the_state_directory_takes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("assistant.process.log.gettempdir", lambda: str(tmp_path))
    assert write_crash_report(tmp_path / "file", ValueError(), argv=["vouch"]).parent == tmp_path


def test_an_error_of_endless_causes_can_be_reported(tmp_path: Path) -> None:
    error: BaseException = ValueError()
    for _ in range(5000):
        later = ValueError()
        later.__cause__ = error
        error = later
    assert write_crash_report(tmp_path, error, argv=["vouch"]).exists()


def test_an_error_that_cannot_be_printed_can_be_reported(tmp_path: Path) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert "Mute: " in write_crash_report(tmp_path, Mute(), argv=["vouch"]).read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("/usr/bin/vouch memory list --limit 5", "vouch memory list --limit 5"),
        ("vouch --json ask when?", "vouch --json ask (5 characters)"),
        ("vouch --data=/d --token=abc ask", "vouch --data=/d --token=(3 characters) ask"),
        ("vouch --api-key abc ask", "vouch --api-key (3 characters) ask"),
        ("vouch -q -kabc", "vouch -q -k(3 characters)"),
        ("vouch ask -- --data memory", "vouch ask -- (6 characters) (6 characters)"),
    ],
)
def test_only_what_is_harmless_of_a_command_is_told(arguments: str, told: str) -> None:
    assert " ".join(telling_arguments(arguments.split(), {*_command_names(), "list"})) == told
