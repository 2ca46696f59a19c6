"""What becomes of a trained candidate: compared with what answers now, it goes live or is refused.

    query side: kept ------------------------> compared -> promoted, or refused with the reason
    both sides: kept -> everything is encoded -> compared -> promoted, or refused and taken away

A candidate is not compared where the comparison could tell nothing: it is what answers already or was stepped
back from, no epoch won, or another model went live while it was trained.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from assistant.learning import dual_encoder_swap
from assistant.learning.dual_encoder_swap import BothSides
from assistant.learning.lineage import CHANGED_MEANWHILE, Learnable, taught
from assistant.learning.outcome import Compared, Ended
from assistant.learning.progress import Noting, Stopped
from assistant.learning.recipe import Trainable
from assistant.learning.steering import Steering
from assistant.learning.training_process import kept_its_start
from stores.learning.checkpoints import Checkpoints
from stores.learning.kept_lessons import LessonsGone
from stores.learning.rounds import Rounds
from stores.search.live_models import LiveModels

SERVED = "served"  # the folder within a candidate that the encoder loads
_KEPT = 3  # models, besides those in use
_LIVE_ALREADY = "Refused: it is the model that is live already."
_STEPPED_BACK_FROM = "Refused: it is the model that was stepped back from."
_WON_NOTHING = (
    "Refused: no epoch was better than the live model on the questions that tell when to end the training."
)

L = TypeVar("L", bound=Learnable)
Live: TypeAlias = Mapping[str, str | None]  # the versions that answer now, by role


@dataclass(frozen=True)
class TrainedCandidate(Generic[L]):
    """What a round has trained."""

    round_id: int
    made: Path  # what the training left
    flat: Path  # where its folder is made flat, on the same disk
    lessons: Sequence[L]  # of the round, those held out too
    card: Mapping[str, Any]

    def refused(self, reason: str, version: str = "", **figures: Any) -> Ended:
        """Its end where it does not go live. version: the candidate's, once it has one."""
        told = {**figures, "version": version} if version else figures
        return Ended(self.round_id, "refused", reason, told, version)


