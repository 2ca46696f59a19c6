"""When a round is to begin by itself: enough was judged, enough time has passed, or one waits to go on."""

from __future__ import annotations

from datetime import timedelta

from stores.clock import now
from stores.lessons import Lessons
from stores.rounds import Rounds


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

    def not_learned(self) -> int:
        """How many questions were judged since the last round that was decided."""
        return self._lessons.count(after=self._rounds.last_turn_learned(self._recipe))

    def begins_at(self) -> int:
        """From how many on a round begins, as long as nothing else is amiss."""
        return self._new_lessons if self._rounds.last_turn_learned(self._recipe) else self._fewest

    def came_to_nothing(self) -> None:
        """A round was due and could not begin: it is due again when more was judged."""
        self._in_vain = self._lessons.count()
