"""Which questions ask for something that a user has one of, and which statements give it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.relations.questions import asked, gives

ANSWERED = [
    ("Where do I live?", "I moved to Bonn last week."),
    ("where am I living now?", "We live in Bonn."),
    ("Do you know where I live?", "I live in Bonn."),
    ("Which city do I live in?", "I live in Bonn."),
    ("Where did I move to?", "I moved to Bonn."),
    ("Where do I work?", "I changed jobs, I'm at the library now."),
    ("Who do I work for?", "My employer is Siemens."),
    ("What's my job?", "I work as a nurse."),
    ("What do I do for a living?", "I'm working as a nurse."),
    ("Where does Anna work?", "Anna works at the zoo."),
    ("How old am I?", "I turned 35 today."),
    ("Who am I married to?", "My wife is Anna."),
    ("Who is my husband?", "I married Ben."),
    ("Who is my wife?", "I live in Lyon with my wife Marta."),
    ("Where do I work?", "I work as a plumber at Boiler & Sons."),
    ("Am I married?", "I am divorced."),
    ("When is my birthday?", "I was born on 4 May."),
    ("Where is my bike?", "I put my bike in the shed."),
    ("Where did I park my car?", "I parked my car behind the church."),
    ("What is my favourite colour?", "I changed my favourite colour to green."),
    ("What's my phone number?", "I have a new phone number: 555 9876."),
    ("Who is my boss?", "My boss is Kim."),
    ("What is my daughter's name?", "Our daughter Giulia is 9 and our son Leo is 6."),
    ("What's my dog called?", "We have a dog called Birba, she's a beagle."),
    ("Who is my sister?", "My sister Elena lives in Milan."),
    ("What's my job?", "I'm a physiotherapist at the San Marco clinic."),
    ("Where do I work?", "I'm a physiotherapist at the San Marco clinic."),
    ("When is the meeting?", "The meeting has been moved to Tuesday at 10."),
    ("When does my flight leave?", "My flight is delayed until 16:05."),
    ("How old are the twins?", "The twins turned 5 last week."),
    ("What's my address?", "We moved house, we're at 3 Oak Lane now."),
    ("What is my address?", "My address is 4 Mill Street."),
    ("What's my name?", "I'm Tom, and I drive a bus."),
    ("What is my name?", "My name is Tom."),
    ("Who am I?", "I am Tom Berg."),
    ("Who is my wife?", "Sarah and I got divorced."),
    ("Where do I work?", "I no longer work at the harbour office."),
]
NOT_ANSWERED = [
    ("Where do I live?", "I work at the library."),
    ("What's my name?", "I'm German."),
    ("What's my name?", "My neighbour is called Olga."),
    ("Where do I live?", "My mother lives in Bonn."),
    ("Where does Anna work?", "I work at the zoo."),
    ("Where do I work?", "I might work at the zoo."),
    ("Who is my boss?", "My boss is nice."),
    ("What is my daughter's name?", "My daughter is nine."),
    ("What is my daughter's name?", "Our son Leo is 6."),
    ("Where do I work?", "I'm a regular at the San Marco bar."),
    ("How old am I?", "I am 180 cm tall."),
    ("What is my favourite colour?", "My favourite food is pizza."),
]


@pytest.mark.parametrize(("question", "statement"), ANSWERED)
def test_what_gives_the_thing_asked_for_answers(question: str, statement: str) -> None:
    wanted = asked(question)
    assert wanted is not None
    assert gives(statement, wanted)


@pytest.mark.parametrize(("question", "statement"), NOT_ANSWERED)
def test_what_gives_something_else_does_not(question: str, statement: str) -> None:
    wanted = asked(question)
    assert wanted is not None
    assert not gives(statement, wanted)


@pytest.mark.parametrize(
    "question",
    ["Where do my friends live?", "Where do people work?", "Why do I live in Bonn?", "opening hours", ""],
)
def test_most_questions_ask_for_no_such_thing(question: str) -> None:
    wanted = asked(question)
    assert wanted is None or not gives("I live in Bonn.", wanted)


@given(st.text(max_size=250))
def test_any_text_can_be_looked_at(text: str) -> None:
    asked(text)
