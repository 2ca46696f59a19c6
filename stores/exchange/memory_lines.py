"""The lines of an exported memory, read back: each checked, and what is wrong told with its line.

The format is that of `stores.exchange.memory_export`. A line without a record is a text alone, with a kind
and a title if it likes: what people write by hand, and what earlier releases exported.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeAlias

from stores.base.errors import WrongUsage
from stores.base.statement_links import LINK_KINDS
from stores.base.well_formed import well_formed
from stores.exchange.json_lines import json_object
from stores.exchange.memory_export import SCHEMA
from stores.memory.collections import is_name

_FIRST_YEAR, _LAST_YEAR = 1970, 9998  # any time zone can show a moment of these
_DEEPEST = 20  # values within one another in the grounds of a write
KINDS = ("document", "message", "note", "fact", "preference", "correction")

Record: TypeAlias = dict[str, Any]  # the fields of one line, checked; "line" is its number
_Check: TypeAlias = Callable[[Any], Any]  # returns the value as it is kept; ValueError says what it must be


@dataclass
class Memory:
    """What a file tells, in its order."""

    sessions: list[Record] = field(default_factory=list)
    turns: list[Record] = field(default_factory=list)
    documents: list[Record] = field(default_factory=list)
    receipts: list[Record] = field(default_factory=list)
    passages: list[Record] = field(default_factory=list)
    links: list[Record] = field(default_factory=list)
    texts: list[Record] = field(default_factory=list)  # lines without a record: kind, title and text


def read_memory(lines: Iterable[str], file: str) -> Memory:
    """Raises `WrongUsage`, with the file and the line, for the first line that cannot be taken in."""
    memory = Memory()
    seen: dict[tuple[Any, ...], Record] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            told = _told(line)
            record = told.get("record", "text" if told.get("schema", 1) == 1 else "")
            if not isinstance(record, str) or record not in _SHAPES:
                raise ValueError(f"record {_known_records(told)}")
            read = _checked(told, _SHAPES[record])
            if record == "passage":
                _check_versions(read)
        except ValueError as error:
            _refuse(file, number, str(error))
        if record not in ("text", "link"):
            key = (record, read.get("scope", ""), read.get("id", read.get("source", "")))
            if key in seen and seen[key] != read:
                _refuse(file, number, "the same id stands in the file before, with something else")
            if key in seen:
                continue
            seen[key] = dict(read)
        getattr(memory, f"{record}s").append(read | {"line": number})
    _check_names(memory, file)
    return memory


def _known_records(told: Mapping[str, Any]) -> str:
    state = f"is {_short(told['record'])}, but" if "record" in told else "is missing; it"
    return f"{state} must be one of {', '.join(name for name in _SHAPES if name != 'text')}"


def _refuse(file: str, number: int, what: str) -> NoReturn:
    raise WrongUsage(f"{file} line {number}: {what}", hint="Nothing was imported.") from None


def _told(line: str) -> Mapping[str, Any]:
    told = json_object(line)
    schema = told.get("schema", 1)
    if isinstance(schema, bool) or not isinstance(schema, int):
        raise ValueError(f"schema is {_short(schema)}, but must be a whole number")
    if schema > SCHEMA:
        raise ValueError(f"schema {schema} is of a later release; this one reads up to {SCHEMA}")
    return told


def _checked(told: Mapping[str, Any], shape: Mapping[str, _Check]) -> Record:
    read: Record = {}
    for name, check in shape.items():
        try:
            read[name] = check(told.get(name))
        except ValueError as error:
            state = f"is {_short(told[name])}, but must be" if name in told else "is missing; it must be"
            is_within = isinstance(error, _Within)
            raise _Within(f"{name}: {error}" if is_within else f"{name} {state} {error}") from None
    return read


class _Within(ValueError):
    """What is wrong with a value inside another; it says all."""


def _short(value: object) -> str:
    told = json.dumps(value, ensure_ascii=False)
    return told if len(told) <= 40 else told[:39] + "…"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("text")
    return well_formed(value)


def _words(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text that is not empty")
    return well_formed(value)


def _id(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-f]{32}", value):
        raise ValueError("32 hexadecimal digits")
    return value


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError
        moment = moment.astimezone(UTC)
        if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            raise ValueError
        return moment
    except (TypeError, ValueError, OverflowError):
        raise ValueError("a time with its zone, such as 2026-11-21T09:30:00+00:00") from None


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e9 < value < 1e9:
        raise ValueError("a number")  # nor is infinity one, nor what is none
    return value


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("a number from 0 to 1")
    return value


def _from(least: int) -> _Check:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
            raise ValueError(f"a whole number from {least}")
        return value

    return check


def _one_of(*names: str) -> _Check:
    def check(value: Any) -> str:
        if value not in names:
            raise ValueError(f"one of {', '.join(name or 'nothing' for name in names)}")
        return str(value)

    return check


def _or_none(check: _Check) -> _Check:
    return lambda value: None if value is None else check(value)


def _or(check: _Check, otherwise: Any) -> _Check:
    return lambda value: otherwise if value is None else check(value)


def _list_of(shape: Mapping[str, _Check]) -> _Check:
    def check(value: Any) -> list[Record]:
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise ValueError("a list of objects")
        return [_checked(each, shape) for each in value]

    return check


def _grounds(value: Any) -> Record:
    if not isinstance(value, dict):
        raise ValueError("an object")
    cleaned: Record = _clean(value)
    return cleaned


def _clean(value: Any, deep: int = 0) -> Any:
    if deep > _DEEPEST:
        raise ValueError(f"no more than {_DEEPEST} values within one another")
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("finite numbers")
    if isinstance(value, dict):
        return {well_formed(key): _clean(each, deep + 1) for key, each in value.items()}
    return [_clean(each, deep + 1) for each in value] if isinstance(value, list) else value


_LIFE: dict[str, _Check] = {
    "created_at": _moment,
    "added_by": _or_none(_id),
    "removed_at": _or_none(_moment),
    "removed_by": _or_none(_id),
}
_VERSION = {
    "number": _from(1),
    "title": _text,
    "text": _text,
    "author": _words,
    **_LIFE,
    "forgotten_at": _or_none(_moment),
    "document": _or_none(_words),
    "session": _or_none(_id),
    "position": _from(0),
}
_CLAIM = {
    "text": _text,
    "quote": _text,
    "kind": _one_of("fact", "preference", "correction"),
    "about": _one_of("world", "user"),
    "hearsay": _flag,
    "origin": _one_of("turn", "taught", "share"),
    "number": _from(1),
    "turn": _or_none(_id),
    "state": _one_of("stored", "confirmed", "rejected", "withdrawn"),
    "status": _one_of("correct", "incorrect", "unknown", ""),
    "confidence": _share,
    "scope": _one_of("shared", "yours", ""),
    "action": _one_of("add", "modify", "delete", "nothing", ""),
    "receipt": _or_none(_id),
    "grounds": _grounds,
    "created_at": _moment,
    "decided_at": _or_none(_moment),
}
_SCOPE = _one_of("shared", "yours")
_SHAPES: dict[str, Mapping[str, _Check]] = {
    "session": {"id": _id, "title": _text, "created_at": _moment},
    "turn": {"id": _id, "session": _id, "message": _text, "accepted_at": _moment},
    "document": {
        "scope": _SCOPE,
        "source": _words,
        "collection": _or(lambda value: value if is_name(_text(value)) else "", ""),
        "created_at": _moment,
        "versions": _list_of(
            {"number": _from(1), "title": _text, "content_hash": _text, "passages": _from(0), **_LIFE}
        ),
    },
    "receipt": {
        "id": _id,
        "scope": _SCOPE,
        "action": _one_of("add", "modify", "delete"),
        "summary": _text,
        "grounds": _grounds,
        "turn": _or_none(_id),
        "created_at": _moment,
        "undone_at": _or_none(_moment),
    },
    "passage": {
        "id": _id,
        "kind": _one_of(*KINDS),
        "scope": _SCOPE,
        "title": _text,
        "text": _text,
        "external_id": _text,
        "turn": _or_none(_id),
        "created_at": _moment,
        "versions": _list_of(_VERSION),
        "claims": _list_of(_CLAIM),
    },
    "link": {
        "newer": _id,
        "older": _id,
        "kind": _one_of(*LINK_KINDS),
        "probability": _probability,
        "by": _words,
        "receipt": _or_none(_id),
    },
    "text": {
        "text": _words,
        "kind": _or(lambda value: value if value in KINDS else _text(value) and "note", "note"),
        "title": _or(_text, ""),
    },
}


def _check_versions(passage: Record) -> None:
    versions: Sequence[Record] = passage["versions"]
    left = [version for version in versions if version["forgotten_at"] is None]
    live = [version for version in versions if version["removed_at"] is None]
    numbers = [version["number"] for version in versions]
    if not left:
        raise ValueError("a passage must have a version that is not forgotten")
    if numbers != sorted(set(numbers)):
        raise ValueError("its versions must be in the order of their numbers, each once")
    if len(live) > 1:
        raise ValueError("only one version of a passage may be without removed_at")
    for version in versions:
        has_words = version["text"] or version["title"]
        if version["forgotten_at"] is not None and (has_words or version in live):
            raise ValueError(f"version {version['number']} is forgotten, but has a text or is live")
        if version in live and version["removed_by"] is not None:
            raise ValueError(f"version {version['number']} has removed_by, but no removed_at")
    shown = (live or left)[-1]
    if (passage["title"], passage["text"]) != (shown["title"], shown["text"]):
        raise ValueError(f"its title and text must be those of version {shown['number']}")


def _check_names(memory: Memory, file: str) -> None:
    """Whatever a line names must stand in the file."""
    known = {
        "session": {row["id"] for row in memory.sessions},
        "turn": {row["id"] for row in memory.turns},
        "receipt": {row["id"] for row in memory.receipts},
        "passage": {row["id"] for row in memory.passages if row["scope"] == "yours"},
        "document": {(row["scope"], row["source"]) for row in memory.documents},
    }

    def check(record: Record, what: str, name: Any) -> None:
        if name is not None and name not in known[what]:
            told = name[1] if isinstance(name, tuple) else name
            _refuse(file, record["line"], f"it names {what} {told}, which is not in the file")

    for turn in memory.turns:
        check(turn, "session", turn["session"])
    for record in (*memory.receipts, *memory.passages):
        check(record, "turn", record["turn"])
    for record in (*memory.documents, *memory.passages):
        for version in record["versions"]:
            check(record, "receipt", version["added_by"])
            check(record, "receipt", version["removed_by"])
    for link in memory.links:
        check(link, "receipt", link["receipt"])
        for end in ("newer", "older"):
            check(link, "passage", link[end])
        if link["newer"] == link["older"]:
            _refuse(file, link["line"], "a link must be between two passages")
    for passage in memory.passages:
        for version in passage["versions"]:
            check(passage, "session", version["session"])
            if version["document"] is not None:
                check(passage, "document", (passage["scope"], version["document"]))
        for claim in passage["claims"]:
            check(passage, "turn", claim["turn"])
            check(passage, "receipt", claim["receipt"])
