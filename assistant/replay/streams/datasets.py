"""Questions and passages to replay: the sets of the data folder, and the streams made of questions.

    files -> one record type -> a stream, topic by topic -> its first N

Every set says of a question which passages answer it (`gold`), whose it is (`user`), what kind of text it is
about (`domain`) and which article, document or conversation it belongs to (`topic`).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from assistant.learning.recipes.examples.records import read_as
from assistant.learning.recipes.examples.shapes import Shape, must_fit
from assistant.learning.recipes.examples.table_rows import Record, read_text, unreadable
from stores.base.one_line import one_line

Split: TypeAlias = Literal["train", "dev", "test"]

EVERYBODY = ""  # owner of what is shared
DEFAULT_USER = "replay"
_ADVERSARIAL = 5  # category of locomo's questions that nothing answers


@dataclass(frozen=True)
class ReplayPassage:
    """A passage to be searched."""

    id: str  # unique in its set
    title: str
    text: str
    owner: str = EVERYBODY  # or the user in whose memory it stands
    session: int = 0  # of its owner's conversation


@dataclass(frozen=True)
class ReplayQuestion:
    """A question with what is known of its answer; none of that is ever shown to what is measured."""

    id: str
    text: str
    answers: tuple[str, ...]  # any is right; none: it cannot be answered
    gold: frozenset[str] | None  # ids of the passages that hold it; None where that is not known
    user: str = DEFAULT_USER
    domain: str = ""
    topic: str = ""  # the article, document or conversation it is about
    needs_all: bool = False  # every gold passage is needed, not any


@dataclass(frozen=True)
class ReplaySet:
    """Passages and questions over them, in the order of their files."""

    name: str
    passages: tuple[ReplayPassage, ...]
    questions: tuple[ReplayQuestion, ...]


@dataclass(frozen=True)
class _Files:
    """A set of passages and questions, below the data folder."""

    passages: tuple[str, ...]
    questions: Mapping[Split, str]


def _files(name: str, splits: Sequence[Split], passages: Sequence[str] = ("passages",)) -> _Files:
    return _Files(
        tuple(f"{name}/{file}.jsonl.gz" for file in passages),
        {split: f"{name}/{split}.jsonl.gz" for split in splits},
    )


_PLAIN = {
    "squad": _files("squad", ("train", "dev"), ("passages_train", "passages_dev")),
    "nq": _files("nq", ("train", "dev", "test")),
    "covidqa": _files("covidqa", ("train", "dev", "test")),
    "friendsqa": _files("friendsqa", ("train", "dev", "test")),
    "realtimeqa": _files("realtimeqa", ("train", "dev", "test")),
    "timeqa": _files("timeqa", ("train", "test")),
    "popqa": _files("popqa", ("test",)),
}
_HOTPOTQA = "hotpotqa"
_MIXED = "mixed"
_LOCOMO = "locomo"
_SPLITS: Mapping[str, tuple[Split, ...]] = {
    **{name: tuple(files.questions) for name, files in _PLAIN.items()},
    _HOTPOTQA: ("train", "dev", "test"),
    _LOCOMO: ("test",),  # for measuring only
    _MIXED: ("test",),
}
SETS = tuple(_SPLITS)
_PASSAGE: Shape = {"id": str, "title": str, "text": str}
_QUESTION: Shape = {"id": str, "question": str, "answers": [str], "passage_ids": [str], "doc": str}
_HOTPOTQA_QUESTION: Shape = {
    "id": str,
    "question": str,
    "answer": str,
    "supporting_facts": [list],
    "context": [list],
}
_LOCOMO_TURN: Shape = {"speaker": str, "dia_id": str, "text": str, "blip_caption?": str | None}
_LOCOMO_ASKED: Shape = {"question": str, "category": int, "evidence?": [str]}
_LOCOMO_RECORD: Shape = {"sample_id": str, "conversation": dict, "qa": [_LOCOMO_ASKED]}


def splits_of(name: str) -> tuple[Split, ...]:
    """The parts of one of `SETS`."""
    return _SPLITS[name]


def read_set(data: Path, name: str, split: Split) -> ReplaySet:
    """One of `SETS` with all its passages and the questions of one part.

    Raises ValueError where the set or its part does not exist.
    """
    if split not in _SPLITS.get(name, ()):
        known = {known: list(splits) for known, splits in _SPLITS.items()}
        raise ValueError(f"there is no part {split!r} of a set {name!r}; there are {known}")
    if name == _LOCOMO:
        return _read_locomo(data)
    if name == _HOTPOTQA:
        return _read_hotpotqa(data, split)
    if name == _MIXED:
        return _read_mixed(data)
    files = _PLAIN[name]
    passages = (each for path in files.passages for each in read_as(data / path, replay_passage))
    questions = read_as(data / files.questions[split], partial(_question, domain=name))
    return ReplaySet(name, tuple(passages), tuple(questions))


def replay_passage(record: Record) -> ReplayPassage:
    """Raises ValueError for a record that is none."""
    must_fit(record, _PASSAGE)
    return ReplayPassage(record["id"], record["title"], record["text"])


def _question(record: Record, domain: str) -> ReplayQuestion:
    must_fit(record, _QUESTION)
    answers, ids = tuple(record["answers"]), record["passage_ids"]
    gold = frozenset(ids) if ids or not answers else None  # answered, but not word for word in any passage
    return ReplayQuestion(record["id"], record["question"], answers, gold, domain=domain, topic=record["doc"])


def _read_hotpotqa(data: Path, split: Split) -> ReplaySet:
    """Its paragraphs stand among the passages of the mixed corpus; those of all parts are searched."""
    passages = tuple(read_as(data / "mixed/passages_hotpotqa.jsonl.gz", replay_passage))
    named = {(passage.title, passage.text): passage.id for passage in passages}

    def question(record: Record) -> ReplayQuestion:
        must_fit(record, _HOTPOTQA_QUESTION)
        needed = {title for title, _ in _pairs(record, "supporting_facts", str, int)}
        texts = [
            (title, "".join(sentences).strip())
            for title, sentences in _pairs(record, "context", str, [str])
            if title in needed
        ]
        if not texts or not all(text in named for text in texts):
            raise ValueError("a paragraph that supports the answer is not among the passages")
        return ReplayQuestion(
            record["id"],
            record["question"],
            (record["answer"],),
            frozenset(named[text] for text in texts),
            domain=_HOTPOTQA,
            topic=min(needed),
            needs_all=True,
        )

    questions = tuple(read_as(data / f"{_HOTPOTQA}/{split}.jsonl.gz", question))
    return ReplaySet(_HOTPOTQA, passages, questions)


def _pairs(record: Record, name: str, one: Shape, other: Shape) -> Iterator[tuple[Any, Any]]:
    for pair in record[name]:
        if len(pair) != 2:
            raise ValueError(f"the field {name!r} must be pairs")
        must_fit(pair[0], one, name)
        must_fit(pair[1], other, name)
        yield pair[0], pair[1]


def _read_mixed(data: Path) -> ReplaySet:
    """Some questions of several sets over the passages of all of them; each set is a domain."""
    manifest = data / _MIXED / "manifest.json"
    try:
        listed = json.loads(read_text(manifest))
        must_fit(listed, {"files": [{"path": str}]})
    except (ValueError, RecursionError) as error:
        raise unreadable(manifest, f"it is no list of files: {one_line(str(error))}") from error
    files = [data / file["path"] for file in listed["files"]]
    passages = (each for file in files for each in read_as(file, replay_passage))
    questions = read_as(data / _MIXED / "questions.jsonl.gz", _mixed_question)
    return ReplaySet(_MIXED, tuple(passages), tuple(questions))


def _mixed_question(record: Record) -> ReplayQuestion:
    must_fit(record, {"set": str, "doc": str | None})
    of, doc = record["set"], record["doc"]
    return replace(_question({**record, "doc": doc or of}, of), needs_all=of == _HOTPOTQA)


# Conversations


def locomo_turns(record: Record) -> Iterator[tuple[int, Record]]:
    """The turns of a conversation, each with the number of its session, oldest first."""
    said = record["conversation"]
    return ((number, turn) for number in _locomo_sessions(record) for turn in said[f"session_{number}"])


def _locomo_sessions(record: Record) -> list[int]:
    matches = (re.fullmatch(r"session_([1-9]\d*)", key) for key in record["conversation"])
    return sorted(int(match[1]) for match in matches if match)


def locomo_message(turn: Record) -> str:
    """A turn as its speaker's message: "Name: text [shares caption of a picture]"."""
    picture = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{picture}"


