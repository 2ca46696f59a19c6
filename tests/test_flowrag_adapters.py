"""Adapters of a frozen encoder: what they change, what they leave as it was, and that they learn."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere
from transformers import BertConfig, BertModel

from agents.models.networks.adapted_bert import PLAIN, Adapter, Bert
from agents.models.networks.fast_linear import linear
from experiments.flowrag.learning import Pair, batches, train
from experiments.flowrag.printed import UPPER, encode, prompts

WIDTH, COUNT, RANK = 16, 5, 3
IDS = torch.tensor([[7, 3, 9, 4, 1], [2, 8, 5, 0, 0], [6, 6, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])


@pytest.fixture(scope="module")
def model() -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30,
        hidden_size=WIDTH,
        num_hidden_layers=6,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.2,
    )
    return BertModel(config, add_pooling_layer=False).eval()


@pytest.fixture(scope="module")
def bert(model: BertModel) -> Bert:
    return Bert.of(model)


def low_rank(rank: int = RANK, width: int = WIDTH) -> dict[str, Tensor]:
    """New LoRA of six layers."""
    weights = {"embeddings.LayerNorm.weight": torch.ones(width)}
    return Bert(weights, layers=6, heads=2, epsilon=1e-12).low_rank(rank, seed=1)


def new(kind: str) -> dict[str, Tensor]:
    """An adapter that changes something."""
    made = prompts(UPPER, COUNT, WIDTH, seed=1) if kind == "prompts" else low_rank()
    draw = torch.Generator().manual_seed(2)
    return {name: each + torch.randn(each.shape, generator=draw) for name, each in made.items()}


def vectors(bert: Bert, adapter: Adapter = PLAIN, ids: Tensor = IDS, mask: Tensor = MASK) -> Tensor:
    return bert.upper(bert.lower(ids, mask), mask, adapter)


def plain(model: BertModel, ids: Tensor = IDS, mask: Tensor = MASK) -> Tensor:
    """As Hugging Face has it."""
    states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    return F.normalize((states * mask[..., None]).sum(1), dim=1)


@pytest.mark.parametrize("adapter", [PLAIN, low_rank()], ids=["none", "new LoRA"])
def test_no_prompts_and_untrained_lora_are_the_plain_encoder(
    model: BertModel, bert: Bert, adapter: Adapter
) -> None:
    torch.testing.assert_close(vectors(bert, adapter), plain(model), atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", ["prompts", "lora"])
def test_an_adapter_changes_the_vectors(bert: Bert, kind: str) -> None:
    assert (vectors(bert, new(kind)) - vectors(bert)).abs().max() > 1e-2


@pytest.mark.parametrize("kind", ["prompts", "lora"])
def test_the_printed_form_reads_both_kinds_as_the_product_does(bert: Bert, kind: str) -> None:
    printed = encode(bert, IDS, MASK, new(kind), is_fused=False).vectors
    torch.testing.assert_close(F.normalize(printed, dim=1), vectors(bert, new(kind)), atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", ["prompts", "lora"])
def test_padding_and_company_change_nothing(bert: Bert, kind: str) -> None:
    together = vectors(bert, new(kind))
    for row, length in enumerate(MASK.sum(1).tolist()):
        alone = vectors(bert, new(kind), IDS[row : row + 1, :length], MASK[row : row + 1, :length])
        torch.testing.assert_close(alone[0], together[row], atol=1e-5, rtol=0)


def test_the_order_of_prompts_changes_nothing(bert: Bert) -> None:
    adapter = new("prompts")
    turned = {name: each.flip(0) for name, each in adapter.items()}
    torch.testing.assert_close(vectors(bert, turned), vectors(bert, adapter), atol=1e-6, rtol=0)


def test_prompts_that_nobody_attends_to_leave_the_text_where_it_was(bert: Bert) -> None:
    """With keys far from all queries the plain vectors come back: no position is moved, no token added."""
    weights = dict(bert.weights)
    for n in UPPER:
        at = f"encoder.layer.{n - 1}.attention.self"
        weights[f"{at}.query.weight"] = torch.zeros(WIDTH, WIDTH)
        weights[f"{at}.query.bias"] = torch.full((WIDTH,), 1e3)
        weights[f"{at}.key.weight"] = torch.zeros(WIDTH, WIDTH)
        weights[f"{at}.key.weight"][:, 0] = 1.0  # a key says what stands first in its state
    deaf = Bert(weights, bert.layers, bert.heads, bert.epsilon)
    far = {f"prompts.{n}": torch.tensor([[-1e3, *[0.0] * (WIDTH - 1)]] * COUNT) for n in UPPER}
    torch.testing.assert_close(vectors(deaf, far), vectors(deaf), atol=1e-6, rtol=0)


def test_both_kinds_are_as_large_as_they_say() -> None:
    assert sum(each.numel() for each in prompts(UPPER, 32, 384, seed=0).values()) == 3 * 32 * 384
    assert sum(each.numel() for each in low_rank(8, 384).values()) == 3 * 32 * 384


def test_prompts_are_drawn_by_their_seed_alone() -> None:
    one, other, again = (prompts(UPPER, COUNT, WIDTH, seed=seed) for seed in (1, 2, 1))
    assert torch.equal(one["prompts.4"], again["prompts.4"])
    assert not torch.equal(one["prompts.4"], other["prompts.4"])


def trained(bert: Bert, adapter: dict[str, Tensor], *, seed: int = 0) -> list[float]:
    """Text i of IDS as a question is answered by text i, and not by the next one."""
    pairs = [Pair(i, frozenset({i}), ((i + 1) % 3,)) for i in range(3)] * 8
    states = bert.lower(IDS, MASK)

    def encode(places: Sequence[int]) -> Tensor:
        return bert.upper(states[list(places)], MASK[list(places)], adapter)

    def encode_answers(places: Sequence[int]) -> Tensor:
        return bert.upper(states[list(places)].roll(1, 0), MASK[list(places)].roll(1, 0), adapter)

    parameters = [each.requires_grad_() for each in adapter.values()]
    return list(train(parameters, pairs, encode, encode_answers, rate=1e-2, seed=seed))


@pytest.mark.parametrize("kind", ["prompts", "lora"])
def test_training_moves_the_adapter_and_nothing_else(bert: Bert, kind: str) -> None:
    before = {name: weight.clone() for name, weight in bert.weights.items()}
    adapter = new(kind)
    first = {name: each.clone() for name, each in adapter.items()}
    losses = trained(bert, adapter)
    assert all(loss == loss for loss in losses)
    for name, each in adapter.items():
        assert each.grad is not None
        assert each.grad.abs().max() > 0, name
        assert not torch.equal(each, first[name]), name
    for name, weight in bert.weights.items():
        assert weight.grad is None
        assert torch.equal(weight, before[name]), name


def test_a_seed_gives_the_same_adapter_again(bert: Bert) -> None:
    one, other = new("prompts"), new("prompts")
    assert trained(bert, one) == trained(bert, other)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_an_epoch_has_every_pair_once_with_two_wrong_passages() -> None:
    pairs = [Pair(i, frozenset({i}), (100, 101, 102)) for i in range(20)]
    found = [each for batch in batches(pairs, random.Random(0)) for each in batch]
    assert sorted(pair.question for pair, _ in found) == list(range(20))
    assert all(len(set(wrong)) == 2 for _, wrong in found)


def test_the_fast_linear_layer_has_the_values_and_gradients_of_the_usual_one() -> None:
    draw = torch.Generator().manual_seed(0)
    shapes = (2, 3, 4), (5, 4), (5,)
    one = [torch.randn(shape, generator=draw).requires_grad_() for shape in shapes]
    other = [each.detach().clone().requires_grad_() for each in one]
    results = linear(*one), F.linear(*other)
    for result in results:
        result.sin().sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(*results)
    for mine, usual in zip(one, other, strict=True):
        torch.testing.assert_close(mine.grad, usual.grad)
