"""The reader's training: its losses, the order of its examples, and that a stopped run goes on unharmed."""

from __future__ import annotations

import math
import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from agents.models.networks.reader_network import base_folder
from agents.models.reader_inputs import ReaderTokenizer
from assistant.learning.recipes.examples.example import Example
from assistant.learning.recipes.reader import train as train_reader
from assistant.learning.recipes.reader.batches import (
    MOST_WINDOWS,
    NO_LABEL,
    Position,
    TrainingBatches,
    by_length,
    grouped,
    label,
    labelled_batch,
)
from assistant.learning.recipes.reader.loss import class_loss, place_loss
from assistant.learning.recipes.reader.steps import ReaderTrainer
from assistant.learning.recipes.training_state import read_checkpoint

TOKENIZER = ReaderTokenizer(base_folder() / "tokenizer.json")
LONG = "nothing is said here. " * 40 + "The key lies on the table."
KEY = (LONG.index("The key"), LONG.index(" lies"))
EXAMPLES = [
    Example("where is the key?", "The key lies on the table.", judge=0, spans=((13, 25),)),
    Example("where is the cat?", "The key lies on the table.", judge=2, spans=()),
    Example("the key lies on the table", "The key lies there.", verify=2),
    Example("my cat is called Tom", sort=1),
]


def rng() -> random.Random:
    return random.Random(1)


def test_the_loss_of_a_class_counts_only_labelled_rows() -> None:
    logits = torch.log(torch.tensor([[1.0, 1.0, 2.0], [5.0, 1.0, 1.0]]))
    assert class_loss(logits, torch.tensor([2, NO_LABEL])).item() == pytest.approx(math.log(2))
    assert class_loss(logits, torch.tensor([NO_LABEL, NO_LABEL])).item() == 0


def test_the_loss_of_places_takes_any_right_one_among_the_allowed() -> None:
    logits = torch.log(torch.tensor([[1.0, 9.0, 2.0, 1.0], [7.0, 7.0, 7.0, 7.0]]))
    right = torch.tensor([[False, False, True, True], [True, False, False, False]])
    allowed = torch.tensor([[True, False, True, True]] * 2)
    counts = torch.tensor([True, False])
    assert place_loss(logits, right, allowed, counts).item() == pytest.approx(math.log(4 / 3))


def test_the_window_of_a_long_passage_holds_its_answer() -> None:
    for seed in range(20):
        item = label(Example("where?", LONG, spans=(KEY,)), TOKENIZER, 40, random.Random(seed))
        ((first, last),) = item.places
        offsets = item.window.offsets
        at = item.window.second_at
        assert LONG[offsets[first - at][0] : offsets[last - at][1]] == "The key"
        assert item.window.length <= 40


def test_of_an_answer_longer_than_the_window_its_beginning_is_read() -> None:
    sentence = "nothing is said here. "  # 5 tokens
    passage, begin = sentence * 40, len(sentence) * 20
    answer = (begin, begin + len(sentence) * 8)  # 40 tokens; 35 fit beside [CLS], "where", "?", [SEP], [SEP]
    for seed in range(20):
        item = label(Example("where?", passage, spans=(answer,)), TOKENIZER, 40, random.Random(seed))
        assert [item.window.offsets[0][0], item.window.length] == [begin, 40]
        assert item.places == ()
        assert not labelled_batch([item]).has_spans.any()  # cut in two, it is neither there nor absent


def test_labels_stand_where_they_are_known() -> None:
    batch = labelled_batch([label(example, TOKENIZER, 40, rng()) for example in EXAMPLES])
    assert batch.judge.tolist() == [0, 2, NO_LABEL, NO_LABEL]
    assert batch.verify.tolist() == [NO_LABEL, NO_LABEL, 2, NO_LABEL]
    assert batch.sort.tolist() == [NO_LABEL, NO_LABEL, NO_LABEL, 1]
    assert batch.has_spans.tolist() == [True, True, False, False]
    assert [row.nonzero()[0].tolist() for row in batch.starts[:2]] == [[10], [0]]  # "on", [CLS]
    assert [row.nonzero()[0].tolist() for row in batch.ends[:2]] == [[12], [0]]  # "table"


