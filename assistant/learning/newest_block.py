"""Which lessons judge a candidate: the newest block in time, by which no candidate was judged before.

    lessons -> behind the last comparison, or the newest half -> judge
            -> all others, and what repeats one of these       -> teach

What gains on questions of the past may gain nothing on later ones. A block judges one candidate, and teaches
the next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

NEAR = 0.9  # words that two questions share, of all that either has, from which one repeats the other


class Dated(Protocol):
    """A lesson, a dataclass with a field `is_held_out`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def turn_id(self) -> int:
        """From which it was read."""

    @property
    def unit(self) -> str:
        """Those of one unit judge together, or teach together."""

    @property
    def words(self) -> Set[str]:
        """By which it repeats another one; none where only its unit tells."""


L = TypeVar("L", bound=Dated)


def begins_behind(turns: Sequence[int], *, judged_until: int) -> int:
    """The turn behind which the newest block begins.

    turns: of all lessons, in order. judged_until: the last turn by which a candidate was judged; 0: none was,
    and the block is the newer half.
    """
    if judged_until or not turns:
        return judged_until
    return turns[(len(turns) - 1) // 2]


def marked(lessons: Sequence[L], *, behind: int) -> list[L]:
    """The same lessons, those held out that judge. behind: of `begins_behind`."""
    before = [lesson for lesson in lessons if lesson.turn_id <= behind]
    units = {lesson.unit for lesson in before}
    places: dict[str, list[int]] = defaultdict(list)
    for place, lesson in enumerate(before):
        for word in lesson.words:
            places[word].append(place)

    def repeats(lesson: L) -> bool:
        shared = Counter(place for word in lesson.words for place in places.get(word, ()))
        return any(count >= NEAR * len(lesson.words | before[place].words) for place, count in shared.items())

    return [
        replace(
            lesson,
            is_held_out=lesson.turn_id > behind and lesson.unit not in units and not repeats(lesson),
        )
        for lesson in lessons
    ]
