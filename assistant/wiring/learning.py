"""The learner: what it trains, when it begins, and what it is compared with."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.learning.recipe import limits_of
from assistant.learning.recipes.retriever.recipe import RETRIEVER, judge_probes
from assistant.wiring.parts.search import QUERY_ENCODER
from assistant.wiring.parts.trained import COLLECTIONS
from assistant.wiring.recipes import RECIPES
from stores.base.errors import BackendMissing, DamagedEncoder, VouchError

if TYPE_CHECKING:
    from assistant.background.priority import AnswersFirst
    from assistant.learning.background import BackgroundLearner
    from assistant.learning.learner import Learner
    from assistant.learning.recipe import Parts
    from assistant.learning.schedule import Occasions
    from assistant.learning.steering import Steering

SOURCES = Path(__file__).parents[2]  # Python searches the folder it begins in first: never the person's


class Learning:
    """What trains models from use."""

    def __init__(self, parts: Parts, answers_first: Callable[[], AnswersFirst]) -> None:
        self._parts, self._answers_first = parts, answers_first

    @cached_property
    def background_learner(self) -> BackgroundLearner:
        """Learns while a person chats, in a process that is told what this one was told; until `close`."""
        from assistant.learning.background import BackgroundLearner

        made = BackgroundLearner(
            self.led_command("train", "--json"),
            folder=SOURCES,
            is_due=lambda: bool(self.recipe_due()),
            came_to_nothing=self.came_to_nothing,
            gains={name: recipe.gains for name, recipe in RECIPES.items()},
        )
        self._answers_first().watch(made.answering)
        return made

    def led_command(self, name: str, *arguments: str) -> list[str]:
        """A command over the same data, for a process that this one leads; to be begun in `SOURCES`."""
        command = [sys.executable, "-m", "assistant.cli", name, *arguments, "--led", _working_folder()]
        command += ["--data", str(self._parts.given.locations.data.resolve())]
        if self._parts.given.locations.settings.is_file():
            command += ["--settings", str(self._parts.given.locations.settings.resolve())]
        return [*command, "--offline"] if self._parts.given.offline else command

    @cached_property
    def steering(self) -> Steering:
        """Makes the learner of this process wait or leave off."""
        from assistant.learning.steering import Steering

        return Steering()

    def learner_of(self, recipe: str) -> Learner[Any]:
        """Runs rounds of this recipe, as all is now. Raises `BackendMissing`; see `require_trainable`."""
        from assistant.learning.learner import Learner

        self.require_trainable(recipe)
        return Learner(
            RECIPES[recipe].over(self._parts),
            rounds=self._parts.stores.rounds,
            live_models=self._parts.stores.live_models,
            checkpoints=self._parts.stores.checkpoints,
            fewest=self._parts.given.settings.learning.fewest_lessons,
            steering=self.steering,
        )

    def worth_of(self, judge: str) -> list[str]:
        """What the word of a judge is worth, in words; nothing where it was not probed."""
        return judge_probes(self._parts).lines(judge)

    def collections_of(self, user_id: int, version: str) -> list[tuple[str, Mapping[str, float]]]:
        """Name of each collection, and what its adapter of this version was measured by; none if it is gone.

        user_id: who is told; of what they cannot see there is no name.
        """
        from assistant.learning.training_process import SETTINGS
        from stores.base.passages import SHARED, own_space
        from stores.search.adapted_vectors import key_of

        if self._parts.stores.live_models.known(COLLECTIONS.role, version) is None:
            return []
        with suppress(VouchError, OSError, ValueError, KeyError):
            kept = self._parts.stores.checkpoints.verified(COLLECTIONS.recipe, version, files=[SETTINGS])
            found = json.loads((kept / SETTINGS).read_text())["collections"]
            names = {
                key_of(SHARED if each.is_shared else own_space(user_id), each.collection): each.collection
                for each in self._parts.stores.library.all(user_id)
            }
            return [
                (names.get(key, "a collection of somebody else's"), of_it) for key, of_it in found.items()
            ]
        return []

    def require_trainable(self, recipe: str) -> None:
        """Raises `BackendMissing` where its model cannot be trained here."""
        if lacks := RECIPES[recipe].lacks(self._parts):
            model = RECIPES[recipe].role
            raise BackendMissing(f"The {model} cannot be trained here: {lacks[0]}", hint=lacks[1])

    def occasions_of(self, recipe: str) -> Occasions:
        """When a round of this recipe is to begin by itself."""
        from assistant.learning.schedule import Occasions

        if recipe not in self._occasions:
            learning = self._parts.given.settings.learning
            self._occasions[recipe] = Occasions(
                recipe,
                RECIPES[recipe].lessons(self._parts),
                self._parts.stores.rounds,
                self._parts.stores.live_models,
                now_trained=lambda: RECIPES[recipe].over(self._parts),
                fewest=learning.fewest_lessons,
                new_lessons=learning.new_lessons,
                hours=learning.hours,
                limits=limits_of(learning),
            )
        return self._occasions[recipe]

    @cached_property
    def _occasions(self) -> dict[str, Occasions]:
        """By recipe; each knows what came to nothing."""
        return {}

    @property
    def recipes(self) -> list[str]:
        """What can be trained here; that which is due first goes first."""
        return [name for name, recipe in RECIPES.items() if recipe.lacks(self._parts) is None]

    def recipe_due(self) -> str:
        """What a round that begins now is to train; empty where none is due."""
        return next((recipe for recipe in self.recipes if self.occasions_of(recipe).is_due()), "")

    def recipe_wanted(self) -> str:
        """The same for who asks for a round: one that was left goes on, else what has enough lessons."""
        rounds = self._parts.stores.rounds
        left = next((recipe for recipe in self.recipes if rounds.abandoned(recipe) is not None), "")
        enough = (recipe for recipe in self.recipes if self.occasions_of(recipe).has_enough())
        return left or self.recipe_due() or next(enough, self.recipes[0])

    def came_to_nothing(self) -> None:
        """A round was due and could not begin: it is due again when there is more to learn from."""
        for recipe in self.recipes:
            if self.occasions_of(recipe).is_due():
                self.occasions_of(recipe).came_to_nothing()

    def step_back(self, recipe: str = "") -> str:
        """Uses the model before the live one again; returns its version. Raises `CannotUndo`.

        recipe: of which; by default of the last round that went live.
        """
        promoted = [row for row in self._parts.stores.rounds.latest() if row.state == "promoted"]
        last = next((row for row in promoted if recipe in ("", row.recipe)), None)
        trained = RECIPES.get(last.recipe if last is not None else recipe, RETRIEVER)
        if trained is not RETRIEVER:
            return self._parts.stores.live_models.step_back(trained.role)
        if last is None or last.figures.get("side") != "both":
            return self._parts.stores.live_models.step_back(QUERY_ENCODER)
        versions = self._parts.stores.encoder_versions
        if (previous := versions.previous()) is not None:
            self._parts.search.searching_with(previous)  # raises where it cannot be had
        return versions.step_back().version

    def close(self) -> None:
        if "background_learner" in self.__dict__:
            self.background_learner.close()

    def keeps_model(self, version: str) -> bool:
        """Whether the model that a round made, of the query side or of both, is still here."""
        from agents.models.encoders.encoder import EncoderDescription
        from agents.models.encoders.two_halves import first_version
        from assistant.learning.dual_encoder_swap import RECIPE
        from assistant.learning.promotion import SERVED

        checkpoints = self._parts.stores.checkpoints
        if any(version in checkpoints.versions(recipe) for recipe in RECIPES):
            return True
        for kept in checkpoints.versions(RECIPE):
            with suppress(DamagedEncoder):
                made = EncoderDescription.read(checkpoints.place(RECIPE, kept) / SERVED).version
                if made == first_version(version):
                    return True
        return False


def _working_folder() -> str:
    """From where the places in the settings are seen; the root where that folder was deleted."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "/"
