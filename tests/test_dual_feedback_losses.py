"""Dual feedback: by an independent computation, and what holds for any scores and likelihoods."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agents.losses.dual_feedback import (
    PAPER,
    RELEASED,
    Reading,
    divergence,
    marginal,
    negative,
    poor_reply,
    positive,
    total,
)

READINGS = [Reading(), PAPER, RELEASED, Reading(margin=0.1), Reading(feedback_temperature=0.3)]


def drawn(seed: int, turns: int = 3, entities: int = 5) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """G, G⁻, S with a gradient, and the mask; of the last turn two entities are real."""
    made = torch.Generator().manual_seed(seed)
    likelihoods = -torch.rand(2, turns, entities, generator=made, dtype=torch.float64)
    scores = torch.rand(turns, entities, generator=made, dtype=torch.float64).requires_grad_()
    real = torch.ones(turns, entities, dtype=torch.bool)
    real[-1, 2:] = False
    return likelihoods[0], likelihoods[1], scores, real


def softmax(values: list[float], temperature: float) -> list[float]:
    powers = [math.exp(value / temperature) for value in values]
    return [power / sum(powers) for power in powers]


def kl_by_hand(feedback: Tensor, scores: Tensor, real: Tensor, reading: Reading) -> list[float]:
    found = []
    for g_row, s_row, kept in zip(feedback.tolist(), scores.tolist(), real.tolist(), strict=True):
        g = softmax([v for v, k in zip(g_row, kept, strict=True) if k], reading.feedback_temperature)
        s = softmax([v for v, k in zip(s_row, kept, strict=True) if k], reading.score_temperature)
        found.append(sum(a * (math.log(a) - math.log(b)) for a, b in zip(g, s, strict=True)))
    return found


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=25)
@given(seed=st.integers(0, 1000))
def test_the_losses_are_those_of_the_equations(reading: Reading, seed: int) -> None:
    feedback, worse, scores, real = drawn(seed)
    near, far = kl_by_hand(feedback, scores, real, reading), kl_by_hand(worse, scores, real, reading)
    shares = real.sum(1).tolist() if reading.reduction == "mean" else [1, 1, 1]
    wanted = np.mean([one / share for one, share in zip(near, shares, strict=True)])
    assert abs(positive(feedback, scores, real, reading).item() - wanted) < 1e-10
    counts = [True, False, True]
    gated = [
        max(0.0, n - f * c + reading.margin) * (c or reading.gated == "positive")
        for n, f, c in zip(near, far, counts, strict=True)
    ]
    told = negative(feedback, worse, scores, real, torch.tensor(counts), reading)
    assert abs(told.item() - np.mean(gated)) < 1e-10


@settings(max_examples=25)
@given(seed=st.integers(0, 1000))
def test_marginal_likelihood_is_that_of_the_mixture(seed: int) -> None:
    _, _, scores, real = drawn(seed)
    made = torch.Generator().manual_seed(seed)
    of_words = -torch.rand(3, 5, 4, generator=made, dtype=torch.float64)
    words = torch.tensor([[True] * 4, [True, True, True, False], [True, False, False, False]])
    wanted = 0.0
    for b in range(3):
        kept = [i for i in range(5) if real[b, i]]
        shares = softmax([scores[b, i].item() for i in kept], 1.0)
        each = [
            math.log(sum(s * math.exp(of_words[b, i, j]) for s, i in zip(shares, kept, strict=True)))
            for j in range(4)
            if words[b, j]
        ]
        wanted -= sum(each) / len(each) / 3
    assert abs(marginal(of_words, words, scores, real).item() - wanted) < 1e-10


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=25)
@given(seed=st.integers(0, 1000))
def test_gradients_are_those_that_are_told(reading: Reading, seed: int) -> None:
    feedback, worse, scores, real = drawn(seed, turns=1)
    g, n = (softmax(one[0].tolist()[:2], reading.feedback_temperature) for one in (feedback, worse))
    s = softmax(scores[0].tolist()[:2], reading.score_temperature)
    share = 2 if reading.reduction == "mean" else 1
    (found,) = torch.autograd.grad(positive(feedback, scores, real, reading), scores)
    wanted = [(b - a) / reading.score_temperature / share for a, b in zip(g, s, strict=True)]
    assert found[0, :2].tolist() == pytest.approx(wanted, abs=1e-10)
    assert not found[0, 2:].any()  # what fills up learns nothing
    loss = negative(feedback, worse, scores, real, torch.tensor([True]), reading)
    (found,) = torch.autograd.grad(loss, scores)
    active = loss.item() > 0
    wanted = [(b - a) / reading.score_temperature * active for a, b in zip(g, n, strict=True)]
    assert found[0, :2].tolist() == pytest.approx(wanted, abs=1e-10)


@settings(max_examples=10)
@given(seed=st.integers(0, 200))
def test_gradients_agree_with_finite_differences(seed: int) -> None:
    feedback, worse, scores, real = drawn(seed)
    of_words = -torch.rand(3, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    words = torch.ones(3, 4, dtype=torch.bool)
    counts = torch.tensor([True, True, False])
    assert torch.autograd.gradcheck(lambda s: positive(feedback, s, real), scores)
    assert torch.autograd.gradcheck(lambda s: marginal(of_words, words, s, real), scores)
    hinge = divergence(feedback, scores, real) - divergence(worse, scores, real)
    if hinge.abs().min() > 1e-3:  # not at the kink
        assert torch.autograd.gradcheck(lambda s: negative(feedback, worse, s, real, counts), scores)


@given(seed=st.integers(0, 1000), shift=st.floats(-3, 3))
def test_only_differences_between_entities_count_and_their_order_does_not(seed: int, shift: float) -> None:
    feedback, _, scores, real = drawn(seed)
    found = divergence(feedback, scores, real)
    assert (found >= -1e-12).all()
    assert torch.allclose(divergence(feedback + shift, scores - shift, real), found, atol=1e-9)
    order = torch.randperm(5, generator=torch.Generator().manual_seed(seed))
    assert torch.allclose(divergence(feedback[:, order], scores[:, order], real[:, order]), found)


def test_nothing_is_learned_where_the_scores_say_the_same() -> None:
    feedback, _, _, real = drawn(3)
    scores = (feedback * 1.0 + 7).requires_grad_()  # the same temperatures by default
    loss = positive(feedback, scores, real)
    (found,) = torch.autograd.grad(loss, scores)
    assert loss.item() == pytest.approx(0, abs=1e-12)
    assert found.abs().max() < 1e-12


def test_the_negative_loss_stops_at_its_margin() -> None:
    feedback, worse, scores, real = drawn(4)
    every = torch.ones(3, dtype=torch.bool)
    same = negative(feedback, feedback, scores, real, every)
    assert same.item() == 0
    assert not torch.autograd.grad(same, scores)[0].any()  # at the kink
    right = (feedback * 1.0).requires_grad_()
    assert negative(feedback, worse, right, real, every).item() == 0  # nearer to G than to G⁻
    wide = negative(feedback, worse, right, real, every, Reading(margin=100.0))
    assert wide.item() > 0


def test_a_turn_without_a_poor_reply_or_with_one_entity_teaches_nothing() -> None:
    feedback, worse, scores, real = drawn(5)
    none = torch.zeros(3, dtype=torch.bool)
    assert negative(feedback, worse, scores, real, none).item() == 0
    released = negative(feedback, worse, scores, real, none, RELEASED)
    as_positive = positive(feedback, scores, real, replace(RELEASED, reduction="sum"))
    assert released.item() == pytest.approx(as_positive.item())  # by accident a second positive loss
    for few in (0, 1):
        real[:] = torch.arange(5) < few
        of_words = feedback[..., None]
        losses = [
            positive(feedback, scores, real),
            negative(feedback, worse, scores, real, ~none, Reading(margin=1.0)),
            marginal(of_words, torch.ones(3, 1, dtype=torch.bool), scores, real),
        ]
        for loss in losses:
            assert loss.item() == 0
            (found,) = torch.autograd.grad(loss, scores, retain_graph=True)
            assert not found.any()
            assert not found.isnan().any()


def test_what_fills_up_may_hold_anything() -> None:
    feedback, worse, scores, real = drawn(6)
    before = negative(feedback, worse, scores, real, real.any(1))
    with torch.no_grad():
        feedback[-1, 2:], worse[-1, 2:], scores[-1, 2:] = -torch.inf, torch.nan, 5.0
    after = negative(feedback, worse, scores, real, real.any(1))
    assert after.item() == before.item()
    assert torch.autograd.grad(after, scores)[0].isfinite().all()


def test_no_gradient_reaches_the_generator() -> None:
    feedback, worse, scores, real = drawn(7)
    feedback.requires_grad_()
    worse.requires_grad_()
    total(positive(feedback, scores, real), negative(feedback, worse, scores, real, real.any(1))).backward()
    assert feedback.grad is None
    assert worse.grad is None
    assert scores.grad is not None


@pytest.mark.parametrize(
    ("likelihoods", "overlaps", "by_rank", "worst"),
    [
        ([5.0, 4, 3, 2, 1], [0.1, 0.5, 0.4, 0.3, 0.2], 0, 0),  # likeliest, and the poorest
        ([1.0, 2, 3], [0.3, 0.2, 0.1], 2, 2),
        ([1.0, 3, 2], [0.1, 0.1, 0.1], 1, 1),  # equally good: the likelier
        ([2.0, 2, 2], [0.2, 0.1, 0.1], 1, 1),  # equally likely as well: the first
        ([3.0, 2, 1], [0.3, 0.2, 0.1], 0, 2),  # all ranks agree: the likeliest; the worst is another
    ],
)
def test_the_negative_reply_is_likely_and_poor(
    likelihoods: list[float], overlaps: list[float], by_rank: int, worst: int
) -> None:
    given_both = torch.tensor([likelihoods]), torch.tensor([overlaps])
    assert poor_reply(*given_both)[0].item() == by_rank
    assert poor_reply(*given_both, Reading(choice="worst"))[0].item() == worst


def test_a_reply_that_is_good_enough_is_no_negative() -> None:
    likelihoods = torch.tensor([[2.0, 1.0], [2.0, 1.0]])
    overlaps = torch.tensor([[0.5, 0.9], [0.49, 0.9]])
    chosen, poor = poor_reply(likelihoods, overlaps)
    assert chosen.tolist() == [0, 0]
    assert poor.tolist() == [False, True]
    assert poor_reply(likelihoods, overlaps, PAPER)[1].all()  # it has no such gate


def test_weights_switch_their_losses_off() -> None:
    one, other = torch.tensor(2.0), torch.tensor(3.0)
    assert total(one, other, Reading(negative_weight=0.0)).item() == 2
    assert total(one, other, Reading(positive_weight=0.0)).item() == 3
    assert total(one, other).item() == 5
