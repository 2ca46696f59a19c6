"""What is told of a replay: measures of a question, figures of many, and the report."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import replay_towns
from cli_helpers import Vouch
from replay_child import child_replay

from assistant.commands.replay.telling import Progress
from assistant.replay.metrics.figures import (
    Estimate,
    Played,
    estimate,
    gains,
    means,
    slices,
)
from assistant.replay.metrics.measures import MEASURES, measured
from assistant.replay.report.report import figure, report_of, table_rows
from assistant.replay.report.terminal_table import terminal_lines
from assistant.replay.report.trainings import trainings_of
from assistant.replay.runs.steps import AskedStep, LearnedStep, Steps
from assistant.replay.streams.datasets import ReplayQuestion
from stores.base.errors import WrongUsage

# Of one question


def question(gold: frozenset[str] | None = frozenset({"p2"}), **more: Any) -> ReplayQuestion:
    return ReplayQuestion("q", "When?", ("1417",), gold, **more)


def named(*names: str) -> list[tuple[str, str]]:
    return [(name, f"text of {name}") for name in names]


def test_measures_by_hand() -> None:
    """Gold is third by vectors, second as fused, first after reranking."""
    found = measured(
        question(),
        dense=named("p1", "p3", "p2"),
        fused=named("p1", "p2", "p3"),
        reranked=named("p2", "p1", "p3"),
        reply="It was in “1417”. [1]",
        tokens=120,
    )
    assert found["dense R@5"] == found["fused R@5"] == found["reranked R@5"] == 1
    assert found["fused MRR"] == 1 / 2
    assert found["fused nDCG@10"] == pytest.approx(1 / math.log2(3))
    assert found["reranked nDCG@10"] == 1
    assert found["answer R@5"] == 0  # 1417 stands in none of the texts
    assert (found["contained"], found["EM"], found["F1"]) == (1, 0, pytest.approx(0.4))  # it was in 1417
    assert found["tokens"] == 120
    assert list(found) == list(MEASURES)


def test_only_the_first_five_count_for_recall() -> None:
    found = measured(
        question(), dense=named(*"abcde", "p2"), fused=[], reranked=named(*"abcd", "p2"), reply="", tokens=0
    )
    assert (found["dense R@5"], found["fused R@5"], found["reranked R@5"]) == (0, 0, 1)


def test_without_known_gold_the_answer_makes_a_passage_right() -> None:
    order = [("a", "nothing"), ("b", "Founded in 1417.")]
    found = measured(question(None), dense=order[:1], fused=order, reranked=order, reply="?", tokens=0)
    assert (found["dense R@5"], found["fused R@5"], found["fused MRR"]) == (0, 1, 1 / 2)
    assert "fused nDCG@10" not in found


def test_where_every_gold_passage_is_needed_one_is_not_enough() -> None:
    both = question(frozenset({"p1", "p2"}), needs_all=True)
    found = measured(both, dense=named("p1"), fused=named("p2", "p1"), reranked=[], reply="", tokens=0)
    assert (found["dense R@5"], found["fused R@5"]) == (0, 1)


# Of many


def played(values: Sequence[float], domains: Sequence[str] = (), measure: str = "F1") -> Played:
    ids = [f"q{i}" for i in range(len(values))]
    return Played(ids, list(domains) or ["towns"] * len(values), [{measure: v} for v in values])


def test_the_thirds_are_those_of_the_stream() -> None:
    for count in (2, 3, 7, 24, 100):
        parts = slices(played([0.0] * count))
        assert parts["last third"] == list(range(2 * count // 3, count))
        together = [i for name in ("first third", "second third", "last third") for i in parts.get(name, [])]
        assert together == parts["all"] == list(range(count))


def test_an_interval_over_seeds_is_students() -> None:
    """Means 1, 2, 3: mean 2, deviation 1, hence 2 ± 4.303 / √3."""
    found = estimate([[1.0], [2.0], [3.0]])
    assert found is not None
    assert found.mean == 2
    assert found.high - found.mean == pytest.approx(4.303 / math.sqrt(3))
    assert found.mean - found.low == pytest.approx(4.303 / math.sqrt(3))


def test_an_interval_of_one_seed_is_over_its_questions() -> None:
    found = estimate([[0.0, 1.0] * 50])
    assert found is not None
    assert found.low == pytest.approx(0.4, abs=0.03)
    assert found.high == pytest.approx(0.6, abs=0.03)


def test_gains_are_paired() -> None:
    """Every question gains 0.1 in each seed, however they differ: the interval is a point."""
    base = [played([0.1, 0.9]), played([0.5, 0.3])]
    better = [played([0.2, 1.0]), played([0.6, 0.4])]
    assert gains(better, base, ["F1"])["all"]["F1"] == Estimate(*[pytest.approx(0.1)] * 3)


def test_runs_of_other_questions_are_not_compared() -> None:
    with pytest.raises(ValueError, match="different questions"):
        gains([played([1.0])], [Played(["other"], ["towns"], [{"F1": 1.0}])], ["F1"])


def test_a_measure_that_some_questions_lack_is_of_the_others() -> None:
    some = Played(["a", "b", "c"], ["t"] * 3, [{"F1": 1.0}, {}, {"F1": 0.0}])
    assert means([some], ["F1", "EM"])["all"]["F1"].mean == 0.5
    assert "EM" not in means([some], ["F1", "EM"])["all"]


# The report

HOSTILE = "<script>alert('x')</script>&\"http://outside.example/"
IDENTITY = {
    "data": {"names": [HOSTILE], "passages": 12},
    "seeds": [1, 2],
    "judge": {"kind": "simulated"},
    "methods": ["frozen", HOSTILE],
    "interval": 6,
}


def steps(folder: Path, name: str, good: float, *, lessons: int = 0) -> Steps:
    made = Steps(folder / name)
    for number in range(9):
        figures = dict.fromkeys(MEASURES, good) | {"tokens": 100.0}
        domain = HOSTILE if number % 2 else "b"
        made.note_asked(AskedStep(f"q{number}", "?", domain, figures, "", seconds=0.5))
        if number == 5 and lessons:
            made.note_learned(LearnedStep(6, {"lessons": lessons, "best_epoch": 2}, 3.0))
    return made


@pytest.fixture
def runs(tmp_path: Path) -> Mapping[tuple[str, int], Steps]:
    return {
        (label, seed): steps(tmp_path, f"{place}-{seed}", good + seed / 100, lessons=lessons)
        for place, (label, good, lessons) in enumerate([("frozen", 0.5, 0), (HOSTILE, 0.7, 6)])
        for seed in (1, 2)
    }


def test_the_report_tells_figures_gains_and_trainings(runs: Mapping[tuple[str, int], Steps]) -> None:
    told = report_of(IDENTITY, runs)
    assert told["figures"]["frozen"]["all"]["F1"]["mean"] == pytest.approx(0.515)
    assert told["gains"][HOSTILE]["last third"]["F1"]["mean"] == pytest.approx(0.2)
    assert told["trainings"][HOSTILE]["2"] == [{"after": 6, "lessons": 6, "best_epoch": 2}]
    assert told["intervals"] == "95 %, over seeds"
    assert not re.search(r"second\W|\btime\b|took", json.dumps(told).replace("second third", ""))


def test_no_share_is_told_beyond_100_percent(tmp_path: Path) -> None:
    told = report_of(IDENTITY, {("frozen", s): steps(tmp_path, f"s{s}", 0.98 + s / 100) for s in (1, 2)})
    assert told["figures"]["frozen"]["all"]["F1"]["high"] == 1.0


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("F1", 0.715),
        ("GAIN/last third/reranked r@5", 0.2),
        ("tokens", 100),
    ],
)
def test_a_figure_is_named_by_words(runs: Mapping[tuple[str, int], Steps], path: str, value: float) -> None:
    assert figure(report_of(IDENTITY, runs), path) == pytest.approx(value)


def test_a_figure_that_is_not_there_is_told_with_those_that_are(
    runs: Mapping[tuple[str, int], Steps],
) -> None:
    with pytest.raises(WrongUsage) as caught:
        figure(report_of(IDENTITY, runs), "R@50")
    assert "reranked R@5" in caught.value.hint
    alone = {key: made for key, made in runs.items() if key[0] == "frozen"}
    with pytest.raises(WrongUsage, match="frozen has no figure 'gain/F1'") as caught:
        figure(report_of(IDENTITY, alone), "gain/F1")
    assert "reranked R@5" in caught.value.hint


def test_a_table_has_a_column_for_each_method_and_gain(runs: Mapping[tuple[str, int], Steps]) -> None:
    head, *rows = table_rows(report_of(IDENTITY, runs))
    assert head == ["part", "measure", "frozen", HOSTILE, f"{HOSTILE} - frozen"]
    assert ["all", "F1"] in [row[:2] for row in rows]
    assert next(row for row in rows if row[:2] == ["all", "F1"])[-1] == "+20.0 [+20.0, +20.0]"


# What is told while and after it plays


def towns(vouch: Vouch) -> list[str]:
    found = [str(vouch.folder / "towns.jsonl"), "--passages", str(vouch.folder / "passages.jsonl")]
    return [*found, "--judge", "simulated"]


# What came of trainings


def run(
    file: Path, trainings: Sequence[dict[str, Any]] = (), *, questions: int = 60, seconds: float = 2.0
) -> Steps:
    """Trainings after every 20 questions; one that is empty found nothing to learn from."""
    made = Steps(file)
    for number in range(1, questions + 1):
        made.note_asked(AskedStep(f"q{number}", "?", "towns", {}, "", seconds=0.5))
        if number % 20 == 0 and number // 20 <= len(trainings):
            made.note_learned(LearnedStep(number, trainings[number // 20 - 1], seconds))
    return made


def trained(lessons: int, best: int | None) -> dict[str, Any]:
    return {"lessons": lessons, "best_epoch": best}


@pytest.mark.parametrize(
    ("interval", "trainings", "sentence"),
    [
        (400, [], "luf: never trained: the interval is 400 and there were 60 questions (--interval)"),
        (
            20,
            [{}, trained(37, 3)],
            "luf: trained once, after every 20 questions, on 37 lessons; once no passage was judged to help; "
            "1 of 1 better than the start, or nothing told",
        ),
    ],
)
def test_why_a_method_is_as_the_frozen_one_or_not(
    tmp_path: Path, interval: int, trainings: list[dict[str, Any]], sentence: str
) -> None:
    assert trainings_of("luf", [run(tmp_path / "s", trainings)], interval=interval)["told"] == sentence


def test_the_report_tells_it_for_each_method_that_learns(tmp_path: Path) -> None:
    runs = {(label, 1): steps(tmp_path, label, 0.5) for label in ("frozen", "query2doc", "luf")}
    told_of = report_of({**IDENTITY, "seeds": [1]}, runs)
    assert list(told_of["learning"]) == ["luf"]


# Progress


class Listener:
    """What a watcher was told, a text each."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, what: str, done: int, of: int) -> None:
        self.told.append(f"{what} {done}/{of}")


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize("width", [90, 240])
def test_no_line_is_wider_than_the_terminal_and_every_figure_is_there(
    report: dict[str, Any], width: int
) -> None:
    lines = terminal_lines(report, width=width)
    assert max(map(len, lines)) <= width
    heads = [line for line in lines if line.startswith(("all ", "last third "))]
    for label in report["figures"]:
        assert sum(label[:23] in head for head in heads) >= 2  # in each part
    assert sum(line.startswith("reranked R@5  ") for line in lines) == len(heads) == 6


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
