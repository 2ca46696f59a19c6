"""An entity of a knowledge base, and the passage that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAMES_END = ": "  # of a column, before its value


@dataclass(frozen=True)
class Entity:
    """A row of a knowledge base."""

    name: str
    values: Mapping[str, str]  # by column, in the order of the table; without the name and what is empty


def entity_text(entity: Entity) -> str:
    """The text of its passage, whose title is its name: a column and its value a line."""
    return "\n".join(f"{column}{NAMES_END}{value}" for column, value in entity.values.items())


def entity_of(title: str, text: str) -> Entity:
    """The entity that a passage holds; the inverse of `entity_text`."""
    parts = (line.partition(NAMES_END) for line in text.splitlines())
    return Entity(title, {column: value for column, _, value in parts})
