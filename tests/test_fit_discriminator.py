"""The fit of the discriminator, on cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from agents.memory.reader_discriminator import FEATURES
from assistant.replay.simulation.feedback import Feedback
from benchmarks.fit_discriminator import FOLDS, Case, chosen, fitted, labelled, reached, softmax


def test_the_softmax_has_the_last_class_at_zero() -> None:
    assert softmax(np.zeros((1, 2)))[0].tolist() == pytest.approx([1 / 3] * 3)
    assert softmax(np.log([[2.0, 1.0]]))[0].tolist() == pytest.approx([1 / 2, 1 / 4, 1 / 4])


def test_a_fit_of_the_bias_alone_gives_the_shares_of_the_labels() -> None:
    labels = np.array([0] * 2 + [1] * 3 + [2] * 5)
    weights = fitted(np.ones((10, 1)), labels)
    assert softmax(weights)[0].tolist() == pytest.approx([0.2, 0.3, 0.5], abs=1e-4)


def test_a_fit_finds_the_feature_that_tells() -> None:
    rng = np.random.default_rng(1)
    labels = np.arange(300) % 3
    rows = np.stack([labels == 0, rng.random(300), np.ones(300)], axis=1).astype(np.float64)
    weights = fitted(rows, labels)
    assert weights[0, 0] > 2 > abs(weights[1, 0])


def test_a_status_is_given_to_the_stronger_side_from_its_threshold_on() -> None:
    side, other = np.array([0.9, 0.8, 0.8, 0.2]), np.array([0.1, 0.85, 0.8, 0.1])
    assert reached(side, other, 0.8) == 1 / 4
    assert reached(side, other, 0.95) == 0
    assert reached(np.array([]), np.array([]), 0.5) == 0


def test_the_threshold_is_the_least_that_keeps_to_the_share() -> None:
    side, other = np.array([0.6, 0.7, 0.75, 0.2]), np.zeros(4)
    assert chosen(side, other, most=0.25) == 0.71
    assert chosen(side, other, most=0.0) == 0.76
    assert chosen(np.ones(4), other, most=0.0) == 1.0


def test_cases_of_one_article_belong_to_one_part() -> None:
    def case(passage: str) -> Case:
        feedback = Feedback("right", "", "", "", (), frozenset({passage}))
        return Case(feedback, "any", frozenset(), [], [])

    assert case("squad-train-Rome-001").fold == case("squad-train-Rome-007").fold
    assert {case(f"squad-train-{n}-000").fold for n in range(50)} == set(range(FOLDS))
    assert labelled([case("a-1")])[1].tolist() == []
    assert FEATURES[-1] == "bias"  # the fit leaves the last one without a ridge
