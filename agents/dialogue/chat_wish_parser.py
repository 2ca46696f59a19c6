"""What a message wants of a table, read by a chat model where the trained parser is in doubt.

    message, columns, wishes so far -> chat model -> one structured reply -> what can be executed -> `Meant`

Nothing that the model writes is kept: columns and values are the table's, a number is the message's, and the
words that it rests on stand in the message. With the message go two whose wishes are known; a model that
misreads one of them is not believed in that reply.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from agents.base.chat_interfaces import ChatModel
from agents.dialogue.columns import FALSE, TRUE
from agents.dialogue.knowledge_table import NAME, KnowledgeTable
from agents.dialogue.wish_candidates import possible
from agents.dialogue.wish_parser import Change, End, Meant
from agents.prompts import wishes as prompt
from stores.base.errors import ModelError
from stores.base.one_line import one_line
from stores.base.wishes import Operator, Wish, is_same, number_of, words
from stores.words.lexical import tokens

_SECONDS = 6.0  # that a reply is waited for
_MOST_COLUMNS, _MOST_VALUES, _CHARACTERS = 30, 40, 40  # of a table and a value, that are shown
_MOST_SHOWN = 6_000  # characters of all columns
_MOST_FAILED = 2  # times in a row that it was late, unreadable or misread what is known; then it rests
_RESTS_SECONDS = 600.0
_MOST_WISHES = 8  # of a reply
_NOTHING = "Thanks, that was quick!"  # a message without a wish
_OPERATORS: dict[str, Operator] = {"is": "is", "not": "not", "at most": "most", "at least": "least"}


def in_doubt(meant: Meant, message: str, table: KnowledgeTable) -> bool:
    """Whether words of a message were not understood, or nothing of it and it names no entity."""
    if meant.unsure:
        return True
    found = meant.changes or meant.asks or meant.best
    names = any(one.column == NAME for one in table.named_in(message))
    return meant.act in ("find", "ask") and not (found or names)


class ChatWishParser:
    """Asks a chat model."""

    def __init__(self, chat: ChatModel, *, seconds: float = _SECONDS) -> None:
        """seconds: from which on a reply is late."""
        self.chat, self._seconds = chat, seconds
        self._failed = 0  # times in a row
        self._rests_until = 0.0  # on the clock of time.monotonic

    async def meant(
        self, message: str, table: KnowledgeTable, read: Meant, wishes: Sequence[Wish]
    ) -> Meant | None:
        """What was read, with what the model adds; None where it adds nothing that holds.

        read: by the trained parser; of the columns that it was sure of, the model is not believed.
        wishes: that hold before the message.
        """
        shown = _shown_columns(table)
        columns = list(shown)
        known = _known(table, columns)
        if known is None or time.monotonic() < self._rests_until:
            return None
        asked = prompt.messages(
            list(shown.values()),
            one_line(", ".join(wish.told for wish in wishes)),
            [f"{known.column} {known.value}, please", _NOTHING, message],
        )
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self.chat.structured(asked, prompt.schema(columns))
        except (TimeoutError, ModelError):
            self._fail()
            return None
        first, second, third = (cast("list[Mapping[str, str]]", reply[name]) for name in prompt.THREE)
        stated = _added(first, f"{known.column} {known.value}, please", table, Meant(), ())
        if stated is None or stated.changes != (known,) or second:
            self._fail()
            return None
        self._failed = 0
        return _added(third, message, table, read, wishes)

    def _fail(self) -> None:
        self._failed += 1
        if self._failed >= _MOST_FAILED:
            self._failed, self._rests_until = 0, time.monotonic() + _RESTS_SECONDS


def _known(table: KnowledgeTable, columns: Sequence[str]) -> Change | None:
    """A wish that any message over the table could state; None where no column has short words."""
    texts = (column for column in columns if table.columns[column].kind == "text")
    values = ((column, table.values(column)[0]) for column in texts)
    return next((Change(column, "is", value) for column, value in values if len(value) <= _CHARACTERS), None)


def _shown_columns(table: KnowledgeTable) -> dict[str, str]:
    """Columns with some of their values, the first for which there is room."""
    shown: dict[str, str] = {}
    for column in list(table.columns)[:_MOST_COLUMNS]:
        told = _shown(table, column)
        if sum(map(len, shown.values())) + len(told) <= _MOST_SHOWN:
            shown[column] = told
    return shown


def _shown(table: KnowledgeTable, name: str) -> str:
    column, values = table.columns[name], table.values(name)
    if column.kind == "truth":
        told = "yes or no"
    elif column.kind == "number":
        told = f"a number from {min(values, key=_number)} to {max(values, key=_number)}"
    else:
        told = ", ".join(value[:_CHARACTERS] for value in values[:_MOST_VALUES])
    return one_line(f"{name}: {told}")


def _number(value: str) -> float:
    return number_of(value) or 0.0


def _added(
    told: Sequence[Mapping[str, str]],
    message: str,
    table: KnowledgeTable,
    read: Meant,
    wishes: Sequence[Wish],
) -> Meant | None:
    """What was read with those of a reply that can be executed; None where none can."""
    sure, told_by = {change.column for change in read.changes}, set[str]()
    changes: list[Change] = []
    asks: list[str] = []
    best: tuple[str, End] | None = read.best
    for each in told[:_MOST_WISHES]:
        column, what = each["column"], each["what"]
        if column in sure or not _is_said(each["said"], message, read.unsure):
            continue
        before = (len(changes), len(asks), best)
        if what == "asked":
            asks.append(column)
        elif what in ("highest", "lowest"):
            best = best or ((column, cast("End", what)) if table.columns[column].kind == "number" else None)
        elif what == "any":
            changes += [Change(column, "any")] if any(wish.column == column for wish in wishes) else []
        elif value := _value(each, message, table):
            is_truth = table.columns[column].kind == "truth"  # whose value says whether it is so
            changes.append(Change(column, "is" if is_truth else _OPERATORS[what], value))
        if (len(changes), len(asks), best) != before:
            told_by.update(words(each["said"]))
    asks = [column for column in dict.fromkeys(asks) if column not in read.asks]
    if not (changes or asks or best != read.best):
        return None
    act = "ask" if asks and not changes else "find" if read.act != "count" else "count"
    unsure = tuple(each for each in read.unsure if told_by.isdisjoint(words(each)))
    return replace(
        read, changes=(*read.changes, *changes), asks=(*read.asks, *asks), best=best, act=act, unsure=unsure
    )


def _is_said(words_of_it: str, message: str, unsure: Sequence[str]) -> bool:
    """Whether words that carry something stand in the message, among them one that is in doubt, if any is."""
    told = words(words_of_it)
    doubted = {word for each in unsure for word in words(each)}
    is_there = bool(tokens(words_of_it)) and f" {' '.join(told)} " in f" {' '.join(words(message))} "
    return is_there and (not doubted or not doubted.isdisjoint(told))


def _value(told: Mapping[str, str], message: str, table: KnowledgeTable) -> str:
    """As the table, or of a number the message, writes it; empty where the column holds no such one."""
    column, what, value = table.columns[told["column"]], told["what"], told["value"]
    if column.kind == "number":
        numbers = (one for one in possible(message, table)[1] if one.column == column.name and one.given.at)
        return next((one.value for one in numbers if number_of(one.value) == number_of(value)), "")
    if what not in ("is", "not"):
        return ""
    if column.kind == "truth":
        truth = value.strip().lower()
        return table.truth(column.name, (truth in TRUE) == (what == "is")) if truth in (*TRUE, *FALSE) else ""
    held = table.values(column.name)
    cut = [each for each in held if each[:_CHARACTERS] == value]  # as it was shown
    return next((each for each in held if is_same(each, value)), cut[0] if len(cut) == 1 else "")


def noted(meant: Meant) -> dict[str, Any]:
    """As plain values, to be kept with a turn."""
    return {
        "changes": [[change.column, change.operator, change.value] for change in meant.changes],
        "asks": list(meant.asks),
        "best": list(meant.best or ()),
        "act": meant.act,
    }


def kept(note: Mapping[str, Any] | None, table: KnowledgeTable) -> Meant | None:
    """What was noted; None where nothing was, its words were forgotten or a column is gone."""
    if not note:
        return None
    try:
        changes = tuple(Change(*change) for change in note["changes"])
        best = cast("tuple[str, End] | None", tuple(note["best"]) or None)
        columns = {change.column for change in changes} | {*note["asks"]} | ({best[0]} if best else set())
    except (KeyError, TypeError):  # written by another release
        return None
    return Meant(changes, tuple(note["asks"]), best, note["act"]) if columns <= set(table.columns) else None
