"""Processes that were begun from a test, and theirs."""

from __future__ import annotations

import importlib.util
import time
from contextlib import suppress
from pathlib import Path

import pytest


def needs_ray() -> None:
    """Without importing it: what it reads of the environment it reads then."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")


def begun_with(variable: str) -> list[str]:
    """The commands of processes that have this in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def left_of(variable: str) -> list[str]:
    """The same, once they have had some seconds to end."""
    for _ in range(100):
        if not begun_with(variable):
            return []
        time.sleep(0.1)
    return begun_with(variable)
