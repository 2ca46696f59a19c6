"""The reader's network: what of it learns, and that adapters read each kind of input in their own way."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import torch

from agents.models.networks.pooling import mean_of_tokens
from agents.models.networks.reader_network import ReaderNetwork, Trained, base_folder
from agents.models.reader_inputs import KINDS, ReaderTokenizer
from assistant.learning.recipes.examples.example import Example
from assistant.learning.recipes.reader.batches import LabelledBatch, label, labelled_batch
from assistant.learning.recipes.reader.steps import ReaderTrainer

WIDTH, LAYERS, RANK = 8, 2, 2
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
IDS = torch.tensor([[1, 5, 6, 2, 7, 2], [1, 5, 6, 2, 9, 2]])
TYPES = torch.tensor([[0, 0, 0, 0, 1, 1]] * 2)
MASK = torch.ones_like(IDS)


def network(trained: Trained) -> ReaderNetwork:
    torch.manual_seed(1)
    return ReaderNetwork(CONFIG, trained=trained, rank=RANK)


def examples(batch: LabelledBatch) -> LabelledBatch:
    """The same windows with ids that the small network knows."""
    return replace(batch, inputs=replace(batch.inputs, ids=batch.inputs.ids % 30))


@pytest.mark.parametrize(
    ("trained", "count"),
    [
        # a layer: joined attention, its mix, two halves that widen and narrow, two norms
        ("all", HEADS + LAYERS * (WIDTH * 24 + 24 + WIDTH * 8 + 8 + WIDTH * 16 + 16 + 16 * 8 + 8 + 4 * 8)),
        ("heads", HEADS),
        # a layer and kind: from 8 to 2 and on to 24, from 8 to 2 and on to 8
        ("adapters", HEADS + LAYERS * len(KINDS) * (8 * 2 + 2 * 24 + 8 * 2 + 2 * 8)),
    ],
)
def test_only_what_learns_is_shipped(trained: Trained, count: int) -> None:
    made = network(trained)
    assert sum(value.numel() for value in made.own_weights().values()) == count
    learning = {name for name, value in made.named_parameters() if value.requires_grad}
    assert learning == made.own_weights().keys()


def test_adapters_change_nothing_at_first() -> None:
    adapted, plain = network("adapters"), network("heads")
    plain.load_state_dict({n: v for n, v in adapted.state_dict().items() if not n.startswith("adapters.")})
    kinds = torch.tensor([0, 2])
    for one, other in zip(adapted(IDS, TYPES, MASK, kinds), plain(IDS, TYPES, MASK), strict=True):
        torch.testing.assert_close(one, other)


def test_each_row_is_read_by_the_adapters_of_its_kind() -> None:
    made = network("adapters")
    with torch.no_grad():
        for name, value in made.own_weights().items():
            if name.endswith("attend.widen"):
                value[KINDS.index("evidence")] = 1.0
    same = made(IDS, TYPES, MASK, torch.tensor([0, 0]))
    mixed = made(IDS, TYPES, MASK, torch.tensor([0, 1]))
    torch.testing.assert_close(mixed.verify[0], same.verify[0])
    assert (mixed.verify[1] - same.verify[1]).abs().max() > 1e-3


@pytest.mark.parametrize("trained", ["heads", "adapters"])
def test_a_frozen_body_stays_as_it_was(trained: Trained) -> None:
    made = network(trained)
    before = {name: value.clone() for name, value in made.state_dict().items()}
    trainer = ReaderTrainer(made, device="cpu", threads=1, freeze_layers=0)
    tokenizer = ReaderTokenizer(base_folder() / "tokenizer.json")
    given = Example("the cat", "a cat", verify=0), Example("my cat", sort=1)
    items = [label(one, tokenizer, 12, random.Random(1)) for one in given]
    for _ in range(2):  # the first step moves only what adapters widen by: it began at 0
        trainer.step([examples(labelled_batch(items))], learning_rate=0.1)
    trainer.close()
    moved = {name for name, value in made.state_dict().items() if not torch.equal(value, before[name])}
    assert moved
    assert moved <= made.own_weights().keys()
    assert any(name.startswith("adapters.") for name in moved) == (trained == "adapters")


def test_the_mean_of_tokens_leaves_padding_out() -> None:
    states = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [100.0, 100.0]]])
    assert mean_of_tokens(states, torch.tensor([[1, 1, 0]])).tolist() == [[2.0, 4.0]]
    assert mean_of_tokens(states, torch.tensor([[0, 0, 0]])).tolist() == [[0.0, 0.0]]
