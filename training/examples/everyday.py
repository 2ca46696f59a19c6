"""What the reader learns from conversations: what states what, changes what, answers what.

conversation -> sentences (sort), pairs of statements (relate), questions with a page (judge, answer)

A page is what a memory would show: the statements of several conversations, as if one user had told them all,
of which those nearest to the question are read, with the newest. data/lookalikes has the form of
data/everyday; data/everyday_dated is another set, whose messages have days and are labelled sentence by
sentence.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agents.base.memory_page import MemoryPage, Statement, asked_after, said_before
from agents.base.sentences import is_question
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.encoders.prepared import prepare_encoder
from assistant.library.cutting import cut
from assistant.settings.locations import find_locations
from training.examples.example import RELATE_LABELS, SORT_LABELS, Example, Part, answer_spans, part_of
from training.examples.passage_search import PassageSearch

DATA = Path(__file__).parents[2] / "data"
MANUAL = Path(__file__).parents[2] / "docs" / "manual"
FILES = {"train": "train-*.jsonl", "calibration": "dev-*.jsonl", "test": "test-*.jsonl"}
NEAR, NEWEST = 8, 4  # statements of a page, at most
_ANSWER, _RELEVANT, _IRRELEVANT = 0, 1, 2
_MARKED_SHARE = 0.8  # of pages, on which what no longer holds is marked, as far as it is noticed
_NOTICED_SHARE = 0.65  # of what no longer holds: what the relate head sees of the dev part of data/lookalikes
_WRONGLY_MARKED_SHARE = 0.08  # of what still holds
_LOOKALIKES_TIMES = 3  # that each of these conversations comes in training, beside those of data/everyday
_TAKEN_OUT_SHARE = 0.2  # of answered questions, also asked of the page without their answer
_OF_THE_MANUAL_SHARE = 0.1  # of questions, also asked of the passage of the manual that shares most words
_UNRELATED_SHARE = 0.35  # of the pairs of a conversation that have nothing to do with each other
_WITHOUT_ANSWER_SHARE = 0.3  # of follow-ups, read behind the question before them but not its answer
_OTHERS_MOST = 9  # conversations beside the question's own, in training; 5 where it is measured

Kind = Literal["now", "before", "other", "detail", "yesno", "follow", "never"]


@dataclass(frozen=True)
class Told:
    """One sentence of a message."""

    text: str
    states: str  # one of SORT_LABELS
    day: date
    id: str = ""  # of a statement
    relations: dict[str, str] = field(default_factory=dict)  # of earlier statements, by id: of RELATE_LABELS


@dataclass(frozen=True)
class Asked:
    """A question, and which statement answers it."""

    text: str
    kind: Kind
    day: date
    answer: str = ""  # the id of a statement; empty: it was never told
    span: str = ""
    near: str = ""
    standalone: str = ""
    before: str = ""  # the messages and questions just before it
    before_answer: str = ""  # what answered the question before it
    so_far: tuple[Told, ...] = ()  # the statements told until then


@dataclass(frozen=True)
class Conversation:
    """Messages and questions in their order."""

    id: str
    topic: str
    messages: tuple[tuple[Told, ...], ...]
    questions: tuple[Asked, ...]
    phenomena: tuple[str, ...] = ()  # of data/lookalikes: what of it a memory might confuse

    @property
    def statements(self) -> list[Told]:
        """All that is stated, in order."""
        return [told for message in self.messages for told in message if told.id]


@cache
def conversations(part: Part, folder: Path = DATA) -> tuple[Conversation, ...]:
    """The conversations of a part, of all sets."""
    alike = list(undated(part, folder / "lookalikes"))
    times = _LOOKALIKES_TIMES if part == "train" else 1
    return (*undated(part, folder / "everyday"), *dated(part, folder / "everyday_dated"), *alike * times)


def undated(part: Part, folder: Path = DATA / "everyday") -> Iterator[Conversation]:
    """The conversations of data/everyday, or another folder; messages get days, at most three weeks apart."""
    return of_files(sorted(folder.glob(FILES[part])))


def of_files(files: Iterable[Path]) -> Iterator[Conversation]:
    """The same, of these files."""
    return (_undated(record) for file in files for record in _records(file))


def dated(part: Part, folder: Path = DATA / "everyday_dated") -> Iterator[Conversation]:
    """The conversations of data/everyday_dated; calibration is cut off the training file."""
    for record in _records(folder / ("test.jsonl" if part == "test" else "train.jsonl")):
        if part == "test" or part_of(str(record["id"]), has_test_file=True) == part:
            yield _dated(record)


def _records(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


_STATES = {"self": "personal", "world": "world"}


def _undated(record: dict[str, Any]) -> Conversation:
    rng = random.Random(record["id"])
    day = date(2026, 1, 1) + timedelta(days=rng.randrange(250))
    messages: list[tuple[Told, ...]] = []
    for number, said in enumerate(record["says"]):
        day += timedelta(days=rng.choice((0, 0, 1, 2, 5, 9, 21)))
        states = _STATES.get(said["k"]) or ("asks" if is_question(said["t"]) else "nothing")
        is_statement = said["k"] in _STATES or any(ask.get("from") == number for ask in record["asks"])
        messages.append(
            (Told(said["t"], states, day, str(number) if is_statement else "", said.get("of", {})),)
        )
    so_far = tuple(told for (told,) in messages if told.id)
    asks: list[dict[str, Any]] = record["asks"]
    questions = []
    for ask in asks:
        prev = asks[ask["prev"]] if "prev" in ask else None
        questions.append(
            Asked(
                ask["q"],
                "follow" if ask["kind"] == "followup" else ask["kind"],
                day,
                answer=str(ask.get("from", "")),
                span=ask.get("a", ""),
                standalone=ask.get("alone", ""),
                before=prev["q"] if prev else "",
                before_answer=prev.get("a", "") if prev else "",
                so_far=so_far,
            )
        )
    return Conversation(
        str(record["id"]),
        str(record["topic"]),
        tuple(messages),
        tuple(questions),
        tuple(record.get("ph", ())),
    )


def _dated(record: dict[str, Any]) -> Conversation:
    messages: list[tuple[Told, ...]] = []
    questions: list[Asked] = []
    so_far: list[Told] = []
    said: list[str] = []
    for event in record["events"]:
        day = date.fromisoformat(event["date"])
        if "say" in event:
            message = tuple(
                Told(s["text"], s["states"], day, s.get("id", ""), s.get("does", {})) for s in event["say"]
            )
            messages.append(message)
            so_far += [told for told in message if told.id]
            said.append(" ".join(told.text for told in message))
        else:
            given = {k: v for k, v in event.items() if k not in ("date", "ask")}
            before = said_before(said)
            questions.append(Asked(event["ask"], day=day, before=before, so_far=tuple(so_far), **given))
            said.append(event["ask"])
    return Conversation(str(record["id"]), str(record["topic"]), tuple(messages), tuple(questions))


def ends_of(statements: Sequence[Told]) -> dict[str, date]:
    """When each statement that no longer holds stopped holding, by id."""
    return {
        earlier: told.day
        for told in statements
        for earlier, does in told.relations.items()
        if does in ("replaces", "ends")
    }


def sentences(part: Part, *, seed: int) -> Iterator[Example]:
    """Every sentence and question once, in seeded order: what sort learns from."""
    found = [
        Example(told.text, sort=SORT_LABELS.index(told.states), source="everyday", key=c.id)
        for c in conversations(part)
        for message in c.messages
        for told in message
    ]
    found += [
        Example(q.text, sort=SORT_LABELS.index("asks"), source="everyday", key=c.id)
        for c in conversations(part)
        for q in c.questions
    ]
    random.Random(f"{seed} {part} sentences").shuffle(found)
    return iter(found)


def relations(part: Part, *, seed: int) -> Iterator[Example]:
    """Every statement with the earlier ones of its conversation, and in training with some of others."""
    rng = random.Random(f"{seed} {part} relations")
    chosen = list(conversations(part))
    strangers = [told.text for c in chosen for told in c.statements]
    found: list[Example] = []
    for c in chosen:
        earlier: list[Told] = []
        for told in c.statements:
            for other in earlier:
                does = told.relations.get(other.id, "unrelated")
                if part == "train" and does == "unrelated" and rng.random() > _UNRELATED_SHARE:
                    continue  # six pairs of seven are
                found.append(relation(told.text, other.text, does, c.id))
            if part == "train" and rng.random() < 0.15:
                found.append(relation(told.text, rng.choice(strangers), "unrelated", c.id))
            earlier.append(told)
    rng.shuffle(found)
    return iter(found)


def relation(statement: str, earlier: str, does: str, key: str) -> Example:
    """One pair, as relate reads it."""
    return Example(statement, earlier, relate=RELATE_LABELS.index(does), source="everyday", key=key)


def pages(part: Part, *, seed: int) -> Iterator[Example]:
    """Questions with a page of what was told: what judge and answer learn from."""
    rng = random.Random(f"{seed} {part} pages")
    chosen = list(conversations(part))
    asked = [(c, q) for c in chosen for q in c.questions]
    rng.shuffle(asked)
    for c, question in asked:
        count = rng.randint(0, _OTHERS_MOST) if part == "train" else 5
        others = [
            replace(t, id="")
            for other in rng.sample(chosen, min(count, len(chosen)))
            if other is not c
            for t in other.statements
        ]
        yield _page_example(c, question, list(question.so_far), others, rng, part)
        if part != "train":
            continue
        if (without := _without_answer(question)) and rng.random() < _TAKEN_OUT_SHARE:
            never = replace(question, kind="never", answer="", span="", near=without[0].id)
            yield _page_example(c, never, without, others, rng, part)
        if rng.random() < _OF_THE_MANUAL_SHARE:
            yield from _of_the_manual(c, question)


def _without_answer(question: Asked) -> list[Told]:
    """The statements but the one that answers; none where another might answer as well."""
    told = question.so_far
    answer = next((t for t in told if t.id == question.answer), None)
    if answer is None or answer.relations or any(answer.id in t.relations for t in told):
        return []
    without = [t for t in told if t is not answer]
    is_told_twice = any(question.span.lower() in t.text.lower() for t in without)
    return [] if is_told_twice else without


def _of_the_manual(c: Conversation, question: Asked) -> Iterator[Example]:
    """What a person asks of their own affairs, the manual does not answer."""
    passages, search = _manual()
    for place in search.ranked(question.text, 1):
        text = asked_after(question.text, question.before if question.kind == "follow" else "")
        yield Example(text, passages[place], _IRRELEVANT, (), source="everyday", key=c.id)


@cache
def _manual() -> tuple[list[str], PassageSearch]:
    passages = [part for file in sorted(MANUAL.glob("*.md")) for part in cut(file.read_text("utf-8"))]
    return passages, PassageSearch(passages)


@cache
def _encoder() -> OnnxEncoder:
    folder = find_locations(os.environ).cache / "encoders"
    return OnnxEncoder(prepare_encoder(None, folder, tell=print, offline=True), threads=1)


@cache
def _vector(text: str) -> npt.NDArray[np.float32]:
    found: npt.NDArray[np.float32] = _encoder().encode_passages([text])[0]
    return found


def nearest(question: str, told: Sequence[Told], *, near: int = NEAR, newest: int = NEWEST) -> list[Told]:
    """Those that a memory would read: the nearest by cosine and the newest, oldest first."""
    cosines = [float(_vector(t.text) @ _vector(question)) for t in told]
    order = sorted(range(len(told)), key=lambda i: -cosines[i])[:near]
    return [told[i] for i in sorted({*order, *range(max(0, len(told) - newest), len(told))})]


def _marked(told: Sequence[Told], rng: random.Random, part: Part) -> set[str]:
    """The ids of statements marked as no longer so; in training as the product marks, with its faults."""
    over = ends_of(told)
    if part != "train":
        return set(over)
    shares = {True: _NOTICED_SHARE, False: _WRONGLY_MARKED_SHARE}
    return {t.id for t in told if t.id and rng.random() < shares[t.id in over]}


def _page_example(
    c: Conversation, question: Asked, told: list[Told], others: list[Told], rng: random.Random, part: Part
) -> Example:
    everything = sorted([*told, *others], key=lambda t: t.day)
    before = question.before if question.kind == "follow" or rng.random() < 0.3 else ""
    if question.before_answer and rng.random() > _WITHOUT_ANSWER_SHARE:
        before = f"{before} {question.before_answer}"
    text = asked_after(question.text, before)
    if part == "train" and question.standalone and rng.random() < 0.2:
        text = question.standalone
    chosen = nearest(text, everything)
    answer = next((t for t in told if question.answer and t.id == question.answer), None)
    if part == "train" and answer and not any(t is answer for t in chosen):
        chosen = [t for t in everything if t is answer or any(t is one for one in chosen)]
    gone = _marked(told, rng, part) if rng.random() < _MARKED_SHARE else set()
    page = MemoryPage([Statement(t.text, t.id not in gone) for t in chosen])
    place = next((i for i, t in enumerate(chosen) if t is answer), None)
    spans: tuple[tuple[int, int], ...] = ()
    if place is not None:
        at, until = page.places[place]
        spans = tuple((at + a, at + b) for a, b in answer_spans(page.text[at:until], [question.span]))
    judge = _ANSWER if place is not None else _RELEVANT if told else _IRRELEVANT
    return Example(text, page.text, judge, spans, source="everyday", key=c.id, is_whole=True)
