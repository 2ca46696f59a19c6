"""What the reader learns from data/everyday: what states what, changes what, answers what.

conversation -> sentences (sort), pairs of statements (relate), questions with a page (judge, answer)
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

from agents.base.memory_page import MemoryPage, Statement, asked_after, related_pair, said_before
from assistant.learning.recipes.examples.example import (
    RELATE_LABELS,
    SORT_LABELS,
    Example,
    Part,
    answer_spans,
    part_of,
)
from assistant.learning.recipes.examples.passage_search import PassageSearch
from assistant.library.cutting import cut

DATA = Path(__file__).parents[4] / "data" / "everyday"
MANUAL = Path(__file__).parents[4] / "docs" / "manual"
_ANSWER, _RELEVANT, _IRRELEVANT = 0, 1, 2
_MARKED_SHARE = 0.75  # of what no longer holds; the product does not notice every change
_TAKEN_OUT_SHARE = 0.35  # of answered questions, also asked of the page without their answer
_OF_A_STRANGER_SHARE = 0.06  # of questions, also asked of what another person told
_OF_THE_MANUAL_SHARE = 0.15  # of questions, also asked of the passage of the manual that shares most words
_UNRELATED_SHARE = 0.35  # of the pairs of a conversation that have nothing to do with each other
_BEFORE_SHARE = 0.6  # of questions about what replaced something, also asked of what held before
_OTHERS_MOST = 8  # statements of other conversations on one page
_MOST_OF_A_PAGE = 14  # statements

Kind = Literal["now", "before", "other", "follow", "never"]


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
    so_far: tuple[Told, ...] = ()  # the statements told until then


@dataclass(frozen=True)
class Conversation:
    """Messages and questions in their order."""

    id: str
    topic: str
    messages: tuple[tuple[Told, ...], ...]
    questions: tuple[Asked, ...]

    @property
    def statements(self) -> list[Told]:
        """All that is stated, in order."""
        return [told for message in self.messages for told in message if told.id]


@cache
def conversations(part: Part, folder: Path = DATA) -> tuple[Conversation, ...]:
    """The conversations of a part; calibration is cut off the training file."""
    file = folder / ("test.jsonl" if part == "test" else "train.jsonl")
    with file.open(encoding="utf-8") as lines:
        read = [_conversation(json.loads(line)) for line in lines]
    return tuple(c for c in read if part == "test" or part_of(c.id, has_test_file=True) == part)


def _conversation(record: dict[str, object]) -> Conversation:
    messages: list[tuple[Told, ...]] = []
    questions: list[Asked] = []
    so_far: list[Told] = []
    said: list[str] = []
    for event in record["events"]:  # type: ignore[attr-defined]
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
                found.append(relation(told.text, other.text, other is earlier[-1], does, c.id))
            if part == "train" and rng.random() < 0.15:
                found.append(relation(told.text, rng.choice(strangers), False, "unrelated", c.id))
            earlier.append(told)
    rng.shuffle(found)
    return iter(found)


def relation(statement: str, earlier: str, is_just_before: bool, does: str, key: str) -> Example:
    """One pair, as relate reads it."""
    first, second = related_pair(statement, earlier, is_just_before=is_just_before)
    return Example(first, second, relate=RELATE_LABELS.index(does), source="everyday", key=key)


def pages(part: Part, *, seed: int) -> Iterator[Example]:
    """Questions with a page of what was told: what judge and answer learn from."""
    rng = random.Random(f"{seed} {part} pages")
    chosen = list(conversations(part))
    asked = [(c, q) for c in chosen for q in c.questions]
    rng.shuffle(asked)
    for c, question in asked:
        others = _of_others(c, chosen, rng) if part != "test" else []
        yield from _page_examples(c, question, others, rng, is_test=part == "test")
        if part == "test":
            continue
        if rng.random() < _OF_A_STRANGER_SHARE and (stranger := rng.choice(chosen)).topic != c.topic:
            never = replace(question, kind="never", answer="", span="", near="")
            yield _page_example(stranger, never, stranger.statements, [], rng, is_test=False)
        if rng.random() < _OF_THE_MANUAL_SHARE:
            yield from _of_the_manual(c, question)


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


def _of_others(c: Conversation, chosen: Sequence[Conversation], rng: random.Random) -> list[Told]:
    """Statements of another conversation, on another topic, as an older or a later part of the memory."""
    if rng.random() < 0.4:
        return []
    other = rng.choice(chosen)
    if other.topic == c.topic:
        return []
    told = other.statements[: rng.randint(1, _OTHERS_MOST)]
    return [replace(t, id="", relations={}) for t in told]


def _page_examples(
    c: Conversation, question: Asked, others: list[Told], rng: random.Random, *, is_test: bool
) -> Iterator[Example]:
    told = list(question.so_far)
    yield _page_example(c, question, told, others, rng, is_test=is_test)
    if is_test or not question.answer:
        return
    by_id = {t.id: t for t in told}
    answer = by_id[question.answer]
    replaced = [by_id[i] for i, does in answer.relations.items() if does == "replaces"]
    if question.kind != "before" and len(replaced) == 1 and rng.random() < _BEFORE_SHARE:
        yield _page_example(c, _of_before(c, question, replaced[0], rng), told, others, rng, is_test=False)
    is_untouched = not answer.relations and not any(answer.id in t.relations for t in told)
    without = [t for t in told if t.id != answer.id]
    is_told_twice = any(question.span.lower() in t.text.lower() for t in without)
    if is_untouched and not is_told_twice and len(without) > 1 and rng.random() < _TAKEN_OUT_SHARE:
        never = replace(question, kind="never", answer="", span="", near=without[0].id)
        yield _page_example(c, never, without, others, rng, is_test=False)


_ASKS_BEFORE = (
    "and before that?",
    "and before",
    "what was it before",
    "and at first?",
    "and originally",
    "what did it use to be",
)
_ASKS_SO_BEFORE = (
    "before the change, {}",
    "{} originally",
    "at first, {}",
    "{}, before",
    "previously: {}",
    "{} in the beginning",
    "{} (before)",
)


def _of_before(c: Conversation, question: Asked, replaced: Told, rng: random.Random) -> Asked:
    """The question asked of what its answer took the place of, by itself or behind the question."""
    known = [q.span for q in c.questions if q.answer == replaced.id and q.span in replaced.text]
    before = replace(question, kind="before", answer=replaced.id, standalone="")
    before = replace(before, span=rng.choice(known) if known else replaced.text)
    if rng.random() < 0.4:
        said = said_before([question.standalone or question.text])
        return replace(before, text=rng.choice(_ASKS_BEFORE), before=said, kind="follow")
    asked = (question.standalone or question.text).rstrip("?!. ")
    return replace(before, text=rng.choice(_ASKS_SO_BEFORE).format(asked))


def _page_example(
    c: Conversation,
    question: Asked,
    told: list[Told],
    others: list[Told],
    rng: random.Random,
    *,
    is_test: bool,
) -> Example:
    ends = ends_of(told)
    if not is_test:
        ends = {i: day for i, day in ends.items() if rng.random() < _MARKED_SHARE}
    everything = sorted([*others, *told], key=lambda t: t.day) if rng.random() < 0.5 else [*others, *told]
    everything = everything if len(everything) <= _MOST_OF_A_PAGE else [*others[:3], *told][-_MOST_OF_A_PAGE:]
    everything.sort(key=lambda t: t.day)
    page = MemoryPage([Statement(t.text, t.day, ends.get(t.id)) for t in everything])
    spans: tuple[tuple[int, int], ...] = ()
    if question.answer:
        place = next(i for i, t in enumerate(everything) if t.id == question.answer)
        at, until = page.places[place]
        spans = tuple((at + a, at + b) for a, b in answer_spans(page.text[at:until], [question.span]))
    keeps_before = is_test or question.kind == "follow" or rng.random() < 0.8
    text = asked_after(question.text, question.before if keeps_before else "")
    if not is_test and question.standalone and rng.random() < 0.2:
        text = question.standalone
    judge = _ANSWER if question.answer else _RELEVANT if question.near else _IRRELEVANT
    return Example(text, page.text, judge, spans, source="everyday", key=c.id, is_page=True)
