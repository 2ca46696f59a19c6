"""What a message wants of a table: wishes, what they take back, what is asked, and what is not sure.

message -> candidates -> chances of their labels -> `Meant`
the messages of a session -> changes, one after another -> the wishes that hold
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol
from weakref import WeakKeyDictionary

from agents.dialogue.knowledge_table import KnowledgeTable
from agents.dialogue.wish_candidates import Possible, possible
from agents.models.dialogue_arrays import Floats
from agents.models.wish_network import Candidate
from stores.base.wishes import Operator, Wish, is_same, words
from stores.words.lexical import tokens as searched_words

End = Literal["highest", "lowest"]
_SURE_FROM = 0.6  # chance of the likeliest label of what the message names; chosen on dev
_NUMBER_FROM = 0.3  # chance from which a number of the message is taken for one of a column; chosen on dev
_WORD_FROM = 0.5  # the same of a number that is written as a word: "which one"
_ANY_FROM = 0.95  # the same of a column that no longer matters, whose wish is given up; chosen on dev
_NUMBER_PERHAPS = 0.04  # from here on it is said that a number was not understood
_OF_NAMES = ("ask", "any")
_REMEMBERED = 500  # messages over a table; each message of a session is read again with every turn


@dataclass(frozen=True)
class Change:
    """One thing that a message does to the wishes. operator: any takes back; value: empty for the column."""

    column: str
    operator: Operator | Literal["any"]
    value: str = ""


@dataclass(frozen=True)
class Meant:
    """What one message means for a table."""

    changes: tuple[Change, ...] = ()
    asks: tuple[str, ...] = ()  # columns whose value is asked for
    best: tuple[str, End] | None = None  # a column, and which end of it
    act: str = "find"  # or count, ask, other
    unsure: tuple[str, ...] = ()  # words of the message that were not understood


class Judge(Protocol):
    """What knows the chances of labels; see `WishNetwork`."""

    def chances(self, tokens: Sequence[str], found: Sequence[Candidate]) -> list[dict[str, float]]:
        """Of each candidate its labels with their probabilities."""

    def likeness(self, some: Sequence[str], others: Sequence[str]) -> Floats:
        """(N, M): the cosines of texts and other texts."""


class WishParser:
    """Reads messages over tables."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._meant: WeakKeyDictionary[KnowledgeTable, dict[str, Meant]] = WeakKeyDictionary()

    def meant(self, message: str, table: KnowledgeTable) -> Meant:
        """What it wants, asks and takes back."""
        known = self._meant.setdefault(table, {})
        if message not in known:
            if len(known) >= _REMEMBERED:
                known.clear()
            known[message] = self._read(message, table)
        return known[message]

    def _read(self, message: str, table: KnowledgeTable) -> Meant:
        tokens, found = possible(message, table, self._judge.likeness)
        chances = self._judge.chances(tokens, [one.given for one in found])
        judged = [
            (one, max(each, key=each.__getitem__), each) for one, each in zip(found, chances, strict=True)
        ]
        judged = list(_as_named(judged, words(message)))
        unsure = dict(_unsure(judged))
        sure = [row for row in judged if row[0].given.at not in unsure]
        kept = [*_of_values(sure), *_numbers(sure, message), *_of_columns(sure, table)]
        changed = {change.column for change in kept}
        ends = [(c.column, label) for c, label, _ in judged if label in ("highest", "lowest")]
        best = next((end for end in ends if end[0] not in changed), next(iter(ends), None))
        asks = [c.column for c, label, _ in judged if label == "ask" and c.column not in {"", *changed}]
        act = "find" if judged[-1][1] == "ask" and changed and not asks else judged[-1][1]
        return Meant(tuple(kept), tuple(asks), best, act, tuple(unsure.values()))  # type: ignore[arg-type]


_Judged = Sequence[tuple[Possible, str, dict[str, float]]]


def _as_named(judged: _Judged, said: Sequence[str]) -> Iterable[tuple[Possible, str, dict[str, float]]]:
    """Where the words of a column stand in the message, others that are only like it mean nothing."""
    told = f" {' '.join(said)} "
    named = {
        label
        for one, label, _ in judged
        if label in _OF_NAMES and not one.given.at and f" {' '.join(words(one.column))} " in told
    }
    for one, label, chances in judged:
        is_named = f" {' '.join(words(one.column))} " in told
        is_column = bool(one.column) and not one.given.at
        yield one, "none" if is_column and label in named and not is_named else label, chances