def locomo_evidence(entry: Record, known: Iterable[str]) -> list[str]:
    """The turns that answer a question, of those known; none where it is made to have no answer."""
    if entry["category"] == _ADVERSARIAL:
        return []
    joined = " ".join(entry.get("evidence", []))  # some ids are joined in one string, some malformed
    turns = set(known)
    return [name for name in dict.fromkeys(re.findall(r"D\d+:\d+", joined)) if name in turns]


def _read_locomo(data: Path) -> ReplaySet:
    """Every conversation is a user's own memory; its questions are that user's."""
    read = list(read_as(data / f"{_LOCOMO}/locomo.jsonl.gz", _locomo_part))
    passages = tuple(passage for found, _ in read for passage in found)
    return ReplaySet(_LOCOMO, passages, tuple(question for _, found in read for question in found))


def _locomo_part(record: Record) -> tuple[list[ReplayPassage], list[ReplayQuestion]]:
    """The messages of one conversation, and its questions."""
    must_fit(record, _LOCOMO_RECORD)
    user = record["sample_id"]
    for session in _locomo_sessions(record):
        must_fit(
            record["conversation"][f"session_{session}"], [_LOCOMO_TURN], f"conversation, session_{session}"
        )
    turns = list(locomo_turns(record))
    passages = [
        ReplayPassage(f"{user}/{turn['dia_id']}", "", locomo_message(turn), user, session)
        for session, turn in turns
    ]
    known = {turn["dia_id"] for _, turn in turns}
    questions = [
        _locomo_question(f"{user}/{number}", user, entry, locomo_evidence(entry, known))
        for number, entry in enumerate(record["qa"])
    ]
    return passages, questions


