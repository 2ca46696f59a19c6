"""Who speaks, who replies, and what tells a time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.retrieval.retriever import asks_when, is_named, replies, speaker, tells_time
from stores.words.lexical import tokens


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Ada: I am home.", "Ada"),
        ("Ada Lovelace: I am home.", "Ada Lovelace"),
        ("ada: hi", "ada"),
        ("Zoë: hi", "Zoë"),
        ("I am home.", ""),
        ("The best of it is: I am home.", ""),
        ("http://example.org is the page", ""),
        ("12:30 is the time", ""),
        ("", ""),
    ],
)
def test_a_message_names_its_speaker_before_a_colon(text: str, who: str) -> None:
    assert speaker(text) == who


@settings(deadline=None)  # a busy machine is no defect
@given(st.text())
def test_a_speaker_is_the_beginning_of_the_message(text: str) -> None:
    assert text.lstrip().startswith(speaker(text))


@pytest.mark.parametrize(
    ("query", "who", "named"),
    [
        ("Where does Ada live?", "Ada", True),
        ("Where is Ada's house?", "Ada Lovelace", True),
        ("Where does Adam live?", "Ada", False),
        ("Where does the baker live?", "The Mayor", False),  # "the" names nobody
        ("Where does Ada live?", "", False),
    ],
)
def test_a_speaker_is_named_by_any_word_of_the_name(query: str, who: str, named: bool) -> None:
    assert is_named(who, frozenset(tokens(query))) is named


@pytest.mark.parametrize(
    ("before", "text", "is_reply"),
    [
        ("Ada: Are you well?", "Ben: Yes.", True),
        ("Ada: Are you well? I am.", "Ben: So am I.", True),
        ("Ada: I am well.", "Ben: So am I.", False),
        ("Ada: Are you well?", "Ada: I am.", False),
        ("Are you well?", "Ben: Yes.", False),
        ("Are you well?", "I like tea.", False),
    ],
    ids=["question", "question in it", "statement", "same speaker", "unnamed asker", "own messages"],
)
def test_a_reply_follows_the_question_of_another_speaker(before: str, text: str, is_reply: bool) -> None:
    assert replies(text, to=before) is is_reply


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("When did Ada move?", True),
        ("And since when?", True),
        ("In which year was it?", True),
        ("How long did it take?", True),
        ("What did Ada do when it rained?", False),
        ("Whenever", False),
    ],
)
def test_what_asks_for_a_time(query: str, asks: bool) -> None:
    assert asks_when(query) is asks


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("We moved last spring.", True),
        ("It was in 1998.", True),
        ("On Monday!", True),
        ("We may move.", False),
        ("It cost 9999 and 300.", False),
        ("", False),
    ],
)
def test_what_tells_a_time(text: str, tells: bool) -> None:
    assert tells_time(text) is tells
