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
from stores.base.entities import Entity

NAME = ""  # stands for the column that names an entity
_WORD = re.compile(r"[^\W_]+")
TRUTHS = frozenset(("yes", "no", "true", "false"))  # of a column of these, none is a value that a text names
_MANY_ROWS = 20  # from here on, a column whose values hardly repeat tells entities apart and constrains none
_LEAST_REPEATED = 2.0  # rows a value, on average, of a column that constrains

_Key = tuple[str, ...]  # the words of a value, in lower case


@dataclass(frozen=True)
class Named:
    """A value that a text names."""

    column: str  # NAME for an entity's name
    value: str
    entities: Sequence[int]  # versions of those that have it


class KnowledgeTable:
    """One content of a knowledge base; read once, then only looked up."""

    def __init__(self, name: str, entities: Iterable[tuple[int, Entity]]) -> None:
        """entities: each with the id of its version."""
        self.name = name
        self.size = 0
        self._values: dict[_Key, dict[str, array[int]]] = {}
        self._written: dict[_Key, str] = {}
        rows: Counter[str] = Counter()
        for version_id, entity in entities:
            self.size += 1
            for column, value in ((NAME, entity.name), *entity.values.items()):
                if key := words(value):
                    rows[column] += 1
                    self._values.setdefault(key, {}).setdefault(column, array("q")).append(version_id)
                    self._written.setdefault(key, value)
        self._drop_what_constrains_nothing(rows)
        self._add_short_names()
        self._longest = max(map(len, self._values), default=0)

    def named_in(self, text: str) -> list[Named]:
        """The values that a text names, in its order."""
        said, found, at = words(text), [], 0
        while at < len(said):
            for length in range(min(self._longest, len(said) - at), 0, -1):
                columns = self._values.get(said[at : at + length])
                if columns:
                    column = NAME if NAME in columns else max(columns, key=lambda c: len(columns[c]))
                    found.append(Named(column, self._written[said[at : at + length]], columns[column]))
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

    def meeting(self, constraints: Mapping[str, str]) -> list[int]:
        """The versions of the entities that meet all constraints, in the order of the table."""
        sets = [self._values.get(words(v), {}).get(column, array("q")) for column, v in constraints.items()]
        if not sets:
            return []
        smallest, *others = sorted(sets, key=len)
        kept = [set(other) for other in others]
        return [entity for entity in smallest if all(entity in other for other in kept)]

    def state(self, messages: Sequence[str], shown: Sequence[str]) -> DialogueState:
        """What the user's messages, oldest first, come to. shown: the answers before the last message.

        A value of a column takes the place of the one before it. Talked about are the entities that the last
        message names, else those of the last answer that names any.
        """
        constraints: dict[str, str] = {}
        for message in messages:
            constraints |= {n.column: n.value for n in self.named_in(message) if n.column != NAME}
        last = self.named_in(messages[-1]) if messages else []
        focus = [entity for named in last if named.column == NAME for entity in named.entities]
        wants = any(named.column != NAME for named in last) and not focus
        for answer in reversed(shown):
            if focus or wants:
                break
            focus = [e for named in self.named_in(answer) if named.column == NAME for e in named.entities]
        return DialogueState(
            base=self.name,
            entities=self.size,
            constraints=constraints,
            meeting=len(self.meeting(constraints)),
            focus=tuple(dict.fromkeys(focus)),
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


def words(text: str) -> _Key:
    """The words of a text, in lower case."""
    return tuple(_WORD.findall(text.lower()))
