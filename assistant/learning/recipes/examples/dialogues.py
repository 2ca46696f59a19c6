"""Task dialogues over knowledge bases: CamRest, SMD and MultiWOZ, each in the form of shared/data.

One dialogue a line, gzipped: its knowledge base, then turns of user and system. Values of several words are
joined by `_`, in texts as in the knowledge base.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stores.base.entities import Entity

SETS = ("camrest", "smd", "mwoz_e2e")
_NAMES = ("name", "poi", "event", "location")  # the column that names an entity: the first that a row has
_LEFT_OUT = {"camrest": ("location",)}  # coordinates, which nobody asks for


@dataclass(frozen=True)
class TaskTurn:
    """What a user said and what the system replied."""

    user: str
    system: str
    entities: tuple[str, ...]  # values that the reply tells, by the annotators


@dataclass(frozen=True)
class TaskDialogue:
    """A dialogue with the entities that were attached to it."""

    id: str
    domain: str
    entities: tuple[Entity, ...]
    turns: tuple[TaskTurn, ...]


def read_dialogues(data: Path, name: str, split: str) -> Iterator[TaskDialogue]:
    """The dialogues of one part of a set. name: of `SETS`. split: train, dev or test."""
    file = data / name / f"{split}.jsonl.gz"
    if not file.exists():
        file = data / name / f"{split}_auto.jsonl.gz"  # MultiWOZ's, annotated by rule
    for told in _lines(file):
        yield TaskDialogue(
            told["id"],
            told["domain"],
            tuple(_entity(name, row) for row in told["kb"]),
            tuple(TaskTurn(t["user"], t["system"], tuple(t["entities"])) for t in told["turns"]),
        )


def read_entities(data: Path, name: str) -> list[tuple[str, Entity]]:
    """All entities of a set, each with its domain: the knowledge base at dataset level."""
    found = []
    for row in _lines(data / name / "kb_dataset.jsonl.gz"):
        domain = row.pop("domain")
        row.pop("id")
        found.append((domain, _entity(name, row)))
    return found


def _entity(set_name: str, row: Mapping[str, str]) -> Entity:
    naming = next((column for column in _NAMES if column in row), next(iter(row)))
    left_out = (naming, *_LEFT_OUT.get(set_name, ()))
    return Entity(row[naming], {column: value for column, value in row.items() if column not in left_out})


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