def _of_values(judged: _Judged) -> Iterable[Change]:
    for one, label, _ in judged:
        if one.given.kind == "value" and label != "none":
            yield Change(one.column, label, one.value)  # type: ignore[arg-type]


def _numbers(judged: _Judged, message: str) -> Iterable[Change]:
    """Of each number the column that it is likeliest meant of; first those with a word of the message."""
    said = set(searched_words(message))
    for at in dict.fromkeys(one.given.at for one, _, _ in judged if one.given.kind.startswith("number")):
        rows = [row for row in judged if row[0].given.at == at and row[0].given.kind.startswith("number")]
        named = [row for row in rows if said.intersection(searched_words(row[0].column))]
        one, _, chances = min(named or rows, key=lambda row: row[2]["none"])
        if chances["none"] < 1 - (_NUMBER_FROM if one.said[:1].isdigit() else _WORD_FROM):
            label = max((each for each in chances if each != "none"), key=chances.__getitem__)
            yield Change(one.column, label, one.value)  # type: ignore[arg-type]


def _of_columns(judged: _Judged, table: KnowledgeTable) -> Iterable[Change]:
    for one, label, chances in judged:
        if one.given.at or not one.column or (label == "any" and chances["any"] < _ANY_FROM):
            continue
        if label in ("is", "not"):
            yield Change(one.column, "is", table.truth(one.column, label == "is"))
        elif label in ("any", "above", "below"):
            yield Change(one.column, label)  # type: ignore[arg-type]


def _unsure(judged: _Judged) -> Iterable[tuple[tuple[int, ...], str]]:
    """Tokens and words of what is named, where no label is likely, and of numbers that seem of no column."""
    for at, said in dict.fromkeys((one.given.at, one.said) for one, _, _ in judged if one.given.at):
        rows = [each for one, _, each in judged if one.given.at == at]
        closest = min(rows, key=lambda each: each["none"])
        is_number = any(one.given.at == at and one.given.kind != "value" for one, _, _ in judged)
        if is_number and closest["none"] >= 1 - _NUMBER_FROM:
            if closest["none"] < 1 - _NUMBER_PERHAPS:
                yield at, said
        elif max(closest.values()) < _SURE_FROM:
            yield at, said


def wishes_after(
    table: KnowledgeTable, messages: Sequence[Meant], talked: Sequence[Sequence[int]]
) -> list[Wish]:
    """The wishes that hold after these messages, oldest first.

    talked: of each message the entity that is talked about, if any, with which "cheaper" compares.
    """
    held: list[Wish] = []
    for meant, about in zip(messages, talked, strict=True):
        fresh: set[str] = set()
        for change in meant.changes:
            if change.operator in ("above", "below"):
                value = table.value_of(about[0], change.column) if about else ""
                change = replace(change, value=value)
            held = _changed(held, change, fresh)
    return held


def _changed(held: list[Wish], change: Change, fresh: set[str]) -> list[Wish]:
    """fresh: columns of which the same message wanted a value before; another one is wanted as well."""
    column, operator, value = change.column, change.operator, change.value
    others = [wish for wish in held if wish.column != column]
    own = [wish for wish in held if wish.column == column]
    if operator == "any":
        return [*others, *(kept for wish in own if value and (kept := _without(wish, value)))]
    if not value:
        return held  # "cheaper", where nothing is talked about
    if operator == "is":
        before = next((w.values for w in own if w.operator == "is"), ()) if column in fresh else ()
        fresh.add(column)
        return [*others, Wish(column, "is", tuple(dict.fromkeys((*before, value))))]
    if operator == "not":
        left = [one for wish in own if (one := _without(wish, value))]
        return [*others, *left, Wish(column, "not", (value,))]
    replaced = {"most": ("most", "below"), "least": ("least", "above")}.get(operator, ("above", "below"))
    left = [wish for wish in own if wish.operator not in (*replaced, operator, "is")]
    return [*others, *left, Wish(column, operator, (value,))]


def _without(wish: Wish, value: str) -> Wish | None:
    """What is left of a wish for, or against, a value that is taken back."""
    left = tuple(one for one in wish.values if not is_same(one, value))
    return Wish(wish.column, wish.operator, left) if left else None
