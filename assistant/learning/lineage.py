"""What a round is made from, as it is noted when it begins; and what of that is not so any more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol, TypeVar

from assistant.learning.newest_block import Dated
from stores.database.tables import Round
from stores.learning.lessons import Lesson, Lessons

CHANGED_MEANWHILE = "Refused: the live model changed meanwhile."
_CHANGED = {
    "encoder_version": "passages have vectors of another encoder by now",
    "live": "another model is live by now",
    "training": "the settings of the training have changed",
    "taught_sha256": "lessons that it learns from were forgotten, undone or rated anew",
}


class Learnable(Dated, Protocol):
    """A lesson, of whatever kind."""

    @property
    def is_held_out(self) -> bool:
        """Whether it judges candidates, and is never trained on."""

    @property
    def earlier_turns(self) -> tuple[int, ...]:
        """The turns before it, whose words it shows too."""

    @property
    def passages(self) -> tuple[int, ...]:
        """The versions of passages that it shows."""


L = TypeVar("L", bound=Learnable)


def lineage(
    lessons: Sequence[Learnable],
    *,
    judged_behind: int,
    settings: Mapping[str, Any],
    encoder_version: str,
    live: str | None,
) -> dict[str, Any]:
    """Of a round with these lessons. judged_behind: where its newest block begins. settings: of the training.

    live: the model that answers in its role.
    """
    return {
        "training": settings,
        "encoder_version": encoder_version,
        "live": live,
        "turns": [lesson.turn_id for lesson in lessons],
        "earlier_turns": sorted({turn for lesson in lessons for turn in lesson.earlier_turns}),
        "passages": sorted({version for lesson in lessons for version in lesson.passages}),
        "last_turn": max((lesson.turn_id for lesson in lessons), default=0),
        "held_out": sum(lesson.is_held_out for lesson in lessons),
        "judged_behind": judged_behind,
        "taught_sha256": _sha256_of(taught(lessons)),
    }


def learnable(
    lessons: Lessons, encoder_version: str, *, after: int = 0
) -> tuple[list[Lesson], dict[int, bytes]]:
    """The lessons with those of their documents that have a vector to be met, and these vectors.

    after: the id of a turn; only lessons behind it.
    """
    known = lessons.all(after=after)
    versions = sorted({document.version_id for lesson in known for document in lesson.documents})
    vectors = lessons.vectors(versions, encoder_version)
    left = [
        replace(lesson, documents=tuple(d for d in lesson.documents if d.version_id in vectors))
        for lesson in known
    ]
    return [lesson for lesson in left if lesson.documents], vectors


def repeats(row: Round, today: Mapping[str, Any], limits: Mapping[str, float]) -> bool:
    """Whether a round that begins now would do what this one, which was decided, has done.

    today: the lineage of the round that begins now. limits: by which a candidate goes live now. A round that
    went live did so against the model before, and its own would be made again.
    """
    began = dict(row.settings)
    if row.state == "promoted":
        began["live"] = row.figures.get("version")
    elif row.reason == CHANGED_MEANWHILE or row.figures.get("comparison", {}).get("limits", limits) != limits:
        return False
    return began.get("turns") == today["turns"] and not changed_since(began, today)


def changed_since(began: Mapping[str, Any], today: Mapping[str, Any]) -> str:
    """What is not any more as it was when a round began; empty where all that matters is."""
    return next((why for name, why in _CHANGED.items() if began.get(name) != today[name]), "")


def taught(lessons: Sequence[L]) -> list[L]:
    """Those that the training is shown: the others judge what comes of it."""
    return [lesson for lesson in lessons if not lesson.is_held_out]


def _sha256_of(lessons: Sequence[Any]) -> str:
    rows = json.dumps([asdict(lesson) for lesson in lessons], ensure_ascii=False)
    return hashlib.sha256(rows.encode("utf-8", "replace")).hexdigest()
