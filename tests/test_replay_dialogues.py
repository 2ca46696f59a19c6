"""vouch replay over task dialogues: replied to, corrected, learned from, and gone on with."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch
from test_replay_command import interrupt

from agents.models.dialogue_generator import SHIPPED
from assistant.learning.held_out.replies import is_sound_lesson
from assistant.learning.recipes.run import SETTINGS
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.runs.dialogues import (
    DialogueReplay,
    StreamedDialogues,
    corrections,
    lesson_of,
    read_dialogue_sets,
)
from assistant.replay.runs.plan import ReplayPlan
from assistant.settings.config import Settings
from assistant.settings.locations import Locations, find_locations
from stores.base.errors import WrongUsage

SHIPS = ("heron", "otter", "plover", "wren", "eel", "dunlin")
DUAL = MethodChoice.read("dual-feedback")


def write_ships(folder: Path, *, dialogues: int) -> Path:
    """Dialogues about where ships lie, as a set of this name has them. Returns the folder of the sets."""
    own = folder / "camrest"
    own.mkdir(parents=True)
    rows = [{"name": ship, "berth": f"berth_{place}"} for place, ship in enumerate(SHIPS, start=11)]
    with gzip.open(own / "test.jsonl.gz", "wt") as file:
        for number in range(dialogues):
            turns = []
            for row in (rows[number % 6], rows[(number + 1) % 6]):
                told = f"ahoy , {row['name']} is moored at {row['berth']}"
                entities = [row["name"], row["berth"]]
                turns.append(
                    {"user": f"which berth has {row['name']} ?", "system": told, "entities": entities}
                )
            kb = [rows[number % 6], rows[(number + 1) % 6], rows[(number + 3) % 6]]
            row = {"id": f"d{number}", "domain": "ships", "kb": kb, "turns": turns}
            file.write(json.dumps(row) + "\n")
    with gzip.open(own / "kb_dataset.jsonl.gz", "wt") as file:
        for number, row in enumerate(rows):
            file.write(json.dumps({"id": str(number), "domain": "ships", **row}) + "\n")
    return folder


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    return write_ships(tmp_path / "sets", dialogues=60)


def streamed(sets: Path) -> StreamedDialogues:
    return read_dialogue_sets(["camrest"], data=sets, splits=())


def test_a_stream_keeps_dialogues_whole_and_hangs_on_its_seed(sets: Path) -> None:
    plan = ReplayPlan(methods=(DUAL,), first=7)
    found = streamed(sets).turns(plan, 1)
    assert len(found) == 14
    assert all(one.dialogue == other.dialogue for one, other in zip(found[::2], found[1::2], strict=True))
    assert all(len(moment.said) == 1 + number % 2 for number, moment in enumerate(found))
    assert found == streamed(sets).turns(plan, 1)
    assert found != streamed(sets).turns(plan, 2)


def test_a_wrong_correction_tells_values_of_other_entities(sets: Path) -> None:
    turns = streamed(sets).turns(ReplayPlan(methods=(DUAL,)), 1)
    lessons = [lesson_of(number, moment, moment.entities) for number, moment in enumerate(turns, start=1)]
    assert corrections(lessons, accuracy=1, seed=1) == lessons
    wrong = corrections(lessons, accuracy=0, seed=1)
    assert all(one.reply != other.reply for one, other in zip(lessons, wrong, strict=True))
    assert all(is_sound_lesson(lesson) for lesson in lessons)
    mixed = corrections(lessons, accuracy=0.8, seed=1)
    assert 0.7 < sum(one == other for one, other in zip(lessons, mixed, strict=True)) / len(lessons) < 0.9


@pytest.mark.parametrize(
    ("names", "folder", "said"),
    [
        (["squad"], "sets", "squad is no set of task dialogues"),
        (["smd"], "sets", "is not there"),
        (["camrest"], "other", "--sets names the folder"),
    ],
)
def test_what_cannot_be_played_is_said(sets: Path, names: list[str], folder: str, said: str) -> None:
    with pytest.raises(WrongUsage, match=said):
        read_dialogue_sets(names, data=sets.parent / folder, splits=())


class Training:
    """In a training's place: the shipped generator comes of it."""

    def __init__(self) -> None:
        self.lessons: list[int] = []

    def __call__(self, folder: Path, module: str, shown: Sequence[Path], *_options: Any, **how: Any) -> Path:
        self.lessons.append(len(shown[0].read_text().splitlines()))
        made = folder / "candidate"
        shutil.copytree(SHIPPED, made / "served")
        (made / SETTINGS).write_text(json.dumps({"best_epoch": 3}))
        return made


def over(places: Locations, sets: Path, out: Path, training: Training) -> DialogueReplay:
    plan = ReplayPlan(methods=(DUAL,), interval=50, accuracy=1)
    return DialogueReplay(plan, streamed(sets), out, settings=Settings(), live=places, train=training)


@pytest.mark.slow
def test_it_learns_after_each_interval_and_goes_on_where_it_was(
    tmp_path: Path, sets: Path, minilm_folder: Path
) -> None:
    places = find_locations(os.environ, data=str(tmp_path / "data"))
    assert minilm_folder.is_relative_to(places.cache)
    training = Training()
    seen: list[int] = []

    def stop(what: str, done: int, of: int) -> None:
        seen.append(done)
        if what.startswith("dual-feedback") and "questions" in what and done == 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        over(places, sets, tmp_path / "out", training).play(stop)
    assert len(training.lessons) == 1
    runs = over(places, sets, tmp_path / "out", training).play()
    learning, frozen = runs["dual-feedback", 1], runs["frozen", 1]
    assert len(training.lessons) == 2 == len(learning.learned)
    assert training.lessons[0] < training.lessons[1]
    assert [step.after for step in learning.learned] == [50, 100]
    assert not any(step.facts["is_promoted"] for step in learning.learned)  # it is the same one
    assert [step.reply for step in learning.asked] == [step.reply for step in frozen.asked]
    assert {"BLEU", "Entity-F1"} == set(frozen.asked[0].figures)
    assert not (tmp_path / "out" / "runs" / "dual-feedback-seed-1" / "trained").exists()


@pytest.mark.slow
def test_killed_and_gone_on_with_it_learns_what_users_write(tmp_path: Path, minilm_folder: Path) -> None:
    """With real trainings: words that the shipped generator lacks are told in the end."""
    sets = write_ships(tmp_path / "sets", dialogues=150)
    told = []
    for name in ("one", "other"):
        vouch = Vouch(tmp_path / name, minilm_folder.parent)
        vouch.environment["PYTHONWARNINGS"] = "default"  # of libraries that export
        out = vouch.folder / "out"
        given = ["camrest", "--sets", str(sets), "--method", "dual-feedback", "--interval", "220"]
        given += ["--accuracy", "1", "--out", str(out), "--json", "--quiet"]
        if name == "other":
            interrupt(vouch.start("replay", *given), out / "runs" / "dual-feedback-seed-1", steps=230)
        running = vouch.start("replay", *given, "--fail-under", "gain/last third/BLEU=0.2")
        said, errors = running.communicate(timeout=600)
        assert not running.returncode, errors
        told.append(((out / "report.json").read_bytes(), said))
    assert told[0] == told[1]
    report = json.loads(told[0][0])
    assert report["learning"]["dual-feedback"]["kept"] == 1
    assert report["trainings"]["dual-feedback"]["1"][0]["reason"].startswith("Promoted")
