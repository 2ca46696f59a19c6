"""The query model's losses and decisions, by the properties that their equations have."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from agents.losses.strategy import (
    ORIGINAL,
    Measured,
    best_action,
    branches,
    generation,
    kept,
    selection,
    targets,
    thresholded,
)

FLOATS = st.floats(-3, 3, width=32)
ROWS = st.lists(FLOATS, min_size=4, max_size=4)
PROBABILITIES = ROWS.map(lambda row: torch.tensor(row).softmax(0).tolist())
ALL = torch.ones(1, 4, dtype=torch.bool)


def rows(*values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


@given(ROWS, ROWS, ROWS)
def test_the_least_selection_loss_is_at_the_mean_of_the_targets(
    ranks: list[float], likelihoods: list[float], logits: list[float]
) -> None:
    one, other = (targets(rows(scores), ALL, temperature=1.0) for scores in (ranks, likelihoods))
    middle = ((one + other) / 2).log()
    least = selection(middle, one, other)
    assert selection(rows(logits), one, other) >= least - 1e-9
    given_logits = rows(logits).requires_grad_()
    selection(given_logits, one, other).backward()  # type: ignore[no-untyped-call]
    assert given_logits.grad is not None
    share = given_logits.detach().softmax(1)
    assert torch.allclose(given_logits.grad, 2 * share - one - other, atol=1e-9)


@given(ROWS, st.floats(-5, 5))
def test_targets_do_not_hang_on_what_is_added_to_all_scores(scores: list[float], more: float) -> None:
    found = targets(rows(scores), ALL)
    assert torch.allclose(found, targets(rows(scores) + more, ALL), atol=1e-6)
    assert float(found.sum()) == pytest.approx(1)


def test_a_missing_strategy_takes_no_part_and_a_bad_one_does() -> None:
    there = torch.tensor([[True, True, False, True]])
    found = targets(rows([1.0, 1.0, 9.0, 0.0]), there)
    assert found[0, 2] == 0
    assert found[0, 0] == found[0, 1] > 0.49
    assert 0 < found[0, 3] < 1e-4  # 1 / rank of 1 against nothing found: ten nats
    logits = rows([0.0, 0.0, -math.inf, 0.0])
    assert math.isfinite(float(selection(logits, found, found)))
    with pytest.raises(ValueError, match="no strategy"):
        targets(rows([1.0, 0.0, 0.0, 0.0]), torch.zeros(1, 4, dtype=torch.bool))


def test_a_question_counts_once_however_many_instances_it_has() -> None:
    one, other = targets(rows([1.0, 0, 0, 0]), ALL), targets(rows([0, 0, 1.0, 0]), ALL)
    logits = rows([0.3, 0.1, 0.0, 0.2])
    twice = selection(
        logits.repeat(3, 1),
        torch.cat([one, one, other]),
        torch.cat([one, one, other]),
        rows([0.5, 0.5, 1])[0],
    )
    once = (selection(logits, one, one) + selection(logits, other, other)) / 2
    assert float(twice) == pytest.approx(float(once))
    nothing = torch.zeros(1, 4, dtype=torch.float64)
    assert float(selection(logits, one, nothing)) == pytest.approx(float(selection(logits, one, one)) / 2)


def test_only_an_augmentations_own_words_are_supervised() -> None:
    logits = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(1), requires_grad=True)
    words = torch.randint(7, (2, 5), generator=torch.Generator().manual_seed(2))
    supervised = torch.zeros(2, 5, dtype=torch.bool)
    assert generation(logits, words, supervised).item() == 0
    supervised[0, 3:] = True
    loss = generation(logits, words, supervised)
    by_hand = -torch.stack([logits[0, t].log_softmax(0)[words[0, t]] for t in (3, 4)]).mean()
    assert loss.item() == pytest.approx(by_hand.item(), abs=1e-6)
    loss.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert not logits.grad[1].any()
    assert not logits.grad[0, :3].any()


def test_what_does_worse_by_either_signal_teaches_nothing() -> None:
    own = Measured(2, -1.0)
    found = kept(
        {
            "original": own,
            "paraphrase": Measured(2, -1.0),
            "expand": Measured(1, -1.2),
            "abstract": Measured(1, -0.5),
        }
    )
    assert found == {"paraphrase", "abstract"}
    assert kept({"original": own, "expand": Measured(3, -1.0)}) == {"original"}
    assert kept({"original": own, "expand": Measured(2, -1.0)}) == {"expand"}  # equals survive
    assert not kept({"original": Measured(None, -1.0), "expand": Measured(1, -0.1)})


@given(PROBABILITIES)
def test_the_threshold_goes_from_never_to_always(probabilities: list[float]) -> None:
    found = [thresholded(probabilities, step / 20) != ORIGINAL for step in range(21)]
    assert found == sorted(found)
    assert not found[0]
    assert found[20]
    if probabilities[ORIGINAL] not in probabilities[1:]:
        assert thresholded(probabilities, 0.5) == best_action(probabilities)
    assert set(branches(probabilities)) == {
        a for a in (1, 2, 3) if probabilities[a] >= probabilities[ORIGINAL]
    }
    assert not branches(probabilities) or branches(probabilities)[0] == thresholded(probabilities, 1.0)
