"""Small runs of a model at the same time: one by itself leaves most cores without work.

A run of a few hundred tokens is split among the threads of a session step by step, and they wait for each
other at each; whole runs beside each other wait for nothing. Each gives what it gives alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Made = TypeVar("Made")

_MOST = 8  # at a time; beyond, runs wait for memory more than for a core


def run_concurrently(work: Callable[[Part], Made], parts: Sequence[Part], *, threads: int) -> list[Made]:
    """What `work` makes of each part, in their order. threads: how many cores may be used, 0 for all.

    An error ends it: parts that were not begun are left, those that run come to their end.
    """
    workers = min(at_a_time(threads), len(parts))
    if workers < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers, thread_name_prefix="concurrent-runs") as pool:
        try:
            made = pool.map(work, parts)
        except RuntimeError:  # no thread can be started, as where the interpreter is ending
            return [work(part) for part in parts]
        return list(made)


def at_a_time(threads: int) -> int:
    """How many runs are made at the same time where there are enough. threads: 0 for all cores."""
    return min(threads or cores(), _MOST)


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
