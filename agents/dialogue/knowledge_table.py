"""The values of a knowledge base: which of them a text names, and which entities have them.

A value is named where its words stand in the text, one behind the other; of two that overlap, by the longer
one. Nothing is understood here: who says it otherwise is found by the search for what they mean.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.base.chat_interfaces import DialogueState
from agents.dialogue.columns import TRUTHS, Column, column_of
from stores.base.entities import Entity
from stores.base.wishes import Wish, number_of, words

NAME = ""  # stands for the column that names an entity
_WORD = re.compile(r"[^\W_]+")
_MANY_ROWS = 20  # from here on, a column whose values hardly repeat tells entities apart and constrains none
_LEAST_REPEATED = 2.0  # rows a value, on average, of a column that constrains

_Key = tuple[str, ...]  # the words of a value, in lower case


@dataclass(frozen=True)
class Named:
    """A value that a text names."""

    column: str  # NAME for an entity's name
    value: str
    entities: Sequence[int]  # versions of those that have it
    span: tuple[int, int] = (0, 0)  # where it stands in the text
    columns: tuple[str, ...] = ()  # all that have it; `column` is the one with it in most rows


class KnowledgeTable:
    """One content of a knowledge base; read once, then only looked up."""

    def __init__(self, name: str, entities: Iterable[tuple[int, Entity]]) -> None:
        """entities: each with the id of its version."""
        self.name = name
        self.size = 0
        self._values: dict[_Key, dict[str, array[int]]] = {}
        self._written: dict[_Key, str] = {}
        self._cells: dict[str, dict[str, array[int]]] = {}  # by column and value; of those that can be wanted
        rows: Counter[str] = Counter()
        for version_id, entity in entities:
            self.size += 1
            for column, value in ((NAME, entity.name), *entity.values.items()):
                if key := words(value):
                    rows[column] += 1
                    self._values.setdefault(key, {}).setdefault(column, array("q")).append(version_id)
                    self._written.setdefault(key, value)
                    if column != NAME:
                        cells = self._cells.setdefault(column, {})
                        cells.setdefault(value, array("q")).append(version_id)
        self.columns: dict[str, Column] = {name: column_of(name, held) for name, held in self._cells.items()}
        self._drop_what_constrains_nothing(rows)
        self._add_short_names()
        self._longest = max(map(len, self._values), default=0)

    def named_in(self, text: str) -> list[Named]:
        """The values that a text names, in its order."""
        spans = [match.span() for match in _WORD.finditer(text)]
        said, found, at = tuple(text[start:end].lower() for start, end in spans), [], 0
        while at < len(said):
            for length in range(min(self._longest, len(said) - at), 0, -1):
                columns = self._values.get(said[at : at + length])
                if columns:
                    column = NAME if NAME in columns else max(columns, key=lambda c: len(columns[c]))
                    value, span = (
                        self._written[said[at : at + length]],
                        (spans[at][0], spans[at + length - 1][1]),
                    )
                    found.append(Named(column, value, columns[column], span, tuple(columns)))
                    at += length
                    break
            else:
                at += 1
        return found

    def told_of(self, text: str) -> list[int]:
        """The versions of the entities that a text tells of: those with most of the values that stand there.

        Where it names any, it tells of these. None where it would be half of the table.
        """
        named = self.named_in(text)
        names = [one for one in named if one.column == NAME]
        counts = Counter(entity for one in names or named for entity in set(one.entities))
        most = max(counts.values(), default=0)
        found = sorted(entity for entity, count in counts.items() if count == most)
        return found if 2 * len(found) < self.size else []

    def meeting(self, wishes: Iterable[Wish]) -> list[int]:
        """The versions of the entities that meet all wishes, in the table's order; none without a wish."""
        sets = [
            {
                e
                for value, held in self._cells.get(wish.column, {}).items()
                if wish.is_met(value)
                for e in held
            }
            for wish in wishes
        ]
        return sorted(set.intersection(*sets)) if sets else []

    def best(self, column: str, *, highest: bool, of: Sequence[int] | None) -> list[int]:
        """Those with the highest or the lowest number of a column. of: among these; None for all."""
        among = None if of is None else set(of)
        numbers = {
            entity: number
            for value, held in self._cells.get(column, {}).items()
            if (number := number_of(value)) is not None
            for entity in held
            if among is None or entity in among
        }
        end = (max if highest else min)(numbers.values(), default=0.0)
        return sorted(entity for entity, number in numbers.items() if number == end)

    def truth(self, column: str, is_true: bool) -> str:
        """How a column of truths writes that something is so, or is not."""
        return self.columns[column].truth(is_true, self._cells[column])

    def values(self, column: str) -> list[str]:
        """The different values of a column, those of most entities first."""
        held = self._cells.get(column, {})
        return sorted(held, key=lambda value: -len(held[value]))

    def value_of(self, entity: int, column: str) -> str:
        """Of one entity; empty where it has none."""
        return next((value for value, held in self._cells.get(column, {}).items() if entity in held), "")

    def focus(self, message: str, shown: Sequence[str]) -> list[int]:
        """The entities that a message names, else those of the last answer that names any. shown: answers."""
        for text in (message, *reversed(shown)):
            if found := [e for one in self.named_in(text) if one.column == NAME for e in one.entities]:
                return list(dict.fromkeys(found))
        return []

    def state(self, messages: Sequence[str], shown: Sequence[str]) -> DialogueState:
        """What the user's messages come to where nothing reads them: each value that they name is wanted.

        messages: oldest first. shown: the answers before the last message. A value of a column takes the
        place of the one before it.
        """
        constraints: dict[str, str] = {}
        for message in messages:
            constraints |= {n.column: n.value for n in self.named_in(message) if n.column != NAME}
        last = self.named_in(messages[-1]) if messages else []
        names = any(one.column == NAME for one in last)
        wants = bool(last) and not names
        focus = [] if wants else self.focus(messages[-1] if messages else "", shown)
        wishes = [Wish(column, "is", (value,)) for column, value in constraints.items()]
        return DialogueState(
            base=self.name,
            entities=self.size,
            constraints=constraints,
            meeting=len(self.meeting(wishes)),
            focus=tuple(focus),
            asks_for_more=wants or not focus,
        )

    def _drop_what_constrains_nothing(self, rows: Mapping[str, int]) -> None:
        values: dict[str, set[str]] = {}
        for key, columns in self._values.items():
            for column in columns:
                values.setdefault(column, set()).add(" ".join(key))
        dropped = {
            column
            for column, different in values.items()
            if column != NAME
            and (
                different <= TRUTHS
                or (rows[column] >= _MANY_ROWS and rows[column] < _LEAST_REPEATED * len(different))
            )
        }
        for key in list(self._values):
            if len(key) == 1 and len(key[0]) == 1:  # a digit or a letter stands anywhere
                del self._values[key]
                continue
            for column in dropped.intersection(self._values[key]):
                del self._values[key][column]
            if not self._values[key]:
                del self._values[key]

    def _add_short_names(self) -> None:
        """Names without their first word, as people say them, where no other value is called so."""
        short: dict[_Key, list[_Key]] = {}
        for key, columns in self._values.items():
            if NAME in columns and len(key) > 2:
                short.setdefault(key[1:], []).append(key)
        for key, (name, *others) in short.items():
            if not others and key not in self._values:
                self._values[key] = {NAME: self._values[name][NAME]}
                self._written[key] = self._written[name]
