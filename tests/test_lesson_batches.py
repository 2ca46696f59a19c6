"""Lessons in batches: each in one, with those it shares documents with, whatever order they come in."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.losses.contrastive import strict
from assistant.learning.recipes.retriever.batches import (
    Grouping,
    JudgedDocument,
    Label,
    Lesson,
    group,
    lesson_batch,
    read_lessons,
)


def document(number: int, label: Label = "answer", *, score: float = 1.0, rank: int = 1) -> JudgedDocument:
    return JudgedDocument(number, f"text {number}", "", label, score, rank)


def lesson(name: str, *positives: int, irrelevant: Sequence[int] = ()) -> Lesson:
    found = [document(number) for number in positives]
    return Lesson(name, f"{name}?", (*found, *(document(number, "irrelevant") for number in irrelevant)))


def ids(grouping: Grouping) -> list[list[str]]:
    return [[member.id for member in batch] for batch in grouping.batches]


def overlap(one: Lesson, other: Lesson) -> int:
    return len(one.positives & other.positives)


def by_brute_force(lessons: Sequence[Lesson], capacity: int) -> list[list[str]]:
    """The same assignment, with every gain computed by Eq. 1 over the members of each open batch."""
    waiting = sorted((x for x in lessons if x.positives), key=lambda x: (-len(x.positives), x.id))
    batches: list[list[Lesson]] = []
    aside: list[Lesson] = []
    while waiting:
        one, *waiting = waiting
        gains = {
            b: sum(overlap(one, member) for member in batch)
            for b, batch in enumerate(batches)
            if len(batch) < capacity
        }
        best = max(gains, key=lambda b: (gains[b], -len(batches[b]), -b), default=None)
        if best is not None and gains[best] > 0:
            batches[best].append(one)
        elif any(overlap(one, other) for other in waiting):
            batches.append([one])
        else:
            aside.append(one)
    for batch in batches:
        while aside and len(batch) < capacity:
            batch.append(aside.pop(0))
    while aside:
        batches.append(aside[:capacity])
        aside = aside[capacity:]
    whole = [batch for batch in batches if 2 * len(batch) >= capacity]
    merged: list[Lesson] = []
    for batch in [batch for batch in batches if 2 * len(batch) < capacity]:
        merged = merged + batch
        if 2 * len(merged) >= capacity:
            whole.append(merged)
            merged = []
    return [[member.id for member in batch] for batch in [*whole, *([merged] if merged else [])]]


@st.composite
def many_lessons(draw: st.DrawFn) -> list[Lesson]:
    held = draw(st.lists(st.frozensets(st.integers(0, 12), max_size=4), max_size=30))
    return [lesson(f"q{n}", *sorted(positives)) for n, positives in enumerate(held)]


any_lessons = given(lessons=many_lessons(), capacity=st.integers(1, 7))
quick = settings(max_examples=60, deadline=None)


# Grouping


def test_lessons_that_share_documents_come_together() -> None:
    lessons = [lesson("a", 1, 2), lesson("b", 8, 9), lesson("c", 2), lesson("d", 9)]
    assert ids(group(lessons, capacity=2)) == [["a", "c"], ["b", "d"]]


def test_what_shares_nothing_fills_free_places_in_order() -> None:
    lessons = [lesson("x", 7), lesson("a", 1, 2), lesson("y", 8), lesson("b", 1)]
    assert ids(group(lessons, capacity=3)) == [["a", "b", "x"], ["y"]]


def test_a_lesson_without_a_positive_is_dropped_and_counted() -> None:
    found = group([lesson("a", 1), lesson("b", irrelevant=[1, 2]), lesson("c")], capacity=4)
    assert (ids(found), found.dropped) == ([["a"]], 2)


def test_an_id_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two lessons a"):
        group([lesson("a", 1), lesson("b", 1), lesson("a", 2)], capacity=4)


@quick
@given(lessons=many_lessons(), capacity=st.integers(1, 7), chance=st.randoms(use_true_random=False))
def test_the_order_of_the_lessons_makes_no_difference(
    lessons: list[Lesson], capacity: int, chance: random.Random
) -> None:
    shuffled = lessons.copy()
    chance.shuffle(shuffled)
    assert group(shuffled, capacity=capacity) == group(lessons, capacity=capacity)


@quick
@any_lessons
def test_the_gain_is_that_of_equation_1(lessons: list[Lesson], capacity: int) -> None:
    assert ids(group(lessons, capacity=capacity)) == by_brute_force(lessons, capacity)


# The labels of a batch


def test_grouping_compares_no_lesson_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lesson's positives are looked at a fixed number of times, however many lessons there are."""
    looked: list[int] = []
    positives = Lesson.positives.fget
    assert positives is not None

    def counted(lesson: Lesson) -> frozenset[int]:
        looked.append(1)
        return positives(lesson)

    monkeypatch.setattr(Lesson, "positives", property(counted))
    counts = []
    for many in (100, 400):
        looked.clear()
        every = [
            Lesson(f"q{n:04}", "?", (JudgedDocument(n // 10, "text", "", "answer", 1.0, 1),))
            for n in range(many)
        ]
        group(every, capacity=16)
        counts.append(len(looked) / many)
    assert counts[1] <= 1.1 * counts[0] <= 11


def test_a_batch_has_each_document_once_and_the_labels_of_each_pair() -> None:
    first = Lesson("a", "a?", (document(5, "answer", rank=2), document(3, "irrelevant", score=0, rank=1)))
    second = Lesson("b", "b?", (document(3, "answer", rank=7), document(9, "relevant", score=0.5, rank=4)))
    found = lesson_batch([first, second])
    assert (found.questions, found.documents) == (("a?", "b?"), (3, 5, 9))
    assert found.texts == ("text 3", "text 5", "text 9")
    assert found.answers.tolist() == [[False, True, False], [True, False, False]]
    assert found.relevant.tolist() == [[False, False, False], [False, False, True]]
    assert found.irrelevant.tolist() == [[True, False, False], [False, False, False]]
    assert found.scores.tolist() == [[0, 1, 0], [1, 0, 0.5]]
    assert found.ranks.tolist() == [[1, 2, 0], [7, 0, 4]]


def test_a_document_that_answers_two_questions_is_no_negative_of_either() -> None:
    both = lesson_batch([lesson("a", 1), lesson("b", 1)])
    loss = strict(torch.rand(2, 1), torch.from_numpy(both.answers), torch.from_numpy(both.relevant))
    assert loss.item() == 0


def test_a_document_is_encoded_under_its_title() -> None:
    titled = Lesson("a", "a?", (JudgedDocument(1, "text", "Title", "answer", 1.0, 1),))
    assert lesson_batch([titled]).texts == ("Title\ntext",)


def test_one_document_with_two_texts_is_refused() -> None:
    other = Lesson("b", "b?", (JudgedDocument(1, "another text", "", "answer", 1.0, 1),))
    with pytest.raises(ValueError, match="document 1 has two texts"):
        lesson_batch([lesson("a", 1), other])


# The file


def line(name: str = "a", **changed: Any) -> dict[str, Any]:
    judged = {"id": 1, "text": "t", "title": "", "label": "answer", "score": 0.9, "rank": 1}
    return {"id": name, "question": "q?", "held_out": False, "documents": [judged]} | changed


def written(folder: Path, *lines: object) -> Path:
    file = folder / "lessons.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return file


def test_held_out_lessons_are_read_apart_and_never_in_a_batch(tmp_path: Path) -> None:
    useless = line("c")["documents"][0] | {"label": "irrelevant"}
    found = read_lessons(
        written(
            tmp_path,
            line("a", question="é\u2028x"),
            line("b", question="kept", held_out=True),
            line("c", documents=[useless]),
            line("d", documents=[useless], held_out=True),
        ),
        capacity=4,
    )
    assert [batch.questions for batch in found.batches] == [("é\u2028x",)]
    assert found.held_out is not None
    assert found.held_out.questions == ("kept",)
    assert found.counts == {
        "lessons": 4,
        "trained_on": 1,
        "without_positive": 1,
        "held_out": 2,
        "measured_on": 1,
        "documents": 1,
        "batches": 1,
    }


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"documents": [{"id": 1}]}, "missing"),
        ({"documents": [line()["documents"][0] | {"label": "maybe"}]}, "label"),
        ({"documents": [line()["documents"][0] | {"score": 1.5}]}, "score"),
        ({"documents": [3]}, "mapping"),
        ({"documents": [line()["documents"][0] | {"rank": 0}]}, "rank"),
        ({"documents": [line()["documents"][0] | {"id": "1"}]}, "id"),
        ({"documents": [line()["documents"][0] | {"text": None}]}, "strings"),
        ({"documents": [line()["documents"][0]] * 2}, "twice"),
    ],
)
def test_a_malformed_lesson_is_named_with_its_line(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=f"(?s)line 2 of .*{reason}"):
        read_lessons(written(tmp_path, line(), line("b", **changed)), capacity=4)


def test_a_file_with_nothing_to_learn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no lesson with a positive"):
        read_lessons(written(tmp_path, line(held_out=True)), capacity=4)
