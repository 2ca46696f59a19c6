"""The fit of the discriminator, on cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from agents.memory.reader_discriminator import FEATURES
from benchmarks.fit_discriminator import FOLDS, Case, fitted, labelled, reached, softmax
from experiments.feedback import Feedback


def test_a_fit_of_the_bias_alone_gives_the_shares_of_the_labels() -> None:
    labels = np.array([0] * 2 + [1] * 3 + [2] * 5)
    weights = fitted(np.ones((10, 1)), labels)
    assert softmax(weights)[0].tolist() == pytest.approx([0.2, 0.3, 0.5], abs=1e-4)


def test_a_status_is_given_to_the_stronger_side_from_its_threshold_on() -> None:
    side, other = np.array([0.9, 0.8, 0.8, 0.2]), np.array([0.1, 0.85, 0.8, 0.1])
    assert reached(side, other, 0.8) == 1 / 4
    assert reached(side, other, 0.95) == 0
    assert reached(np.array([]), np.array([]), 0.5) == 0


def test_cases_of_one_article_belong_to_one_part() -> None:
    def case(passage: str) -> Case:
        feedback = Feedback("right", "", "", "", (), frozenset({passage}))
        return Case(feedback, "any", frozenset(), [], [])

    assert case("squad-train-Rome-001").fold == case("squad-train-Rome-007").fold
    assert {case(f"squad-train-{n}-000").fold for n in range(50)} == set(range(FOLDS))
    assert labelled([case("a-1")])[1].tolist() == []
    assert FEATURES[-1] == "bias"  # the fit leaves the last one without a ridge
