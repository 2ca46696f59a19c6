"""A collection learns: the network, its served form, the training, and a round from end to end."""

from __future__ import annotations

import json
import random
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_sources import TEXTS, export_of_mean, tiny_berts
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.losses.contrastive import info_nce
from agents.models.encoders.adapted_encoder import AdaptedEncoder, Adapter
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.encoders.prepared import ADAPTED, prepare_encoder
from agents.models.exporters.export_adapted import drawn, frozen
from agents.models.exporters.export_encoder import read_source
from agents.models.networks.adapted_bert import PLAIN, Bert
from agents.models.networks.fast_linear import linear
from assistant.learning.recipes.collections.from_use import (
    AdapterTraining,
    Rounds,
    read_lessons,
)
from assistant.learning.recipes.collections.recipe import FEWEST
from assistant.learning.recipes.from_shipped import SERVED
from assistant.learning.recipes.run import CannotTrain, Stopped, StopSignal
from assistant.learning.training_process import SETTINGS
from assistant.search.adapted import read_adapters

IDS = torch.tensor([[7, 3, 9, 4, 1], [2, 8, 5, 0, 0], [6, 6, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])
KINDS = "cat sun key blue".split()
WORDS = "lamp door wall roof".split()


@pytest.fixture(scope="module")
def bert() -> Bert:
    return frozen(read_source(tiny_berts() / "mean", "mean"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("adapted")
    return prepare_encoder(
        str(tiny_berts() / "mean"), cache, tell=lambda _: None, offline=True, exporter=ADAPTED
    )


def vectors(bert: Bert, adapter: Any = PLAIN, ids: Tensor = IDS, mask: Tensor = MASK) -> Tensor:
    return bert.upper(bert.lower(ids, mask), mask, adapter)


def changed(bert: Bert) -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(2)
    made = bert.low_rank(3, seed=1)
    return {name: part + torch.randn(part.shape, generator=draw) for name, part in made.items()}


def test_a_new_adapter_adds_nothing_and_a_trained_one_does(bert: Bert) -> None:
    torch.testing.assert_close(vectors(bert, bert.low_rank(3, seed=1)), vectors(bert), atol=1e-6, rtol=0)
    assert (vectors(bert, changed(bert)) - vectors(bert)).abs().max() > 1e-2


def test_padding_and_company_change_nothing(bert: Bert) -> None:
    together = vectors(bert, changed(bert))
    for row, length in enumerate(MASK.sum(1).tolist()):
        alone = vectors(bert, changed(bert), IDS[row : row + 1, :length], MASK[row : row + 1, :length])
        torch.testing.assert_close(alone[0], together[row], atol=1e-5, rtol=0)


def test_rows_may_have_an_adapter_each(bert: Bert) -> None:
    one, other = changed(bert), bert.low_rank(3, seed=5)
    both = {name: torch.stack([one[name], other[name], one[name]]) for name in one}
    each = vectors(bert, both)
    torch.testing.assert_close(each[[0, 2]], vectors(bert, one)[[0, 2]], atol=1e-6, rtol=0)
    torch.testing.assert_close(each[1], vectors(bert, other)[1], atol=1e-6, rtol=0)


def test_the_encoder_stays_as_it_is_and_each_part_of_an_adapter_learns(bert: Bert) -> None:
    before = {name: weight.clone() for name, weight in bert.weights.items()}
    adapter = {name: part.requires_grad_() for name, part in changed(bert).items()}
    vectors(bert, adapter)[0, 0].backward()  # type: ignore[no-untyped-call]
    assert all(weight.grad is None for weight in bert.weights.values())
    assert all(part.grad is not None and part.grad.abs().max() > 0 for part in adapter.values())
    assert all(torch.equal(bert.weights[name], weight) for name, weight in before.items())


def test_the_fast_layer_says_what_the_plain_one_says() -> None:
    draw = torch.Generator().manual_seed(0)
    given = torch.randn(3, 5, 8, generator=draw, requires_grad=True)
    weight, bias = (torch.randn(*shape, generator=draw, requires_grad=True) for shape in ((6, 8), (6,)))
    parts = (given, weight, bias)
    gradients = [
        torch.autograd.grad(layer(given, weight, bias).square().sum(), parts) for layer in (linear, F.linear)
    ]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-5)


def test_the_loss_falls_as_the_own_passage_comes_nearer_and_other_answers_do_not_count() -> None:
    passages = torch.eye(3)
    own, none = torch.tensor([0]), torch.zeros(1, 3, dtype=torch.bool)
    losses = [
        info_nce(F.normalize(torch.tensor([[near, 1.0, 0.5]]), dim=1), passages, own, none, temperature=0.1)
        for near in (0.1, 0.5, 2.0)
    ]
    assert losses[0] > losses[1] > losses[2] > 0
    also = torch.tensor([[False, True, True]])
    assert float(info_nce(torch.tensor([[0.0, 1.0, 0.0]]), passages, own, also, temperature=0.1)) == 0


def test_served_without_an_adapter_it_is_the_plain_encoder(served: Path) -> None:
    plain = OnnxEncoder(next(export_of_mean().glob("*/encoder.json")).parent)
    adapted = AdaptedEncoder(served)
    assert adapted.version == plain.version
    for texts in (list(TEXTS), ["key"]):
        np.testing.assert_allclose(adapted.encode_passages(texts), plain.encode_passages(texts), atol=1e-6)
        np.testing.assert_allclose(adapted.encode_queries(texts), plain.encode_queries(texts), atol=1e-6)


def test_served_under_adapters_it_says_what_torch_says(served: Path, bert: Bert) -> None:
    encoder = AdaptedEncoder(served)
    parts = [drawn(bert, 4, seed=seed) for seed in (1, 2)]
    one, other = (Adapter.of(down.numpy(), up.numpy(), encoder_version="") for down, up in parts)
    both = encoder.encode_query("where is the key?", [one, other])
    for row, each in zip(both, (one, other), strict=True):
        np.testing.assert_allclose(encoder.encode_query("where is the key?", [each])[0], row, atol=1e-6)
    assert np.abs(both[0] - both[1]).max() > 1e-3
    assert encoder.encode_query("x", []).shape == (0, encoder.dimension)
    passages = encoder.encode_passages_under([*TEXTS, *TEXTS], one)
    np.testing.assert_allclose(passages[: len(TEXTS)], passages[len(TEXTS) :], atol=1e-6)


def lessons(count: int, *, key: str = "shared/1", seed: int = 0) -> list[dict[str, Any]]:
    """What is asked for by one word stands under another, which the encoder cannot know."""
    draw, rows = random.Random(seed), []
    for number in range(count):
        place = draw.randrange(4)
        texts = [f"the {word} is on the table" for word in WORDS]
        rows.append(
            {
                "collection": key,
                "question": f"where is the {KINDS[place]} {number}?",
                "answers": [texts.pop(place)],
                "wrong": texts,
                "measured": number % 7 == 0,
            }
        )
    return rows


def trained(folder: Path, rows: list[dict[str, Any]], *, stop: StopSignal | None = None) -> Path:
    folder.mkdir()
    file, made = folder / "lessons.jsonl", folder / "candidate"
    first = {"encoder": str(tiny_berts() / "mean")}
    file.write_text("".join(json.dumps(row) + "\n" for row in (first, *rows)))
    settings = AdapterTraining(epochs=12, learning_rate=3e-2, rank=4)
    options = Namespace(lessons=file, out=made, settings=settings, resume=True)
    begun = Rounds(options, stop or StopSignal(), lambda *_, **__: None)
    begun.train()
    begun.finish()
    return made


def test_each_collection_with_enough_lessons_learns_what_is_meant_in_it(tmp_path: Path) -> None:
    rows = [*lessons(2 * FEWEST), *lessons(FEWEST - 1, key="user:1/2")]
    made = trained(tmp_path / "a", rows)
    facts = json.loads((made / SETTINGS).read_text())
    assert facts["best_epoch"] == 12
    [(key, figures)] = facts["collections"].items()
    assert key == "shared/1"
    assert figures["mrr"] > figures["mrr_before"] + 0.2
    assert set(read_adapters(made / SERVED, encoder_version="x")) == {"shared/1"}
    again = trained(tmp_path / "b", rows)
    versions = [read_adapters(f / SERVED, encoder_version="x")[key].version for f in (made, again)]
    assert versions[0] == versions[1]


def test_what_was_taken_back_leaves_no_trace(tmp_path: Path) -> None:
    rows = lessons(2 * FEWEST)
    without = trained(tmp_path / "a", rows[: FEWEST + 10])
    other = trained(tmp_path / "b", [*lessons(FEWEST, seed=9), *rows][FEWEST : 2 * FEWEST + 10])
    each = [read_adapters(f / SERVED, encoder_version="x")["shared/1"].version for f in (without, other)]
    assert each[0] == each[1]


def test_too_few_lessons_and_what_is_no_lesson_are_refused_and_a_stop_ends_it(tmp_path: Path) -> None:
    with pytest.raises(CannotTrain, match="No collection has"):
        trained(tmp_path / "a", lessons(FEWEST - 1))
    (tmp_path / "b").write_text("{}\n")
    with pytest.raises(CannotTrain):
        read_lessons(tmp_path / "b")
    stop = StopSignal()
    stop.came = True
    with pytest.raises(Stopped):
        trained(tmp_path / "c", lessons(2 * FEWEST), stop=stop)
    assert not (tmp_path / "c" / "candidate").exists()


@given(st.integers(1, 5000))
def test_few_lessons_are_gone_through_until_there_are_steps_enough(lessons: int) -> None:
    settings = AdapterTraining()
    a_time = -(-lessons // settings.batch)
    epochs = settings.epochs_of(lessons)
    assert epochs * a_time >= settings.fewest_steps
    assert epochs >= settings.epochs
    assert epochs == settings.epochs or (epochs - 1) * a_time < settings.fewest_steps
