"""A replay as a whole: the same bytes every time, also when it was killed; nothing is learned too early."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import replay_towns
from begun_processes import left_of, needs_ray
from replay_child import child_replay

from agents.models.reader_files import SMALL, ReaderDescription
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.methods.method import Frozen
from assistant.replay.runs.replay_assistant import own_settings
from assistant.replay.runs.steps import Steps
from assistant.settings.config import (
    EncoderSettings,
    IndexSettings,
    RerankingSettings,
    Settings,
    StoreSettings,
)
from stores.base.errors import WrongUsage

CHILD = Path(__file__).with_name("replay_child.py")
ASKED = 24


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "cache").mkdir()
    (folder / "cache" / "encoders").symlink_to(minilm_folder.parent)
    (folder / "cache" / "readers").symlink_to(minilm_folder.parent.parent / "readers")
    replay_towns.write(folder / "towns")
    return folder


def start(home: Path, out: Path, *how: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(CHILD), str(home), str(out), *how]
    # experiments/ is not installed
    places = {"PYTHONPATH": f"{CHILD.parents[1]}{os.pathsep}{out}", "PYTHONHASHSEED": "random"}
    return subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ | places)


def finished(home: Path, out: Path, *how: str) -> bytes:
    child = start(home, out, *how)
    _, errors = child.communicate(timeout=300)
    assert child.returncode == 0, errors.decode()
    return (out / "report.json").read_bytes()


def lines(out: Path, label: str) -> int:
    file = out / "runs" / f"{label}-seed-1" / "steps.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def killed_after(home: Path, out: Path, label: str, steps: int, *how: str) -> None:
    child = start(home, out, *how)
    deadline = time.monotonic() + 240
    while lines(out, label) < steps:
        assert child.poll() is None, child.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.communicate()


@pytest.fixture(scope="module")
def once(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run in one go."""
    folder = tmp_path_factory.mktemp("once")
    finished(home, folder)
    return folder


# The same bytes


def test_two_processes_give_the_same_report(home: Path, once: Path, tmp_path: Path) -> None:
    report = (once / "report.json").read_bytes()
    assert finished(home, tmp_path / "twice") == report
    told = json.loads(report)
    assert told["questions"] == ASKED
    assert [training["after"] for training in told["trainings"]["luf"]["1"]] == [6, 12, 18]
    assert told["figures"]["luf"] != told["figures"]["frozen"]


def test_a_killed_replay_goes_on_where_it_was_and_gives_the_same_report(
    home: Path, once: Path, tmp_path: Path
) -> None:
    """Killed in the frozen run and after two trainings: nothing is asked or trained twice."""
    out = tmp_path / "out"
    killed_after(home, out, "frozen", 5)
    killed_after(home, out, "luf", 16)  # 14 questions and 2 trainings
    kept = (out / "runs" / "luf-seed-1" / "steps.jsonl").read_bytes()
    assert finished(home, out) == (once / "report.json").read_bytes()
    steps = (out / "runs" / "luf-seed-1" / "steps.jsonl").read_bytes()
    assert steps.startswith(kept[: kept.rfind(b"\n") + 1])
    assert steps.count(b'"step": "asked"') == ASKED
    assert (out / "trained.log").read_text().split() == ["6", "12", "18"]


@pytest.mark.slow
def test_workers_play_the_runs_to_the_same_report_though_all_was_killed(
    home: Path, once: Path, tmp_path: Path
) -> None:
    needs_ray()
    out = tmp_path / "out"
    killed_after(home, out, "luf", 8, "ray")
    assert finished(home, out, "ray") == (once / "report.json").read_bytes()
    # Ray's own agents see within two minutes that they are left alone
    assert all("Agent" in command for command in left_of(str(out)))


def test_what_users_say_is_judged_apart_from_the_question_before(home: Path, tmp_path: Path) -> None:
    """Else a lesson has a passage twice, and no training can read it."""
    heard = child_replay(home, tmp_path / "heard", hears=True, first=10, interval=0).play()["luf", 1]
    for step in heard.asked:
        judged = [judgement.candidate.passage.version_id for judgement in step.judgements]
        assert judged
        assert len(set(judged)) == len(judged)
    alone = child_replay(home, tmp_path / "alone", first=1, interval=0).play()["luf", 1]
    first, same = heard.asked[0], alone.asked[0]  # before anything was said
    assert first.judgements == same.judgements
    assert first.figures["dense R@5 of the set"] == first.figures["dense R@5"] == same.figures["dense R@5"]


