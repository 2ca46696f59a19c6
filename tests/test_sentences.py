"""Sentences end where a reader would end them, and questions are told from statements."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.base.sentences import asks_only, breaks_between, is_question, sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_sentences_end_at_stops() -> None:
    assert texts("It rains. Why? Go in!  Now.") == ["It rains.", "Why?", "Go in!", "Now."]


def test_offsets_are_those_of_the_sentence() -> None:
    text = "  It rains.\n\n Stay in. "
    assert [(s.start, s.end) for s in sentences(text)] == [(2, 11), (14, 22)]
    assert all(text[s.start : s.end] == s.text for s in sentences(text))


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith met Mrs. Jones.",
        "Use a tool, e.g. Python, i.e. a language.",
        "The U.S. Army came at 5 p.m. Monday.",
        "J. K. Rowling wrote it.",
        "Chopin's No. 5 is in Fig. 3, cf. Vol. 2.",
        "It is 3.14 and costs $5.50.",
        "See notes.txt at example.com for more.",
        "Well... maybe.",
        "Apples, pears, etc. are fruit.",
        "Yahoo! is a company.",
        '"Really?" she asked.',
        "It waited . . . and waited.",
        "12. Knead the dough.",
        "The town (pop. 500) grew.",
        "He lives in St. Peter, near Mt. Everest.",
    ],
)
def test_a_stop_within_a_sentence_does_not_end_it(sentence: str) -> None:
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She lives in the U.S. The army left.", ["She lives in the U.S.", "The army left."]),
        ("It closes at 5 p.m. We left.", ["It closes at 5 p.m.", "We left."]),
        ("No. That is wrong.", ["No.", "That is wrong."]),
        ("It began in 1990. In 1991 it ended.", ["It began in 1990.", "In 1991 it ended."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("“Go!” (He left.) Fine.", ["“Go!”", "(He left.)", "Fine."]),
        ("It was built then.[3] It stands.", ["It was built then.[3]", "It stands."]),
        ("Wait... What? Nothing…", ["Wait...", "What?", "Nothing…"]),
        ("今日は晴れ。明日は？雨！", ["今日は晴れ。", "明日は？", "雨！"]),
        ("i moved to oslo. what is near?", ["i moved to oslo.", "what is near?"]),
        ("I moved last week. what is near?", ["I moved last week.", "what is near?"]),
    ],
)
def test_a_stop_at_the_end_of_a_sentence_ends_it(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_paragraphs_headings_and_list_items_end_sentences() -> None:
    text = "# Opening hours\nWe open at ten\n- on Monday\n- on Friday\n\nCome in"
    assert texts(text) == ["# Opening hours", "We open at ten", "- on Monday", "- on Friday", "Come in"]


def test_a_wrapped_paragraph_is_not_cut_at_its_line_breaks() -> None:
    wrapped = (
        "The museum on the hill above the harbour of the city of\nOslo opens at ten and closes\nat five."
    )
    assert texts(wrapped) == [wrapped]


def test_a_line_ended_early_ends_what_it_says() -> None:
    assert breaks_between("I live in Oslo", "What is near?")
    assert not breaks_between("I live in Oslo", "and work there")
    assert breaks_between("a" * 300, "The next paragraph")


@given(st.text(alphabet=st.sampled_from('aB1 .!?…。\n"()[]-#é'), max_size=200) | st.text(max_size=200))
def test_sentences_are_in_order_and_hold_every_character_but_space(text: str) -> None:
    found = sentences(text)
    position = 0
    for sentence in found:
        assert not text[position : sentence.start].strip()
        assert sentence.text == text[sentence.start : sentence.end] == sentence.text.strip() != ""
        position = sentence.end
    assert not text[position:].strip()


@pytest.mark.parametrize(
    "unit", [".", "a", ". ", "a.", "J. ", "\n", " ", "?)", "a\n", ".(", ".[1]", '"', "a." + " " * 500]
)
def test_a_long_text_of_anything_takes_time_in_proportion(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    sentences(text)
    is_question(text)
    assert time.process_time() - began < 3  # seconds; 0.5 measured, and minutes if it grew with the square


@pytest.mark.parametrize(
    "question",
    [
        "Where is it?",
        "¿Dónde está?",
        "你好吗？",
        '"Who are you?"',
        "(is it open?)",
        "so… when?!",
        "**when?**",
    ],
)
def test_a_question_mark_ends_a_question(question: str) -> None:
    assert is_question(question)


@pytest.mark.parametrize(
    "said",
    ["It rains.", "where is it", 'My favourite film is "Who are you?"', "", "?!? is a sign", "I ask (why?)"],
)
def test_all_else_is_none_by_its_marks(said: str) -> None:
    assert not is_question(said)


def test_a_message_asks_only_where_all_its_sentences_do() -> None:
    assert asks_only("Where is it? And when?")
    assert not asks_only("My dog is ill. What now?")
    assert not asks_only("")


def test_the_rows_of_a_table_are_sentences_of_their_own() -> None:
    rows = [
        "F3 | memory: what is remembered, and what can be done about it | /memory",
        "F4 | training | /training",
    ]
    assert [sentence.text for sentence in sentences("\n".join(rows))] == rows
    piped = (
        "To read a log, put vouch ask behind git log, as in git log | vouch ask, which\nis answered from it."
    )
    assert len(sentences(piped)) == 1
