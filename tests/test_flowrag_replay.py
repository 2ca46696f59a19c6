"""A replay of sets as collections that learn one after another: when, what stays, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import replay_towns
import torch
from replay_child import locations
from test_methods_learning import judged

from agents.models.encoders.adapted_encoder import Adapter
from assistant.commands.replay.streams import _over
from assistant.learning import training_process
from assistant.learning.promotion import SERVED
from assistant.learning.recipes.collections import from_use
from assistant.learning.training_process import Further
from assistant.replay.methods import flowrag
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.methods.flowrag import Flowrag
from assistant.replay.report.report import report_of
from assistant.replay.report.trainings import sequence_of
from assistant.replay.runs.inputs import read_inputs
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.replay import Replay
from assistant.replay.runs.steps import LearnedStep, Steps
from assistant.search.adapted import Adapted
from assistant.settings.config import AnswerSettings, Settings
from stores.base.errors import WrongUsage

NONE = np.zeros((1, 2, 1, 2), np.float32)


class Vectors:
    """Every passage stands in one collection, and needs no vector."""

    def __init__(self) -> None:
        self.key = "shared/first"

    def keys(self, version_ids: Sequence[int]) -> dict[int, str]:
        return dict.fromkeys(version_ids, self.key)

    def missing(self, *_: object, **__: object) -> list[Any]:
        return []


class Trained:
    """Notes what is trained. The second training makes an adapter of the first collection, too."""

    def __init__(self, folder: Path) -> None:
        self.vectors, self.rows = Vectors(), list[list[dict[str, Any]]]()
        self.flowrag = self.again(folder)

    def again(self, folder: Path) -> Flowrag:
        training = Further("program", {}, 1, train=self.train)
        vectors: Any = self.vectors
        return Flowrag(folder, ends=(2, 4), training=training, vectors=vectors, start=None, read=self.read)

    def train(self, folder: Path, module: str, shown: Sequence[Path], *_: object, **__: object) -> Path:
        self.rows.append([json.loads(line) for line in shown[0].read_text().splitlines()])
        made = folder / "candidate"
        (made / SERVED).mkdir(parents=True)
        return made

    def read(self, folder: Path) -> Adapted:
        name = folder.parent.parent.name
        keys = ("shared/first", "shared/second")[: 1 if name == "after-2" else 2]
        adapters = {key: Adapter(name, NONE, NONE) for key in keys}
        return Adapted(adapters, self.vectors, lambda: None)  # type: ignore[arg-type, return-value]


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trained:
    monkeypatch.setattr(flowrag, "FEWEST", 2)
    return Trained(tmp_path)


def adapters_of(method: Flowrag) -> dict[str, str]:
    assert method._adapted is not None
    return method._adapted.versions


def test_an_adapter_that_is_there_stays(trained: Trained) -> None:
    round_of = [[judged(f"{n} {i}?", 0.9, 0.1) for i in range(2)] for n in ("first", "second")]
    assert trained.flowrag.learn(round_of[0]) == {"lessons": 2}
    trained.vectors.key = "shared/second"
    assert trained.flowrag.learn(round_of[1]) == {"lessons": 2}
    assert adapters_of(trained.flowrag) == {"shared/first": "after-2", "shared/second": "after-4"}
    encoder, *rows = trained.rows[1]
    assert encoder == {"encoder": None}
    assert {(row["collection"], row["question"]) for row in rows} == {
        ("shared/second", "second 0?"),
        ("shared/second", "second 1?"),
    }


def test_a_set_that_answers_too_little_has_no_adapter(trained: Trained) -> None:
    assert trained.flowrag.learn([judged("first?", 0.9, 0.1), judged("other?", 0.1, 0.1)]) == {}
    assert trained.rows == []
    assert trained.flowrag._adapted is None


def test_what_was_made_is_taken_up_and_what_is_gone_is_made_again(trained: Trained, tmp_path: Path) -> None:
    told = [judged(f"{i}?", 0.9, 0.1) for i in range(4)]
    trained.flowrag.learn(told[:2])
    trained.vectors.key = "shared/second"
    trained.flowrag.learn(told[2:])
    again = trained.again(tmp_path)
    again.take_up(told)
    assert len(trained.rows) == 2
    assert adapters_of(again) == adapters_of(trained.flowrag)
    elsewhere = trained.again(tmp_path / "other")
    elsewhere.take_up(told[:2])
    assert len(trained.rows) == 3
    assert set(adapters_of(elsewhere).values()) == {"after-2"}


def test_a_sequence_is_told_by_its_mean_and_what_it_forgot(tmp_path: Path) -> None:
    runs = [Steps(tmp_path / f"{seed}") for seed in (1, 2)]
    for run, fell in zip(runs, (0.25, 0.75), strict=True):
        run.note_learned(LearnedStep(2, {}, 1.0, [1.0]))
        run.note_learned(LearnedStep(4, {}, 1.0, [fell, 0.5]))
    told = sequence_of([Steps(tmp_path / f"{seed}") for seed in (1, 2)])
    assert told["matrix"] == [[1.0], [0.5, 0.5]]
    assert (told["mean"], told["forgotten"]) == (0.5, 0.5)
    assert "100.0; 50.0 50.0; 50.0 points forgotten" in told["told"]
    runs[0].note_learned(LearnedStep(6, {}, 1.0))
    assert sequence_of(runs[:1]) == {}  # of intervals nothing is told


def test_one_set_is_no_sequence() -> None:
    plan = ReplayPlan(methods=(MethodChoice.read("flowrag"),))
    with pytest.raises(WrongUsage, match="several sets"):
        _over(None, plan, {"named": ["squad"], "passages": None}, None)  # type: ignore[arg-type]


# The whole


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "cache").mkdir()
    (folder / "cache" / "encoders").symlink_to(minilm_folder.parent)
    (folder / "cache" / "readers").symlink_to(minilm_folder.parent.parent / "readers")
    rows: list[dict[str, Any]] = replay_towns.questions()
    texts = {each["id"]: each["text"] for each in replay_towns.passages()}
    for row in rows:
        row["context"] = texts[row.pop("passage_ids")[0]]
    for name, some in (("east", rows[:12]), ("west", rows[12:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    return folder


def in_process(folder: Path, module: str, shown: Sequence[Path], given: Sequence[str], **_: Any) -> Path:
    """The training in this process."""
    assert module == from_use.__name__
    made = folder / "candidate"
    assert from_use.main([str(shown[0]), "--out", str(made), *given]) == 0
    return made


@pytest.mark.slow
def test_two_sets_are_two_collections_and_a_killed_replay_goes_on(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr(training_process, "train_in_child", in_process)
    for module in (flowrag, from_use):
        monkeypatch.setattr(module, "FEWEST", 4)
    monkeypatch.setattr("assistant.replay.runs.player.tells_when_to_end", lambda text: "founded" in text)
    streamed = read_inputs([str(home / "east.jsonl"), str(home / "west.jsonl")], data=None, splits=())
    plan = ReplayPlan(methods=(MethodChoice.read("flowrag"),), judge="simulated", accuracy=1.0)

    def replay(out: Path) -> Replay:
        settings = Settings(answer=AnswerSettings(reader=False))
        return Replay(plan, streamed, out, settings=settings, live=locations(home))

    whole = replay(tmp_path / "whole")
    runs = whole.play()
    report = report_of(whole.identity, runs)
    learned = runs["flowrag", 1].learned
    assert [step.after for step in learned] == [12, 24]
    assert [step.facts.get("lessons") for step in learned] == [12, 12]
    assert [len(step.held_out) for step in learned] == [1, 2]
    assert report["sequences"].keys() == {"frozen", "flowrag"}
    assert report["sequences"]["flowrag"]["forgotten"] == 0
    assert "after each set, on 12 lessons" in report["learning"]["flowrag"]["told"]
    frozen, adapted = (runs[label, 1].asked for label in ("frozen", "flowrag"))
    dense = [
        [{j.candidate.passage.version_id: j.candidate.dense for j in each.judgements} for each in run]
        for run in (frozen, adapted)
    ]
    assert dense[0][:12] == dense[1][:12]
    assert dense[0][12:] != dense[1][12:]  # of the first collection's passages, which are found too

    note, noted = Steps.note_learned, 0

    def killed(steps: Steps, step: LearnedStep) -> None:
        nonlocal noted
        noted += 1
        if noted == 4:  # the second of flowrag, when all has been asked
            raise KeyboardInterrupt
        note(steps, step)

    monkeypatch.setattr(Steps, "note_learned", killed)
    with pytest.raises(KeyboardInterrupt):
        replay(tmp_path / "killed").play()
    monkeypatch.setattr(Steps, "note_learned", note)
    again = replay(tmp_path / "killed")
    assert report_of(again.identity, again.play()) == report
    assert replace(plan, methods=()).is_by_sets is False
