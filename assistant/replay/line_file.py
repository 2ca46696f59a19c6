"""A file of JSON lines that is added to and survives a kill: what was added is there, a torn line is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def encoded(content: Any) -> bytes:
    """One line of JSON: the same bytes for the same content."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


class LineFile:
    """The lines of a file, by one process at a time; opening it takes a torn last line away."""

    def __init__(self, path: Path) -> None:
        self._path = path
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(path, len(whole))
        self.lines: list[Any] = [json.loads(line) for line in whole.splitlines()]

    def append(self, content: Any) -> None:
        """Adds a line, durable when this returns."""
        with self._path.open("ab") as opened:
            opened.write(encoded(content))
            opened.flush()
            os.fsync(opened.fileno())
        self.lines.append(content)

    def keep(self, count: int) -> None:
        """Takes all lines behind the first so many away."""
        self.lines = self.lines[:count]
        if self._path.exists():
            os.truncate(self._path, sum(len(encoded(line)) for line in self.lines))
