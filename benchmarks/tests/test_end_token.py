"""Embeddings of the end token: padding and length change nothing, and the loss knows the right passage."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_llama import make_tiny_llama

from agents.models.networks.causal_lm import CausalLm, load, with_adapters
from benchmarks.end_token import end_states, loss_of


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> CausalLm:
    folder = tmp_path_factory.mktemp("tiny")
    make_tiny_llama(folder)
    return load(Path(folder))


def test_padding_changes_nothing_and_each_has_length_one(tiny: CausalLm) -> None:
    with torch.no_grad():
        [alone] = end_states(tiny, ["water"])
        together = end_states(tiny, ["water", "a question well put is half an answer " * 3])
    assert torch.allclose(alone, together[0], atol=1e-5)
    assert torch.allclose(together.norm(dim=1), torch.ones(2))


def test_the_end_token_stands_behind_what_was_cut(tiny: CausalLm) -> None:
    long = "water " * 50
    with torch.no_grad():
        cut = end_states(tiny, [long], most_tokens=8)
        ids = tiny.tokenizer(long, add_special_tokens=False).input_ids[:7]
        states = tiny.network.model(input_ids=torch.tensor([[*ids, tiny.tokenizer.eos_token_id]]))
    wanted = torch.nn.functional.normalize(states.last_hidden_state[:, -1], dim=1)
    assert torch.allclose(cut, wanted, atol=1e-5)


def test_adapters_begin_with_the_embeddings_of_the_model(tiny: CausalLm) -> None:
    with torch.no_grad():
        before = end_states(tiny, ["water", "bread"])
        after = end_states(with_adapters(tiny, rank=2, alpha=4), ["water", "bread"])
    assert torch.equal(before, after)


@given(st.integers(1, 6), st.integers(0, 9))
def test_the_loss_is_none_for_one_pair_and_falls_as_the_right_passage_comes_nearer(n: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    questions, passages = (
        torch.nn.functional.normalize(torch.randn(n, 4, generator=draw), dim=1) for _ in range(2)
    )
    loss = loss_of(questions, passages, 0.1)
    assert loss.item() == 0 if n == 1 else loss.item() > 0
    nearer = torch.nn.functional.normalize(passages + 0.1 * questions, dim=1)
    if n > 1:
        similarities = questions @ passages.T
        moved = similarities.clone()
        moved.diagonal().copy_((questions * nearer).sum(1))
        assert torch.nn.functional.cross_entropy(moved / 0.1, torch.arange(n)) <= loss + 1e-6
