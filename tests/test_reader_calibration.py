"""Temperatures and the calibration error, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from agents.models.reader_spans import PassageSpans
from assistant.learning.recipes.reader.temperature_fit import (
    Scored,
    ScoredSpans,
    expected_calibration_error,
    fit,
    fit_temperature,
    negative_log_likelihood,
    softmax,
)


def test_the_temperature_of_probabilities_that_are_squared_is_two() -> None:
    # Three of four times the first of two classes is right, but the logits say 9 to 1.
    logits = np.log(np.array([[9.0, 1.0]] * 4))
    labels = np.array([0, 0, 0, 1])
    found = fit_temperature(lambda t: negative_log_likelihood(softmax(logits, t), labels))
    assert found == pytest.approx(2, rel=0.01)  # √9 : √1 is 3 : 1


def test_the_calibration_error_weighs_bins_by_their_cases() -> None:
    confidences = np.array([0.95, 0.95, 0.65, 0.65])
    correct = np.array([True, True, True, False])
    # 2/4 · |0.95 - 1| + 2/4 · |0.65 - 0.5|
    assert expected_calibration_error(confidences, correct) == pytest.approx(0.1)


def test_full_confidence_has_a_bin_and_nothing_has_no_error() -> None:
    assert expected_calibration_error(np.array([1.0]), np.array([True])) == 0
    assert expected_calibration_error(np.array([]), np.array([], dtype=bool)) == 0


def test_a_span_is_chosen_when_it_is_likelier_than_no_answer() -> None:
    spans = PassageSpans(np.array([0, 4]), np.array([3, 7]), np.log([2.0, 1.0]), 1.0)
    good, confidence, is_right = ScoredSpans(spans, [1]).with_temperature(1.0)
    assert (np.exp(good), confidence) == pytest.approx((1 / 4, 2 / 4))  # 2 : 1 : 1 for no answer
    assert not is_right
    assert ScoredSpans(spans, [0]).with_temperature(1.0)[2]
    assert not ScoredSpans(spans, []).with_temperature(1.0)[2]


def test_heads_are_fitted_apart_and_what_has_no_examples_stays() -> None:
    found = Scored()
    found.logits["sort"] = [np.log(np.array([9.0, 1.0, 1e-9]))] * 4
    found.labels["sort"] = [0, 0, 0, 1]
    facts = fit(found)
    assert facts["sort"]["temperature"] == pytest.approx(2, rel=0.02)
    assert (facts["sort"]["accuracy"], facts["sort"]["examples"]) == (0.75, 4)
    assert facts["sort"]["ece_before"] == pytest.approx(0.15)
    assert facts["sort"]["ece_after"] == pytest.approx(0, abs=0.01)
    assert {facts[head]["temperature"] for head in ("judge", "verify", "spans")} == {1.0}
