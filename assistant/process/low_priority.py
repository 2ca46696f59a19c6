"""Processes that compute behind a chat, and must never be in its way."""

from __future__ import annotations

import os

_NICE = 10  # added to our own; 19 is the lowest priority there is


def give_way(process: int) -> None:
    """Has a child compute only where nothing else wants to; best before it has threads, which inherit it."""
    os.setpriority(os.PRIO_PROCESS, process, min(19, os.nice(0) + _NICE))
