"""What the task-dialogue generator reads, as strings and small numbers; no vectors, no torch.

    utterances, entities best first, state -> words of the context, cells of the rows -> `DialogueInputs`

A text is words between spaces, as `spoken` makes it; a value of several words is one word, joined by `_`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from stores.base.entities import Entity

NAME = "name"  # the column that an entity's name stands in, whatever the table calls it
MOST_WORDS = 100  # of the context, the latest
MOST_ROWS = 7
FEATURES = 14  # of a cell, each 0 to 1
_FAR = 7  # turns back, or more
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|n't\b|(?<=[^\W_])'[^\W\d_]{1,2}\b|[^\W\d_]+?(?=n't\b)|[^\W\d_]+|[^\w\s]"
)


@dataclass(frozen=True)
class Cell:
    """A value of an entity."""

    value: str
    column: int  # place in the inputs' columns
    features: tuple[float, ...]  # FEATURES


@dataclass(frozen=True)
class DialogueInputs:
    """A context with the rows of a knowledge base that a reply is made from."""

    words: tuple[str, ...]
    windows: tuple[str, ...]  # of each word: itself between the words beside it in its utterance
    is_user: tuple[bool, ...]  # of each word: who said it
    turns_back: tuple[int, ...]  # of each word, 0 to 7
    word_columns: tuple[int, ...]  # of each word that is a value, the place of its column; else -1
    utterances: tuple[str, ...]  # whole, the latest last
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]  # best first
    meeting: int  # entities that meet what is wanted, 5 for more


def as_value(text: str) -> str:
    """A value as one word."""
    return "_".join(_TOKEN.findall(text.lower()))


def spoken(text: str, values: Collection[str]) -> str:
    """A text as the words that the generator reads. values: those that are read as one word, so made."""
    said = _TOKEN.findall(text.lower())
    known = {tuple(value.split("_")) for value in values if "_" in value}
    longest = max(map(len, known), default=1)
    words, at = list[str](), 0
    while at < len(said):
        lengths = range(min(longest, len(said) - at), 1, -1)
        length = next((n for n in lengths if tuple(said[at : at + n]) in known), 1)
        words.append("_".join(said[at : at + length]))
        at += length
    return " ".join(words)


def dialogue_inputs(
    utterances: Sequence[str],
    entities: Sequence[Entity],
    constraints: Mapping[str, str],
    meeting: int,
    columns_of: Mapping[str, str],
) -> DialogueInputs:
    """The inputs for the reply to the last utterance.

    utterances: of user and system in turn; the last is the user's. entities: best first.
    columns_of: the column of each value that a word of the context may be.
    """
    entities = entities[:MOST_ROWS]
    of_rows = (column for entity in entities for column in entity.values)
    columns = tuple(dict.fromkeys([NAME, *of_rows, *columns_of.values()]))
    place = {column: number for number, column in enumerate(columns)}
    words: list[str] = []
    is_user: list[bool] = []
    back: list[int] = []
    windows: list[str] = []
    for number, utterance in enumerate(utterances):
        said = utterance.split()
        words += said
        windows += [" ".join(said[max(0, at - 1) : at + 2]) for at in range(len(said))]
        distance = len(utterances) - 1 - number
        is_user += [distance % 2 == 0] * len(said)
        back += [min(_FAR, distance)] * len(said)
    said_by = _said(words, is_user, back)
    rows = tuple(
        _row(entity, number, entities, place, said_by, constraints) for number, entity in enumerate(entities)
    )
    word_columns = [place.get(columns_of.get(word, ""), -1) for word in words]
    return DialogueInputs(
        tuple(words[-MOST_WORDS:]),
        tuple(windows[-MOST_WORDS:]),
        tuple(is_user[-MOST_WORDS:]),
        tuple(back[-MOST_WORDS:]),
        tuple(word_columns[-MOST_WORDS:]),
        tuple(utterances[-_FAR:]),
        columns,
        rows,
        min(5, meeting),
    )


def _said(words: Sequence[str], is_user: Sequence[bool], back: Sequence[int]) -> dict[str, set[str]]:
    """Who said each word, and whether just now."""
    said: dict[str, set[str]] = {"user": set(), "user now": set(), "system": set(), "system now": set()}
    for word, by_user, distance in zip(words, is_user, back, strict=True):
        who = "user" if by_user else "system"
        said[who].add(word)
        if distance < 2:
            said[f"{who} now"].add(word)
    return said


def _row(
    entity: Entity,
    number: int,
    entities: Sequence[Entity],
    place: Mapping[str, int],
    said: Mapping[str, set[str]],
    constraints: Mapping[str, str],
) -> tuple[Cell, ...]:
    met = sum(entity.values.get(column) == value for column, value in constraints.items())
    contradicted = sum(column in entity.values for column in constraints) - met
    of_row = (
        min(met, 3) / 3,
        min(contradicted, 3) / 3,
        *(float(entity.name in said[who]) for who in said),
        1 / (1 + number),
    )
    return tuple(
        Cell(
            value,
            place[column],
            (
                *(float(value in said[who]) for who in said),
                float(column in constraints),
                _rank(column, value, entities),
                float(column == NAME),
                *of_row,
            ),
        )
        for column, value in ((NAME, entity.name), *entity.values.items())
    )


def _rank(column: str, value: str, entities: Sequence[Entity]) -> float:
    """1 for the least number of a column, down to 0 for the greatest; 0 for what is no number."""
    number = _NUMBER.match(value)
    if number is None:
        return 0.0
    others = [m for e in entities if (m := _NUMBER.match(e.values.get(column, "")))]
    return sum(float(other[0]) > float(number[0]) for other in others) / max(1, len(others) - 1)
