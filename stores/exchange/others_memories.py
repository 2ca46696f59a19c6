"""Memories that other programs wrote out, as lines that can be taken in: a text each, and where it is from.

mem0       what `get_all` returns: {"results": [{"memory": ..., "user_id": ..., "created_at": ...}]}
LangGraph  items of a store, LangMem's among them: [{"namespace": [...], "key": ..., "value": {...}}]
Claude     memories.json of an export: [{"conversations_memory": ..., "project_memories": {...}}]
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stores.base.errors import WrongUsage
from stores.base.one_line import one_line

_WORDS = ("content", "text", "memory", "data")  # of a value of LangGraph's, the first that is there
_DEEPEST = 5
_BULLETS = "-*•"


@dataclass(frozen=True)
class _Item:
    text: str
    whose: str
    title: str


def converted(content: str, file: str, *, of: str | None = None) -> list[str] | None:
    """The lines for `read_memory`; None where the file is of no such program.

    of: whose are taken in, where the file holds memories of several users. Raises `WrongUsage` where that
    is not said.
    """
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        return None
    items = list(_items(told))
    if not items:
        return None
    whose = sorted({item.whose for item in items})
    if of is None and len(whose) > 1:
        names = ", ".join(one_line(name) or "nobody" for name in whose[:5])
        raise WrongUsage(f"{file} holds memories of several users: {names}", hint="Say whose: --of NAME")
    if of is not None and of not in whose:
        there = ", ".join(map(one_line, whose[:5]))
        raise WrongUsage(f"{file} holds no memories of {one_line(of)}", hint=f"There are: {there}.")
    return [_line(item.text, item.title) for item in items if of in (None, item.whose)]


def each_line(content: str) -> list[str]:
    """A memory a line of plain text, as a list that was copied from a chat window; bullets are taken off."""
    texts = (line.strip().lstrip(_BULLETS).strip() for line in content.splitlines())
    return [_line(text, "") for text in texts if text]


def _line(text: str, title: str) -> str:
    return json.dumps({"text": text, "title": title})


def _items(told: Any) -> Iterator[_Item]:
    rows = told.get("results") if isinstance(told, Mapping) else told
    if not isinstance(rows, list):
        return
    for row in rows:
        if not isinstance(row, Mapping):
            continue
        if isinstance(row.get("memory"), str):
            whose = next((str(row[key]) for key in ("user_id", "agent_id", "run_id") if row.get(key)), "")
            yield from _item(row["memory"], whose, "mem0", row)
        elif isinstance(row.get("namespace"), list | tuple) and "value" in row:
            yield from _item(_words(row["value"]), "/".join(map(str, row["namespace"])), "LangGraph", row)
        elif "conversations_memory" in row:
            projects = row.get("project_memories")
            texts = [
                row["conversations_memory"],
                *(projects.values() if isinstance(projects, Mapping) else ()),
            ]
            for text in texts:
                for part in text.split("\n\n") if isinstance(text, str) else ():
                    yield from _item(part, str(row.get("account_uuid") or ""), "Claude", row)


def _item(text: str, whose: str, program: str, row: Mapping[str, Any]) -> Iterator[_Item]:
    day = str(row.get("updated_at") or row.get("created_at") or "")[:10]
    if text.strip():
        yield _Item(text.strip(), whose, f"{program}, {day}" if day else program)


def _words(value: Any, deep: int = 0) -> str:
    """The text of a value, or its fields, a line each."""
    if isinstance(value, Mapping) and deep < _DEEPEST:
        for name in _WORDS:
            if value.get(name):
                return _words(value[name], deep + 1)
        return "\n".join(f"{name}: {_words(each, deep + 1)}" for name, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str) and deep < _DEEPEST:
        return ", ".join(_words(each, deep + 1) for each in value)
    return str(value)
