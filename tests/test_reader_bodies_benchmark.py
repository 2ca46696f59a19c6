"""The benchmark of what of the reader's body learns."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from agents.models.networks.reader_network import base_folder, base_network
from agents.models.reader_inputs import KINDS, ReaderTokenizer
from assistant.learning.recipes.examples.example import Example
from benchmarks.reader_bodies import CHOICES, Kept, NetworkReader, kind_of, train
from benchmarks.reader_body_costs import OfKind, shipped_bytes
from benchmarks.reader_quality import macro_f1

TOKENIZER = ReaderTokenizer(base_folder() / "tokenizer.json")
EXAMPLES = [
    Example("where is the key?", "The key lies on the table.", judge=0, spans=((13, 25),)),
    Example("the key lies on the table", "The key lies there.", verify=2),
    Example("my cat is called Tom", sort=1),
]


def test_macro_f1_is_the_mean_over_the_classes_that_there_are() -> None:
    # class 0: precision 1/2 and recall 1; class 1: 1 and 1/2; class 2 is never right and does not count
    assert macro_f1([0, 0, 1], [0, 1, 1]) == pytest.approx(2 / 3)
    assert macro_f1([2, 0], [0, 0]) == pytest.approx(2 / 3)


def test_each_output_is_asked_of_its_kind_of_input() -> None:
    asked = (("judge", "starts", "ends"), ("starts", "ends"), ("verify",), ("sort",))
    assert [KINDS[kind_of(outputs)] for outputs in asked] == ["passage", "passage", "evidence", "sentence"]


def test_heads_and_adapters_are_a_small_part_of_what_all_layers_are() -> None:
    sizes = {trained: shipped_bytes(base_network(trained=trained)) for trained in CHOICES}
    assert sizes["heads"] == 2 * (3 * (3 * 768 + 3) + 2 * 384 + 2)
    assert 20e6 < sizes["all"] < 25e6
    assert sizes["heads"] < sizes["adapters"] < sizes["all"] / 10


def test_a_network_is_read_with_the_adapters_of_the_task() -> None:
    network = base_network(trained="adapters").eval()
    with torch.no_grad():
        for name, value in network.own_weights().items():
            if name.endswith("widen"):
                value[KINDS.index("evidence")] = 0.1
    reader = NetworkReader(network, TOKENIZER)
    (verified,) = reader.verify([("the key is red", "The key is blue.")])
    window = TOKENIZER.pair(
        TOKENIZER.tokens("the key is red"), TOKENIZER.tokens("The key is blue."), 0, limit=256
    )
    arrays = (torch.tensor([part]) for part in (window.ids, [0] * 6 + [1] * 6, [1] * 12))
    with torch.inference_mode():
        logits = OfKind(network, KINDS.index("evidence"))(*arrays)[3]
    assert list(verified) == pytest.approx(logits.softmax(-1)[0].tolist(), abs=1e-6)


def test_training_takes_so_many_windows() -> None:
    told: list[str] = []
    network = base_network(trained="heads")
    rate = train(network, EXAMPLES * 4, TOKENIZER, windows=40, learning_rate=1e-2, tell=told.append)
    assert rate > 0
    assert told[-1].startswith("48 of 40 windows")  # 36 make a step, 12 are an epoch
    assert not network.training


def test_kept_examples_are_made_once(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> list[Example]:
        made.append(1)
        return EXAMPLES

    keep = Kept(tmp_path / "kept")
    assert keep("some", make) == keep("some", make) == EXAMPLES
    assert len(made) == 1
    assert Kept(None)("some", make) == EXAMPLES
    assert len(made) == 2
