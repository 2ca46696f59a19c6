"""The end of today's log as rows, each with its time, level, what happened, and its fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stores.base.one_line import one_line

MOST_LINES = 500
_MOST_BYTES = 400_000
LEVELS = ("all", "warnings", "errors")  # what can be shown, one after another
_AT_LEAST = {"all": 0, "warnings": 30, "errors": 40}
_RANKS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
_TEXTS = ("message", "text", "answer", "question")  # fields that hold somebody's words, where they are logged


@dataclass(frozen=True)
class LogLine:
    """One line."""

    at: datetime | None  # in UTC; None where the line tells no time
    level: str
    logger: str
    event: str
    fields: str  # as name=value, on one line
    whole: str  # all of it, on several

    @property
    def row(self) -> str:
        """Time, level, event and fields."""
        clock = f"{self.at.astimezone():%H:%M:%S}" if self.at is not None else "--:--:--"
        return f"{clock}  {self.level:<8} {self.event}{f'  {self.fields}' if self.fields else ''}"

    def fits(self, words: Sequence[str], level: str) -> bool:
        """Whether it is at this level at least, and holds these words, which are in small letters."""
        if _RANKS.get(self.level, 20) < _AT_LEAST[level]:
            return False
        told = f"{self.row} {self.logger}".casefold()
        return all(word in told for word in words)


def log_file(folder: Path) -> Path:
    """Today's; the log's days are those of UTC."""
    return folder / f"log-{datetime.now(UTC).date().isoformat()}.jsonl"


def last_lines(file: Path, *, with_text: bool) -> list[LogLine]:
    """The last lines of a log, oldest first; none where there is no file.

    with_text: somebody's words are shown where the log holds them; else their length.
    """
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - _MOST_BYTES))
            lines = opened.read().split(b"\n")
    except OSError:
        return []
    whole = lines[1:] if size > _MOST_BYTES else lines  # the first one is torn
    read = [line for line in whole if line.strip()][-MOST_LINES:]
    return [_line(line, with_text=with_text) for line in read]


def _line(raw: bytes, *, with_text: bool) -> LogLine:
    try:
        told = json.loads(raw)
    except ValueError:
        told = None
    if not isinstance(told, dict):  # torn, as on a full disk
        return LogLine(None, "unknown", "", f"a line that cannot be read, {len(raw)} bytes", "", "")
    fields = _without_text(told.get("fields"), with_text=with_text)
    error = _without_text(told.get("error"), with_text=with_text)
    parts = [f"{one_line(name)}={_value(value)}" for name, value in fields.items()]
    if error:
        parts.append(f"error={_value(error.get('type', 'unknown'))}")
    told = {**told, "fields": fields, **({"error": error} if error else {})}
    return LogLine(
        _moment(told.get("time")),
        one_line(str(told.get("level", "unknown"))),
        one_line(str(told.get("logger", ""))),
        one_line(str(told.get("event", ""))),
        " ".join(parts),
        json.dumps(told, indent=2, ensure_ascii=False),
    )


def _without_text(fields: Any, *, with_text: bool) -> dict[str, Any]:
    """The fields; a text that was logged while that was allowed is its length, where it is not any more."""
    if not isinstance(fields, Mapping):
        return {}
    return {
        name: {"characters": len(value)}
        if name in _TEXTS and isinstance(value, str) and not with_text
        else value
        for name, value in fields.items()
    }


def _value(value: Any) -> str:
    if isinstance(value, Mapping) and set(value) == {"characters"}:
        return f"({value['characters']} characters)"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _moment(told: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(told))
    except ValueError:
        return None
