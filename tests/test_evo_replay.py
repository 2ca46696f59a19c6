"""A replay whose judge learns in rounds: what it learns from and when, and that it goes on as it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import replay_towns
import torch
from agent_fakes import FixedJudge
from cli_helpers import Vouch
from replay_child import locations
from test_judge_recipe import in_process
from test_methods_learning import judged
from tiny_llama import make_tiny_llama

from assistant.learning import training_process
from assistant.learning.promotion import SERVED
from assistant.learning.training_process import SETTINGS, Further
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.methods.evo import Evo
from assistant.replay.methods.method import JudgedQuestion
from assistant.replay.report.report import report_of
from assistant.replay.runs.inputs import read_inputs
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.replay import Replay
from assistant.replay.runs.steps import Steps
from assistant.replay.storage.line_file import encoded
from assistant.settings.config import AnswerSettings, RerankingSettings, Settings
from stores.learning.lessons import tells_when_to_end

FACTS = {"best_epoch": 2, "by": "SFT", "temperature": 1.0, "threshold": 0.8}
MEASURED, *_ = (f"when {n}?" for n in range(99) if tells_when_to_end(f"when {n}?"))
TAUGHT = [f"when {n}?" for n in range(99) if not tells_when_to_end(f"when {n}?")]


class Trained:
    """Notes what each training is given, and by which adapters is judged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[list[dict[str, Any]]] = []
        self.options: list[list[str]] = []
        self.used: list[Path] = []

    def train(
        self, folder: Path, module: str, shown: Sequence[Path], options: Sequence[str], **_: Any
    ) -> Path:
        assert module == "program"
        self.rows.append([json.loads(line) for line in shown[0].read_text().splitlines()])
        self.options.append(list(options))
        made = folder / "candidate"
        (made / SERVED).mkdir(parents=True)
        (made / SETTINGS).write_text(json.dumps(FACTS))
        return made

    def evo(self, *judges: FixedJudge) -> Evo:
        training = Further("program", {"seed": 1}, 1, ("--base", "model"), self.train)
        users = FixedJudge({1: "answer", 2: "irrelevant"})
        return Evo(
            self.folder, interval=2, training=training, users=users, judges=judges, use=self.used.append
        )


@pytest.fixture
def trained(tmp_path: Path) -> Trained:
    return Trained(tmp_path / "trained")


def round_of(*questions: str) -> list[JudgedQuestion]:
    """What the model itself said of them is no label."""
    return [judged(question, 0.1, 0.9) for question in questions]


def test_a_round_learns_what_users_said_and_the_next_begins_with_its_adapters(trained: Trained) -> None:
    evo = trained.evo()
    assert evo.learn(round_of(MEASURED, TAUGHT[0])) == {"lessons": 2, "asked": 0, **FACTS}
    assert evo.learn(round_of(TAUGHT[1], TAUGHT[2]))["lessons"] == 4
    first, second = trained.rows
    assert first == second[:2]
    assert [row["step"] for row in second] == [0, 0, 1, 1]
    assert [row["measured"] for row in second] == [True, False, False, False]
    texts = [each.candidate.passage.text for each in round_of("x")[0].judgements]
    assert (first[1]["helped"], first[1]["useless"]) == ([texts[0]], [texts[1]])
    served = trained.folder / "after-2" / "candidate" / SERVED
    assert "--adapters" not in trained.options[0]
    assert trained.options[1][-2:] == ["--adapters", str(served)]
    assert trained.used == [served, trained.folder / "after-4" / "candidate" / SERVED]


def test_without_anything_new_or_anything_to_end_by_nothing_is_trained(trained: Trained) -> None:
    evo = trained.evo()
    assert evo.learn(round_of(TAUGHT[0], TAUGHT[1])) == {}
    assert evo.learn(round_of(MEASURED, MEASURED)) == {}
    assert evo.learn([judged(TAUGHT[2], 0.9)]) == {}  # nothing of it is useless
    assert trained.rows == []


def test_what_was_made_is_taken_up_and_what_is_gone_is_made_again(trained: Trained) -> None:
    told = round_of(MEASURED, *TAUGHT[:3])
    before = trained.evo()
    before.learn(told[:2])
    before.learn(told[2:])
    after = trained.evo()
    after.take_up(told)
    assert len(trained.rows) == 2
    assert trained.used[-1] == trained.used[1]
    after.learn(round_of(TAUGHT[4], TAUGHT[5]))
    assert [row["step"] for row in trained.rows[2]] == [0, 0, 1, 1, 2, 2]
    elsewhere = Trained(trained.folder.parent / "other")
    elsewhere.evo().take_up(told)
    assert elsewhere.rows == trained.rows[:2]


