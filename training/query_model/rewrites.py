"""Questions in conversations, and how each is asked so that it stands alone.

    canard, ikat, cast      written anew by people
    disfl_qa                slips of the tongue, taken back in the question itself
    everyday, documents     follow-ups with their standalone form; the other questions stand alone already

Questions before the first follow-up are given as they stand alone, as in a chat, where the first one does.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from training.examples.everyday import DATA as OWN_DATA
from training.examples.everyday import FILES as EVERYDAY_FILES

Split = Literal["train", "dev", "test"]
SETS = ("canard", "ikat", "cast", "disfl_qa", "everyday", "documents")
_EVERYDAY = {"train": "train", "dev": "calibration", "test": "test"}
CANARD_DEV = 300  # questions of its dev part that nothing is learned from
_OTHER_BEFORE = 0.3  # of questions behind one of their own, share that has an unrelated one before that


@dataclass(frozen=True)
class Rewrite:
    """A question after others."""

    question: str
    earlier: tuple[tuple[str, str], ...]  # questions and answers (empty: not known), oldest first
    alone: str  # empty: the question stands alone as it is
    set_name: str
    has_answers: bool = True  # false: keywords stand in their place

    @property
    def gold(self) -> str:
        """The question that stands alone."""
        return self.alone or self.question


def rewrites(data: Path, name: str, split: Split) -> list[Rewrite]:
    """Of one set. data: the folder of the public sets; our own come with the project."""
    if name == "canard":
        return list(_canard(data, split))
    if name == "everyday":
        return list(_everyday(split))
    return list(_documents(split) if name == "documents" else _public(data, name, split))


def _canard(data: Path, split: Split) -> Iterator[Rewrite]:
    """Its train part has keywords for answers, so most of its dev part is learned from too."""
    if split == "test":
        yield from _public(data, "canard", split)
        return
    answered = list(_public(data, "canard", "dev"))
    yield from answered[-CANARD_DEV:] if split == "dev" else answered[:-CANARD_DEV]
    if split == "train":
        yield from _public(data, "canard", split)


def _public(data: Path, name: str, split: Split) -> Iterator[Rewrite]:
    with gzip.open(data / name / f"{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            history: list[dict[str, Any]] = record["history"]
            if history or name == "disfl_qa":
                made = _rewrite(record["question"], _asked(history), record["rewrite"], name)
                yield replace(made, has_answers=not any("answer_keywords" in turn for turn in history))


def _asked(history: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The first question as it stands alone, where that is known. Keywords stand for an answer not told."""
    return [
        (
            turn.get("rewrite") or turn["question"] if number == 0 else turn["question"],
            turn.get("answer") or " ".join(turn.get("answer_keywords", ())),
        )
        for number, turn in enumerate(history)
    ]


def _everyday(split: Split) -> Iterator[Rewrite]:
    draw = random.Random(f"everyday {split}")
    for file in sorted((OWN_DATA / "everyday").glob(EVERYDAY_FILES[_EVERYDAY[split]])):
        for line in file.read_text("utf-8").splitlines():
            record = json.loads(line)
            yield from _follow_ups(
                record["asks"], {n: n for n in range(len(record["asks"]))}, draw, "everyday"
            )


def _documents(split: Split) -> Iterator[Rewrite]:
    draw = random.Random(f"documents {split}")
    lines = (OWN_DATA / "documents" / "questions.jsonl").read_text("utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if record["split"] == split]
    by_document: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        by_document.setdefault(record["doc"], []).append(record)
    for asks in by_document.values():
        places = {ask["id"]: place for place, ask in enumerate(asks)}
        yield from _follow_ups(asks, places, draw, "documents")


def _follow_ups(
    asks: Sequence[dict[str, Any]], places: dict[Any, int], draw: random.Random, name: str
) -> Iterator[Rewrite]:
    """Follow-ups behind the question before them; every other question behind some other one."""
    for ask in asks:
        others = [each for each in asks if each is not ask and "prev" not in each]
        if not others:
            continue
        other = draw.choice(others)
        if "prev" not in ask:
            yield Rewrite(ask["q"], ((other["q"], other.get("a", other.get("answer", ""))),), "", name)
        elif ask["prev"] in places:
            before = asks[places[ask["prev"]]]
            earlier = [other] if other is not before and draw.random() < _OTHER_BEFORE else []
            asked = [(each["q"], each.get("a", each.get("answer", ""))) for each in (*earlier, before)]
            yield _rewrite(ask["q"], asked, ask["alone"], name)


def _rewrite(question: str, earlier: Sequence[tuple[str, str]], alone: str, name: str) -> Rewrite:
    is_same = question.strip(" ?.").casefold() == alone.strip(" ?.").casefold()
    return Rewrite(question, tuple(earlier), "" if is_same else alone, name)
