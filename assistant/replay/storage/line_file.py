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
    """The lines of a file, by one process at a time. A whole last line needs no line break behind it."""

    def __init__(self, path: Path, *, is_ours: bool = True) -> None:
        """is_ours: nothing else writes it, and a line that was torn by a kill is taken away.

        Otherwise lines that are no JSON stay in the file as they are, and `broken` has their numbers, from 1.
        Raises `WrongUsage` where the file cannot be read.
        """
        self._path = path
        self._is_ours = is_ours
        self.lines: list[Any] = []
        self.broken: list[int] = []
        self._ends_in_line = True  # what is added begins with a line of its own
        for number, line in enumerate(_content(path).splitlines(keepends=True), start=1):
            self._take(number, line)
            if is_ours and self.broken:
                self.keep(len(self.lines))
                break
        if is_ours and not self._ends_in_line:
            with path.open("ab") as opened:
                opened.write(b"\n")
            self._ends_in_line = True

    def append(self, content: Any) -> None:
        """Adds a line, durable when this returns."""
        with self._path.open("ab") as opened:
            opened.write((b"" if self._ends_in_line else b"\n") + encoded(content))
            opened.flush()
            os.fsync(opened.fileno())
        self._ends_in_line = True
        self.lines.append(content)

    def keep(self, count: int) -> None:
        """Takes all lines behind the first so many away; of a file that is ours."""
        assert self._is_ours, "of another's file no line is taken away"
        self.lines = self.lines[:count]
        if self._path.exists():
            os.truncate(self._path, sum(len(encoded(line)) for line in self.lines))
        self._ends_in_line = True

    def _take(self, number: int, line: bytes) -> None:
        self._ends_in_line = line.endswith(b"\n")
        if not line.strip():
            return
        try:
            read = json.loads(line)
        except (
            ValueError,
            RecursionError,
        ):  # no UTF-8 is one, too; the other is of what is nested too deeply
            self.broken.append(number)
        else:
            self.lines.append(read)


def _content(path: Path) -> bytes:
    if path.is_fifo():  # it may be waited for without end
        raise WrongUsage(f"{path} cannot be read: it is a pipe")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise WrongUsage(f"{path} cannot be read: {error.strerror}") from error
