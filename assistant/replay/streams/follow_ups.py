"""Sets of conversations over passages: questions behind others, and which passages answer each.

canard and ikat have no passages of their own: there all answers of a part are the passages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assistant.learning.recipes.examples.records import read_as
from assistant.learning.recipes.examples.shapes import Shape, must_fit
from assistant.learning.recipes.examples.table_rows import Record
from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion, replay_passage
from stores.base.errors import WrongUsage

SETS = ("canard", "ikat", "mtrag", "inscit", "doc2dial")
_OF_ANSWERS = ("canard", "ikat")
_ASKED: Mapping[str, Shape] = {
    "question": str,
    "conversation": str,
    "history": [{"question": str, "answer": str}],
}
_ANSWERED: Shape = {**_ASKED, "id": str, "rewrite": str, "answer?": str}
_OVER_PASSAGES: Shape = {**_ASKED, "passage_ids": [str]}


@dataclass(frozen=True)
class AskedBehind:
    """A question behind others, and which passages answer it."""

    question: str
    earlier: tuple[tuple[str, str], ...]  # questions and answers, oldest first
    right: frozenset[str]
    gold: str  # as a person made it stand alone; empty: nobody did
    conversation: str = ""


@dataclass(frozen=True)
class Conversations:
    """Of a set."""

    name: str
    passages: tuple[ReplayPassage, ...]
    asked: tuple[AskedBehind, ...]  # those of a conversation stand together

    @property
    def domains(self) -> list[ReplayQuestion]:
        """A question for each conversation, by which a report names parts and the stream is ordered."""
        first = {each.conversation: each.question for each in reversed(self.asked)}
        return [ReplayQuestion(name, text, (), None, topic=name) for name, text in first.items()][::-1]

    def sha256(self) -> str:
        """Of all of it."""
        told = (
            [[p.id, p.title, p.text] for p in self.passages],
            [[a.question, a.earlier, sorted(a.right), a.conversation] for a in self.asked],
        )
        return hashlib.sha256(json.dumps(told).encode("utf-8", "replace")).hexdigest()


def read_conversations(name: str, data: Path, part: str) -> Conversations:
    """A part of a set in the folder of sets. Raises `WrongUsage` or `UnreadableDocument`."""
    if name not in SETS:
        raise WrongUsage(f"{name} is no set of conversations", hint=f"There are {', '.join(SETS)}.")
    read = _answers if name in _OF_ANSWERS else _passages
    try:
        passages, asked = read(data / name, part)
    except FileNotFoundError as error:
        raise WrongUsage(f"{error.filename} is not there", hint=f"{name} has other parts.") from error
    return Conversations(name, tuple(passages), tuple(asked))


def _fitting(record: Record, shape: Shape) -> Record:
    must_fit(record, shape)
    return record


def _answers(folder: Path, part: str) -> tuple[Sequence[ReplayPassage], Sequence[AskedBehind]]:
    """Each question's answer is told in the history of the next one, or beside it."""
    records = list(read_as(folder / f"{part}.jsonl.gz", partial(_fitting, shape=_ANSWERED)))
    told = {}
    for record, after in zip(records, [*records[1:], None], strict=True):
        answer = record.get("answer", "")
        if not answer and after and after["conversation"] == record["conversation"] and after["history"]:
            answer = after["history"][-1]["answer"]
        if answer.strip():
            told[record["id"]] = answer
    ids = {text: key for key, text in told.items()}
    passages = [ReplayPassage(id=key, title="", text=text) for text, key in ids.items()]
    firsts = {record["conversation"]: record["rewrite"] for record in records if not record["history"]}
    asked = []
    for record in records:
        history = record["history"]
        if history and record["id"] in told:
            first = firsts.get(record["conversation"], history[0]["question"])
            earlier = [(turn["question"] if n else first, turn["answer"]) for n, turn in enumerate(history)]
            right = frozenset({ids[told[record["id"]]]})
            asked.append(
                AskedBehind(
                    record["question"], tuple(earlier), right, record["rewrite"], record["conversation"]
                )
            )
    return passages, asked


def _passages(folder: Path, part: str) -> tuple[Sequence[ReplayPassage], Sequence[AskedBehind]]:
    passages = list(read_as(folder / "passages.jsonl.gz", replay_passage))
    asked = [
        AskedBehind(
            record["question"],
            tuple((turn["question"], turn["answer"]) for turn in record["history"]),
            frozenset(record["passage_ids"]),
            "",
            record["conversation"],
        )
        for record in read_as(folder / f"{part}.jsonl.gz", partial(_fitting, shape=_OVER_PASSAGES))
        if record["history"] and record["passage_ids"]
    ]
    return passages, asked
