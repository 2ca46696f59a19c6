"""Statements made of questions, answers made false, and claims that keep to their part."""

from __future__ import annotations

import random

import pytest

from assistant.learning.recipes.examples.changed_answers import Answers, changed, kind_of
from assistant.learning.recipes.examples.pairs import Corpus, Passage, Question
from assistant.learning.recipes.examples.statement_claims import (
    NOT_ENOUGH,
    REFUTES,
    SUPPORTS,
    _of_statement,
    claim_of,
)
from assistant.learning.recipes.templates.statements import Statement, statement


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("Who wrote Emma?", "Jane Austen", "Jane Austen wrote Emma."),
        ("What is the capital of France?", "Paris", "The capital of France is Paris."),
        ("When was the bridge opened?", "May 5, 1901", "The bridge was opened on May 5, 1901."),
        ("The Rhine flows into what sea?", "the North Sea", "The Rhine flows into the North Sea."),
        ("How many states does Nigeria have?", "36", "Nigeria has 36 states."),
        ("Whom did Caesar defeat?", "Pompey", None),
        ("In what century was it built?", "18th", "It was built in the 18th century."),
        ("Why did Rome fall?", "lead", None),
        ("What is it?", 'a "thing" (of sorts)', None),
    ],
)
def test_a_question_and_its_answer_make_a_statement(question: str, answer: str, said: str | None) -> None:
    made = statement(question, answer)
    assert (made.text if made else None) == said


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("1998", "year"),
        ("May 12, 2008", "date"),
        ("three times", "number word"),
        ("George Washington", "name"),
        ("an enzyme", "phrase"),
    ],
)
def test_the_kind_of_an_answer(answer: str, kind: str) -> None:
    assert kind_of(answer) == kind


@pytest.mark.parametrize("answer", ["1998", "May 12, 2008", "6,700 km", "three"])
def test_a_changed_number_keeps_its_form_and_differs(answer: str) -> None:
    for seed in range(50):
        other = changed(answer, [answer], (), "In 1990 there were 12,345 of 3.1.", random.Random(seed))
        assert other is not None
        assert other != answer
        assert kind_of(other) == kind_of(answer)


def test_a_changed_name_is_no_right_answer_and_no_part_of_one() -> None:
    others = ["Paris", "the city of Paris", "Lyon"]
    assert changed("Paris", ["Paris", "Paris, France"], others, "", random.Random(0)) == "Lyon"
    assert changed("Paris", ["Paris"], ["Paris"], "", random.Random(0)) is None


SAID = Statement("the capital of France is", "Paris", "")


def test_a_claim_says_what_its_label_wants() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        true = claim_of(SAID, "Lyon", SUPPORTS, rng).lower()
        false = claim_of(SAID, "Lyon", REFUTES, rng).lower()
        assert ("is paris" in true) or ("is not lyon" in true)
        assert ("is lyon" in false) or ("is not paris" in false)
        assert "not paris" not in true
        assert "not lyon" not in false


def test_a_statement_gives_all_three_labels_with_fitting_evidence() -> None:
    passages = [
        Passage(
            "p0", "France", "The capital of France is Paris. The Loire is the longest of its rivers by far."
        ),
        Passage("p1", "France", "Wine is grown in many valleys and sold in Lyon."),
        Passage("p2", "Cat", "A cat sleeps for most of the day in a warm place."),
    ]
    question = Question("q", "What is the capital of France?", ("Paris",), ("p0",), "France", "france")
    answers = Answers()
    for city in ("Paris", "Lyon", "Nice"):
        answers.add("France", question.text, city)
    found = [
        one
        for seed in range(20)
        for one in _of_statement(question, SAID, Corpus(passages), answers, random.Random(seed))
    ]
    assert {one.verify for one in found} == {SUPPORTS, REFUTES, NOT_ENOUGH}
    for one in found:
        assert ("Paris" in one.second) == (one.verify != NOT_ENOUGH)
        assert one.key == "france"
        assert one.source == "squad_entities"
