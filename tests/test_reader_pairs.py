"""Questions with passages: spans, labels, and what never meets across parts."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from training.examples.changed_answers import Answers, changed, kind_of
from training.examples.pairs import (
    SETS,
    Corpus,
    Passage,
    Question,
    _of_question,
    answer_spans,
    held_out_articles,
    pairs,
)
from training.examples.statement_claims import (
    NOT_ENOUGH,
    REFUTES,
    SUPPORTS,
    _of_statement,
    claim_of,
)
from training.templates.statements import Statement, statement


def passage(number: int, article: str, text: str) -> Passage:
    return Passage(f"p{number}", article, text)


RHINE = passage(0, "Rhine", "The Rhine rises in the Alps and is 1,230 km long.")
RHINE_SHIPS = passage(1, "Rhine", "Ships carry coal on it to Basel.")
NILE = passage(2, "Nile", "The Nile is a long river of Africa.")
CATS = passage(3, "Cat", "A cat sleeps for most of the day.")
CORPUS = Corpus([RHINE, RHINE_SHIPS, NILE, CATS])
LENGTH = Question("q1", "How long is the river Rhine?", ("1,230 km",), ("p0",), "Rhine", "rhine")


def test_a_span_is_every_occurrence_as_a_whole_word_in_any_case() -> None:
    text = "Paris is in France. paris, not Parisians."
    assert [text[start:end] for start, end in answer_spans(text, ["Paris"])] == ["Paris", "paris"]


def test_a_question_comes_with_its_answer_and_without() -> None:
    found = list(_of_question(LENGTH, CORPUS, "squad", random.Random(0), ()))
    right = found[0]
    assert right.judge == 0
    assert right.spans is not None
    assert [right.second[start:end] for start, end in right.spans] == ["1,230 km"]
    wrong = [one for one in found if one.judge != 0]
    assert wrong
    assert all(one.spans == () and "1,230 km" not in one.second for one in wrong)


def test_what_is_irrelevant_is_of_another_article() -> None:
    of_article = {one.text: one.article for one in CORPUS.passages}
    for seed in range(20):
        for one in _of_question(LENGTH, CORPUS, "squad", random.Random(seed), ()):
            assert (of_article[one.second] == "Rhine") == (one.judge in (0, 1))


def write(path: Path, records: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)


def question(name: str, doc: str, answer: str, gold: str) -> dict[str, Any]:
    return {
        "id": name,
        "question": f"What of {name}?",
        "answers": [answer],
        "passage_ids": [gold],
        "doc": doc,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Every set with one article of its own in training, and one article of SQuAD's test in NQ's training."""
    for one in SETS:
        name = one.name
        gold = [
            {"id": f"{name}-{n}", "doc": doc, "text": f"{doc} has x{n}."}
            for n, doc in enumerate([f"{name} a", f"{name} b", "Shared"])
        ]
        write(one.passages(tmp_path, "train"), gold)
        write(one.passages(tmp_path, "test"), gold)
        write(one.questions(tmp_path, "test"), [question(f"{name} test", f"{name} b", "x1", f"{name}-1")])
        write(one.questions(tmp_path, "train"), [question(f"{name} train", f"{name} a", "x0", f"{name}-0")])
    write(tmp_path / "squad/dev.jsonl.gz", [question("squad test", "Shared", "x2", "squad-2")])
    write(tmp_path / "nq/train.jsonl.gz", [question("nq leak", "Shared", "x2", "nq-2")])
    files = "hotpotqa/train hotpotqa/test boolq/dev fm2/test doc2dial/train doc2dial/test doc2dial/passages"
    for file in files.split():
        write(tmp_path / f"{file}.jsonl.gz", [])
    return tmp_path


def test_an_article_of_one_sets_test_is_in_no_sets_training(data: Path) -> None:
    assert "shared" in held_out_articles(data)
    made = [one for part in ("train", "calibration") for one in pairs(data, part, seed=1)]  # type: ignore[arg-type]
    train = [one for one in made if one.source != "documents"]  # that set is the project's own
    assert {one.source for one in train} == {"squad", "timeqa", "covidqa"}
    assert not any("Shared" in one.second for one in train)
    assert any("Shared" in one.second for one in pairs(data, "test", seed=1))


# Statements, and answers made false


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
