"""What a person names for a replay, as one stream with its passages.

    squad                  a set of the data folder, by name
    folder, file.jsonl ... a table in a layout of `datasets`, whose columns are guessed

Several make one stream, each set behind the one before; every set is a domain.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from assistant.replay.metrics.figure_names import GAIN
from assistant.replay.metrics.figures import ALL, THIRDS
from assistant.replay.streams.datasets import (
    SETS,
    ReplayPassage,
    ReplayQuestion,
    read_set,
    splits_of,
    stream,
)
from assistant.replay.streams.own_tables import Found, Tell, asked, read_own
from stores.base.errors import WrongUsage


@dataclass(frozen=True)
class Streamed:
    """What is replayed: passages, and the questions of each part in the order of its file."""

    names: tuple[str, ...]
    passages: tuple[ReplayPassage, ...]
    parts: tuple[tuple[ReplayQuestion, ...], ...]

    def questions(self, *, seed: int, first: int | None) -> tuple[ReplayQuestion, ...]:
        """The stream of a seed. first: so many of each part."""
        parts = (stream(part, seed=seed, first=first) for part in self.parts)
        return tuple(question for part in parts for question in part)

    def ends(self, *, first: int | None) -> tuple[int, ...]:
        """After how many questions of the stream each set ends."""
        return tuple(accumulate(len(part[:first]) for part in self.parts))

    @property
    def collections(self) -> dict[str, str]:
        """By how the ids of its passages begin, what a set is called as a collection; none of one set."""
        places = range(1, len(self.parts) + 1) if len(self.parts) > 1 else ()
        return {f"{place}/": f"set {place}" for place in places}

    def sha256(self) -> str:
        digest = hashlib.sha256()
        for passage in self.passages:
            digest.update(_bytes([passage.id, passage.title, passage.text, passage.owner, passage.session]))
        for each in (question for part in self.parts for question in part):
            gold = None if each.gold is None else sorted(each.gold)
            row = [each.id, each.text, each.answers, gold, each.user, each.domain, each.topic, each.needs_all]
            digest.update(_bytes(row))
        return digest.hexdigest()


def read_inputs(
    named: Sequence[str],
    *,
    data: Path | None,
    splits: Sequence[str],
    passages: Path | None = None,
    tell: Tell = lambda sentence: None,
) -> Streamed:
    """All that a person names. data: the folder of the sets.

    passages: of tables, where the questions do not bring theirs along. tell: is given what is odd, but can
    be played. Raises `WrongUsage` where something is not there, does not fit, or has nothing to ask.
    """
    tables = [name for name in named if name not in SETS or Path(name).exists()]
    if passages and not tables:
        raise WrongUsage(
            f"{named[0]} is a known set and brings its passages along", hint="Leave --passages out."
        )
    splits = list(dict.fromkeys(splits))
    sets = [
        read_own(name, splits, passages, tell) if name in tables else _set(data, name, splits)
        for name in named
    ]
    is_one, taken = len(sets) == 1, {part.casefold() for part in (ALL, *THIRDS, GAIN)}
    together = [found if is_one else _apart(found, place, taken) for place, found in enumerate(sets, start=1)]
    for name, (_, questions) in zip(named, together, strict=True):
        if not questions:
            raise WrongUsage(f"{name} has no questions", hint="Name another set, table or --split.")
    return Streamed(
        tuple(Path(name).name for name in named),
        tuple(passage for found, _ in together for passage in found),
        tuple(tuple(questions) for _, questions in together),
    )


def _set(data: Path | None, name: str, splits: Sequence[str]) -> Found:
    if data is None:
        raise WrongUsage(f"{name} is a set of a data folder", hint="Name the folder with --sets.")
    if not data.is_dir():
        raise WrongUsage(f"there is no folder {data}", hint="--sets names the folder of the sets.")
    there_are = splits_of(name)
    passages: dict[str, ReplayPassage] = {}
    questions: list[ReplayQuestion] = []
    for split in splits or (("dev",) if name == "squad" else ("test",)):
        if split not in there_are:
            raise WrongUsage(f"{name} has no split {split!r}", hint=f"It has {' and '.join(there_are)}.")
        try:
            found = read_set(data, name, split)
        except FileNotFoundError as error:
            raise WrongUsage(
                f"{error.filename} is not there", hint="--sets names the data folder."
            ) from error
        passages |= {passage.id: passage for passage in found.passages}
        questions += found.questions
    often = Counter(question.id for question in questions).most_common(1)
    if often and often[0][1] > 1:
        raise WrongUsage(f"{often[0][1]} questions of {name} have the id {often[0][0]!r}")
    return list(passages.values()), asked(questions)


def _apart(found: Found, place: int, taken: set[str]) -> Found:
    """Under names that no other set has. taken: those of parts that have figures; its domains are added."""
    passages, questions = found
    names = dict.fromkeys(each.domain for each in questions)
    domains = {name: f"{name} {place}" if name.casefold() in taken else name for name in names}
    taken.update(domain.casefold() for domain in domains.values())
    return (
        [replace(each, id=f"{place}/{each.id}") for each in passages],
        [
            replace(
                each,
                id=f"{place}/{each.id}",
                domain=domains[each.domain],
                gold=None if each.gold is None else frozenset(f"{place}/{name}" for name in each.gold),
            )
            for each in questions
        ],
    )


def _bytes(row: Sequence[Any]) -> bytes:
    return json.dumps(row, sort_keys=True).encode("utf-8", "replace")