class Deciding(Generic[L]):
    """Compares the candidates of one learner, and takes winners into use."""

    def __init__(
        self,
        trainable: Trainable[L],
        *,
        rounds: Rounds,
        live_models: LiveModels,
        checkpoints: Checkpoints,
        steering: Steering,
    ) -> None:
        """As of a learner."""
        self._trainable, self._recipe = trainable, trainable.recipe
        self._rounds = rounds
        self._live_models = live_models
        self._checkpoints = checkpoints
        self._steering = steering

    def decide(self, candidate: TrainedCandidate[L], note: Noting) -> Ended:
        """Live, or refused and why. Raises `Stopped` or `Left` where the round is to end."""
        live = self._live()
        searched = self._trainable.details.get("encoder_version")
        if live.get(dual_encoder_swap.RECIPE) not in (None, searched):  # the comparison would mix vectors
            return candidate.refused(CHANGED_MEANWHILE)
        if self._trainable.both is not None:
            return self._decided_on_both(candidate, live, note, self._trainable.both)
        recipe = self._recipe.name
        version = self._checkpoints.keep(recipe, _flat(candidate.made, candidate.flat), candidate.card)
        try:
            return self._decided(candidate, version, live, note)
        except LessonsGone as gone:
            self._discard(recipe, version, self._in_use())
            return candidate.refused(_gone(gone), version)
        finally:
            self._prune(recipe, self._in_use())

    def _decided(self, candidate: TrainedCandidate[L], version: str, live: Live, note: Noting) -> Ended:
        """Of one that goes live by its pointer alone. Raises `LessonsGone`."""
        role = self._recipe.role
        known = {live[role]: _LIVE_ALREADY, self._live_models.declined(role): _STEPPED_BACK_FROM}
        if reason := self._not_compared(candidate, version, known):
            return candidate.refused(reason, version)
        kept = self._checkpoints.verified(self._recipe.name, version)
        compared, told = self._compared(kept, candidate, note)
        reason = compared.decision.reason
        if not compared.decision.is_promoted:
            return candidate.refused(reason, version, comparison=told)
        figures = {"comparison": told, "version": version}
        if self._rounds.promote(
            candidate.round_id,
            role,
            version,
            reason,
            details=self._trainable.details,
            figures=figures,
            before_the_first=self._trainable.before_the_first,
            compared_with=live,
            require=self._trainable.require(taught(candidate.lessons)),
        ):
            return Ended(candidate.round_id, "promoted", reason, figures, version)
        if self._live() != live:
            return candidate.refused(CHANGED_MEANWHILE, version, comparison=told)
        raise Stopped

    def _decided_on_both(
        self, candidate: TrainedCandidate[L], live: Live, note: Noting, both: BothSides
    ) -> Ended:
        """Of a candidate that needs its own vectors before it can be compared."""
        kept = self._checkpoints.keep(dual_encoder_swap.RECIPE, candidate.made, candidate.card)
        try:
            served = self._checkpoints.verified(dual_encoder_swap.RECIPE, kept) / SERVED
            version = both.version(served)
            declined = self._live_models.declined(dual_encoder_swap.RECIPE)
            known = {live[dual_encoder_swap.RECIPE]: _LIVE_ALREADY, declined: _STEPPED_BACK_FROM}
            if reason := self._not_compared(candidate, version, known):
                return candidate.refused(reason, version)
            cost = both.encode(served, note)
            compared, told = self._compared(served, candidate, note)
            figures = {"comparison": told, "version": version, "side": "both", "encoding": cost}
            reason = compared.decision.reason
            if not compared.decision.is_promoted:
                return Ended(candidate.round_id, "refused", reason, figures, version)
            while not self._rounds.promote_by(
                candidate.round_id,
                dual_encoder_swap.RECIPE,
                version,
                reason,
                go_live=both.going_live(served, kept),
                figures=figures,
                compared_with=live,
                require=self._trainable.require(taught(candidate.lessons)),
            ):
                if self._live() != live:
                    return Ended(candidate.round_id, "refused", CHANGED_MEANWHILE, figures, version)
                both.encode(served, note)  # what was added meanwhile; raises where the round is not ours
                note("going live")
            return Ended(candidate.round_id, "promoted", reason, figures, version)
        except LessonsGone as gone:
            self._discard(dual_encoder_swap.RECIPE, kept, both.folders_in_use())
            return candidate.refused(_gone(gone), version)
        finally:
            if not (self._steering.is_left or self._rounds.has_other_learner()):  # who goes on needs them
                both.tidy()
                self._prune(dual_encoder_swap.RECIPE, both.folders_in_use())

    def _not_compared(
        self, candidate: TrainedCandidate[L], version: str, known: Mapping[str | None, str]
    ) -> str:
        """Why a candidate is refused at once; empty where it is to be compared. known: versions, and why."""
        if version in known:
            return known[version]
        is_what_answers = kept_its_start(candidate.made) and not self._has_live()
        return _WON_NOTHING if is_what_answers else ""

    def _compared(
        self, served: Path, candidate: TrainedCandidate[L], note: Noting
    ) -> tuple[Compared, dict[str, Any]]:
        """What the comparison came to, and its figures with how many questions were asked for them."""
        comparing = _Comparing(note)
        compared = self._trainable.compare(served, candidate.lessons, comparing)
        return compared, {**compared.figures, "asked": comparing.asked}

    def _live(self) -> Live:
        """The versions that answer now, of all roles that the comparison goes by."""
        roles = (self._recipe.role, *self._trainable.beside)
        return {role: self._live_models.live(role) for role in roles}

    def _has_live(self) -> bool:
        """Whether a trained model answers in this role, and not what a training starts from."""
        live = self._live_models.live(self._recipe.role)
        known = self._live_models.known(self._recipe.role, live) if live else None
        if known is None or live == self._trainable.before_the_first:
            return False
        return known.details.get("encoder_version") == self._trainable.details.get("encoder_version")

    def _in_use(self) -> set[str]:
        name = self._recipe.role
        return {self._live_models.live(name) or "", self._live_models.previous(name) or ""}

    def _discard(self, recipe: str, version: str, in_use: set[str]) -> None:
        """Deletes a candidate that saw what was forgotten, unless an earlier round made the very same."""
        if version not in in_use:
            shutil.rmtree(self._checkpoints.place(recipe, version), ignore_errors=True)

    def _prune(self, recipe: str, in_use: set[str]) -> None:
        with suppress(OSError):  # the next round deletes them; what was decided stands
            self._checkpoints.prune(recipe, keep=in_use, newest=_KEPT)


class _Comparing:
    """Tells how far the comparison is, and keeps how many questions it asks."""

    def __init__(self, note: Noting) -> None:
        self._note = note
        self.asked = 0

    def __call__(self, done: int, of: int) -> None:
        self.asked = of
        self._note("comparing", questions=done, questions_in_all=of)


def _gone(gone: LessonsGone) -> str:
    """Of a candidate that is not kept either."""
    return f"Refused: {gone.message}."


def _flat(made: Path, place: Path) -> Path:
    """What is kept of a candidate: the served form, its settings and figures, in one folder."""
    shutil.rmtree(place, ignore_errors=True)  # of a learner that was killed here
    place.mkdir()
    for file in (*(made / SERVED).iterdir(), *made.iterdir()):  # the served form's own files come first
        target = place / file.name
        if file.is_file() and not target.exists():
            os.link(file, target)
    return place
