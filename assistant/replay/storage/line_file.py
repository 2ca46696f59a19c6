"""A file of JSON lines that is added to and survives a kill: what was added is there, a torn line is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from stores.base.errors import WrongUsage


def encoded(content: Any) -> bytes:
    """One line of JSON: the same bytes for the same content."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


class LineFile:
    """The lines of a file that one process writes at a time."""

    def __init__(self, path: Path) -> None:
        """Cuts the file off at a line that a kill tore. Raises `WrongUsage` where it cannot be read."""
        self._path = path
        self.lines: list[Any] = []
        whole = 0  # bytes
        for line in (content := _content(path)).splitlines(keepends=True):
            try:
                self.lines.append(json.loads(line if line.endswith(b"\n") else b""))
            except (ValueError, RecursionError):  # no UTF-8, too; the other is of what is nested too deeply
                break
            whole += len(line)
        if whole < len(content):
            os.truncate(path, whole)

    def append(self, content: Any) -> None:
        """Adds a line, durable when this returns."""
        with self._path.open("ab") as opened:
            opened.write(encoded(content))
            opened.flush()
            os.fsync(opened.fileno())
        self.lines.append(content)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise WrongUsage(f"{path} cannot be read: {error.strerror}") from error
