"""Models that a process keeps loaded, where it says so: one that answers question after question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

T = TypeVar("T")

_loaded: dict[tuple[str, Path, int, int], object] | None = None


def keep_loaded() -> None:
    """From now on what is loaded stays, until the process ends."""
    from stores.database.database import keep_statements

    global _loaded
    _loaded = {}
    keep_statements()


def loaded(kind: str, folder: Path, threads: int, load: Callable[[], T]) -> T:
    """What was loaded of this folder as it is now, or is loaded."""
    if _loaded is None:
        return load()
    newest = max((file.stat().st_mtime_ns for file in folder.iterdir()), default=0)
    key = (kind, folder, threads, newest)
    if key not in _loaded:
        _loaded[key] = load()
    return cast("T", _loaded[key])
