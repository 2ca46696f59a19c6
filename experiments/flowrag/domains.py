"""Six sets as collections of one store, with pairs to train on and questions to choose and to report by.

Four have an adapter; two stand beside them and are not trained. Passages are those that answer something,
then others of the same documents, then any. Equal ones are stored once.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.library.formats.plain_text import plain_line, unwrapped
from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion, Split, read_set, splits_of
from stores.base.passages import searchable_text
from training.examples import documents
from training.examples.example import Part
from training.relevance import of_documents

TRAINED = ("friendsqa", "documents", "covidqa", "timeqa")
BESIDE = ("nq", "realtimeqa")
PAIRS, DEV, TEST = 200, 100, 400  # questions of a domain, at most
MOST = {"friendsqa": 5000, "documents": 5000, "covidqa": 5000, "timeqa": 5000, "nq": 2500, "realtimeqa": 2500}
_DOCUMENTS_PARTS: tuple[Part, ...] = ("train", "calibration", "test")


@dataclass(frozen=True)
class Question:
    """What is asked, and the passages of its domain any of which answers it."""

    text: str
    gold: frozenset[int]  # their places in the domain
    answers: tuple[str, ...] = ()  # any is right


@dataclass(frozen=True)
class Domain:
    """A collection."""

    name: str
    titles: tuple[str, ...]
    texts: tuple[str, ...]  # of the passages, below their titles
    train: tuple[Question, ...]  # none where it is not trained
    dev: tuple[Question, ...]
    test: tuple[Question, ...]

    @property
    def questions(self) -> dict[str, tuple[Question, ...]]:
        """By what they are for."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    @property
    def searchable(self) -> list[str]:
        """What is encoded of each passage."""
        return [searchable_text(title, text) for title, text in zip(self.titles, self.texts, strict=True)]


def read_domains(data: Path) -> list[Domain]:
    """All six, those with an adapter first."""
    return [read_domain(data, name) for name in (*TRAINED, *BESIDE)]


def read_domain(data: Path, name: str) -> Domain:
    """One of them; a sample drawn by a seed of its own, so that another size of one changes no other."""
    passages, (train, dev, test) = _documents() if name == "documents" else _set(data, name)
    if name in BESIDE:
        train, dev = [], []
    wanted = {id_ for question in (*train, *dev, *test) for id_ in question.gold or ()}
    kept = _kept(passages, wanted, MOST[name], random.Random(f"{name} passages"))
    place: dict[tuple[str, str], int] = {}
    of_id: dict[str, int] = {}
    for passage in kept:
        of_id[passage.id] = place.setdefault((plain_line(passage.title), unwrapped(passage.text)), len(place))

    def asked(questions: Iterable[ReplayQuestion]) -> tuple[Question, ...]:
        return tuple(
            Question(q.text, frozenset(of_id[id_] for id_ in q.gold or ()), q.answers) for q in questions
        )

    titles, texts = zip(*place, strict=True)
    return Domain(name, titles, texts, asked(train), asked(dev), asked(test))


def _set(data: Path, name: str) -> tuple[Sequence[ReplayPassage], list[list[ReplayQuestion]]]:
    read = {split: read_set(data, name, split) for split in splits_of(name)}
    train = _drawn(read["train"].questions, PAIRS + DEV, f"{name} train")
    has_dev: Split = "dev" if "dev" in read else "train"
    dev = train[PAIRS:] if has_dev == "train" else _drawn(read["dev"].questions, DEV, f"{name} dev")
    return read["test"].passages, [train[:PAIRS], dev, _drawn(read["test"].questions, TEST, f"{name} test")]


def _documents() -> tuple[Sequence[ReplayPassage], list[list[ReplayQuestion]]]:
    """Its parts have documents of their own; all of them are searched."""
    parts = [of_documents(part) for part in _DOCUMENTS_PARTS]
    passages = [passage for part in parts for passage in part.passages]
    sizes = zip(parts, (PAIRS, DEV, TEST), strict=True)
    drawn = [_drawn(part.questions, most, f"documents {most}") for part, most in sizes]
    answers = {q["id"]: (q["answer"],) for part in _DOCUMENTS_PARTS for q in documents.questions(part)}
    return passages, [[replace(q, answers=answers[q.id]) for q in part] for part in drawn]


def smaller(domain: Domain, most: int) -> Domain:
    """With `most` passages: those that answer a question that is asked or measured, then any."""
    draw = random.Random(domain.name)
    asked = [*domain.train, *domain.dev, *domain.test]
    wanted = sorted({place for question in asked for place in question.gold})
    others = [place for place in range(len(domain.texts)) if place not in set(wanted)]
    kept = sorted({*wanted, *draw.sample(others, max(0, min(len(others), most - len(wanted))))})
    new = {place: number for number, place in enumerate(kept)}

    def moved(questions: Sequence[Question]) -> tuple[Question, ...]:
        return tuple(replace(q, gold=frozenset(new[place] for place in q.gold)) for q in questions)

    titles, texts = tuple(domain.titles[i] for i in kept), tuple(domain.texts[i] for i in kept)
    return Domain(domain.name, titles, texts, moved(domain.train), moved(domain.dev), moved(domain.test))


def _drawn(questions: Iterable[ReplayQuestion], most: int, seed: str) -> list[ReplayQuestion]:
    """Answered ones, each text once."""
    known = list({question.text: question for question in questions if question.gold}.values())
    return random.Random(seed).sample(known, min(most, len(known)))


def _kept(
    passages: Sequence[ReplayPassage], wanted: set[str], most: int, draw: random.Random
) -> list[ReplayPassage]:
    near = {passage.title for passage in passages if passage.id in wanted}
    others = [passage for passage in passages if passage.id not in wanted]
    draw.shuffle(others)
    others.sort(key=lambda passage: passage.title not in near)  # stable: drawn within both kinds
    chosen = wanted | {passage.id for passage in others[: max(0, most - len(wanted))]}
    return [passage for passage in passages if passage.id in chosen]
