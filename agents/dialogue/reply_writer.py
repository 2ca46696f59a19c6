"""Replies of the dialogue generator, as far as they can be believed.

    entities, dialogue so far -> different replies, the likeliest first -> the first that is sound

Sound is a reply whose values are those of one entity that it names, or of several that it names, each its
own. What it says besides is plain words, or stands with an entity that it tells of: see `spoken`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from agents.base.chat_interfaces import CitingText, DialogueState, ReplyRequest, Source
from agents.base.citations import without_citations
from agents.dialogue.columns import TRUTHS
from agents.dialogue.spoken import Spoken
from agents.models.dialogue_arrays import Told
from agents.models.dialogue_inputs import NAME, DialogueInputs, as_value, dialogue_inputs, spoken
from stores.base.entities import Entity

Found = Sequence[tuple[Source, Entity]]

_ENDS = (".", "?", "!")
_NO_SPACE_BEFORE = re.compile(r" (?=[.,;:?!)]|'\w{1,2}\b|n't\b)")
_SMALL_I = re.compile(r"\bi\b")
# The generator writes "a" before a value that it does not spell.
_A_BEFORE_VOWEL = re.compile(r"\ba(?= (?i:(?!eu|one\b|once\b)[aeio]))")


class Generator(Protocol):
    """What makes replies."""

    def replies(self, inputs: DialogueInputs) -> list[Told]:
        """Different ones, the likeliest first."""


class ReplyWriter:
    """Writes replies over a knowledge base by the dialogue generator."""

    def __init__(self, generator: Generator, spoken: Spoken) -> None:
        """spoken: what it may speak of."""
        self._generator = generator
        self._spoken = spoken

    def write(
        self, request: ReplyRequest, state: DialogueState, found: Found, asked: Sequence[str]
    ) -> CitingText | None:
        """The reply; None where none is sound. found: best first. asked: columns that the message names."""
        if state.constraints and not state.meeting:
            return None  # the nearest are to be shown, and that nothing meets all
        if state.limits or state.best or state.act == "count":
            return None  # it was trained on values that are wanted, and on nothing else
        if not (state.constraints if state.asks_for_more else asked):
            return None  # nothing is wanted yet, or what is asked for is none of the columns
        speech = self._spoken.over(dict.fromkeys(column for _, entity in found for column in entity.values))
        if speech is None or not speech.columns.issuperset({*state.constraints, *asked}):
            return None
        rows = [as_values(_kept(entity, speech.columns)) for _, entity in found]
        said = [text for e in request.history for text in (e.message, e.answer)]
        inputs = inputs_of([*said, request.message], rows, state.constraints, state.meeting)
        for told in self._generator.replies(inputs):
            of_rows = _told_of(told, inputs)
            if of_rows is None or not _answers(of_rows, rows, state, asked):
                continue
            own = [word for word, of_row in zip(told.words, of_rows, strict=True) if of_row is None]
            entities = [found[row][1] for row in {one[0] for one in of_rows if one is not None}]
            if speech.holds(own, entities, state.base):
                return _written(told, of_rows, found, inputs)
        return None


def _kept(entity: Entity, columns: Collection[str]) -> Entity:
    """The same with these columns alone."""
    return Entity(entity.name, {c: value for c, value in entity.values.items() if c in columns})


def as_values(entity: Entity) -> Entity:
    """The same with each value as one word."""
    return Entity(
        as_value(entity.name), {c: v for c, value in entity.values.items() if (v := as_value(value))}
    )


def columns_of(rows: Sequence[Entity], constraints: Mapping[str, str]) -> dict[str, str]:
    """The column of each value that a text over these rows may tell. rows: as `as_values` makes them."""
    found = {value: column for row in rows for column, value in row.values.items()}
    found |= {as_value(value): column for column, value in constraints.items()}
    return found | {row.name: NAME for row in rows}


def inputs_of(
    said: Sequence[str], rows: Sequence[Entity], constraints: Mapping[str, str], meeting: int
) -> DialogueInputs:
    """What the generator reads. said: by user and system in turn, as it stands in the chat."""
    columns = columns_of(rows, constraints)
    utterances = [spoken(without_citations(text), columns) for text in said]
    wanted = {column: as_value(value) for column, value in constraints.items()}
    return dialogue_inputs(utterances, rows, wanted, meeting, columns)


def is_sound(words: Sequence[str], inputs: DialogueInputs) -> bool:
    """Whether a reply tells of each entity what that has, as far as values show it."""
    return _told_of(Told(list(words), [-1] * len(words), 0.0), inputs) is not None


def _told_of(told: Told, inputs: DialogueInputs) -> list[tuple[int, str] | None] | None:
    """Of each word the row and column that it tells; None in all where a value is of no row that is named.

    It does not matter where a value was copied from. A number that no row has is unsound as well.
    """
    rows = [{cell.value: inputs.columns[cell.column] for cell in reversed(row)} for row in inputs.rows]
    named = [n for n, row in enumerate(rows) if any(row.get(word) == NAME for word in told.words)]
    of_words: list[tuple[int, str] | None] = []
    for word, position in zip(told.words, told.positions, strict=True):
        having = [number for number, row in enumerate(rows) if word in row]
        is_value = position >= 0 or word not in TRUTHS  # of the vocabulary, "no" is a word as others are
        if not having or not is_value:
            if any(c.isdigit() for c in word):
                return None
            of_words.append(None)
            continue
        among = [number for number in having if number in named or not named]
        if not among:
            return None
        of_words.append((among[0], rows[among[0]][word]))
    return of_words


def _answers(
    of_words: Sequence[tuple[int, str] | None],
    rows: Sequence[Entity],
    state: DialogueState,
    asked: Sequence[str],
) -> bool:
    """Whether it tells what the message asks for of what is talked about, or names one that is wanted."""
    told = {one for one in of_words if one is not None}
    if state.asks_for_more:
        return any(column == NAME and _meets(rows[row], state) for row, column in told)
    return {row for row, _ in told} == {0} and {(0, column) for column in asked} <= told


def _meets(row: Entity, state: DialogueState) -> bool:
    return all(row.values.get(column) == as_value(value) for column, value in state.constraints.items())


def _written(
    told: Told, of_words: Sequence[tuple[int, str] | None], found: Found, inputs: DialogueInputs
) -> CitingText:
    """The words as they are read: values as the knowledge base has them, sentences with what they cite."""
    values = _values_of(found, inputs)
    sentences: list[str] = []
    words, cited, all_cited = list[str](), list[int](), list[int]()
    for word, of_word in zip((*told.words, "."), (*of_words, None), strict=True):
        if word in _ENDS:
            if words:
                numbers = "".join(f" [{number}]" for number in dict.fromkeys(cited))
                sentences.append(_capital(_NO_SPACE_BEFORE.sub("", " ".join(words))) + numbers + word)
            words, cited = [], []
            continue
        if of_word is not None:
            cited.append(found[of_word[0]][0].number)
            all_cited.append(cited[-1])
        words.append(values.get(word, word) if of_word is None else _value(found[of_word[0]][1], of_word[1]))
    return CitingText(" ".join(sentences), dict.fromkeys(all_cited), is_generated=True)


def _values_of(found: Found, inputs: DialogueInputs) -> Mapping[str, str]:
    written = {as_value(value): value for _, e in found for value in (e.name, *e.values.values())}
    return {word: word.replace("_", " ") for word in inputs.words if "_" in word} | written


def _value(entity: Entity, column: str) -> str:
    return entity.name if column == NAME else entity.values[column]


def _capital(sentence: str) -> str:
    sentence = _A_BEFORE_VOWEL.sub("an", _SMALL_I.sub("I", sentence))
    return sentence[:1].upper() + sentence[1:]
