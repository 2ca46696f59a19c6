"""Whether a round that is gone on with again and again still gets further.

Short chats each do a part of a long round, so what ends one is not how often it was left, but how often in a
row that was without a step beyond the furthest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_IN_VAIN = 20  # times in a row; what gets no further by then is given up
_IN_ORDER = ("training", "exporting", "encoding", "indexing", "comparing", "going live")
_COUNTED = {"training": "step", "indexing": "passages", "comparing": "questions"}


def reached(figures: Mapping[str, Any]) -> tuple[int, int]:
    """How far a round was at its last note: the place of its phase, and what was done in it; more is further.

    figures: of the round, with its `phase` and its `progress`. A phase that is not known counts as the start.
    """
    phase, progress = figures.get("phase", ""), figures.get("progress") or {}
    place = _IN_ORDER.index(phase) + 1 if phase in _IN_ORDER else 0
    if phase == "encoding":  # each time those that are missing are counted from none
        return place, progress.get("passages", 0) - progress.get("passages_in_all", 0)
    return place, progress.get(_COUNTED.get(phase, ""), 0)


def attempted(figures: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be noted of a round that is gone on with: the furthest it got, and how often in vain."""
    got, before = reached(figures), figures.get("reached")
    if before is None or got > tuple(before):
        return {"reached": list(got), "in_vain": 0}
    return {"reached": list(before), "in_vain": int(figures.get("in_vain", 0)) + 1}
