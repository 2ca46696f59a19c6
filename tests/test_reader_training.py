"""The reader's training: its losses, the order of its examples, and that a stopped run goes on unharmed."""

from __future__ import annotations

import json
import math
import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace

from agents.models.networks.pooling import mean_of_tokens
from agents.models.reader import OnnxReader
from agents.models.reader_files import SMALL
from agents.models.reader_inputs import ReaderTokenizer, batch_of
from assistant.learning.recipes.training_state import read_checkpoint
from training.examples.example import Example
from training.reader import train as train_reader
from training.reader.batches import (
    MOST_WINDOWS,
    NO_LABEL,
    Position,
    TrainingBatches,
    by_length,
    grouped,
    label,
    labelled_batch,
)
from training.reader.export import LARGEST_MEAN_DIFFERENCE
from training.reader.loss import class_loss, place_loss
from training.reader.network import ReaderNetwork, base_folder, base_network
from training.reader.served_form import latin_vocabulary
from training.reader.served_weights import served_weights
from training.reader.steps import ReaderTrainer

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


# The network


WIDTH, LAYERS = 8, 2
CONFIG: dict[str, Any] = {
    "hidden_size": WIDTH,
    "vocab_size": 30,
    "max_position_embeddings": 12,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "num_hidden_layers": LAYERS,
}
HEADS = (3 + 3 + 4 + 5) * (2 * WIDTH + 1) + 2 * WIDTH + 2  # judge, verify, sort and relate; spans


def network() -> ReaderNetwork:
    torch.manual_seed(1)
    return ReaderNetwork(CONFIG)


def test_only_what_learns_is_shipped() -> None:
    made = network()
    # a layer: joined attention, its mix, two halves that widen and narrow, two norms
    layers = LAYERS * (WIDTH * 24 + 24 + WIDTH * 8 + 8 + WIDTH * 16 + 16 + 16 * 8 + 8 + 4 * 8)
    assert sum(value.numel() for value in made.own_weights().values()) == HEADS + layers
    learning = {name for name, value in made.named_parameters() if value.requires_grad}
    assert learning == made.own_weights().keys()


def test_the_mean_of_tokens_leaves_padding_out() -> None:
    states = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [100.0, 100.0]]])
    assert mean_of_tokens(states, torch.tensor([[1, 1, 0]])).tolist() == [[2.0, 4.0]]
    assert mean_of_tokens(states, torch.tensor([[0, 0, 0]])).tolist() == [[0.0, 0.0]]


def test_an_mpnet_body_computes_what_transformers_computes(tmp_path: Path) -> None:
    """Of the lowest layers: places, distances and padding included."""
    config = transformers.MPNetConfig(
        vocab_size=40,
        hidden_size=WIDTH,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=302,
        initializer_range=0.5,
    )
    torch.manual_seed(3)
    original = transformers.MPNetModel(config).eval()
    original.save_pretrained(tmp_path)
    made = base_network(tmp_path, layers=2).eval()
    ids = torch.randint(2, 40, (2, 290), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, 200:] = 0
    ids[mask == 0] = config.pad_token_id
    with torch.inference_mode():
        wanted = original(ids, mask, output_hidden_states=True).hidden_states[2]
        assert made.places is not None
        hidden = (1.0 - mask[:, None, None, :].float()) * -1e4 + made.places(290)
        states = made.embeddings(ids, torch.ones_like(ids))
        for layer in made.layers:
            states = layer(states, hidden)
    torch.testing.assert_close(states[mask == 1], wanted[mask == 1], atol=1e-4, rtol=1e-4)


def test_a_smaller_vocabulary_reads_its_words_as_the_whole_one_does(tmp_path: Path) -> None:
    words = ["<s>", "<pad>", "</s>", "[UNK]", "[unused1]", "cat", "猫", "##s", "–", "ж"]
    tokenizer = Tokenizer(WordPiece({w: n for n, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "[UNK]"])
    content = json.loads(tokenizer.to_str())
    old = latin_vocabulary(content)
    assert old == [0, 1, 2, 3, 5, 7, 8]
    smaller = ReaderTokenizer(json.dumps(content).encode())
    assert [old[i] for i in smaller.single("cats – cat 猫", limit=12).ids] == [0, 5, 7, 8, 5, 3, 2]
    made, whole = network(), network()
    made.keep_words(old)
    ids = torch.tensor([[0, 4, 5, 2]])
    kept, all_words = torch.tensor([old])[0][ids], torch.ones_like(ids)
    torch.testing.assert_close(
        made(ids, torch.zeros_like(ids), all_words).judge, whole(kept, torch.zeros_like(ids), all_words).judge
    )


def test_a_served_reader_becomes_weights_that_compute_nearly_the_same() -> None:
    made = base_network().eval()
    made.load_own_weights(served_weights(SMALL))
    served, tokenizer = OnnxReader(SMALL, threads=1), ReaderTokenizer(SMALL / "tokenizer.json")
    pair = tokenizer.tokens("when is it open?"), tokenizer.tokens("It opens at ten, and closes at six.")
    window = tokenizer.pair(*pair, 0, limit=64)
    batch = batch_of([window])
    with torch.inference_mode():
        found = made(*(torch.from_numpy(array) for array in (batch.ids, batch.types, batch.mask)))
    (wanted,) = served.logits([window])
    apart = [np.abs(values[0].numpy() - wanted[name]) for name, values in found._asdict().items()]
    assert np.concatenate(apart).mean() < LARGEST_MEAN_DIFFERENCE
