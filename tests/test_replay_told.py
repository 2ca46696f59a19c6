"""What is told of a replay while and after it plays: progress, what came of trainings, the table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import replay_towns
from cli_helpers import Vouch
from replay_child import child_replay
from test_replay_report import HOSTILE, IDENTITY, steps

from assistant.commands.replay.telling import Progress
from assistant.replay.methods.luf import LufRound
from assistant.replay.report.page import page
from assistant.replay.report.report import report_of
from assistant.replay.report.terminal_table import terminal_lines
from assistant.replay.report.times_table import times_lines, times_rows
from assistant.replay.report.trainings import trainings_of
from assistant.replay.runs.player import facts_of
from assistant.replay.runs.steps import AskedStep, LearnedStep, Steps


def towns(vouch: Vouch) -> list[str]:
    found = [str(vouch.folder / "towns.jsonl"), "--passages", str(vouch.folder / "passages.jsonl")]
    simulated = ["--judge", "simulated", "--answers", "simulated"]
    return [*found, "--passage-column", "id=id", "--passage-column", "title=title", *simulated]


# What came of trainings


def run(
    file: Path, trainings: Sequence[dict[str, Any]] = (), *, questions: int = 60, seconds: float = 2.0
) -> Steps:
    """Trainings after every 20 questions; one that is empty found nothing to learn from."""
    made = Steps(file)
    for number in range(1, questions + 1):
        made.note_asked(AskedStep(f"q{number}", "?", "towns", {}, "", seconds={"turn": 0.5}))
        if number % 20 == 0 and number // 20 <= len(trainings):
            made.note_learned(LearnedStep(number, trainings[number // 20 - 1], seconds))
    return made


def trained(lessons: int, best: int | None) -> dict[str, Any]:
    return {"lessons": lessons, "best_epoch": best, "losses": [1.0]}


@pytest.mark.parametrize(
    ("interval", "trainings", "sentence"),
    [
        (400, [], "luf: never trained: the interval is 400 and there were 60 questions (--interval)"),
        (0, [], "luf: never trained: the interval is 0 (--interval)"),
        (20, [{}, {}], "luf: never trained: in 2 times 20 questions no passage was judged to help"),
        (
            20,
            [trained(18, 0), trained(37, 0)],
            "luf: trained 2 times, after every 20 questions, on 18 to 37 lessons; none was better than the "
            "start on the questions set aside, so its weights are the frozen ones",
        ),
        (
            20,
            [{}, trained(37, 3)],
            "luf: trained once, after every 20 questions, on 37 lessons; once no passage was judged to help; "
            "1 of 1 better than the start on the questions set aside (best epoch 3)",
        ),
        (
            20,
            [trained(18, None)],
            "luf: trained once, after every 20 questions, on 18 lessons; no questions were set aside to "
            "compare what came of it with the start, and it was used",
        ),
    ],
)
def test_why_a_method_is_as_the_frozen_one_or_not(
    tmp_path: Path, interval: int, trainings: list[dict[str, Any]], sentence: str
) -> None:
    assert trainings_of("luf", [run(tmp_path / "s", trainings)], interval=interval)["told"] == sentence


def test_an_interval_that_nothing_was_learned_in_does_not_repeat_the_training_before() -> None:
    class Method:
        rounds = (LufRound(5, 1.0, 2, (0.5,)),)

    assert facts_of(Method())["lessons"] == 5  # type: ignore[arg-type]
    assert facts_of(Method(), earlier=1) == {}  # type: ignore[arg-type]


def test_report_and_page_tell_it_for_each_method_that_learns(tmp_path: Path) -> None:
    runs = {(label, 1): steps(tmp_path, label, 0.5) for label in ("frozen", "query2doc", "luf")}
    told_of = report_of({**IDENTITY, "seeds": [1]}, runs)
    assert list(told_of["learning"]) == ["luf"]
    assert told_of["learning"]["luf"]["told"] in page(told_of)


# Progress


class Listener:
    """What a watcher was told, a text each."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, what: str, done: int, of: int, left: str = "") -> None:
        self.told.append(f"{what} {done}/{of} {left}".strip())


def test_a_watcher_is_told_of_trainings_and_of_which_run_it_is(tmp_path: Path, minilm_folder: Path) -> None:
    home = tmp_path / "home"
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "encoders").symlink_to(minilm_folder.parent)
    (home / "cache" / "readers").symlink_to(minilm_folder.parent.parent / "readers")
    replay_towns.write(home / "towns")
    heard = Listener()
    child_replay(home, tmp_path / "out", first=8, seeds=(1, 2)).play(heard)
    assert any(text.startswith("frozen, seed 1 (1 of 4): questions 1/8") for text in heard.told)
    assert "luf, seed 2 (4 of 4): training 1 of 1, starting 0/0" in heard.told
    assert "luf, seed 2 (4 of 4): training 1 of 1, step 2/2" in heard.told


