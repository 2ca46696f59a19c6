"""When a round is to begin by itself: enough was judged, enough time has passed, or one waits to go on.

None begins that could come to nothing new: one with fewer held-out questions than decide, or one that would
repeat another one, as nothing that it learns from has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from assistant.learning.lineage import lineage, repeats
from assistant.learning.newest_block import begins_behind, marked
from assistant.learning.recipe import Counted, Trainable
from stores.base.clock import now
from stores.base.errors import VouchError
from stores.database.tables import Round
from stores.learning.lessons import DECIDING, TooFewHeldOut
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels


@dataclass(frozen=True)
class Awaited:
    """What is waited for until a round starts automatically."""

    judged: int  # questions, until now
    wanted: int  # with so many a round begins
    is_later: bool = False  # those judged before the last round began do not count
    at: datetime | None = None  # then fewer are enough; None: never
    round_id: int | None = None  # one that has not ended
    came_to_nothing: bool = False  # a round was due, and could not begin
    lack: TooFewHeldOut | None = None  # which asks for more lessons than all of this

    @property
    def missing(self) -> int:
        """So many more are to be judged until a round begins; 0 or less: one is due."""
        return 1 if self.came_to_nothing else self.wanted - self.judged


class Occasions:
    """Looks into the database, so that all learners of one see the same."""

    def __init__(
        self,
        recipe: str,
        lessons: Counted,
        rounds: Rounds,
        live_models: LiveModels,
        *,
        now_trained: Callable[[], Trainable[Any]],
        fewest: int,
        new_lessons: int,
        hours: float,
        limits: Mapping[str, float],
        deciding: int = DECIDING,
    ) -> None:
        """now_trained: what a round that begins now would train.

        fewest: lessons without which no round is begun. new_lessons: since the last round, with which one is
        due. hours: after which a round is due with fewer new ones as well; 0 is never. limits: by which a
        candidate goes live. deciding: held-out questions with an answer without which no round starts
        automatically.
        """
        self._recipe, self._lessons = recipe, lessons
        self._rounds, self._live_models, self._now_trained = rounds, live_models, now_trained
        self._fewest = fewest
        self._new_lessons = new_lessons
        self._hours = hours
        self._limits = limits
        self._deciding = deciding
        self._in_vain = -1  # judged questions, all in all, when a round was due and could not begin

    def is_due(self) -> bool:
        """Whether a round is to begin or to go on now."""
        if self._rounds.abandoned(self._recipe, even_resting=False) is not None:
            return True
        last = self._last()
        if last is not None and last.state in ("running", "waiting"):
            return False
        judged = self._lessons.count()
        if judged < self._fewest or judged == self._in_vain or not self._is_time(last):
            return False
        if self._too_few_held_out() is not None:
            return False
        if self.repeated() is not None:
            self._in_vain = judged  # nothing of what was judged can be learned from
            return False
        return True

    def has_enough(self) -> bool:
        """Whether a round could begin, by how much there is to learn from."""
        return self._lessons.count() >= self._fewest

    def awaited(self) -> Awaited:
        """What is still waited for, where no round is due."""
        last, judged = self._last(), self._lessons.count()
        came_to_nothing = judged == self._in_vain
        if last is not None and last.state in ("running", "waiting"):
            wanted = self._new_lessons if self._rounds.last_turn_learned(self._recipe) else self._fewest
            return Awaited(self.not_learned(), wanted, round_id=last.id)
        if last is None or judged < self._fewest:
            lack = self._lack(self._fewest - judged)
            return Awaited(judged, self._fewest, came_to_nothing=came_to_nothing, lack=lack)
        new = self._lessons.count(after=int(last.settings.get("last_turn", 0)))
        return Awaited(
            new,
            self._new_lessons,
            is_later=True,
            at=self._later(last) if self._hours > 0 else None,
            came_to_nothing=came_to_nothing,
            lack=self._lack(self._new_lessons - new),
        )

    def not_learned(self) -> int:
        """How many questions were judged since the last round that was decided."""
        return self._lessons.count(after=self._rounds.last_turn_learned(self._recipe))

    def came_to_nothing(self) -> None:
        """A round was due and could not begin: it is due again when more was judged."""
        self._in_vain = self._lessons.count()

    def repeated(self) -> Round | None:
        """The decided round that one which begins now would repeat; None where it would be another one."""
        rounds = self._rounds.latest()
        decided = [r for r in rounds if r.recipe == self._recipe and r.state in ("promoted", "refused")]
        behind = self._rounds.last_turn_learned(self._recipe)
        with suppress(VouchError):  # an encoder that cannot be had: the round itself tells that
            if not decided or (today := self._now_trained()).read(behind):
                return None
            lessons, live = today.read(0), self._live_models.live(today.recipe.role)
            for row in decided:
                judged_behind = int(row.settings.get("judged_behind", 0))
                made_from = lineage(
                    marked(lessons, behind=judged_behind),
                    judged_behind=judged_behind,
                    settings=today.settings,
                    encoder_version=today.encoder_version,
                    live=live,
                )
                if repeats(row, made_from, self._limits):
                    return row
        return None

    def warning(self) -> str:
        """What is to be said first to who begins a round now; empty where there is nothing to say."""
        last = self._last()
        if (
            last is not None and last.state in ("running", "waiting")
        ) or self._lessons.count() < self._fewest:
            return ""  # that one goes on, or none begins
        if (row := self.repeated()) is not None:
            would = "end the same" if row.state == "refused" else "make the same model again"
            return f"Nothing was judged since round {row.id}; it would {would}."
        lack = self._too_few_held_out()
        return "" if lack is None else lack.warning

    def _last(self) -> Round | None:
        return next((row for row in self._rounds.latest() if row.recipe == self._recipe), None)

    def _is_time(self, last: Round | None) -> bool:
        """Whether so much was judged since the last round, or so long ago it was, that one is due."""
        if last is None:
            return True
        if self._lessons.count(after=int(last.settings.get("last_turn", 0))) >= self._new_lessons:
            return True
        return self._hours > 0 and self._later(last) <= now() and self.not_learned() > 0

    def _later(self, last: Round) -> datetime:
        """When fewer new lessons are enough; at once where the last round ended by a clock that was ahead."""
        ended = last.ended_at or last.created_at
        return ended + timedelta(hours=self._hours) if ended <= now() else now()

    def _too_few_held_out(self) -> TooFewHeldOut | None:
        judged_until = self._rounds.judged_until(self._recipe)
        turns = () if judged_until else self._lessons.turns()
        behind = begins_behind(turns, judged_until=judged_until)
        held_out = self._lessons.held_out(after=behind, enough=self._deciding)
        if held_out.answered >= self._deciding:
            return None
        one_in = 1 if judged_until else 2
        return TooFewHeldOut(self._lessons.count(), held_out, self._deciding, one_in)

    def _lack(self, missing: int) -> TooFewHeldOut | None:
        """missing: lessons that are waited for anyway."""
        lack = self._too_few_held_out()
        return lack if lack is not None and lack.more >= missing else None
