"""What is known of one person does not answer a question about another."""

from __future__ import annotations

import pytest
from agent_fakes import source
from hypothesis import given
from hypothesis import strategies as st

from agents.other_persons import is_of_another, less_of_others
from agents.quote_order import Quote
from agents.relations.questions import asked, gives

SIMON = "My brother is called Simon."
OLA = "My friend Ola is allergic to nuts."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is my sister called?", SIMON),
        ("What is my son called?", SIMON),
        ("What's my cousin's name?", "My name is Rosalind Teague."),
        ("Who is my aunt?", "My uncle is Hal."),
        ("What is my dog called?", "My cat is called Ada."),
        ("How old is my sister?", "My brother is 12."),
        ("Where does my mother live?", "My older sister lives in Bonn."),
        ("What am I allergic to?", OLA),
        ("What is my name?", "My husband's name is Raj."),
        ("Where do I live?", "My sister lives in Bonn."),
        ("When was I born?", "My daughter was born in 2011."),
    ],
)
def test_a_statement_of_another_person(question: str, sentence: str) -> None:
    assert is_of_another(question, sentence, sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is my sister called?", "My sister nell is a vet."),
        ("What is my sister called?", "My brother Simon and my sister Nell are twins."),
        ("Who is my wife?", "I married Nora in 2011."),
        ("How old is my sister?", "Nell is 12."),
        ("What is my sister's dog called?", "My sister has a dog named Rex."),
        ("What is my mother called?", "My mum is Vera."),
        ("What is my son called?", "My youngest child is called Finn."),
        ("Which doctor do I see?", "My doctor is Dr Lim."),
        ("Who do I work for?", "My boss is Kim."),
        ("How many children do I have?", "My daughter Giulia is seven."),
        ("What is Ola allergic to?", OLA),
        ("When do I meet Ola?", "My friend Ola comes on Monday."),
        ("Where do I live?", "My wife and I live in Bonn."),
        ("What did I get for my birthday?", "My boss gave me a clock."),
        ("What is my name?", "My name is Rosalind."),
        ("What colour is my car?", "My sister has a red car."),
    ],
)
def test_a_statement_that_may_be_of_the_same_person(question: str, sentence: str) -> None:
    assert not is_of_another(question, sentence, sentence)


def test_what_stands_around_a_sentence_says_of_whom_it_is() -> None:
    told = "I have a cousin. Her name is Ada."
    assert not is_of_another("What is my cousin called?", "Her name is Ada.", told)
    assert is_of_another("What is my cousin called?", "Her name is Ada.", "Her name is Ada.")


def test_only_what_a_user_said_is_left_less_probable() -> None:
    quotes = [Quote(source(1, OLA, kind="fact"), OLA, 0.9), Quote(source(2, OLA), OLA, 0.9)]
    own, document = less_of_others("What am I allergic to?", quotes)
    assert own.probability < 0.3
    assert document.probability == 0.9


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("My sister nell is a vet.", True),
        ("My sister Nell is a vet.", True),
        ("My sister never is on time.", False),
        ("My sister in law is a vet.", False),
        ("My sister who is a vet lives in Bonn.", False),
        ("My sister says it has rained.", False),
    ],
)
def test_a_relative_may_be_named_in_small_letters(statement: str, names: bool) -> None:
    wanted = asked("What is my sister called?")
    assert wanted is not None
    assert gives(statement, wanted) == names


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_can_be_compared(question: str, sentence: str) -> None:
    is_of_another(question, sentence, sentence)


TOLD = (
    "My name is Tobias Renner.",
    "My best friend is called Lukas.",
    "My boss is called Mrs. Turner.",
    "My optician is called Dr. Sehl.",
    "My mother's birthday is on 4 March.",
    "My phone number is 0151 2345678.",
    "My grandmother is called Ada.",
    "Omar is 12.",
)


def kept(question: str, *told: str) -> list[str]:
    """What is left of one's own statements to answer a question."""
    quotes = [Quote(source(n, text, kind="fact"), text, 0.9) for n, text in enumerate(told, start=1)]
    return [quote.text for quote in less_of_others(question, quotes)]


@pytest.mark.parametrize(
    "question",
    [
        "What is my father's name?",
        "What's my fathers name again?",
        "And what is my mother-in-law called?",
        "What is my therapist called?",
        "Who is my physio?",
        "Do you know what my barber is called?",
        "Who's my lawyer?",
        "When is my sister's birthday?",
        "When was my brother born?",
        "What is my dentist’s phone number?",
        "What is my boyfriend's e-mail address?",
        "How old is my little brother?",
        "Where does my uncle live?",
    ],
)
def test_where_nothing_is_told_of_a_person_nothing_answers(question: str) -> None:
    assert kept(question, *TOLD) == []


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is my father's name?", "My dad is called Piet."),
        ("When is my mum's birthday?", "My mother's birthday is on 4 March."),
        ("Who is my boss?", "I work for Mrs. Turner."),
        ("Who is my boss?", "I report to Mrs. Turner."),
        ("What is my wife called?", "I married Ann."),
        ("Who is my wife?", "Ann and I got divorced."),
        ("Who is my girlfriend?", "Hannah and I broke up."),
        ("Who is my girlfriend?", "I'm dating Hannah."),
        ("What is my grandma called?", "My grandmother is called Ada."),
        ("Who is my barber?", "Gino cuts my hair."),
        ("Who is my therapist?", "I go to therapy with Dr. Blum."),
        ("What is my dog called?", "Rex is my dog."),
        ("What is my car called?", "I drive a Fiat."),
        ("What is my phone number?", "My phone number is 0151 2345678."),
        ("When is my dentist appointment?", "I have my teeth checked on Monday."),
        ("When do I meet my sister?", "On Monday I go to Bonn."),
        ("What did I buy for my sister's birthday?", "I bought a scarf."),
        ("What is my sister's dog called?", "Rex is nine."),
    ],
)
def test_what_may_speak_of_a_person_or_of_a_thing_stays(question: str, told: str) -> None:
    assert kept(question, told) == [told]


def test_a_name_that_is_known_to_be_of_a_person_speaks_of_them() -> None:
    told = ("My sister Nell is a vet.", "Nell is 12.", "Omar is 14.", "Nell's birthday is on 3 May.")
    assert kept("How old is my sister?", *told) == [told[0], told[1], told[3]]


def test_a_document_is_never_left_out_as_another_persons() -> None:
    quotes = [Quote(source(1, OLA), OLA, 0.9)]
    assert less_of_others("What is my father's name?", quotes) == quotes


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Who is Ann's boss?", "My boss is Kim."),
        ("What is my father's name?", "My name is Tobias Renner."),
    ],
)
def test_ones_own_does_not_give_what_another_has(question: str, statement: str) -> None:
    wanted = asked(question)
    assert wanted is not None
    assert not gives(statement, wanted)
