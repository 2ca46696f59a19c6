"""Small runs of a model at the same time: one by itself leaves most cores without work.

A run of a few hundred tokens is split among the threads of a session step by step, and they wait for each
other at each; whole runs beside each other wait for nothing. Each gives what it gives alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Made = TypeVar("Made")

_LEAST_TOKENS = 128  # in a batch, if there are so many: below, a run's own cost counts
_BATCHES_A_CORE = 4  # of a few texts: the core that is last has a quarter of its work before it, not all
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


def concurrent_batches(lengths: Sequence[int], batch_tokens: int, *, threads: int) -> list[list[int]]:
    """As `batches_by_length`; the batches of a few texts are smaller, so that no core waits long for another.

    threads: how many cores may be used, 0 for all.
    """
    cores = at_a_time(threads)
    share = -(-sum(lengths) // (cores * _BATCHES_A_CORE)) if cores > 1 else batch_tokens
    return list(batches_by_length(lengths, min(batch_tokens, max(share, _LEAST_TOKENS))))


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """The places of all lengths, the longest first, in batches of at most `batch_tokens` with padding.

    What is longer than that by itself makes a batch of its own.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
