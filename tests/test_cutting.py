"""Text becomes passages of about one length, and nothing of it is lost."""

from __future__ import annotations

from document_files import LONG, characters
from hypothesis import given
from hypothesis import strategies as st

from assistant.library.cutting import count_words, cut

texts_of_sentences = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from([". ", "! ", ".\n\n", "\n- ", " "])), max_size=60
).map(lambda parts: "".join("Word " + "word " * (words - 1) + "end" + stop for words, stop in parts))


@given(texts_of_sentences | st.text(max_size=300), st.integers(4, 40))
def test_cutting_loses_and_reorders_nothing(text: str, passage_words: int) -> None:
    passages = cut(text, passage_words=passage_words)
    assert characters("".join(passages)) == characters(text)
    assert passages == cut(text, passage_words=passage_words)
    assert all(passage == passage.strip() != "" for passage in passages)


@given(texts_of_sentences, st.integers(8, 40))
def test_passages_are_neither_much_too_long_nor_much_too_short(text: str, passage_words: int) -> None:
    sizes = [count_words(passage) for passage in cut(text, passage_words=passage_words)]
    assert max(sizes, default=0) <= 2.5 * passage_words
    assert len(sizes) < 2 or min(sizes) >= passage_words / 4


@given(st.integers(1, 400), st.integers(20, 60))
def test_a_text_of_short_sentences_becomes_as_many_passages_as_fit_it(count: int, passage_words: int) -> None:
    text = "Three short words. " * count
    expected = 1 if 3 * count <= 1.5 * passage_words else max(1, round(3 * count / passage_words))
    sizes = [len(passage.split()) for passage in cut(text, passage_words=passage_words)]
    assert len(sizes) == expected
    assert max(sizes) - min(sizes) <= 6  # two sentences


def test_a_text_of_one_and_a_half_passages_stays_whole() -> None:
    assert cut(" ".join(["Word."] * 150)) == [" ".join(["Word."] * 150)]
    assert [len(passage.split()) for passage in cut(" ".join(["Word."] * 152))] == [76, 76]


def test_up_to_the_given_number_of_words_a_text_stays_whole() -> None:
    text = " ".join(["Word."] * 200)
    assert cut(text, whole_up_to_words=200) == [text]
    assert len(cut(text)) == 2


def test_passages_end_where_sentences_end() -> None:
    assert cut(LONG, passage_words=35) == [
        " ".join(f"Sentence number {n} has exactly seven words." for n in range(1, 6)),
        " ".join(f"Sentence number {n} has exactly seven words." for n in range(6, 11)),
    ]


def test_a_paragraph_is_kept_together_where_that_is_near() -> None:
    first, second = LONG[: LONG.index("Sentence number 5")].strip(), LONG[LONG.index("Sentence number 5") :]
    assert cut(f"{first}\n\n{second}", passage_words=35) == [first, second]  # 28 and 42 words


def test_a_sentence_far_too_long_is_cut_between_words() -> None:
    passages = cut("word " * 250, passage_words=100)
    assert [len(passage.split()) for passage in passages] == [125, 125]


def test_text_without_spaces_is_cut_too() -> None:
    assert [len(passage) for passage in cut("山" * 300, passage_words=100)] == [100, 100, 100]
    assert [len(passage) for passage in cut("x" * 40_000, passage_words=100)] == [10_000] * 4


def test_nothing_is_cut_into_nothing() -> None:
    assert cut("") == cut(" \n ") == []
