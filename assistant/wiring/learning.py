"""The learner: what it trains, when it begins, and what it is compared with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.learning.trained import RETRIEVER, TRAINED
from assistant.wiring.search import QUERY_ENCODER
from assistant.wiring.shipped_learners import ShippedLearners
from stores.base.errors import DamagedEncoder, EncoderUnavailable

if TYPE_CHECKING:
    from agents.base.interfaces import Judge
    from assistant.learning.background import BackgroundLearner
    from assistant.learning.dual_encoder_swap import BothSides
    from assistant.learning.learner import Learner
    from assistant.learning.outcome import Compared
    from assistant.learning.round_runner import RoundRunner
    from assistant.learning.schedule import Occasions, Today
    from stores.learning.lessons import Lesson
    from stores.search.encoder_versions import EncoderVersion

SOURCES = Path(__file__).parents[2]  # Python searches the folder it begins in first: never the person's


class Learning(ShippedLearners):
    """What trains the retriever from use."""

    _learner: tuple[tuple[str, str], Learner] | None = None  # and what it was made for

    @property
    def learner(self) -> Learner:
        """Trains on what was judged, and decides what goes live; for the encoder that is live by now."""
        live, side = self.encoder_versions.live(), self._update_side()
        key = (live.version if live is not None else "", side)
        if self._learner is None or self._learner[0] != key:
            self._learner = (key, self._learner_of(live, side))
        return self._learner[1]

    @cached_property
    def background_learner(self) -> BackgroundLearner:
        """Learns while a person chats, in a process that is told what this one was told; until `close`."""
        from assistant.learning.background import BackgroundLearner

        made = BackgroundLearner(
            self.led_command("train", "--json"),
            folder=SOURCES,
            is_due=lambda: bool(self.recipe_due()),
            came_to_nothing=self.came_to_nothing,
        )
        self._answers_first.watch(made.answering)
        return made

    def led_command(self, name: str, *arguments: str) -> list[str]:
        """A command over the same data, for a process that this one leads; to be begun in `SOURCES`."""
        command = [sys.executable, "-m", "assistant.cli", name, *arguments, "--led", _working_folder()]
        command += ["--data", str(self.locations.data.resolve())]
        if self.locations.settings.is_file():
            command += ["--settings", str(self.locations.settings.resolve())]
        return [*command, "--offline"] if self._offline else command

    @cached_property
    def occasions(self) -> Occasions:
        """When a round of the retriever is to begin by itself."""
        from assistant.learning.lineage import learnable
        from stores.learning.lessons import Lessons

        lessons = Lessons(self.database)
        return self._occasions_of(
            "retriever",
            lessons,
            read=lambda version, after: learnable(lessons, version, after=after)[0],
            today=self._today,
        )

    def occasions_of(self, recipe: str) -> Occasions:
        """When a round of this recipe is to begin by itself."""
        return self.occasions if recipe == RETRIEVER.recipe else self.shipped_occasions(TRAINED[recipe])

    @property
    def recipes(self) -> list[str]:
        """What can be trained here; that which is due first goes first."""
        return [recipe for recipe in TRAINED if recipe != "query" or self.query_training_lacks() is None]

    def recipe_due(self) -> str:
        """What a round that begins now is to train; empty where none is due."""
        return next((recipe for recipe in self.recipes if self.occasions_of(recipe).is_due()), "")

    def recipe_wanted(self) -> str:
        """The same for who asks for a round: one that was left goes on, else what has enough lessons."""
        left = next((recipe for recipe in self.recipes if self.rounds.abandoned(recipe) is not None), "")
        enough = (recipe for recipe in self.recipes if self.occasions_of(recipe).has_enough())
        return left or self.recipe_due() or next(enough, self.recipes[0])

    def came_to_nothing(self) -> None:
        """A round was due and could not begin: it is due again when there is more to learn from."""
        for recipe in self.recipes:
            if self.occasions_of(recipe).is_due():
                self.occasions_of(recipe).came_to_nothing()

    def learner_of(self, recipe: str) -> RoundRunner[Any]:
        """Trains what this recipe is of. Raises `BackendMissing` where that cannot be trained here."""
        return self.learner if recipe == RETRIEVER.recipe else self.shipped_learner(TRAINED[recipe])

    def _today(self) -> Today:
        from assistant.learning.schedule import Today

        live = self.encoder_versions.live()
        return Today(
            self._training_settings(self._update_side()),
            self.wanted_encoder.version if live is None else live.version,
            self.live_models.live(QUERY_ENCODER),
            self._limits(),
        )

    def _training_settings(self, side: str) -> dict[str, Any]:
        learning = self.settings.learning
        return {
            "update_side": side,
            "epochs": learning.epochs,
            "learning_rate": learning.learning_rate,
            "seed": learning.seed,
            **asdict(self.settings.training),
        }

    def step_back(self, recipe: str = "") -> str:
        """Uses the model before the live one again; returns its version. Raises `CannotUndo`.

        recipe: of which; by default of the last round that went live.
        """
        promoted = [row for row in self.rounds.latest() if row.state == "promoted"]
        last = next((row for row in promoted if recipe in ("", row.recipe)), None)
        if (trained := TRAINED.get(last.recipe if last is not None else recipe, RETRIEVER)) != RETRIEVER:
            return self.live_models.step_back(trained.role)
        if last is None or last.figures.get("side") != "both":
            return self.live_models.step_back(QUERY_ENCODER)
        if (previous := self.encoder_versions.previous()) is not None:
            self.searching_with(previous)  # raises where it cannot be had: by it nothing would be found
        return self.encoder_versions.step_back().version

    def keeps_model(self, version: str) -> bool:
        """Whether the model that a round made, of the query side or of both, is still here."""
        from agents.models.encoders.encoder import EncoderDescription
        from agents.models.encoders.two_halves import first_version
        from assistant.learning.dual_encoder_swap import RECIPE
        from assistant.learning.promotion import SERVED

        if any(version in self.checkpoints.versions(recipe) for recipe in TRAINED):
            return True
        for kept in self.checkpoints.versions(RECIPE):
            with suppress(DamagedEncoder):
                made = EncoderDescription.read(self.checkpoints.place(RECIPE, kept) / SERVED).version
                if made == first_version(version):
                    return True
        return False

    def _learner_of(self, version: EncoderVersion | None, side: str) -> Learner:
        from agents.models.encoders.two_halves import first_half
        from assistant.learning.held_out.retrieval import compare
        from assistant.learning.learner import Learner
        from stores.learning.lesson_domains import lesson_domains
        from stores.learning.lessons import Lessons

        learning = self.settings.learning
        base = self._searching_by(self.wanted_encoder) if version is None else self.searching_with(version)
        source = self.settings.encoder.source if version is None else version.source

        def compared(folder: Path, lessons: Sequence[Lesson], tell: Callable[[int, int], None]) -> Compared:
            is_both = side == "both"
            candidate = self._searching_in(folder) if is_both else self._with_queries_by(base, folder)
            held_out = [lesson for lesson in lessons if lesson.is_held_out]
            found = compare(
                held_out,
                domains=lesson_domains(self.database, held_out),
                live=self.searching.retriever,
                candidate=candidate.retriever,
                spaces=base.spaces,
                candidate_spaces=candidate.spaces,
                judge=self._judge_of_candidates,
                seed=learning.seed,
                threshold=learning.least_gain,
                margin=learning.margin,
                tell=tell,
            )
            return self._compared(found)

        return Learner(
            lessons=Lessons(self.database),
            rounds=self.rounds,
            live_models=self.live_models,
            checkpoints=self.checkpoints,
            encoder_version=base.encoder.version,
            dimension=first_half(base.encoder).dimension,
            compare=compared,
            settings=self._training_settings(side),
            fewest=learning.fewest_lessons,
            threads=learning.threads,
            encoder=self._trainable(source),
            both=self._both_sides(base.encoder.version) if side == "both" else None,
            steering=self.steering,
        )

    def _update_side(self) -> str:
        """query or both."""
        learning = self.settings.learning
        if learning.update_side != "auto":
            return learning.update_side
        is_small = self.encoder_versions.live_passages() <= learning.both_up_to
        return "both" if is_small else "query"

    def _both_sides(self, live: str) -> BothSides:
        from assistant.learning.dual_encoder_swap import BothSides

        known = self.encoder_versions.live()
        root = known.trained_from if known is not None and known.trained_from else live
        return BothSides(
            self.encoder_versions,
            searching=self._searching_in,
            trained_from=root,
            discard_index=self._indexes.discard,
        )

    def _trainable(self, source: str) -> Path | None:
        """The weights of an encoder; None for the packaged one."""
        from assistant.learning import dual_encoder_swap

        if kept := dual_encoder_swap.kept_as(source):
            return self.checkpoints.verified(dual_encoder_swap.RECIPE, kept)
        return trainable(source) if source else None

    @property
    def _judge_of_candidates(self) -> Judge:
        """The judge of turns, unless that goes by a retriever's own scores: none is to judge itself."""
        if self.settings.reranking.judge != "scores":
            return self.judge
        from agents.retrieval.reader_judge import ReaderJudge

        return ReaderJudge(self.readings, self.languages)


def _working_folder() -> str:
    """From where the places in the settings are seen; the root where that folder was deleted."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "/"


def trainable(source: str) -> Path:
    """The folder with the weights of an encoder that is no packaged one."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source, local_files_only=True))  # it is there: it was exported
    except (OSError, ValueError) as error:
        raise EncoderUnavailable(f"The weights of {source} are not here any more: {error}") from error
