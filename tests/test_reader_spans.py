"""Answers out of start and end logits, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents.models.reader_inputs import Window
from agents.models.reader_spans import LONGEST_ANSWER, passage_spans

# [CLS] q [SEP] red key [SEP]; the passage is "red key".
WINDOW = Window([0] * 6, 3, [(0, 3), (4, 7)])


def test_spans_and_no_answer_share_the_probability() -> None:
    starts = np.log([2.0, 9, 9, 3, 1, 9])  # [CLS] and the two words; question and [SEP] do not count
    ends = np.log([1.0, 9, 9, 1, 4, 9])
    spans = passage_spans([WINDOW], [starts], [ends])
    # red: 3 · 1, red key: 3 · 4, key: 1 · 4, none: 2 · 1; together 21
    found, none = spans.log_probabilities()
    ranges = list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    assert dict(zip(ranges, np.exp(found) * 21, strict=True)) == pytest.approx(
        {(0, 3): 3, (0, 7): 12, (4, 7): 4}
    )
    assert math.exp(none) * 21 == pytest.approx(2)


def test_a_temperature_of_two_takes_square_roots() -> None:
    logits = np.log([1.0, 1, 1, 4, 1, 1])
    spans = passage_spans([Window([0] * 5, 3, [(0, 3)])], [logits], [logits], temperature=2.0)
    found, none = spans.log_probabilities()  # √(4 · 4) : √(1 · 1)
    assert np.exp([found[0], none]) == pytest.approx([4 / 5, 1 / 5])


def test_each_window_is_weighed_against_its_own_no_answer() -> None:
    first, second = Window([0] * 6, 3, [(0, 3), (4, 7)]), Window([0] * 6, 3, [(4, 7), (8, 9)])
    low, high = np.log([1.0, 1, 1, 1, 3, 1]), np.log([10.0, 1, 1, 60, 1, 1])
    flat = np.zeros(6)
    spans = passage_spans([first, second], [low, high], [flat, flat])
    odds = dict(
        zip(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True), np.exp(spans.log_odds), strict=True)
    )
    # "key" stands in both: 3 to 1 in the first, 60 to 10 in the second, which counts
    assert odds == pytest.approx({(0, 3): 1, (0, 7): 1, (4, 7): 6, (4, 9): 6, (8, 9): 0.1})


def test_no_span_is_longer_than_an_answer_is() -> None:
    count = LONGEST_ANSWER + 5
    window = Window([0] * (count + 4), 3, [(i, i + 1) for i in range(count)])
    flat = np.zeros(count + 4)
    spans = passage_spans([window], [flat], [flat])
    assert (spans.ends - spans.starts).max() == LONGEST_ANSWER


def test_a_passage_without_tokens_holds_no_answer() -> None:
    spans = passage_spans([Window([0] * 4, 3, [])], [np.zeros(4)], [np.zeros(4)])
    found, none = spans.log_probabilities()
    assert (len(found), none) == (0, 0.0)
