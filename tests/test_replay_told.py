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
from assistant.replay.metrics.measures import OF_DIALOGUES, OF_FOLLOW_UPS
from assistant.replay.metrics.pooled import pooled_interval
from assistant.replay.report.page import page
from assistant.replay.report.report import head_of, report_of
from assistant.replay.report.terminal_table import ORDER, terminal_lines
from assistant.replay.report.times_table import times_lines, times_rows
from assistant.replay.report.trainings import told, trainings_of
from assistant.replay.runs.player import facts_of
from assistant.replay.runs.run_progress import RunProgress, lasting, told_to
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


def test_the_runs_of_all_seeds_are_told_together(tmp_path: Path) -> None:
    runs = [run(tmp_path / f"{s}", [trained(18, 0), trained(37, s)]) for s in (1, 4)]
    found = trainings_of("luf", runs, interval=20)
    assert (found["trained"], found["kept"], found["best_epochs"]) == (4, 2, [0, 1, 0, 4])
    assert "trained 4 times in 2 runs, after every 20 questions" in found["told"]
    assert "2 of 4 better than the start on the questions set aside (best epoch 1 to 4)" in found["told"]
    assert ", in 8.0 s; " in told("luf", found, seconds=8.0)


@pytest.mark.parametrize(("label", "asked"), [("unirag", "questions"), ("dual-feedback", "turns")])
def test_what_goes_live_by_held_out_lessons_is_told_so(tmp_path: Path, label: str, asked: str) -> None:
    found = trainings_of(label, [run(tmp_path / "s", [trained(18, 0), trained(37, 2)])], interval=20)
    assert found["told"] == (
        f"{label}: trained 2 times, after every 20 {asked}, on 18 to 37 lessons; "
        "1 of 2 won on what was held out and went live"
    )


def test_a_rewriter_that_learns_has_no_lessons_to_tell_of(tmp_path: Path) -> None:
    found = trainings_of("rafe", [run(tmp_path / "s", [{}, {}])], interval=20)
    assert found["told"] == "rafe: trained 2 times, after every 20 questions"
    assert found["trained"] == 2
    assert "kept" not in found


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


def test_what_is_left_of_a_run_counts_its_trainings(tmp_path: Path) -> None:
    """20 questions at 0.5 s, and trainings of 2 s after 20, hence 4 s after 40 where they grow."""
    asked = run(tmp_path / "s", [trained(18, 0)], questions=40)
    usual: dict[str, Any] = {"questions": 60, "interval": 20, "is_trained": True}

    def left(steps: Steps, **how: Any) -> str:
        return RunProgress(Listener(), "luf", steps, **(usual | how)).left()

    assert left(asked) == "about 10 s left of this run"  # the one after 40 questions is being done
    assert left(run(tmp_path / "t", [trained(18, 0)], questions=30)) == "about 19 s left of this run"
    assert left(run(tmp_path / "u", [trained(18, 0)], questions=30), grows=False).startswith("about 17 s")
    fresh = run(tmp_path / "v", questions=10)
    assert left(fresh) == "about 25 s and trainings left"
    assert left(fresh, earlier=[asked]) == "about 31 s left of this run"
    assert left(fresh, is_trained=False) == "about 25 s left of this run"
    assert left(Steps(tmp_path / "w")) == ""


def test_a_silent_training_is_told_of_again(tmp_path: Path) -> None:
    heard = Listener()
    progress = RunProgress(heard, "luf", run(tmp_path / "s", questions=20), questions=60, interval=20)

    def train(folder: Path, *, tell: Any) -> Path:
        for each in (None, {"kind": "phase", "phase": "training"}, {"kind": "step", "step": 3, "steps": 9}):
            tell(each)
        tell({"kind": "phase", "phase": "exporting"})
        return folder

    own: list[Any] = []
    assert told_to(progress.trains, train, tmp_path, tell=own.append) == tmp_path
    assert heard.told == [
        *["luf: training 1 of 2, starting 0/0"] * 3,
        "luf: training 1 of 2, step 3/9",
        "luf: training 1 of 2, exporting 0/0",
    ]
    assert len(own) == 4


def test_spans_of_time_in_words() -> None:
    assert [lasting(seconds) for seconds in (12, 600, 7200)] == ["12 s", "10 min", "2.0 h"]


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


@pytest.mark.parametrize("width", [48, 80, 120, 240])
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


def test_what_tells_most_stands_first(report: dict[str, Any]) -> None:
    lines = terminal_lines(report, width=240)
    after = lines[next(i for i, line in enumerate(lines) if line.startswith("all ")) + 1 :]
    of_questions = [measure for measure in ORDER if measure not in (*OF_DIALOGUES, *OF_FOLLOW_UPS)]
    assert [line.split("  ")[0] for line in after[: len(of_questions)]] == of_questions
    assert tuple(of_questions[:4]) == ("dense R@5", "fused R@5", "reranked R@5", "answer R@5")


def test_the_terminal_tells_how_much_was_played_and_what_intervals_are_over(
    report: dict[str, Any], tmp_path: Path
) -> None:
    assert head_of(report) == (
        "9 questions over 12 passages, 2 seeds: 1, 2. Shares are in percent and tokens per question, with "
        "95 % intervals over the seeds (Student's t); two seeds tell little."
    )
    one = report_of({**IDENTITY, "seeds": [7]}, {("frozen", 7): steps(tmp_path, "one", 0.5)})
    assert head_of(one) == (
        "9 questions over 12 passages, seed 7. Shares are in percent and tokens per question, with 95 % "
        "intervals over the questions (bootstrap)."
    )
    for label, is_told in (("luf:strict", True), ("rafe", False)):
        told_of = {**one, "replay": {**one["replay"], "user_feedback": True}, "figures": {label: {}}}
        assert ("Users spoke to luf alone" in head_of(told_of)) == is_told
    shown = " ".join(terminal_lines(report, width=80))
    assert "two seeds tell little" in shown
    assert "rafe: never trained: the interval is 6 and there were 9 questions" in shown


def test_a_pipe_has_all_rows_and_the_sentence_beside_them(vouch: Vouch) -> None:
    ran = vouch.run("replay", *towns(vouch), "--method", "luf", "--first", "6")
    assert ran.cells[0] == ["part", "measure", "frozen", "luf", "luf - frozen"]
    assert {len(row) for row in ran.cells} == {5}
    assert "luf: never trained: the interval is 400 and there were 6 questions (--interval)." in ran.err


# Over questions


def test_where_seeds_agree_the_interval_over_questions_still_tells_of_chance() -> None:
    """Half of 100 questions are right in both seeds: 0.5 ± 0.1, as with one seed."""
    low, high = pooled_interval({f"q{i}": [i % 2, i % 2] for i in range(100)})
    assert (low, high) == (pytest.approx(0.4, abs=0.03), pytest.approx(0.6, abs=0.03))


def test_a_question_counts_by_its_rows_and_its_place_does_not() -> None:
    values = {"a": [1.0, 1.0], "b": [0.0]}
    assert pooled_interval(values) == pooled_interval(dict(reversed(values.items()))) == (0.0, 1.0)


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


def test_a_pipe_has_the_times_below_the_figures(vouch: Vouch) -> None:
    ran = vouch.run("replay", *towns(vouch), "--method", "frozen", "--first", "2", "--times")
    columns = ["seconds", "questions", "turn", "search", "model", "hearing", "training"]
    assert ran.cells[-2] == columns
    assert ran.cells[-1][:2] == ["frozen, seed 1", "2"]


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
