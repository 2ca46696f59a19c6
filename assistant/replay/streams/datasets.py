"""Questions and passages to replay: the sets of the data folder, and the streams made of questions.

    files -> one record type -> a stream: in given, seeded or drifting order -> its first N

Every set says of a question which passages answer it (`gold`), whose it is (`user`), what kind of text it is
about (`domain`) and which article, document or conversation it belongs to (`topic`).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from assistant.learning.recipes.examples.example import read_records

Split: TypeAlias = Literal["train", "dev", "test"]
Order: TypeAlias = Literal["given", "seeded", "drift"]
Record: TypeAlias = Mapping[str, Any]

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
    passages = (_passage(record) for path in files.passages for record in read_records(data / path))
    questions = (_question(record, name) for record in read_records(data / files.questions[split]))
    return ReplaySet(name, tuple(passages), tuple(questions))


def _passage(record: Record) -> ReplayPassage:
    return ReplayPassage(record["id"], record["title"], record["text"])


def _question(record: Record, domain: str) -> ReplayQuestion:
    answers, ids = tuple(record["answers"]), record["passage_ids"]
    gold = frozenset(ids) if ids or not answers else None  # answered, but not word for word in any passage
    return ReplayQuestion(record["id"], record["question"], answers, gold, domain=domain, topic=record["doc"])


def _read_hotpotqa(data: Path, split: Split) -> ReplaySet:
    """Its paragraphs stand among the passages of the mixed corpus; those of all parts are searched."""
    passages = tuple(map(_passage, read_records(data / "mixed/passages_hotpotqa.jsonl.gz")))
    named = {(passage.title, passage.text): passage.id for passage in passages}
    questions = []
    for record in read_records(data / f"{_HOTPOTQA}/{split}.jsonl.gz"):
        needed = {title for title, _ in record["supporting_facts"]}
        gold = {
            named[title, "".join(sentences).strip()]
            for title, sentences in record["context"]
            if title in needed
        }
        questions.append(
            ReplayQuestion(
                record["id"],
                record["question"],
                (record["answer"],),
                frozenset(gold),
                domain=_HOTPOTQA,
                topic=min(needed),
                needs_all=True,
            )
        )
    return ReplaySet(_HOTPOTQA, passages, tuple(questions))


def _read_mixed(data: Path) -> ReplaySet:
    """Some questions of several sets over the passages of all of them; each set is a domain."""
    listed = json.loads((data / _MIXED / "manifest.json").read_text(encoding="utf-8"))["files"]
    passages = (_passage(record) for file in listed for record in read_records(data / file["path"]))
    questions = (
        replace(_question({**record, "doc": record["doc"] or record["set"]}, record["set"]), needs_all=needs)
        for record in read_records(data / _MIXED / "questions.jsonl.gz")
        for needs in [record["set"] == _HOTPOTQA]
    )
    return ReplaySet(_MIXED, tuple(passages), tuple(questions))


# Conversations


def locomo_turns(record: Record) -> Iterator[tuple[int, Record]]:
    """The turns of a conversation, each with the number of its session, oldest first."""
    said = record["conversation"]
    numbers = sorted(int(match[1]) for key in said if (match := re.fullmatch(r"session_(\d+)", key)))
    return ((number, turn) for number in numbers for turn in said[f"session_{number}"])


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
    passages: list[ReplayPassage] = []
    questions: list[ReplayQuestion] = []
    for record in read_records(data / f"{_LOCOMO}/locomo.jsonl.gz"):
        user = record["sample_id"]
        turns = list(locomo_turns(record))
        passages += (
            ReplayPassage(f"{user}/{turn['dia_id']}", "", locomo_message(turn), user, session)
            for session, turn in turns
        )
        known = {turn["dia_id"] for _, turn in turns}
        questions += (
            _locomo_question(f"{user}/{number}", user, entry, locomo_evidence(entry, known))
            for number, entry in enumerate(record["qa"])
        )
    return ReplaySet(_LOCOMO, tuple(passages), tuple(questions))


def _locomo_question(name: str, user: str, entry: Record, evidence: Sequence[str]) -> ReplayQuestion:
    is_answerable = entry["category"] != _ADVERSARIAL
    answers = (str(entry["answer"]),) if is_answerable else ()
    gold = frozenset(f"{user}/{turn}" for turn in evidence) if evidence or not is_answerable else None
    return ReplayQuestion(name, entry["question"], answers, gold, user, _LOCOMO, topic=user)


# Streams


def stream(
    questions: Iterable[ReplayQuestion], *, order: Order, seed: int = 0, first: int | None = None
) -> tuple[ReplayQuestion, ...]:
    """Questions in the order in which they arrive.

    given: as they come. seeded: shuffled. drift: topic by topic, topics and the questions of each shuffled,
    so that every stretch of the stream brings new topics. first: so many of them. Shuffled orders hang on
    the seed and the ids alone. Raises ValueError where two questions have one id.
    """
    arriving = list(questions)
    if len({question.id for question in arriving}) < len(arriving):
        raise ValueError("two questions of a stream have the same id")
    if order != "given":
        arriving.sort(key=lambda question: question.id)
        random.Random(f"{seed} questions").shuffle(arriving)
    if order == "drift":
        topics = sorted({question.topic for question in arriving})
        random.Random(f"{seed} topics").shuffle(topics)
        place = {topic: number for number, topic in enumerate(topics)}
        arriving.sort(key=lambda question: place[question.topic])  # stable
    return tuple(arriving[:first])