def test_where_judges_vote_users_say_nothing_after_the_first_training(trained: Trained) -> None:
    judges = FixedJudge({3: "answer", 4: "answer", 5: None}), FixedJudge({3: "answer", 5: None})
    evo = trained.evo(*judges)
    assert evo.learn(round_of(MEASURED, TAUGHT[0]))["asked"] == 0
    assert not judges[0].calls
    # sure of it, sure of it (τ itself), voted for, two to one against, nobody else votes
    told = judged(TAUGHT[1], 0.9, 0.2, 0.7, 0.4, 0.6)
    assert evo.learn([told, judged(MEASURED, 0.9, 0.1)])["asked"] == 3
    assert judges[0].calls == judges[1].calls == [[3, 4, 5], []]
    texts = [each.candidate.passage.text for each in told.judgements]
    *_, row, last = trained.rows[1]
    assert (row["helped"], row["useless"]) == ([texts[0], texts[2]], [texts[1], texts[3]])
    assert (last["question"], last["measured"]) == (MEASURED, False)  # its labels are no gold
    again = trained.evo(*judges)
    again.take_up([*round_of(MEASURED, TAUGHT[0]), told, judged(MEASURED, 0.9, 0.1)])
    assert again._rows == evo._rows


def test_two_judges_who_disagree_leave_it_to_the_model(trained: Trained) -> None:
    evo = trained.evo(FixedJudge({1: "answer", 2: None}), FixedJudge({2: "answer"}))
    evo.learn(round_of(MEASURED, TAUGHT[0]))
    assert evo._cautious(judged(TAUGHT[1], 0.7, 0.3)) == [True, None]  # of two valid votes one each: even


# The whole


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "cache").mkdir()
    (folder / "cache" / "encoders").symlink_to(minilm_folder.parent)
    (folder / "cache" / "readers").symlink_to(minilm_folder.parent.parent / "readers")
    replay_towns.write(folder / "towns")
    make_tiny_llama(folder / "model")
    return folder


def replay(home: Path, out: Path) -> Replay:
    towns = home / "towns"
    streamed = read_inputs(
        [str(towns / "towns.jsonl")], data=None, splits=(), passages=towns / "passages.jsonl"
    )
    methods = tuple(map(MethodChoice.read, ("evo", "evo-cautious")))
    plan = ReplayPlan(methods=methods, interval=8, accuracy=1.0)
    reranking = RerankingSettings(judge_model=str(home / "model"), judge_share=1.0)
    settings = Settings(answer=AnswerSettings(reader=False), reranking=reranking)
    return Replay(plan, streamed, out, settings=settings, live=locations(home))


@pytest.mark.slow
def test_until_the_first_round_it_judges_as_frozen_and_a_killed_replay_goes_on(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr(training_process, "train_in_child", in_process)
    whole = replay(home, tmp_path / "whole")
    runs = whole.play()
    frozen, evo = (runs[label, 1].asked for label in ("frozen", "evo"))
    trainings = [step.after for step in runs["evo", 1].learned if step.facts]
    assert trainings == [8, 16]
    assert [each.figures for each in frozen[:8]] == [each.figures for each in evo[:8]]
    scores = [[each.judgements[0].verdict.score for each in run] for run in (frozen, evo)]
    assert scores[0][:8] == scores[1][:8]
    assert scores[0][8:] != scores[1][8:]
    names = [[each.judgements[0].judge for each in run] for run in (frozen, evo)]
    assert set(names[0]) == set(names[1][:8])
    assert not set(names[0]) & set(names[1][8:])
    assert str(home) not in json.dumps(whole.identity)
    assert whole.identity["judge"]["kind"] == "users"

    cautious = runs["evo-cautious", 1]
    assert [each.figures for each in cautious.asked[:16]] == [each.figures for each in evo[:16]]
    first, second, *_ = (step.facts for step in cautious.learned)
    assert (first["asked"], first["by"], second.get("by", "ReplayDPO")) == (0, "SFT", "ReplayDPO")

    note, asked = Steps.note_asked, 0

    def killed(steps: Steps, step: Any) -> None:
        nonlocal asked
        note(steps, step)
        asked += 1
        if asked == 24 + 19:  # of the second method's, behind both trainings
            raise KeyboardInterrupt

    monkeypatch.setattr(Steps, "note_asked", killed)
    with pytest.raises(KeyboardInterrupt):
        replay(home, tmp_path / "killed").play()
    again = replay(home, tmp_path / "killed")
    reports = [encoded(report_of(each.identity, each.play())) for each in (whole, again)]
    assert reports[0] == reports[1]


def test_the_command_tells_what_is_lacking_and_what_it_cannot_be_played_beside(
    tmp_path: Path, minilm_folder: Path
) -> None:
    replay_towns.write(tmp_path / "towns")
    vouch = Vouch(tmp_path, minilm_folder.parent)
    command = ("replay", "towns/towns.jsonl", "--passages", "towns/passages.jsonl", "--method", "evo")
    assert "reranking.judge_model, which is not set" in vouch.run(*command, code=2).err
    assert "only frozen is played beside them" in vouch.run(*command, "--method", "luf", code=2).err