def test_a_killed_run_of_an_experiment_begins_anew(home: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def stop(what: str, done: int, of: int) -> None:
        if what.startswith("luf") and done == 3:
            raise Killed

    with pytest.raises(Killed):
        child_replay(home, tmp_path / "killed", hears=True, first=6, interval=0).play(stop)
    again = child_replay(home, tmp_path / "killed", hears=True, first=6, interval=0).play()["luf", 1]
    whole = child_replay(home, tmp_path / "whole", hears=True, first=6, interval=0).play()["luf", 1]
    assert [step.figures for step in again.asked] == [step.figures for step in whole.asked]
    assert [step.reply for step in again.asked] == [step.reply for step in whole.asked]


# Prequential


class Watched(Frozen):
    """Finds as the frozen one does, and notes what it was asked and shown."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def retrieve(self, question: Any, search: Any) -> Any:
        self.seen.append(question.id)
        return super().retrieve(question, search)

    def learn(self, judged: Sequence[Any]) -> dict[str, Any]:
        self.seen.append([each.asked.id for each in judged])
        return {}


def test_it_learns_after_every_interval_from_what_was_asked_since(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = Watched()
    replay = child_replay(home, tmp_path / "out", interval=10)
    monkeypatch.setattr(replay, "_method", lambda *given: method)
    monkeypatch.setattr(type(replay.plan), "played", property(lambda plan: (MethodChoice("frozen"),)))
    replay.play()
    ids = [seen for seen in method.seen if isinstance(seen, str)]
    assert len(ids) == ASKED
    assert method.seen == [*ids[:10], ids[:10], *ids[10:20], ids[10:20], *ids[20:]]


def test_figures_of_a_question_do_not_hang_on_later_ones(home: Path, once: Path, tmp_path: Path) -> None:
    whole = Steps(once / "runs" / "luf-seed-1" / "steps.jsonl")
    cut = child_replay(home, tmp_path / "cut", first=15).play()["luf", 1]
    assert [s.question for s in cut.asked] == [s.question for s in whole.asked[:15]]
    assert [s.figures for s in cut.asked] == [s.figures for s in whole.asked[:15]]


# What is not touched


def hash_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        digest.update(str(file.relative_to(folder)).encode())
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()


def test_the_store_of_the_chat_is_not_touched(home: Path, tmp_path: Path) -> None:
    from replay_child import locations

    from assistant.settings.config import Settings
    from assistant.wiring.assistant import Assistant

    live = Assistant(Settings(), locations(home), offline=True)
    live.catch_up()
    live.stores.journal.user_id("ann")
    live.close()
    before = hash_of(home / "data")
    child_replay(home, tmp_path / "out", hears=True, first=4).play()
    assert hash_of(home / "data") == before


def test_a_folder_in_the_data_directory_of_the_chat_is_refused(home: Path) -> None:
    with pytest.raises(WrongUsage, match="is in the data directory"):
        child_replay(home, home / "data" / "out")


def test_a_folder_that_holds_another_replay_is_refused(home: Path, tmp_path: Path) -> None:
    child_replay(home, tmp_path / "out", first=2).play()
    with pytest.raises(WrongUsage, match="holds another replay"):
        child_replay(home, tmp_path / "out", first=3).play()


@pytest.mark.parametrize("changed", ["temperature", "reader", "vouch"])
def test_what_was_played_by_another_reader_model_or_version_is_another_replay(
    home: Path, tmp_path: Path, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the same command would tell the figures of then, after an update too."""
    for _ in range(2):  # the second is the same
        child_replay(home, tmp_path)._check_plan()
    other = child_replay(home, tmp_path)
    if changed == "reader":
        read = ReaderDescription.read(SMALL)
        other_reader = replace(read, version="reader-other")
        monkeypatch.setattr("assistant.replay.runs.replay.ReaderDescription.read", lambda *of: other_reader)
    elif changed == "vouch":
        monkeypatch.setattr("assistant.replay.runs.replay.metadata.version", lambda name: "0.0.1")
    else:
        model = replace(other._settings.model, **{changed: 1})
        other._settings = replace(other._settings, model=model)
    with pytest.raises(WrongUsage, match="holds another replay"):
        other._check_plan()


def test_a_replay_has_settings_that_give_the_same_figures_everywhere() -> None:
    """Sums of floats hang on how many threads share them, an index on when it was filled."""
    of_person = Settings(
        encoder=EncoderSettings(threads=4),
        index=IndexSettings(kind="faiss"),
        store=StoreSettings(url="postgresql://ann@localhost/vouch"),
        reranking=RerankingSettings(min_judged=3, judge="scores"),
    )
    own = own_settings(of_person, learns=False, min_judged=7)
    assert (own.encoder.threads, own.index.kind, own.store.url) == (1, "exact", "")
    assert (own.reranking.min_judged, own.reranking.judge, own.memory.learn) == (7, "scores", False)
    assert own_settings(of_person, learns=True, min_judged=7, judge="reader").reranking.judge == "reader"


# Users' own memory


def test_gold_in_a_users_own_memory_is_found_by_its_name(home: Path, tmp_path: Path) -> None:
    """A conversation: what was said stands in its user's memory, and answers that user's questions alone."""
    replay = child_replay(home, tmp_path / "out", interval=0)
    said = [replace(p, owner="ann", session=1) for p in replay._streamed.passages]
    asked = tuple(replace(q, user="ann") for q in replay._streamed.parts[0][:4])
    strangers = tuple(replace(q, user="bob", id=f"bob {q.id}") for q in asked)
    replay._streamed = replace(replay._streamed, passages=tuple(said), parts=((*asked, *strangers),))
    steps = replay.play()["frozen", 1]
    found = {step.question: step.figures["fused R@5"] for step in steps.asked}
    assert found == {q.id: 1.0 for q in asked} | {q.id: 0.0 for q in strangers}
