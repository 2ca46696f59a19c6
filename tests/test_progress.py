"""How far something is: drawn over at a terminal, in plain mode a sentence every ten seconds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, Vouch

from assistant.invocation import ProgressLine


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("assistant.invocation.time.monotonic", made)
    return made


def test_a_line_is_drawn_over_ten_times_a_second_at_most(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ProgressLine(is_shown=True, is_plain=False)
    for done in range(4):
        line.show(f"{done} of 4 documents")
        clock.now += 0.06
    line.clear()
    line.clear()
    assert capsys.readouterr().err == "\r\x1b[K0 of 4 documents\r\x1b[K2 of 4 documents\r\x1b[K"


def test_in_plain_mode_it_is_a_sentence_every_ten_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ProgressLine(is_shown=True, is_plain=True)
    for second in range(25):
        line.show(f"round 1, step {second} of 40")
        clock.now += 1
    line.clear()
    assert capsys.readouterr().err == "Round 1, step 10 of 40.\nRound 1, step 20 of 40.\n"


@pytest.mark.parametrize("is_plain", [False, True])
def test_nobody_watches_and_nothing_is_said(
    clock: Clock, capsys: pytest.CaptureFixture[str], is_plain: bool
) -> None:
    line = ProgressLine(is_shown=False, is_plain=is_plain)
    clock.now += 60
    line.show("1 of 4 documents")
    line.clear()
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "environment", "is_redrawn"),
    [
        ([], {}, True),
        ([], {"TERM": "dumb"}, False),
    ],
)
def test_plain_mode_draws_nothing_over(
    tmp_path: Path, minilm_folder: Path, options: list[str], environment: dict[str, str], is_redrawn: bool
) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.environment |= environment
    with vouch.terminal(*options, "ingest", vouch.write("handbook.md", HANDBOOK)) as person:
        person.sees("1 new")
        assert person.exit_code() == 0
    assert ("\r\x1b[K" in person.screen) == is_redrawn
    assert ("\x1b" in person.screen) == is_redrawn


def test_a_line_that_would_wrap_is_cut(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "assistant.invocation.os.get_terminal_size", lambda number: os.terminal_size((12, 24))
    )
    monkeypatch.setattr("sys.stderr.fileno", lambda: 2, raising=False)
    ProgressLine(is_shown=True, is_plain=False).show("questions 40 of 100")
    assert capsys.readouterr().err == "\r\x1b[Kquestions 4"
