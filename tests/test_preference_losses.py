"""DPO over labels and documents, replay and the cautious gate, by the properties that they have."""

from __future__ import annotations

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.losses.preference import (
    Pairs,
    cautious_labels,
    document_pairs,
    dpo,
    is_sure,
    label_pairs,
    margins,
    replayed,
    voted,
)

FLOATS = st.floats(-5, 5, width=32)
BETAS = st.floats(0.05, 2.0)
LABELS = st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=12)
VOTES = st.lists(st.sampled_from([0, 1, 2, None]), max_size=5)
ONE_PAIR = Pairs(torch.tensor([[0, 1]]), torch.tensor([[0, 0]]))


def table(rows: int, labels: int = 3, *, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, labels, generator=generator, dtype=torch.float64).log_softmax(1)


@given(BETAS)
def test_at_the_reference_the_loss_is_ln_2_and_the_gradients_are_half_of_beta(beta: float) -> None:
    policy = table(1, 2).requires_grad_()
    loss = dpo(margins(policy, policy, ONE_PAIR), beta=beta)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == pytest.approx(math.log(2))
    assert policy.grad is not None
    assert policy.grad.tolist()[0] == pytest.approx([beta / 2, -beta / 2])


@given(FLOATS, st.floats(0.01, 5), BETAS)
def test_the_loss_falls_as_the_margin_grows(h: float, more: float, beta: float) -> None:
    here, there = (dpo(torch.tensor([x], dtype=torch.float64), beta=beta) for x in (h, h + more))
    assert there < here


@given(FLOATS, BETAS)
def test_a_loss_is_reached_at_a_margin_that_goes_with_one_over_beta(h: float, beta: float) -> None:
    x = torch.tensor([h], dtype=torch.float64)
    assert dpo(x / beta, beta=beta).item() == pytest.approx(dpo(x, beta=1.0).item())


@given(st.integers(0, 99), st.integers(0, 99), FLOATS)
def test_swapped_pairs_turn_the_margin_round_and_a_shared_shift_changes_nothing(
    seed: int, other: int, shift: float
) -> None:
    policy, reference = table(1, 2, seed=seed), table(1, 2, seed=other)
    h = margins(policy, reference, ONE_PAIR)
    assert margins(policy, reference, Pairs(*ONE_PAIR[::-1])).item() == pytest.approx(-h.item())
    assert margins(policy + shift, reference, ONE_PAIR).item() == pytest.approx(h.item())


def test_the_reference_gets_no_gradient() -> None:
    policy, reference = table(1, 2).requires_grad_(), table(1, 2, seed=1).requires_grad_()
    dpo(margins(policy, reference, ONE_PAIR)).backward()  # type: ignore[no-untyped-call]
    assert reference.grad is None


def test_smoothing_counts_some_pairs_the_wrong_way_round() -> None:
    h = torch.tensor([2.0], dtype=torch.float64)
    mixed = 0.9 * dpo(h) + 0.1 * dpo(-h)
    assert dpo(h, smoothing=0.1).item() == pytest.approx(mixed.item())


def test_without_pairs_there_is_no_loss() -> None:
    with pytest.raises(ValueError, match="no pair"):
        dpo(torch.zeros(0))


@given(LABELS, st.integers(0, 99))
def test_label_pairs_choose_the_label_and_reject_the_likeliest_other(
    labels: list[int | None], seed: int
) -> None:
    logp = table(len(labels), seed=seed)
    pairs = label_pairs(logp, labels)
    known = [(row, label) for row, label in enumerate(labels) if label is not None]
    assert pairs.chosen.tolist() == [list(each) for each in known]
    for (row, label), (same, rejected) in zip(known, pairs.rejected.tolist(), strict=True):
        said = int(logp[row].argmax())
        assert same == row
        assert rejected != label
        assert rejected == said or said == label


def test_of_two_labels_the_other_one_is_rejected() -> None:
    assert label_pairs(table(2, 2), [0, 1]).rejected.tolist() == [[0, 1], [1, 0]]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, None])), max_size=20), st.integers(1, 5))
