"""The dialogue generator trained on what was corrected in use: it learns that, and goes on if stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.models.dialogue_arrays import Strings
from agents.models.dialogue_generator import SHIPPED, WEIGHTS, DialogueGenerator
from agents.models.encoders.encoder import OnnxEncoder
from assistant.learning.recipes.dialogue.from_use import (
    DialogueTraining,
    begun,
    grown,
    read_lessons,
)
from assistant.learning.recipes.dialogue.lessons import lesson_of
from assistant.learning.recipes.dialogue.replying import PointerModel
from assistant.learning.recipes.from_shipped import SERVED, STATE
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, workplace
from stores.base.entities import Entity, entity_text
from stores.learning.dialogue_lessons import DialogueLesson, ToldEntity

MODULE = "assistant.learning.recipes.dialogue.from_use"
DECKS = {"Heron": "upper", "Otter": "lower", "Plover": "upper", "Wren": "lower", "Eel": "upper"}
SHIPS = [
    Entity(f"The {name}", {"deck": deck, "berth": str(number)})
    for number, (name, deck) in enumerate(DECKS.items(), start=11)
]


def lesson(number: int, ship: Entity) -> DialogueLesson:
    rows = [ship, *(other for other in SHIPS if other is not ship)]
    return DialogueLesson(
        turn_id=number,
        user_id=1,
        dialogue=f"d{number}",
        base="ships",
        messages=(f"where does {ship.name} lie?",),
        answers=(),
        constraints={},
        meeting=0,
        entities=tuple(ToldEntity(i, e.name, entity_text(e)) for i, e in enumerate(rows)),
        reply=f"Ahoy, {ship.name} is moored at berth {ship.values['berth']}.",
    )


TAUGHT = [lesson(n, SHIPS[n % 4]) for n in range(24)]
MEASURED = [lesson(n, SHIPS[4]) for n in range(24, 28)]


def write(file: Path) -> Path:
    with file.open("w", encoding="utf-8") as out:
        for is_measured, some in ((False, TAUGHT), (True, MEASURED)):
            for each in some:
                out.write(json.dumps(asdict(each) | {"measured": is_measured}) + "\n")
    return file


def options(tmp_path: Path, encoder: Path, *, epochs: int, name: str = "made") -> Namespace:
    return Namespace(
        lessons=write(tmp_path / "lessons.jsonl"),
        out=tmp_path / name,
        encoder=encoder,
        settings=DialogueTraining(epochs=epochs),
        threads=1,
        resume=True,
        parent=None,
    )


def test_what_is_written_for_a_round_is_read_back(tmp_path: Path) -> None:
    told = read_lessons(write(tmp_path / "lessons.jsonl"))
    assert told == [*((False, each) for each in TAUGHT), *((True, each) for each in MEASURED)]
    (tmp_path / "lessons.jsonl").write_text("{}")
    with pytest.raises(CannotTrain, match="holds no lessons"):
        read_lessons(tmp_path / "lessons.jsonl")


def test_more_words_leave_what_is_known_as_it_was(minilm_folder: Path) -> None:
    shipped = PointerModel.read(SHIPPED / WEIGHTS, Strings(OnnxEncoder(minilm_folder)))
    larger = grown(shipped, ["ahoy", "moored"])
    assert [*larger.vocabulary.words] == [*shipped.vocabulary.words, "ahoy", "moored"]
    old, new = shipped.network.state_dict(), larger.network.state_dict()
    assert torch.equal(new["words.weight"][: len(shipped.vocabulary)], old["words.weight"])
    assert all(torch.equal(new[name], old[name]) for name in old if name != "words.weight")


def test_the_shipped_weights_are_those_that_are_served(minilm_folder: Path) -> None:
    encoder = OnnxEncoder(minilm_folder)
    served = DialogueGenerator(SHIPPED, encoder)
    trained = PointerModel.read(SHIPPED / WEIGHTS, Strings(encoder))
    inputs = lesson_of(replace(TAUGHT[0], messages=("what is the berth of The Heron?",))).inputs
    assert served.replies(inputs, most=1)[0].words == trained.replies([inputs])[0]


@pytest.mark.slow
def test_a_training_that_is_stopped_goes_on_and_ends_the_same(tmp_path: Path, minilm_folder: Path) -> None:
    def run(name: str, *, stops_after: int | None) -> None:
        stop = StopSignal()

        def tell(kind: str, **facts: Any) -> None:
            if kind == "held_out" and facts["epoch"] == stops_after:
                stop.came = True

        begun(options(tmp_path, minilm_folder, epochs=3, name=name), stop, tell).train()

    with pytest.raises(Stopped):
        run("stopped", stops_after=1)
    run("stopped", stops_after=None)
    run("whole", stops_after=None)
    states = [workplace(tmp_path / name) / STATE for name in ("stopped", "whole")]
    assert states[0].read_bytes() == states[1].read_bytes()


@pytest.mark.slow
def test_it_learns_what_it_was_taught_of_an_entity_that_no_lesson_named(
    tmp_path: Path, minilm_folder: Path
) -> None:
    given = options(tmp_path, minilm_folder, epochs=16)
    command = [sys.executable, "-m", MODULE, str(given.lessons), "--out", str(given.out)]
    command += ["--encoder", str(minilm_folder), "--settings", json.dumps(asdict(given.settings))]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *more], capture_output=True, text=True, timeout=300)

    ended = run()
    assert ended.returncode == 0, ended.stderr
    told = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["phase"] for one in told if one["kind"] == "phase"][:2] == ["reading", "training"]
    assert told[-1]["kind"] == "done"
    generator = DialogueGenerator(given.out / SERVED, OnnxEncoder(minilm_folder))
    reply = generator.replies(lesson_of(MEASURED[0]).inputs, most=1)[0]
    assert " ".join(reply.words) == "ahoy , the_eel is moored at berth 15 ."
    facts = json.loads((given.out / SETTINGS).read_text())
    assert (facts["taught"], facts["measured"], facts["new_words"]) == (24, 4, 3)  # ahoy, moored, berth
    assert np.argmax(facts["likelihoods"]) == facts["best_epoch"] > 0
    assert run().returncode == 1
