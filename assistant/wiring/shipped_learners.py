"""The learners of dialogue generator, query model and entity retriever, which Vouch comes with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.wiring.turns import Turns
from stores.base.errors import BackendMissing

if TYPE_CHECKING:
    from assistant.learning.held_out.retrieval import Comparison
    from assistant.learning.outcome import Compared
    from assistant.learning.schedule import Counted, Occasions, Read, Today
    from assistant.learning.shipped_learner import ShippedLearner, Training
    from assistant.learning.shipped_lessons import EntityLessons
    from assistant.learning.steering import Steering
    from assistant.learning.trained import Trained
    from stores.learning.dialogue_lessons import DialogueLesson, DialogueLessons
    from stores.learning.follow_ups import FollowUp, FollowUps

_TRAINS_BY = ("xllamacpp", "peft", "gguf")  # what the query model's training needs


class ShippedLearners(Turns):
    """What trains them from use."""

    @cached_property
    def steering(self) -> Steering:
        """Makes the learner of this process wait or leave off."""
        from assistant.learning.steering import Steering

        return Steering()

    def shipped_occasions(self, trained: Trained) -> Occasions:
        """When a round of such a model is to begin by itself."""
        from assistant.learning.schedule import Today

        def today() -> Today:
            now = self._training_of(trained)
            live = self.live_models.live(trained.role)
            return Today(now.settings, now.encoder_version, live, self._limits())

        if trained.recipe not in self._shipped_occasions:
            lessons, learnable = self._lessons_of(trained)
            self._shipped_occasions[trained.recipe] = self._occasions_of(
                trained.recipe, lessons, read=lambda _version, after: learnable(after=after), today=today
            )
        return self._shipped_occasions[trained.recipe]

    @cached_property
    def _shipped_occasions(self) -> dict[str, Occasions]:
        """By recipe; each knows what came to nothing."""
        return {}

    def shipped_learner(self, trained: Trained) -> ShippedLearner[Any]:
        """Trains such a model, and decides what goes live. Raises `BackendMissing` where that cannot be."""
        from assistant.learning.trained import DIALOGUE, QUERY

        if trained == QUERY:
            return self._query_learner
        return self._dialogue_learner if trained == DIALOGUE else self._entity_learner

    def _lessons_of(self, trained: Trained) -> tuple[Counted, Callable[..., Sequence[Any]]]:
        """What counts its lessons, and what reads those that can be learned from, after a turn."""
        from assistant.learning.held_out.replies import is_sound_lesson
        from assistant.learning.trained import DIALOGUE, QUERY

        if trained == QUERY:
            return self._follow_ups, self._follow_ups.all
        lessons = self._dialogue_lessons

        def learnable(*, after: int = 0) -> list[DialogueLesson]:
            teaches = is_sound_lesson if trained == DIALOGUE else self._entity_lessons.right
            return [each for each in lessons.all(after=after) if teaches(each)]

        return lessons, learnable

    def _training_of(self, trained: Trained) -> Training:
        from assistant.learning.trained import DIALOGUE, QUERY

        if trained == QUERY:
            return self._query_training
        return self._dialogue_training if trained == DIALOGUE else self._entity_training

    def _occasions_of(
        self, recipe: str, lessons: Counted, *, read: Read, today: Callable[[], Today]
    ) -> Occasions:
        from assistant.learning.schedule import Occasions

        learning = self.settings.learning
        return Occasions(
            lessons,
            self.rounds,
            recipe=recipe,
            read=read,
            fewest=learning.fewest_lessons,
            new_lessons=learning.new_lessons,
            hours=learning.hours,
            today=today,
        )

    def _limits(self) -> dict[str, float]:
        """By which a candidate goes live."""
        return {"least_gain": self.settings.learning.least_gain, "margin": self.settings.learning.margin}

    @property
    def _dialogue_learner(self) -> ShippedLearner[DialogueLesson]:
        """Trains the dialogue generator on corrected replies, and decides what goes live."""
        from assistant.learning.held_out.replies import compare, wanted_reply
        from assistant.learning.trained import DIALOGUE

        def compared(
            folder: Path, lessons: Sequence[DialogueLesson], tell: Callable[[int, int], None]
        ) -> Compared:
            live, candidate = self.dialogue_generator, self.dialogue_generator_in(folder)
            found = compare(
                [wanted_reply(lesson) for lesson in lessons if lesson.is_held_out],
                lambda inputs: live.replies(inputs, most=1)[0].words,
                lambda inputs: candidate.replies(inputs, most=1)[0].words,
                tell=tell,
                **self._how_compared(),
            )
            return self._compared(found)

        return self._shipped_learner(
            DIALOGUE,
            require=lambda some: partial(self._dialogue_lessons.require_kept, lessons=some),
            rows=lambda shown, _tell: (each.row() for each in shown),
            compare=compared,
        )

    @property
    def _entity_learner(self) -> ShippedLearner[DialogueLesson]:
        """Trains the entity retriever on replies that tell of an entity."""
        from agents.models.entity_map import EntityMap
        from assistant.learning.held_out.entities import ToldReply, decided
        from assistant.learning.trained import ENTITIES

        entities = self._entity_lessons

        def compared(
            folder: Path, lessons: Sequence[DialogueLesson], tell: Callable[[int, int], None]
        ) -> Compared:
            held_out = [lesson for lesson in lessons if lesson.is_held_out]
            both = self.entity_map.turned, EntityMap.read(folder).turned
            told = []
            for done, lesson in enumerate(held_out, start=1):
                found = (entities.found(lesson, turned) for turned in both)
                told.append(ToldReply(lesson.base, frozenset(entities.right(lesson)), *found))
                tell(done, len(held_out))
            return self._compared(decided(told, **self._how_compared()))

        return self._shipped_learner(
            ENTITIES,
            require=lambda some: partial(self._dialogue_lessons.require_kept, lessons=some),
            rows=entities.rows,
            compare=compared,
        )

    @property
    def _query_learner(self) -> ShippedLearner[FollowUp]:
        """Trains the query model on follow-ups that found their answer, and decides what goes live.

        Raises `BackendMissing` where it cannot be trained here.
        """
        self.query_base_to_train()
        from agents.backends.query_model import SHIPPED, QueryModel
        from assistant.learning.held_out.follow_ups import FollowUpSearch, compare, earlier_of
        from assistant.learning.shipped_lessons import WAYS, rows_of
        from assistant.learning.trained import QUERY

        seed = self.settings.learning.seed
        threads = self.settings.learning.threads

        @contextmanager
        def started(adapters: Path) -> Iterator[QueryModel]:
            with closing(self.query_model_of(adapters, threads=threads)) as model:
                yield model.require_started()

        def search() -> FollowUpSearch:
            return FollowUpSearch(self.searching.retriever, self.searching.spaces)

        def rows(shown: Sequence[FollowUp], tell: Callable[[int, int], None]) -> Iterator[Any]:
            with started(SHIPPED) as model:
                yield from rows_of(
                    shown,
                    tell,
                    earlier=earlier_of,
                    ways=lambda each: model.ways(
                        each.question, earlier_of(each), most=WAYS, seed=seed
                    ).result(),
                    found=search().found,
                )

        def compared(folder: Path, lessons: Sequence[FollowUp], tell: Callable[[int, int], None]) -> Compared:
            def rewrites(model: QueryModel) -> Callable[[FollowUp], str]:
                return lambda each: model.begin(each.question, earlier_of(each)).result()

            with started(self.query_adapters) as live, started(folder / SHIPPED.name) as candidate:
                found = compare(
                    [each for each in lessons if each.is_held_out],
                    rewrites(live),
                    rewrites(candidate),
                    search().found,
                    tell=tell,
                    **self._how_compared(),
                )
            return self._compared(found)

        return self._shipped_learner(
            QUERY,
            require=lambda some: partial(self._follow_ups.require_kept, follow_ups=some),
            rows=rows,
            compare=compared,
        )

    def query_base_to_train(self) -> Path:
        """The model that its adapters are of. Raises `BackendMissing` where they cannot be trained here."""
        if lacks := self.query_training_lacks():
            raise BackendMissing(f"The query model cannot be trained here: {lacks[0]}", hint=lacks[1])
        assert self.query_base is not None
        return self.query_base

    def query_training_lacks(self) -> tuple[str, str] | None:
        """What the query model's training lacks here, and what to do; None where it can be trained."""
        if self.query_base is None:
            return "the model smollm2 is not there", "`vouch models add smollm2` adds it."
        missing = [name for name in _TRAINS_BY if find_spec(name) is None]
        if missing:
            return f"{missing[0]} is not installed", "Install it with pip install 'vouch[local,training]'."
        return None

    def _shipped_learner(self, trained: Trained, **parts: Any) -> ShippedLearner[Any]:
        from assistant.learning.shipped_learner import ShippedLearner

        return ShippedLearner(
            trained,
            learnable=self._lessons_of(trained)[1],
            training=self._training_of(trained),
            rounds=self.rounds,
            live_models=self.live_models,
            checkpoints=self.checkpoints,
            fewest=self.settings.learning.fewest_lessons,
            steering=self.steering,
            **parts,
        )

    def _how_compared(self) -> dict[str, Any]:
        learning = self.settings.learning
        return {"seed": learning.seed, "threshold": learning.least_gain, "margin": learning.margin}

    def _compared(self, found: Comparison) -> Compared:
        from assistant.learning.outcome import Compared

        figures = {**found.figures, "questions": found.questions, "limits": self._limits()}
        return Compared(found.promotion, figures)

    @cached_property
    def _dialogue_lessons(self) -> DialogueLessons:
        from stores.learning.dialogue_lessons import DialogueLessons

        return DialogueLessons(self.database, history_turns=self.settings.answer.history_turns)

    @cached_property
    def _follow_ups(self) -> FollowUps:
        from stores.learning.follow_ups import FollowUps

        return FollowUps(self.database, history_turns=self.settings.answer.history_turns)

    @property
    def _entity_lessons(self) -> EntityLessons:
        from assistant.learning.shipped_lessons import EntityLessons

        return EntityLessons(self.knowledge_bases, self.entity_search, self.searching)

    @property
    def _entity_training(self) -> Training:
        from assistant.learning.shipped_learner import Training

        version, learning = self.searching.version, self.settings.learning
        return Training({"seed": learning.seed}, learning.threads, ("--encoder", version), version)

    @property
    def _dialogue_training(self) -> Training:
        from assistant.learning.shipped_learner import Training

        encoder, learning = self.packaged_encoder.version, self.settings.learning
        folder = self.locations.cache / "encoders" / encoder
        options = ("--encoder", str(folder.resolve()))
        return Training({"seed": learning.seed}, learning.threads, options, encoder)

    @property
    def _query_training(self) -> Training:
        from agents.backends.query_model import SHIPPED
        from assistant.learning.shipped_learner import Training

        base, learning = self.query_base, self.settings.learning
        options = ("--base", str(base), "--adapters", str(SHIPPED)) if base is not None else ()
        return Training({"seed": learning.seed}, learning.threads, options)
