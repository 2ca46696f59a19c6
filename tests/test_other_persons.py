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
    quotes = [Quote(source(1, SIMON, kind="fact"), SIMON, 0.9), Quote(source(2, SIMON), SIMON, 0.9)]
    own, document = less_of_others("What is my sister called?", quotes)
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
