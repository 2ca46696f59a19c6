"""A question by name finds what was told by what somebody is, and the other way round."""

from __future__ import annotations

import pytest
from agent_fakes import source

from agents.asked_for import asked_for
from agents.other_persons import less_of_others
from agents.quote_order import Quote, as_asked_for
from agents.same_persons import Person, naming, of_person, person_in, with_both, with_who_it_is

LUKAS = "Lukas is my brother."


def told(*texts: str) -> list[tuple[int, str]]:
    return list(enumerate(texts, start=1))[::-1]


@pytest.mark.parametrize(
    ("question", "statements", "completed"),
    [
        ("Where does Lukas live?", [LUKAS, "My brother lives in Graz."], "Where does my brother Lukas live?"),
        ("Where does my brother live?", [LUKAS, "Lukas lives in Graz."], "Where does my brother Lukas live?"),
        (
            "When is my flatmate's birthday?",
            ["My flatmate is called Priya.", "Priya's birthday is on 9 May."],
            "When is my flatmate Priya's birthday?",
        ),
        (
            "Where does Priya work?",
            ["My flatmate is called Priya.", "My flatmate works at the mill."],
            "Where does my flatmate Priya work?",
        ),
        ("How old is Rex?", ["I have a dog called Rex.", "My dog is four."], "How old is my dog Rex?"),
        ("How old is my dog?", ["Our dog is a collie named Rex.", "Rex is four."], "How old is my dog?"),
        ("How old is our dog?", ["Our dog is a collie named Rex.", "Rex is 4."], "How old is our dog Rex?"),
        (
            "Where does Trond live?",
            ["My ex-husband's name is Trond.", "My ex-husband lives in Bergen."],
            "Where does my ex-husband Trond live?",
        ),
        (
            "How old is Ada?",
            ["My mother-in-law is Ada.", "My mother-in-law is 78."],
            "How old is my mother-in-law Ada?",
        ),
        (
            "When does Dr Haddad's surgery close?",
            ["My doctor is Dr Haddad.", "My doctor's surgery closes at 6."],
            "When does my doctor Dr Haddad's surgery close?",
        ),
    ],
)
def test_what_was_told_by_the_other_is_asked_for_by_both(
    question: str, statements: list[str], completed: str
) -> None:
    assert with_both(question, told(*statements)) == completed


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("Where does Lukas live?", ["My brother lives in Graz."]),  # nobody said who he is
        ("Where does Lukas live?", [LUKAS, "Lukas lives in Graz."]),  # told by the very name
        ("Where does my brother live?", [LUKAS, "My brother lives in Graz."]),
        ("Where does Lukas live?", [LUKAS, "My brother lives in Graz.", "I have two brothers."]),
        ("Where does Lukas live?", [LUKAS, "My brother lives in Graz.", "My older brother is a vet."]),
        ("Where does Lukas live?", [LUKAS, "My brother lives in Graz.", "Ben is my brother."]),
        ("Where does Lukas live?", [LUKAS, "Lukas is my boss.", "My brother lives in Graz."]),
        ("Where does Lukas live?", [LUKAS, "My sister lives in Graz."]),
        ("Where does Lukas live?", ["Ann says that Lukas is my brother.", "My brother lives in Graz."]),
        ("Who is Lukas?", [LUKAS, "My brother lives in Graz."]),
        ("What is my brother called?", [LUKAS, "Lukas lives in Graz."]),
        ("What is my brother's name?", [LUKAS, "Lukas lives in Graz."]),
        ("Do my brother and my sister get along?", [LUKAS, "Lukas lives in Graz."]),
        ("Where does my brother's wife live?", ["My wife is Ann.", "Ann lives in Ulm."]),
        ("Where do I live?", [LUKAS, "My brother lives in Graz."]),
    ],
)
def test_in_doubt_a_question_stays_as_it_is(question: str, statements: list[str]) -> None:
    assert with_both(question, told(*statements)) == question


def test_who_is_meant_is_told_by_the_newest_statement_that_says_so() -> None:
    statements = told(LUKAS, "My brother lives in Graz.", "My brother is called Lukas.")
    assert naming(Person("my brother", "Lukas"), statements) == [3]
    assert naming(Person("my brother", "Ben"), statements) == []
    assert person_in("Where does my brother Lukas live?") == ("my brother", "Lukas")
    assert person_in("Where does my brother live?") is None


def quotes(*texts: str, probability: float = 0.8) -> list[Quote]:
    return [
        Quote(source(number, text, kind="fact"), text, probability)
        for number, text in enumerate(texts, start=1)
    ]


def answered(question: str, *texts: str) -> list[tuple[str, bool]]:
    asking, found = asked_for(question), quotes(*texts)
    ranked = as_asked_for(asking, less_of_others(question, found), of_person(question, found))
    ranked.sort(key=lambda quote: -quote.probability)
    best = [quote for quote in ranked if quote.probability >= 0.5][:2]
    return [(quote.text, quote.is_sure) for quote in with_who_it_is(question, best, ranked, asking)]


def test_the_answer_stands_before_who_is_meant() -> None:
    question = "Where does my brother Lukas live?"
    expected = [("My brother lives in Graz.", True), (LUKAS, True)]
    assert answered(question, LUKAS, "My brother lives in Graz.") == expected
    assert answered(question, "My brother lives in Graz.", LUKAS) == expected


def test_what_names_both_needs_nothing_beside_it() -> None:
    text = "My brother Lukas lives in Graz."
    assert answered("Where does my brother Lukas live?", text) == [(text, True)]


def test_of_somebody_alike_something_else_is_no_sure_answer() -> None:
    found = answered("Where does my brother Lukas work?", LUKAS, "My brother lives in Graz.")
    assert found == [("My brother lives in Graz.", False), (LUKAS, True)]


def test_a_best_friend_is_one_person_of_that_name() -> None:
    who = "My best friend is Jannik."
    lives = "My best friend lives in Berlin."
    assert answered("Where does my best friend Jannik live?", who, lives) == [(lives, True), (who, True)]
    assert answered("What does my best friend Jannik do?", who, lives) == [(lives, False), (who, True)]


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("Where does Priya work?", 0.2),
        ("When does Priya come home?", 0.2),
        ("Who is Priya?", 1.0),
        ("What is my flatmate called?", 1.0),
    ],
)
def test_who_somebody_is_does_not_answer_what_else_is_asked_of_them(question: str, share: float) -> None:
    (quote,) = less_of_others(question, quotes("My flatmate is called Priya.", probability=0.9))
    assert quote.probability == pytest.approx(0.9 * share)
