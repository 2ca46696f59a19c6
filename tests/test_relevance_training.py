"""The fit of the relevance weights: it finds what tells right from wrong, and else stays near the mix."""

from __future__ import annotations

import numpy as np
import pytest

from agents.retrieval.feature_names import NAMES
from agents.retrieval.relevance import Relevance
from training.relevance import MIX, SIGNALS, Ranking, fitted


def ranking(right: int, **features: tuple[float, float]) -> Ranking:
    """Two candidates, of which one is right; what is not named is 0 for both."""
    rows = np.zeros((2, len(NAMES)))
    for name, values in features.items():
        rows[:, NAMES.index(name)] = values
    evidence = np.array([0 if place == right else -1 for place in range(2)])
    return Ranking(rows, np.ones(2, bool), np.zeros(2, bool), evidence, 1)


def test_what_tells_right_from_wrong_gets_weight_and_what_does_not_vary_gets_none() -> None:
    some = [
        ranking(1, found=(1.0, 0.0), meaning=(0.0, 1.0)),
        ranking(0, found=(1.0, 0.0), meaning=(1.0, 0.0)),
    ]
    weights = fitted([some], SIGNALS, 1e-3)
    assert weights.named["meaning"] > weights.named["found"]
    assert "words" not in weights.named
    relevance = Relevance(weights, MIX.documents)
    assert [each.recall(relevance, 1) for each in some] == [1.0, 1.0]
    assert [each.recall(MIX, 1) for each in some] == [0.0, 1.0]


def test_under_a_strong_penalty_the_weights_are_those_of_the_mix() -> None:
    one = {"judged": (0.9, 0.1), "found": (1.0, 0.0), "meaning": (0.3, 0.2)}
    some = [ranking(0, **one), ranking(0, **one), ranking(1, **one)]  # the mix is right twice of three times
    weights = fitted([some, some], SIGNALS, 1e6)
    assert weights.named["judged"] == pytest.approx(0.5, abs=1e-3)
    assert weights.named["meaning"] == pytest.approx(0.0, abs=1e-3)