def test_ctrl_c_tells_that_the_work_is_kept(vouch: Vouch) -> None:
    out = vouch.folder / "out"
    with vouch.terminal("replay", *towns(vouch), "--method", "frozen", "--out", str(out)) as person:
        person.sees("frozen, seed 1: questions")
        person.types("\x03")
        person.sees("Interrupted. What was played is kept in ")
        person.sees("the same command goes on from there.")
        assert person.exit_code() == 130


# The terminal


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    replay_towns.write(tmp_path)
    return Vouch(tmp_path, minilm_folder.parent)


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    labels = ("frozen", "luf:strict+flaccid", "query2doc:simulated 0.8", "rafe")
    runs = {
        (label, seed): steps(tmp_path, f"{place}-{seed}", 0.5 + place / 10 + seed / 100)
        for place, label in enumerate(labels)
        for seed in (1, 2)
    }
    return report_of(IDENTITY, runs)


@pytest.mark.parametrize("width", [48, 240])
def test_no_line_is_wider_than_the_terminal_and_every_figure_is_there(
    report: dict[str, Any], width: int
) -> None:
    lines = terminal_lines(report, width=width)
    assert max(map(len, lines)) <= width
    heads = [line for line in lines if line.startswith(("all ", "last third "))]
    for label in report["figures"]:
        assert sum(label in head for head in heads) >= 2  # in each part
    assert sum(line.startswith("reranked R@5  ") for line in lines) == len(heads)
    if width == 240:
        assert len(heads) == 2


# Over questions


def test_report_and_page_have_intervals_over_questions_with_several_seeds(tmp_path: Path) -> None:
    runs = {
        (label, seed): steps(tmp_path, f"{place}-{seed}", good)
        for place, (label, good) in enumerate([("frozen", 0.5), (HOSTILE, 0.75)])
        for seed in (1, 2)
    }
    told_of = report_of(IDENTITY, runs)
    assert told_of["over_questions"]["gains"][HOSTILE]["all"]["F1"] == {"low": 0.25, "high": 0.25}
    assert "75.0 [75.0, 75.0]<small>[75.0, 75.0]</small>" in page(told_of)
    one = report_of({**IDENTITY, "seeds": [1]}, {("frozen", 1): runs["frozen", 1]})
    assert one["over_questions"] == {}
    assert "<small>" not in page(one)


# Times


TIMES = {
    "frozen, seed 1": {"questions": 60, "turn": 37.55, "search": 0.937, "model": 0, "training": 0},
    "luf:strict+hard, seed 1": {"questions": 60, "turn": 141.25, "search": 1.2, "model": 0, "training": 12},
}


def test_times_are_a_table_with_its_unit_whose_numbers_stay_whole() -> None:
    assert times_rows(TIMES) == [
        ["seconds", "questions", "turn", "search", "model", "training"],
        ["frozen, seed 1", "60", "37.5", "0.9", "0.0", "0.0"],
        ["luf:strict+hard, seed 1", "60", "141.2", "1.2", "0.0", "12.0"],
    ]
    wide, narrow = times_lines(TIMES, width=100), times_lines(TIMES, width=54)
    assert wide[:3] == [
        "seconds                  questions   turn  search  model  training",
        "frozen, seed 1                  60   37.5     0.9    0.0       0.0",
        "luf:strict+hard, seed 1         60  141.2     1.2    0.0      12.0",
    ]
    assert narrow[2] == "luf:strict…         60  141.2     1.2    0.0      12.0"
    assert max(map(len, narrow)) <= 54
    assert "hearing: what users say afterwards" in " ".join(wide)


# Without a terminal


def test_without_a_terminal_a_sentence_a_minute_tells_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    call: Any = SimpleNamespace(progress_line=lambda: SimpleNamespace(clear=None), tell=said.append)
    seconds = iter([0.0, 0.0, 30.0, 61.0, 70.0, 122.0])
    monkeypatch.setattr("assistant.commands.replay.telling.time.monotonic", lambda: next(seconds))
    monkeypatch.setattr("sys.stderr", io.StringIO())
    progress = Progress(call)
    for done in range(5):
        progress.watch("luf: questions", done * 61, 1000)
    assert said == [
        "luf: questions 122 of 1000, 2.0/s, about 7 min left.",
        "luf: questions 244 of 1000, 2.0/s, about 6 min left.",
    ]
