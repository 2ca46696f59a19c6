"""The entity retriever's recipe: replies that tell of an entity, by MRR of the entities found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from assistant.learning.outcome import Compared
from assistant.learning.recipe import Parts, Recipe, Trainable, how_compared, of_round
from assistant.learning.recipes.dialogue.recipe import lessons_of
from assistant.learning.training_process import Further
from assistant.wiring.parts import trained
from stores.learning.dialogue_lessons import DialogueLesson


def over(parts: Parts) -> Trainable[DialogueLesson]:
    """On the replies of the database that tell of an entity."""
    from assistant.learning.held_out.entities import ToldReply, decided
    from assistant.learning.recipes.entities.lessons import EntityLessons

    lessons, learning, version = (
        lessons_of(parts),
        parts.given.settings.learning,
        parts.search.searching.version,
    )
    program = "assistant.learning.recipes.entities.from_use"
    further = Further(program, {"seed": learning.seed}, learning.threads, ("--encoder", version))

    def entities() -> EntityLessons:
        return EntityLessons(parts.stores.knowledge_bases, parts.models.entity_search, parts.search.searching)

    def read(after: int) -> list[DialogueLesson]:
        of_now = entities()
        return [lesson for lesson in lessons.all(after=after) if of_now.right(lesson)]

    def train_it(folder: Path, shown: Sequence[DialogueLesson], *, tries: Any, **how: Any) -> Path:
        return further.on(folder, entities().rows(shown, tries), **how)

    def compared(folder: Path, some: Sequence[DialogueLesson], tell: Callable[[int, int], None]) -> Compared:
        from agents.models.entity_map import EntityMap

        of_now = entities()
        held_out = [lesson for lesson in some if lesson.is_held_out]
        both = parts.models.entity_map.turned, EntityMap.read(folder).turned
        told = []
        for done, lesson in enumerate(held_out, start=1):
            found = (of_now.found(lesson, turned) for turned in both)
            told.append(ToldReply(lesson.base, frozenset(of_now.right(lesson)), *found))
            tell(done, len(held_out))
        return of_round(decided(told, **how_compared(learning)), learning)

    return Trainable(
        ENTITIES,
        read,
        further.settings,
        train_it,
        compared,
        require=lambda some: partial(lessons.require_kept, lessons=some),
        encoder_version=version,
    )


ENTITIES = Recipe(
    trained.ENTITIES,
    about="Entities of knowledge bases",
    gains="find what you mean in knowledge bases better",
    what_is_a_lesson="Every reply over a knowledge base that tells of an entity and was rated good or "
    "corrected is a lesson, among several users only a curator's over a shared one.",
    promoted_if="MRR gains{more}, hardly by chance, on {fewest}+ replies, and R@5 drops at most {margin}",
    lessons=lessons_of,
    over=over,
    chance_of="the right entity",
)
