"""The query model trained on follow-ups that found their answer: what it learns, and that it goes on."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_llama import make_tiny_llama

from agents.models.exporters.export_adapters import exported, served
from agents.models.networks.causal_lm import form_of, load, with_adapters
from assistant.learning.recipes.from_shipped import SERVED, STATE
from assistant.learning.recipes.query import from_use
from assistant.learning.recipes.query.from_use import (
    QueryTraining,
    Tried,
    begun,
    loss_of,
    read_lessons,
)
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, workplace
from assistant.learning.recipes.training_state import write_checkpoint
from assistant.learning.shipped_lessons import rows_of
from stores.learning.follow_ups import FollowUp

EARLIER = (("who walked on the moon?", "Neil Armstrong"),)
REWRITTEN = Tried("when?", EARLIER, 0.2, (("when on the moon?", 1.0), ("where?", 0.1)))
LEFT = Tried("what is bread?", EARLIER, 1.0, (("what is the moon?", 0.1),))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    make_tiny_llama(folder)
    return folder


@pytest.fixture(scope="module")
def shipped(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adapters of the tiny model in place of those that Vouch comes with."""
    pytest.importorskip("gguf")
    folder = tmp_path_factory.mktemp("shipped")
    base = load(tiny)
    torch.manual_seed(0)
    model = with_adapters(base, rank=2, alpha=4)
    write_checkpoint(folder / "a.safetensors", model.trained, form_of(base) | {"alpha": 4})
    exported(folder / "a.safetensors", file := folder / "adapters.gguf")
    return file


@pytest.fixture(scope="module")
def whole(tiny: Path, shipped: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training in one go, of two epochs."""
    folder = tmp_path_factory.mktemp("whole")
    begun(options(folder, tiny, shipped), StopSignal(), lambda kind, **facts: None).train()
    return folder


def write(file: Path, some: list[tuple[bool, Tried]]) -> Path:
    rows = [
        {"measured": m, "question": t.question, "earlier": t.earlier, "own": t.own, "ways": t.ways}
        for m, t in some
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def options(folder: Path, tiny: Path, shipped: Path, *, epochs: int = 2) -> argparse.Namespace:
    told = [(False, REWRITTEN), (False, LEFT), (True, REWRITTEN), (True, Tried("so?", EARLIER, 0.0, ()))]
    return argparse.Namespace(
        lessons=write(folder / "lessons.jsonl", told),
        out=folder / "made",
        base=tiny,
        adapters=shipped,
        settings=QueryTraining(epochs=epochs, learning_rate=1e-2),
        threads=1,
        resume=True,
        parent=None,
    )


def test_what_is_written_for_a_round_is_read_back(tmp_path: Path) -> None:
    some = [(False, REWRITTEN), (True, LEFT)]
    assert read_lessons(write(tmp_path / "lessons.jsonl", some)) == some
    (tmp_path / "lessons.jsonl").write_text('{"question": 1}')
    with pytest.raises(CannotTrain, match="holds no follow-ups"):
        read_lessons(tmp_path / "lessons.jsonl")


def test_what_finds_less_than_the_question_is_never_learned_to_be_written() -> None:
    assert (REWRITTEN.best, REWRITTEN.is_written) == (("when on the moon?", 1.0), True)
    assert not LEFT.is_written
    assert not Tried("so?", EARLIER, 0.0, ()).is_written


def test_the_loss_knows_which_way_found_more(tiny: Path) -> None:
    """The chance of "same" rises where the question alone found more, and falls where it found less."""
    base = load(tiny)
    same = base.tokenizer(" same", add_special_tokens=False).input_ids[0]
    weight = base.network.get_output_embeddings().weight
    bias = torch.zeros(len(weight), requires_grad=True)
    head = base.network.lm_head.forward
    base.network.lm_head.forward = lambda states: head(states) + bias
    for tried, sign in ((LEFT, -1), (REWRITTEN, 1)):
        [gradient] = torch.autograd.grad(loss_of(base, [tried]), bias)
        assert gradient[same] * sign > 0


def test_nothing_is_chosen_where_there_is_one_way_alone(tiny: Path) -> None:
    assert loss_of(load(tiny), [Tried("so?", EARLIER, 1.0, ())]).item() == 0


def test_a_training_that_is_stopped_goes_on_and_ends_the_same(
    tmp_path: Path, tiny: Path, shipped: Path, whole: Path
) -> None:
    def run(*, stops_after: int | None) -> None:
        stop = StopSignal()

        def tell(kind: str, **facts: Any) -> None:
            if kind == "held_out" and facts["epoch"] == stops_after:
                stop.came = True

        begun(options(tmp_path, tiny, shipped), stop, tell).train()

    with pytest.raises(Stopped):
        run(stops_after=1)
    run(stops_after=None)
    states = [workplace(folder / "made") / STATE for folder in (tmp_path, whole)]
    assert states[0].read_bytes() == states[1].read_bytes()


def test_with_other_lessons_a_training_begins_anew(
    tmp_path: Path, tiny: Path, shipped: Path, whole: Path
) -> None:
    told: list[str] = []

    def tell(kind: str, **_facts: Any) -> None:
        told.append(kind)

    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    begun(given := options(tmp_path, tiny, shipped), StopSignal(), tell)
    assert told.pop() == "resumed"
    write(given.lessons, [(False, LEFT), (True, REWRITTEN)])
    begun(given, StopSignal(), tell)
    assert told.pop() == "held_out"


def test_the_best_epoch_is_served(tmp_path: Path, tiny: Path, shipped: Path) -> None:
    given = options(tmp_path, tiny, shipped, epochs=3)
    assert from_use.run(lambda: given, begun) == 0
    told = json.loads((given.out / SETTINGS).read_text())
    assert (told["taught"], told["measured"], told["found_nothing"]) == (2, 1, 1)
    assert told["best_epoch"] == max(range(4), key=told["likelihoods"].__getitem__) > 0
    base = load(tiny)
    model = with_adapters(base, rank=2, alpha=4)
    before, after = (
        served(file, model.trained, form_of(base)) for file in (shipped, given.out / SERVED / "adapters.gguf")
    )
    assert any((before[name] != after[name]).any() for name in before)


def test_too_few_lessons_are_told(tmp_path: Path, tiny: Path, shipped: Path) -> None:
    given = options(tmp_path, tiny, shipped)
    write(given.lessons, [(False, LEFT)])
    with pytest.raises(CannotTrain, match="too few"):
        begun(given, StopSignal(), lambda kind, **facts: None)


def follow_up(number: int) -> FollowUp:
    return FollowUp(number, 1, f"s{number}", f"and {number}?", ("so?",), ("It is. [1]",), (1,), (number,))


def test_each_way_is_searched_with_and_so_is_the_question() -> None:
    told: list[tuple[int, int]] = []
    rows = rows_of(
        [follow_up(1), follow_up(2)],
        lambda done, of: told.append((done, of)),
        earlier=lambda each: [(each.messages[0], "It is")],
        ways=lambda each: [f"{each.question} alone"] if each.turn_id == 1 else [],
        found=lambda each, alone: 1.0 if alone else 0.5,
    )
    first, second = rows
    assert first == {
        "measured": follow_up(1).tells_when_to_end,
        "question": "and 1?",
        "earlier": [("so?", "It is")],
        "own": 0.5,
        "ways": [("and 1? alone", 1.0)],
    }
    assert (second["own"], second["ways"]) == (0.5, [])
    assert told == [(0, 2), (1, 2)]