def test_document_pairs_share_their_question_and_are_at_most_so_many(
    told: list[tuple[int, int | None]], most: int
) -> None:
    questions, labels = [q for q, _ in told], [label for _, label in told]
    pairs = document_pairs(questions, labels, most=most)
    rows = list(zip(pairs.chosen[:, 0].tolist(), pairs.rejected[:, 0].tolist(), strict=True))
    assert len(set(rows)) == len(rows)
    assert all(questions[won] == questions[lost] for won, lost in rows)
    assert all(labels[won] == 1 and labels[lost] == 0 for won, lost in rows)
    for question in set(questions):
        of_it = [label for q, label in told if q == question]
        wanted = min(most, of_it.count(1) * of_it.count(0))
        assert sum(questions[won] == question for won, _ in rows) == wanted


@given(
    st.integers(1, 40),
    st.lists(st.integers(0, 40), max_size=4),
    st.sampled_from([0.3, 0.5, 0.7, 1.0]),
    st.integers(0, 9),
)
def test_replay_takes_exactly_its_share_and_nothing_twice(
    count: int, earlier: list[int], alpha: float, seed: int
) -> None:
    new = [(len(earlier), i) for i in range(count)]
    history = [[(number, i) for i in range(size)] for number, size in enumerate(earlier)]
    kept, old = replayed(new, history, alpha=alpha, seed=seed)
    assert kept == new
    assert len(old) == min(round(count * (1 - alpha) / alpha), sum(earlier))
    assert len(set(old)) == len(old)
    assert not set(old) & set(new)
    assert replayed(new, history, alpha=alpha, seed=seed) == (kept, old)
    some, rest = replayed(new, history, alpha=alpha, seed=seed, mix="fixed_total")
    assert len(some) == round(alpha * count)
    assert len(rest) == min(count - len(some), sum(earlier))


def test_replay_takes_equally_many_of_each_round_and_the_remainder_of_the_newest() -> None:
    history = [[("a", i) for i in range(9)], [("b", i) for i in range(9)]]
    _, old = replayed([("c", i) for i in range(5)], history, alpha=0.5, seed=1)
    assert [name for name, _ in old] == ["a", "a", "b", "b", "b"]


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1.5])
def test_a_share_of_new_pairs_is_above_0_and_at_most_1(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        replayed([1], [], alpha=alpha, seed=0)


@given(st.integers(0, 99))
def test_a_confidence_at_the_threshold_is_sure(seed: int) -> None:
    logp = table(4, seed=seed)
    least = float(logp.softmax(1).amax(1).min())
    assert is_sure(logp, threshold=least).all()
    assert is_sure(logp, threshold=0).all()
    assert not is_sure(logp, threshold=1.01).any()


@given(VOTES, st.integers(0, 9))
def test_a_vote_does_not_hang_on_the_order_of_its_voters(votes: list[int | None], seed: int) -> None:
    shuffled = random.Random(seed).sample(votes, len(votes))
    assert voted(shuffled) == voted(votes)
    assert voted([*votes, None]) == voted(votes)


def test_votes_that_are_split_or_too_few_drop_the_candidate() -> None:
    assert voted([1, 1, 1]) == 1
    assert voted([0, 1, 2]) is None
    assert voted([0, 0, 1, 1]) is None
    assert voted([2, None]) is None


def test_cautious_labels_ask_the_judges_only_below_the_threshold() -> None:
    logp = torch.tensor([[0.95, 0.05], [0.6, 0.4], [0.6, 0.4], [0.6, 0.4]]).log()
    found = cautious_labels(logp, [None, [1, 1], [0, 1], [1, None]], threshold=0.9)
    assert found == [0, 1, 0, None]


def test_three_independent_judges_of_four_in_five_are_right_in_896_of_1000() -> None:
    rng = random.Random(1)
    count = 4000
    right = sum(voted([int(rng.random() < 0.8) for _ in range(3)]) == 1 for _ in range(count))
    assert right / count == pytest.approx(0.896, abs=3 * math.sqrt(0.896 * 0.104 / count))
