"""Sentences end where a reader would end them, and questions are told from statements."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.sentences import asks_only, breaks_between, is_question, sentences


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
        "Is it open?",
        '"Is it open?"',
        "Have you read “Who are you?”",
        "どこですか？",
        "Really?!",
        "¿Dónde está",
        "what is the capital of France",
        "What is the capital of France.",
        "what's the weather",
        "whats the time",
        "how do I reset it",
        "How many people live in Oslo",
        "how much is it",
        "how to cook rice",
        "what about the children",
        "what time does it open",
        "which is better, tea or coffee",
        "who wrote Hamlet",
        "in which city is it",
        "so what is the price",
        "does the museum open on Sundays",
        "is Oslo bigger than Bergen",
        "can you come",
        "tell me about Oslo.",
        "Please explain how it works.",
        "could you list the members",
        "I wonder what time it is.",
        "and on Sundays",
    ],
)
def test_questions_and_requests_for_information_are_questions(question: str) -> None:
    assert is_question(question)


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "...",
        "Hi",
        "What I like is tea.",
        "What is needed is time.",
        "What a day!",
        "What people do is their business",
        "What's more, he lied.",
        "How much I love you",
        "How to do it is unclear.",
        "When I was young, I ran.",
        "Where there is smoke there is fire",
        "Which is why I left",
        "Will Smith is an actor.",
        "Do it now.",
        "Don't go",
        "So do I.",
        "Have a nice day",
        "May the force be with you",
        "Should you need help, call me.",
        "was great",
        "And I like tea.",
        'My favourite film is "Who are you?"',
        "He came (or did he?)",
        "I wonder.",
        "List of members",
        "For what it's worth, I like it",
    ],
)
def test_statements_orders_and_greetings_are_not_questions(statement: str) -> None:
    assert not is_question(statement)


@pytest.mark.parametrize(
    "message",
    [
        "What is it?",
        "Hi! Where is it? And when?",
        "hello :) is it open? 😊",
        "tell me about Oslo",
        "I wonder where it is",
    ],
)
def test_a_message_of_questions_and_greetings_asks_only(message: str) -> None:
    assert asks_only(message)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Thanks!",
        "I live in Oslo. What is near?",
        "i moved to oslo. what's the weather?",
        "I'm allergic to nuts, what can I eat?",
        "Since I live in Oslo, what is near?",
        "My dog is ill, what now?",
    ],
)
def test_a_message_that_states_something_does_not_only_ask(message: str) -> None:
    assert not asks_only(message)


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


@pytest.mark.parametrize(
    "asked",
    ["can other users see it", "is forgetting final or can i get it back", "would two people be enough"],
)
def test_a_question_without_a_mark_may_begin_with_its_verb(asked: str) -> None:
    assert is_question(asked)


@pytest.mark.parametrize(
    "said", ["was another great day", "have two cats", "is at home, or will be soon", "Could not be better"]
)
def test_a_statement_without_its_subject_is_no_question(said: str) -> None:
    assert not is_question(said)


@pytest.mark.parametrize(
    "asked",
    [
        "hwo do i add a pdf",
        "the new one is worse, how do I go back",
        "it wont start what can I do",
        "I'm allergic to nuts, what can I eat",
    ],
)
def test_a_question_may_be_misspelt_or_follow_what_it_is_about(asked: str) -> None:
    assert is_question(asked)


@pytest.mark.parametrize(
    "said",
    [
        "My sister asked me how I do it",
        "My favourite song is called What can I do",
        "I have no idea what can I do.",
        "We found out, how do you say, by chance.",
    ],
)
def test_a_question_word_within_a_statement_asks_nothing(said: str) -> None:
    assert not is_question(said)
