"""Which questions ask for something that a user has one of, and which statements give it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.asked_for import asked_for, how_it_gives
from agents.givings import Givings
from agents.relations.mentions import may_give
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
    ("What are my cats called?", "I have two cats, Mia and Tom."),
    ("What are my cats' names?", "My cats are Mia and Tom."),
    ("What are my cats called?", "My cat is Mia."),
    ("What's my dog called?", "We've got a dog named Birba."),
    ("How old am I?", "I was born on 4 May 1988."),
    ("What am I allergic to?", "I'm allergic to penicillin."),
    ("What do I play?", "I play the cello."),
    ("What is my favorite colour?", "My favourite color is teal."),
    ("Where does José work?", "José works at the zoo."),
    ("Where do I live?", "I’m living in Bonn."),
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
    ("What's my dog called?", "Ines has a dog called Luna, and Ben walks it."),
    ("What's my dog called?", "I know that Ines has a dog called Luna."),
    ("How old am I?", "My birthday is on 4 May."),
]


@pytest.mark.parametrize(("question", "statement"), ANSWERED)
def test_what_gives_the_thing_asked_for_answers(question: str, statement: str) -> None:
    wanted = asked(question)
    assert wanted is not None
    assert gives(statement, wanted)


def test_what_answers_is_never_passed_over() -> None:
    some = [*ANSWERED, *NOT_ANSWERED]
    for wanted in {wanted for question, _ in some if (wanted := asked(question)) is not None}:
        given = [statement for _, statement in some if gives(statement, wanted)]
        assert all(may_give(f"By the way: {statement} That is all.", wanted) for statement in given), wanted


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Where do I live?", "I like pizza."),
        ("Where do I live?", "Anna lives in Bonn."),
        ("Where does Anna live?", "I live in Bonn."),
        ("What is my phone number?", "I bought a lamp."),
        ("What am I allergic to?", "I'm fond of penicillin."),
        ("How old am I?", "I was born in a small town."),
    ],
)
def test_most_statements_are_passed_over_by_a_glance(question: str, statement: str) -> None:
    wanted = asked(question)
    assert wanted is not None
    assert not may_give(statement, wanted)


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


@pytest.mark.parametrize(
    "statement", ["My old boss Ben was nice.", "My former boss Ben left.", "My late boss Ben was kind."]
)
def test_who_is_one_no_more_is_not_who_is_asked_for(statement: str) -> None:
    wanted = asked("Who is my boss?")
    assert wanted is not None
    assert not gives(statement, wanted)
    assert gives("My new boss Ben is nice.", wanted)


def test_of_a_dog_that_is_old_the_name_is_given() -> None:
    wanted = asked("What is my dog called?")
    assert wanted is not None
    assert gives("My old dog Rex sleeps.", wanted)


@pytest.mark.parametrize(
    ("question", "statement", "how"),
    [
        ("Where do I work?", "I work at the library on Mondays.", "at times"),
        ("Where do I work?", "On Mondays I work at the library.", "at times"),
        ("Where do I work?", "I work at the library part-time.", "at times"),
        ("Where do I work?", "I work at the library until June.", "at times"),
        ("Where do I work?", "I still work at the library.", "plainly"),
        ("Where do I work?", "I will work at the library.", None),
        ("Where do I work?", "I worked at the library on Mondays.", None),
        ("Where do I work?", "If it rains, I work at the library on Mondays.", None),
        ("Where do I live?", "I live in Bonn during the week.", "at times"),
        ("Where do I live?", "I live in Bonn, and I would like a dog.", "plainly"),
        ("Where do I live?", "I live in Bonn but I might move.", "plainly"),
        ("Where do I live?", "I might live in Bonn on Mondays.", None),
        ("What is my phone number?", "My phone number is 0151 2345678 until June.", "at times"),
        ("What is my phone number?", "My phone number is 0151 2345678 if you need it.", "plainly"),
        ("When is my dentist appointment?", "My dentist appointment is next Tuesday at 10.", "at times"),
        ("When is my dentist appointment?", "I have a dentist appointment on Tuesday at 10.", "at times"),
        (
            "When is my dentist appointment?",
            "My dentist appointment is on Tuesday in the morning.",
            "at times",
        ),
        (
            "When is my dentist appointment?",
            "My dentist appointment is on 4 May, so I will be late.",
            "plainly",
        ),
    ],
)
def test_words_that_say_when_it_holds_take_nothing_from_an_answer(
    question: str, statement: str, how: str | None
) -> None:
    assert how_it_gives(statement, asked_for(question)) == how


def test_what_holds_always_answers_before_what_holds_at_times() -> None:
    told = [(2, "I work at the zoo on Mondays."), (1, "I work at the library.")]
    assert Givings(most=3).first(asked_for("Where do I work?"), told) == [1]
    assert Givings(most=3).first(asked_for("Where do I work?"), told[:1]) == [2]
