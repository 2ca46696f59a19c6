"""Lessons, and the batches in which the retriever learns from them.

    file -> lessons -> those without a positive dropped -> grouped by shared documents -> labels of each pair

A lesson is a question with the documents that were judged for it. Questions that share documents come into
one batch, so that what answers one of them is told from what answers its neighbours. Source of the grouping:
Eq. 1 of the article named in agents/losses/contrastive.py, made a greedy assignment with a capacity.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from stores.base.passages import searchable_text

Label = Literal["answer", "relevant", "irrelevant"]
LABELS: tuple[Label, ...] = get_args(Label)

Truth = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class JudgedDocument:
    """One document that was retrieved for a question, and what was judged of it."""

    id: int
    text: str
    title: str
    label: Label
    score: float  # 0 to 1; higher is more useful
    rank: int  # in the first retrieval, from 1

    def __post_init__(self) -> None:
        if type(self.id) is not int:
            raise ValueError(f"a document's id is {self.id!r}, which is no whole number")
        if not isinstance(self.text, str) or not isinstance(self.title, str):
            raise ValueError(f"text and title of document {self.id} must be strings")
        if self.label not in LABELS:
            raise ValueError(f"document {self.id} has the label {self.label!r}, which is none of {LABELS}")
        if not 0 <= self.score <= 1:
            raise ValueError(f"document {self.id} has the score {self.score}, which is not within 0 and 1")
        if type(self.rank) is not int or self.rank < 1:
            raise ValueError(f"document {self.id} has the rank {self.rank}; ranks are 1, 2, 3 and so on")

    @property
    def searchable(self) -> str:
        """The text that is encoded."""
        return searchable_text(self.title, self.text)


@dataclass(frozen=True)
class Lesson:
    """A question that was asked, and what was judged for it."""

    id: str
    question: str
    documents: tuple[JudgedDocument, ...]
    is_held_out: bool = False  # measured on, and never learned from

    def __post_init__(self) -> None:
        if len({document.id for document in self.documents}) < len(self.documents):
            raise ValueError(f"lesson {self.id} has a document twice")

    @property
    def positives(self) -> frozenset[int]:
        """R(q): the documents that answer the question or help."""
        return frozenset(document.id for document in self.documents if document.label != "irrelevant")


@dataclass(frozen=True)
class Grouping:
    """All lessons with a positive, each in one batch."""

    batches: tuple[tuple[Lesson, ...], ...]
    dropped: int  # lessons without a positive


@dataclass(frozen=True)
class LessonBatch:
    """b questions, the n different documents judged for any of them, and the labels of each pair."""

    questions: tuple[str, ...]
    documents: tuple[int, ...]  # ids, ascending
    texts: tuple[str, ...]  # of the documents, as they are encoded
    answers: Truth  # (b, n)
    relevant: Truth  # (b, n)
    irrelevant: Truth  # (b, n)
    scores: Floats  # (b, n), 0 where not judged
    ranks: Whole  # (b, n), 0 where not judged

    def __len__(self) -> int:
        return len(self.questions)


def group(lessons: Iterable[Lesson], *, capacity: int = 16) -> Grouping:
    """Puts each lesson where most of its positives are, in batches of at most `capacity`.

    Batch(q) = argmax_B Σ_{q' in B} |R(q) ∩ R(q')|, one q after another, those with most positives first. The
    order of the lessons makes no difference. Time: O(Σ_q Σ_{d in R(q)} open batches that hold d); memory:
    O(Σ |R(q)|). At most one batch is below half of the capacity. Raises ValueError when an id comes twice.
    """
    if capacity < 1:
        raise ValueError(f"a batch cannot have a capacity of {capacity}")
    every = sorted(lessons, key=lambda lesson: lesson.id)
    for one, other in pairwise(every):
        if one.id == other.id:
            raise ValueError(f"there are two lessons {one.id}")
    useful = [lesson for lesson in every if lesson.positives]
    useful.sort(key=lambda lesson: -len(lesson.positives))  # stable: equals stay in the order of their ids
    assignment = _Assignment(useful, capacity)
    for lesson in useful:
        assignment.place(lesson)
    return Grouping(tuple(tuple(batch) for batch in assignment.finish()), len(every) - len(useful))


class _Assignment:
    """The greedy assignment while it goes on. A batch is open until it is full."""

    def __init__(self, lessons: Sequence[Lesson], capacity: int) -> None:
        self._capacity = capacity
        self._batches: list[list[Lesson]] = []
        self._aside: list[Lesson] = []
        self._postings: dict[int, Counter[int]] = defaultdict(Counter)  # document -> open batch -> lessons
        self._to_come = Counter(document for lesson in lessons for document in lesson.positives)

    def place(self, lesson: Lesson) -> None:
        """Adds it to the open batch of largest gain; it opens one when others will follow, or waits."""
        gains: Counter[int] = Counter()
        for document in lesson.positives:
            self._to_come[document] -= 1
            gains.update(self._postings.get(document, {}))
        if gains:
            self._add(lesson, min(gains, key=lambda b: (-gains[b], len(self._batches[b]), b)))
        elif any(self._to_come[document] for document in lesson.positives):
            self._batches.append([])
            self._add(lesson, len(self._batches) - 1)
        else:
            self._aside.append(lesson)

    def _add(self, lesson: Lesson, place: int) -> None:
        batch = self._batches[place]
        batch.append(lesson)
        for document in lesson.positives:
            self._postings[document][place] += 1
        if len(batch) == self._capacity:
            for document in {document for member in batch for document in member.positives}:
                del self._postings[document][place]

    def finish(self) -> list[list[Lesson]]:
        """All batches: free places are filled with what shares nothing, and small ones are merged."""
        aside = iter(self._aside)
        for batch in self._batches:
            batch.extend(lesson for _, lesson in zip(range(self._capacity - len(batch)), aside, strict=False))
        left = list(aside)
        places = range(0, len(left), self._capacity)
        batches = self._batches + [left[place : place + self._capacity] for place in places]

        whole = [batch for batch in batches if 2 * len(batch) >= self._capacity]
        merged: list[Lesson] = []
        for batch in batches:
            if 2 * len(batch) < self._capacity:
                merged = merged + batch
            if 2 * len(merged) >= self._capacity:
                whole.append(merged)
                merged = []
        return [*whole, merged] if merged else whole


def lesson_batch(lessons: Sequence[Lesson]) -> LessonBatch:
    """The labels of all pairs. Raises ValueError when one document has two texts."""
    texts = _texts(lessons)
    columns = {document: column for column, document in enumerate(sorted(texts))}
    shape = len(lessons), len(columns)
    masks = {label: np.zeros(shape, dtype=np.bool_) for label in LABELS}
    scores, ranks = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.int64)
    for row, lesson in enumerate(lessons):
        for document in lesson.documents:
            place = row, columns[document.id]
            masks[document.label][place] = True
            scores[place], ranks[place] = document.score, document.rank
    return LessonBatch(
        questions=tuple(lesson.question for lesson in lessons),
        documents=tuple(columns),
        texts=tuple(texts[document] for document in columns),
        answers=masks["answer"],
        relevant=masks["relevant"],
        irrelevant=masks["irrelevant"],
        scores=scores,
        ranks=ranks,
    )


def _texts(lessons: Sequence[Lesson]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for lesson in lessons:
        for document in lesson.documents:
            if texts.setdefault(document.id, document.searchable) != document.searchable:
                raise ValueError(f"document {document.id} has two texts")
    return texts


@dataclass(frozen=True)
class Lessons:
    """What is learned from, and what it is measured on."""

    batches: list[LessonBatch]
    held_out: LessonBatch | None  # all held-out questions that have an answer; None when there are none
    counts: dict[str, int]
    sha256: str  # of the file


def read_lessons(file: Path, *, capacity: int) -> Lessons:
    """The lessons of a file, one on each line, in batches.

    {"id": str, "question": str, "held_out": bool, "documents": [{"id": int, "text": str, "title": str,
    "label": "answer" | "relevant" | "irrelevant", "score": float, "rank": int}, ...]}
    Raises ValueError, with the line, for one that is malformed, and when there is nothing to train on.
    """
    content = file.read_bytes()
    every: list[Lesson] = []
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            every.append(_lesson(json.loads(line)))
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"line {number} of {file} is no lesson: {error}") from error
    measured = [x for x in every if x.is_held_out and any(d.label == "answer" for d in x.documents)]
    grouping = group([lesson for lesson in every if not lesson.is_held_out], capacity=capacity)
    if not grouping.batches:
        raise ValueError(f"{file} has no lesson with a positive to train on")
    counts = {
        "lessons": len(every),
        "trained_on": sum(map(len, grouping.batches)),
        "without_positive": grouping.dropped,
        "held_out": sum(lesson.is_held_out for lesson in every),
        "measured_on": len(measured),
        "documents": len(_texts(every)),
        "batches": len(grouping.batches),
    }
    return Lessons(
        [lesson_batch(batch) for batch in grouping.batches],
        lesson_batch(measured) if measured else None,
        counts,
        hashlib.sha256(content).hexdigest(),
    )


def _lesson(found: dict[str, Any]) -> Lesson:
    documents = tuple(JudgedDocument(**document) for document in found["documents"])
    if not isinstance(found["id"], str) or not isinstance(found["question"], str):
        raise TypeError("its id and question must be strings")
    return Lesson(found["id"], found["question"], documents, bool(found.get("held_out", False)))