def test_batches_keep_to_their_tokens_and_windows() -> None:
    items = [label(Example("word " * (n % 30)), TOKENIZER, 64, rng()) for n in range(200)]
    batches = by_length(items, 200)
    assert sum(map(len, batches)) == 200
    for batch in batches:
        assert len(batch) <= MOST_WINDOWS
        assert len(batch) * max(item.window.length for item in batch) <= 200
    steps = grouped(batches, 30)
    assert [batch for step in steps for batch in step] == batches
    assert all(sum(map(len, step)) >= 30 for step in steps[:-1])


def many() -> list[Example]:
    return [Example(f"sentence number {n}", sort=n % 3) for n in range(300)]


def training_batches(position: Position | None = None) -> TrainingBatches:
    found = TrainingBatches(
        many(), TOKENIZER, seed=1, batch_tokens=100, step_windows=40, position=position or Position()
    )
    found.window = 32
    return found


def test_a_pass_takes_every_example_once_and_the_next_in_another_order() -> None:
    batches = training_batches()
    steps = iter(batches)
    seen: list[list[tuple[int, ...]]] = [[], []]
    for epoch in seen:
        while len(epoch) < 300:
            epoch += [tuple(row.tolist()) for batch in next(steps) for row in batch.inputs.ids]
    assert sorted(seen[0]) == sorted(seen[1])
    assert seen[0] != seen[1]


def test_batches_go_on_from_any_position() -> None:
    batches = training_batches()
    steps = iter(batches)
    for _ in range(5):
        next(steps)
    again = iter(training_batches(batches.position))
    for _ in range(8):  # into the next pass
        one, other = next(steps), next(again)
        assert [b.inputs.ids.tolist() for b in one] == [b.inputs.ids.tolist() for b in other]


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "torn").write_bytes(b"\x09\x00")
    with pytest.raises(OSError, match="cannot be read"):
        read_checkpoint(tmp_path / "torn")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight examples instead of the data folder."""
    monkeypatch.setattr(train_reader, "examples", lambda *_, **__: EXAMPLES * 2)


def train(out: Path, *more: str) -> int:
    options = ["--steps", "4", "--threads", "1", "--step-windows", "3", "--windows", "32", "48"]
    return train_reader.main(["data", "--out", str(out), *options, *more])


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_a_stopped_run_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "whole") == 0

    step = ReaderTrainer.step

    def stopped_in_the_second(
        self: ReaderTrainer, batches: Sequence[object], *, learning_rate: float
    ) -> object:
        calls.append(len(batches))
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(self, batches, learning_rate=learning_rate)  # type: ignore[arg-type]

    calls: list[int] = []
    monkeypatch.setattr(ReaderTrainer, "step", stopped_in_the_second)
    assert train(tmp_path / "stopped") == 130
    assert "Stopped after step 2" in capsys.readouterr().err
    assert train(tmp_path / "stopped", "--resume") == 0
    assert len(calls) == 4

    whole, stopped = (load_file(tmp_path / name / "reader.safetensors") for name in ("whole", "stopped"))
    assert all(torch.equal(whole[name], stopped[name]) for name in whole)
    assert all(value.dtype == torch.float16 for value in whole.values())


@pytest.mark.usefixtures("few")
def test_a_run_goes_on_only_with_its_own_options(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nothing to go on from"):
        train(tmp_path, "--resume")
    assert train(tmp_path) == 0
    with pytest.raises(SystemExit, match="seed 1"):
        train(tmp_path, "--resume", "--seed", "2")


@pytest.mark.usefixtures("few")
def test_frozen_layers_stay_as_they_were(tmp_path: Path) -> None:
    assert train(tmp_path, "--freeze-layers", "5") == 0
    base = train_reader.base_network(seed=1).own_weights()
    trained = load_file(tmp_path / "reader.safetensors")
    moved = {
        name.split(".")[1]
        for name in base
        if name.startswith("layers.") and not torch.equal(base[name].half(), trained[name])
    }
    assert moved == {"5"}
