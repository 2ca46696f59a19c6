"""What a message wants of a table, read by a chat model where the trained parser is in doubt.

    message, columns, wishes so far -> chat model -> one structured reply -> what can be executed -> `Meant`

Nothing that the model writes is kept: columns and values are the table's, a number is the message's, and the
words that it rests on stand in the message. With the message go two whose wishes are known; a model that
misreads one of them is not believed in that reply.
"""

from __future__ import annotations

import asyncio
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

_SECONDS = 6.0  # that a reply is waited for
_MOST_COLUMNS, _MOST_VALUES, _CHARACTERS = 30, 40, 40  # of a table and a value, that are shown
_MOST_FAILED = 2  # times in a row that it was late, unreadable or misread what is known; not asked then
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

    async def meant(
        self, message: str, table: KnowledgeTable, read: Meant, wishes: Sequence[Wish]
    ) -> Meant | None:
        """What was read, with what the model adds; None where it adds nothing that holds.

        read: by the trained parser; of the columns that it was sure of, the model is not believed.
        wishes: that hold before the message.
        """
        columns = list(table.columns)[:_MOST_COLUMNS]
        known = _known(table, columns)
        if known is None or self._failed >= _MOST_FAILED:
            return None
        asked = prompt.messages(
            [_shown(table, column) for column in columns],
            one_line(", ".join(wish.told for wish in wishes)),
            [f"{known.column} {known.value}, please", _NOTHING, message],
        )
        self._failed += 1
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self.chat.structured(asked, prompt.schema(columns))
        except (TimeoutError, ModelError):
            return None
        first, second, third = (cast("list[Mapping[str, str]]", reply[name]) for name in prompt.THREE)
        stated = _added(first, f"{known.column} {known.value}, please", table, Meant(), ())
        if stated is None or stated.changes != (known,) or second:
            return None
        self._failed = 0
        return _added(third, message, table, read, wishes)


def _known(table: KnowledgeTable, columns: Sequence[str]) -> Change | None:
    """A wish that any message over the table could state; None where no column has words."""
    texts = (column for column in columns if table.columns[column].kind == "text")
    return next((Change(column, "is", table.values(column)[0]) for column in texts), None)


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
    said, sure = f" {' '.join(words(message))} ", {change.column for change in read.changes}
    changes: list[Change] = []
    asks: list[str] = []
    best: tuple[str, End] | None = read.best
    for each in told[:_MOST_WISHES]:
        column, what = each["column"], each["what"]
        if column in sure or f" {' '.join(words(each['said']))} " not in said:
            continue
        if what == "asked":
            asks.append(column)
        elif what in ("highest", "lowest"):
            best = best or ((column, cast("End", what)) if table.columns[column].kind == "number" else None)
        elif what == "any":
            changes += [Change(column, "any")] if any(wish.column == column for wish in wishes) else []
        elif value := _value(each, message, table):
            is_truth = table.columns[column].kind == "truth"  # whose value says whether it is so
            changes.append(Change(column, "is" if is_truth else _OPERATORS[what], value))
    asks = [column for column in dict.fromkeys(asks) if column not in read.asks]
    if not (changes or asks or best != read.best):
        return None
    act = "ask" if asks and not changes else "find" if read.act != "count" else "count"
    return replace(
        read, changes=(*read.changes, *changes), asks=(*read.asks, *asks), best=best, act=act, unsure=()
    )


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
    return next((held for held in table.values(column.name) if is_same(held, value)), "")


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
    changes = tuple(Change(*change) for change in note["changes"])
    best = cast("tuple[str, End] | None", tuple(note["best"]) or None)
    columns = {change.column for change in changes} | {*note["asks"]} | ({best[0]} if best else set())
    return Meant(changes, tuple(note["asks"]), best, note["act"]) if columns <= set(table.columns) else None
