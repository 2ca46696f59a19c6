"""The recipe that teaches the entity retriever by the generator."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from kill_points import ALL
from tiny_dialogues import HashedEncoder, write_dialogues
from torch.nn.functional import scaled_dot_product_attention

from agents.models.dialogue_arrays import Strings, Vocabulary
from agents.models.networks.dialogue import DialogueNetwork, Shape
from assistant.learning.recipes.dialogue.batches import batch_of
from assistant.learning.recipes.dialogue.lessons import Moment, moments
from assistant.learning.recipes.dialogue.replying import PointerModel
from assistant.learning.recipes.retriever.network import load_network
from assistant.learning.recipes.training_state import read_checkpoint, write_checkpoint
from training.dialogue.dual_feedback import METHODS, Feedback, recall, retrieved, train

WORDS = ["serves", "food", "it", "is", "please"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_dialogues(tmp_path)


@pytest.fixture
def model() -> PointerModel:
    torch.manual_seed(1)
    vocabulary = Vocabulary(WORDS)
    return PointerModel(DialogueNetwork(Shape(len(vocabulary))), vocabulary, Strings(HashedEncoder()))


def turns(data: Path, level: str = "dataset") -> list[Moment]:
    return list(moments(data, "camrest", "train", level))


def test_a_value_that_an_entity_has_not_is_as_unlikely_as_can_be(data: Path, model: PointerModel) -> None:
    feedback, (moment, *_) = Feedback(model), turns(data)
    asked = [(0, moment, entity, moment.reply) for entity in moment.entities]
    own, *others = feedback.of_words(asked)
    assert len(own) == len(moment.reply) + 1  # with the end
    assert own[0] > math.log(1e-4)  # its name
    assert all(other[0] == np.float32(math.log(1e-4)) for other in others)
    batch = batch_of(
        [moment.inputs(moment.entities[:1])], [moment.reply], model.vocabulary, model.strings, most_rows=1
    )
    with torch.no_grad():
        alone = model.network.token_likelihoods(batch)[0].clamp(min=math.log(1e-4))
    assert own == pytest.approx(alone.numpy(), abs=1e-5)  # Eq. 3, before its mean


def test_attention_is_what_the_words_ask_of_an_entitys_cells(
    data: Path, model: PointerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (moment, *_) = turns(data)
    rows = moment.entities[:3]
    crossed: list[tuple[torch.Tensor, torch.Tensor]] = []

    def look(asked: Any, keys: Any, values: Any, mask: torch.Tensor, *others: Any) -> torch.Tensor:
        if mask.dim() == 4:  # of the memory, not of the reply so far
            crossed.append((asked[0].double(), keys[0].double()))
        return scaled_dot_product_attention(asked, keys, values, mask, *others)

    monkeypatch.setattr("agents.models.networks.dialogue.scaled_dot_product_attention", look)
    found = Feedback(model).by_attention(moment, rows)
    width = len(moment.inputs(rows).rows[0])  # cells of each entity, the last of the memory
    for place in range(3):
        own = slice(-width * (3 - place), -width * (2 - place) or None)
        means = [(a @ k.transpose(1, 2))[:, :, own].mean() / k.shape[2] ** 0.5 for a, k in crossed]
        assert float(found[place]) == pytest.approx(float(sum(means) / len(means)), abs=1e-5)


def test_entities_are_retrieved_by_the_network_of_the_dialogue_alone(data: Path) -> None:
    network = load_network()
    found = retrieved(network, turns(data, "session"), 6)
    assert [{entity.name for entity in rows} for rows in found[:4]] == [
        {"place_0", "old_inn"},
        {"place_0", "old_inn"},
        {"place_1", "old_inn"},
        {"place_1", "old_inn"},
    ]
    figures = recall(network, turns(data))
    assert 0 <= figures["Re@1"] <= figures["Re@3"] <= figures["Re@7"] == 100  # there are four


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS if ALL else METHODS[:1])
def test_a_training_that_was_stopped_goes_on_to_the_same_weights(
    data: Path, tmp_path: Path, model: PointerModel, method: str
) -> None:
    generator = tmp_path / "dialogue.safetensors"
    write_checkpoint(generator, model.network.state_dict(), model.facts())

    def run(out: str, minutes: float, epochs: int = 2) -> None:
        asked = {"data": data, "generator": generator, "retriever": None, "out": tmp_path / out}
        asked |= {"sets": ["camrest"], "level": "dataset", "method": method, "negative": "rank_overlap"}
        asked |= {"seed": 0, "turns": 6}  # of eight
        train(argparse.Namespace(**asked, epochs=epochs, minutes=minutes), Strings(HashedEncoder()))

    run("whole", 10)
    run("parts", 1e-9)  # the first epoch always runs
    assert not (tmp_path / "parts" / "encoder").exists()
    run("parts", 10)
    whole, parts = (tmp_path / name for name in ("whole", "parts"))
    assert (whole / "state.safetensors").read_bytes() == (parts / "state.safetensors").read_bytes()
    assert (parts / "encoder" / "served").is_dir()
    before = load_network().state_dict()
    after, _ = read_checkpoint(whole / "state.safetensors")
    assert any(not torch.equal(before[n], t) for n, t in after.items() if n in before)
