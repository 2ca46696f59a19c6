"""Statements made of questions, answers made false, and claims that keep to their part."""

from __future__ import annotations

import random
import re

import pytest

from assistant.learning.recipes.examples.changed_answers import Answers, asked_for, changed, kind_of
from assistant.learning.recipes.examples.claims import Claim, _chosen, _group
from assistant.learning.recipes.examples.pairs import Corpus, Passage, Question
from assistant.learning.recipes.examples.statement_claims import (
    NOT_ENOUGH,
    REFUTES,
    SUPPORTS,
    _denied,
    _of_statement,
    claim_of,
    spoken,
)
from assistant.learning.recipes.templates.statements import Statement, statement


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("Who wrote Emma?", "Jane Austen", "Jane Austen wrote Emma."),
        ("What is the capital of France?", "Paris", "The capital of France is Paris."),
        ("When was the university founded?", "1460", "The university was founded in 1460."),
        ("When was the bridge opened?", "May 5, 1901", "The bridge was opened on May 5, 1901."),
        ("In what year did the war end?", "1648", "The war ended in 1648."),
        ("What year did Lincoln leave Kentucky?", "1816", "Lincoln left Kentucky in 1816."),
        ("Where was Chopin born?", "Warsaw", "Chopin was born in Warsaw."),
        ("The Rhine flows into what sea?", "the North Sea", "The Rhine flows into the North Sea."),
        ("How many states does Nigeria have?", "36", "Nigeria has 36 states."),
        ("How many people were killed?", "69,197 people", "69,197 people were killed."),
        ("What was the earthquake named?", "The Big One", "The earthquake was named the Big One."),
        ("Which company owns the station?", "Telemundo", "Telemundo owns the station."),
        ("What does the plant produce?", "sugar", "The plant produces sugar."),
        ("Whom did Caesar defeat?", "Pompey", None),
        ("When did the TV show air?", "1990", "The TV show aired in 1990."),
        ("When did the battle take place?", "1815", "The battle took place in 1815."),
        ("In what century was it built?", "18th", "It was built in the 18th century."),
        ("When did Beyonce become famous?", "the 1990s", "Beyonce became famous in the 1990s."),
        ("Why did Rome fall?", "lead", None),
        ("How did it end?", "badly", None),
        ("Who won?", "Ann", None),
        ("What is it?", 'a "thing" (of sorts)', None),
    ],
)
def test_a_question_and_its_answer_make_a_statement(question: str, answer: str, said: str | None) -> None:
    made = statement(question, answer)
    assert (made.text if made else None) == said


def test_a_statement_can_say_another_answer() -> None:
    made = statement("What is the capital of France?", "Paris")
    assert made is not None
    assert made.with_answer("Lyon") == "The capital of France is Lyon."


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("1998", "year"),
        ("May 12, 2008", "date"),
        ("69,197", "number"),
        ("three times", "number word"),
        ("George Washington", "name"),
        ("University of Oxford", "name"),
        ("an enzyme", "phrase"),
    ],
)
def test_the_kind_of_an_answer(answer: str, kind: str) -> None:
    assert kind_of(answer) == kind


def test_what_a_question_asks_for() -> None:
    assert asked_for("What city is it in?") == "city"
    assert asked_for("What is the name of the river in Cologne?") == "river"
    assert asked_for("How many people came?") == "how many"
    assert asked_for("Who came?") == "who"


@pytest.mark.parametrize(
    "answer", ["1998", "May 12, 2008", "69,197", "6,700 km", "12%", "4.5", "three", "the 1960s"]
)
def test_a_changed_number_keeps_its_form_and_differs(answer: str) -> None:
    for seed in range(50):
        other = changed(answer, [answer], (), "In 1990 there were 12,345 of 3.1.", random.Random(seed))
        assert other is not None
        assert other != answer
        assert kind_of(other) == kind_of(answer)


def test_an_ordinal_keeps_its_ending() -> None:
    found = {changed("20th century", [], (), "", random.Random(seed)) for seed in range(60)}
    assert {"21st century", "22nd century", "15th century"} <= found
    assert not any(re.match(r"\d*(?:1th|2th|3th)", one or "") for one in found)


def test_a_changed_name_is_no_right_answer_and_no_part_of_one() -> None:
    others = ["Paris", "the city of Paris", "Lyon"]
    assert changed("Paris", ["Paris", "Paris, France"], others, "", random.Random(0)) == "Lyon"
    assert changed("Paris", ["Paris"], ["Paris"], "", random.Random(0)) is None


def test_other_answers_are_asked_for_in_the_same_way() -> None:
    answers = Answers()
    answers.add("France", "What city is large?", "Lyon")
    answers.add("France", "What river is long?", "Loire")
    found = answers.like("France", "What city is it?", "Paris", "", random.Random(0))
    assert set(found) == {"Lyon"}


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


def test_silent_evidence_comes_with_true_and_false_claims_alike() -> None:
    said = [claim_of(SAID, "Lyon", NOT_ENOUGH, random.Random(seed)).lower() for seed in range(300)]
    true = sum("is paris" in one or "is not lyon" in one for one in said)
    assert 100 < true < 200


def test_only_a_statement_with_one_form_of_be_is_denied() -> None:
    assert _denied("it is red") == "it is not red"
    assert _denied("it is what was red") is None
    assert _denied("it ran") is None


def test_a_spoken_statement_keeps_its_words() -> None:
    for seed in range(100):
        assert "the rhine is long" in spoken("the Rhine is long", random.Random(seed)).lower()


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


def test_silent_evidence_shares_little_with_the_gold_evidence() -> None:
    gold = "The bridge over the Rhine was built in 1901 by Ann Smith."
    claim = Claim("The bridge over the Rhine is old.", gold, SUPPORTS, "k")
    others = [gold, "The bridge over the Rhine was built in 1901.", "Cats sleep for most of the day."]
    for seed in range(20):
        assert _chosen(others, claim, others, random.Random(seed)) in (others[2], None)


def test_the_group_of_a_symmetric_claim() -> None:
    assert _group("1005840000002") == "100584"
    assert _group("100584") == "100584"
