"""Task dialogues over knowledge bases: CamRest, SMD, MultiWOZ and STAR, each in the form of shared/data.

One dialogue a line, gzipped: its knowledge base, then turns of user and system. Values of several words are
joined by `_`, in texts as in the knowledge base; STAR's, which are written plainly, are joined here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agents.models.dialogue_inputs import as_value, spoken
from assistant.learning.recipes.examples.records import read_as
from assistant.learning.recipes.examples.shapes import Shape, must_fit
from assistant.learning.recipes.examples.table_rows import Record
from stores.base.entities import Entity

SETS = ("camrest", "smd", "mwoz_e2e", "star")
WITH_BASE = SETS[:3]  # sets with a knowledge base for all dialogues together
_BOOKS = re.compile(r"\b(?:book|reserv)")  # what a reply promises that tells of a booking
_STAR_NAMES = ("Name", "DoctorName", "VenueName", "CarModel", "Airline", "BankName", "City", "TravelMode")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAMES = ("name", "poi", "event", "location")  # the column that names an entity: the first that a row has
_TURN: Mapping[str, Shape] = {"user": str, "system": str, "entities": [str]}
_DIALOGUE: Shape = {"id": str, "domain": str, "kb": [{"*": str}], "turns": [_TURN]}
_STAR_DIALOGUE: Shape = {"id": str, "domain": str, "kb": [dict], "turns": [{**_TURN, "rows": [int]}]}
_LEFT_OUT = {"camrest": ("location",)}  # coordinates, which nobody asks for


@dataclass(frozen=True)
class TaskTurn:
    """What a user said and what the system replied."""

    user: str
    system: str
    entities: tuple[str, ...]  # values that the reply tells, by the annotators
    tells: bool = True  # only what the knowledge base holds: it promises no booking, and asks for none


@dataclass(frozen=True)
class TaskDialogue:
    """A dialogue with the entities that were attached to it."""

    id: str
    domain: str
    entities: tuple[Entity, ...]
    turns: tuple[TaskTurn, ...]


def read_dialogues(data: Path, name: str, split: str) -> Iterator[TaskDialogue]:
    """The dialogues of one part of a set. name: of `SETS`. split: train, dev or test."""
    if name == "star":
        yield from _star(data, split)
        return
    file, by_rule = (data / name / f"{split}{which}.jsonl.gz" for which in ("", "_auto"))
    if not file.exists() and by_rule.exists():  # MultiWOZ's are annotated by rule
        file = by_rule
    yield from read_as(file, partial(_dialogue, name))


def _dialogue(name: str, told: Record) -> TaskDialogue:
    must_fit(told, _DIALOGUE)
    return TaskDialogue(
        told["id"],
        told["domain"],
        tuple(_entity(name, row) for row in told["kb"]),
        tuple(
            TaskTurn(t["user"], t["system"], tuple(t["entities"]), not _BOOKS.search(t["system"]))
            for t in told["turns"]
        ),
    )


def read_entities(data: Path, name: str) -> list[tuple[str, Entity]]:
    """All entities of a set, each with its domain: the knowledge base at dataset level."""
    if name not in WITH_BASE:
        parts = ("train", "dev", "test")
        every = (each for part in parts for each in read_dialogues(data, name, part))
        return [(each.domain, one) for each in every for one in each.entities]
    return list(read_as(data / name / "kb_dataset.jsonl.gz", partial(_entity_of_domain, name)))


def _entity_of_domain(set_name: str, record: Record) -> tuple[str, Entity]:
    must_fit(record, {"domain": str, "id": str, "*": str})
    row = {column: value for column, value in record.items() if column not in ("domain", "id")}
    return record["domain"], _entity(set_name, row)


def _entity(set_name: str, row: Mapping[str, str]) -> Entity:
    if not row:
        raise ValueError("a row of the knowledge base has no column")
    naming = next((column for column in _NAMES if column in row), next(iter(row)))
    left_out = (naming, *_LEFT_OUT.get(set_name, ()))
    return Entity(row[naming], {column: value for column, value in row.items() if column not in left_out})


def _star(data: Path, split: str) -> Iterator[TaskDialogue]:
    """STAR's dialogues. A turn tells of its knowledge base where a query without an order came before it."""
    yield from read_as(data / "star" / f"{split}.jsonl.gz", _star_dialogue)


def _star_dialogue(told: Record) -> TaskDialogue:
    must_fit(told, _STAR_DIALOGUE)
    rows = {number: entity for number, row in enumerate(told["kb"]) if (entity := _star_entity(row))}
    values = {value for entity in rows.values() for value in (entity.name, *entity.values.values())}
    return TaskDialogue(
        told["id"],
        told["domain"],
        tuple({(e.name, *e.values.items()): e for e in rows.values()}.values()),
        tuple(
            TaskTurn(
                spoken(turn["user"], values),
                spoken(turn["system"], values),
                tuple(as_value(value) for value in turn["entities"]),
                bool(turn["entities"] and turn["rows"])
                and all(number in rows for number in turn["rows"])
                and not _BOOKS.search(turn["system"].lower()),
            )
            for turn in told["turns"]
        ),
    )


def _star_entity(row: Mapping[str, Any]) -> Entity | None:
    """What a query returned, as an entity; None for what an order was answered with."""
    naming = next((column for column in _STAR_NAMES if column in row), None)
    if "Message" in row or naming is None:
        return None
    written = {column: _written(value) for column, value in row.items() if column not in ("APIName", "id")}
    name = written.pop(naming)
    return Entity(name, {_CAPITAL.sub(" ", c).lower(): value for c, value in written.items() if value})


def _written(value: object) -> str:
    return as_value({True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value))
