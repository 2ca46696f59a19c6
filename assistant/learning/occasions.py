"""When a round is to begin by itself: enough was judged, enough time has passed, or one waits to go on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from stores.clock import now
from stores.lessons import Lessons
from stores.rounds import Rounds


@dataclass(frozen=True)
class Awaited:
    """What is waited for until a round begins by itself."""

    judged: int  # questions, until now
    wanted: int  # with so many a round begins
    is_later: bool = False  # those judged before the last round began do not count
    at: datetime | None = None  # then fewer are enough; None: never
    round_id: int | None = None  # one that has not ended
    came_to_nothing: bool = False  # a round was due, and could not begin


class Occasions:
    """Looks into the database, so that all learners of one see the same."""

    def __init__(
        self,
        lessons: Lessons,
        rounds: Rounds,
        *,
        recipe: str,
        fewest: int,
        new_lessons: int,
        hours: float,
    ) -> None:
        """fewest: judged questions without which no round is begun. new_lessons: since the last round.

        hours: after which a round is due with fewer new ones as well; 0 is never.
        """
        self._lessons = lessons
        self._rounds = rounds
        self._recipe = recipe
        self._fewest = fewest
        self._new_lessons = new_lessons
        self._hours = hours
        self._in_vain = -1  # judged questions, all in all, when a round was due and could not begin

    def is_due(self) -> bool:
        """Whether a round is to begin or to go on now."""
        if self._rounds.abandoned(self._recipe, even_resting=False) is not None:
            return True
        last = next((row for row in self._rounds.latest() if row.recipe == self._recipe), None)
        if last is not None and last.state in ("running", "waiting"):
            return False
        judged = self._lessons.count()
        if judged < self._fewest or judged == self._in_vain:
            return False
        if last is None:
            return True
        if self._lessons.count(after=int(last.settings.get("last_turn", 0))) >= self._new_lessons:
            return True
        ended = last.ended_at or last.created_at
        is_time = self._hours > 0 and now() - ended >= timedelta(hours=self._hours)
        return is_time and self.not_learned() > 0

    def awaited(self) -> Awaited:
        """What is still waited for, where no round is due."""
        last = next((row for row in self._rounds.latest() if row.recipe == self._recipe), None)
        judged = self._lessons.count()
        came_to_nothing = judged == self._in_vain
        if last is not None and last.state in ("running", "waiting"):
            return Awaited(judged, self._new_lessons, round_id=last.id)
        if last is None or judged < self._fewest:
            return Awaited(judged, self._fewest, came_to_nothing=came_to_nothing)
        return Awaited(
            self._lessons.count(after=int(last.settings.get("last_turn", 0))),
            self._new_lessons,
            is_later=True,
            at=(last.ended_at or last.created_at) + timedelta(hours=self._hours) if self._hours > 0 else None,
            came_to_nothing=came_to_nothing,
        )

    def not_learned(self) -> int:
        """How many questions were judged since the last round that was decided."""
        return self._lessons.count(after=self._rounds.last_turn_learned(self._recipe))

    def begins_at(self) -> int:
        """From how many on a round begins, as long as nothing else is amiss."""
        return self._new_lessons if self._rounds.last_turn_learned(self._recipe) else self._fewest

    def came_to_nothing(self) -> None:
        """A round was due and could not begin: it is due again when more was judged."""
        self._in_vain = self._lessons.count()