def _locomo_question(name: str, user: str, entry: Record, evidence: Sequence[str]) -> ReplayQuestion:
    is_answerable = entry["category"] != _ADVERSARIAL
    must_fit(entry, {"answer": str | int} if is_answerable else {}, "qa")
    answers = (str(entry["answer"]),) if is_answerable else ()
    gold = frozenset(f"{user}/{turn}" for turn in evidence) if evidence or not is_answerable else None
    return ReplayQuestion(name, entry["question"], answers, gold, user, _LOCOMO, topic=user)


# Streams


def stream(
    questions: Iterable[ReplayQuestion], *, seed: int = 0, first: int | None = None
) -> tuple[ReplayQuestion, ...]:
    """Questions in the order in which they arrive: topic by topic, so that new topics keep coming.

    Topics and the questions of each are shuffled, by the seed and the ids alone. first: so many of them.
    Raises ValueError where two questions have one id.
    """
    arriving = sorted(questions, key=lambda question: question.id)
    if len({question.id for question in arriving}) < len(arriving):
        raise ValueError("two questions of a stream have the same id")
    random.Random(f"{seed} questions").shuffle(arriving)
    topics = sorted({question.topic for question in arriving})
    random.Random(f"{seed} topics").shuffle(topics)
    place = {topic: number for number, topic in enumerate(topics)}
    arriving.sort(key=lambda question: place[question.topic])  # stable
    return tuple(arriving[:first])
