"""The dialogue generator's recipe: replies that were found right or corrected, by BLEU and Entity-F1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from assistant.learning.outcome import Compared
from assistant.learning.recipe import Parts, Recipe, Trainable, how_compared, of_round
from assistant.learning.training_process import Further
from assistant.wiring.parts import trained
from stores.learning.dialogue_lessons import DialogueLesson, DialogueLessons

PROGRAM = "assistant.learning.recipes.dialogue.from_use"


def over(parts: Parts) -> Trainable[DialogueLesson]:
    """On the replies of the database."""
    from assistant.learning.held_out.replies import compare, is_sound_lesson, wanted_reply

    lessons, learning = lessons_of(parts), parts.given.settings.learning
    encoder = parts.models.packaged_encoder.version
    folder = parts.given.locations.cache / "encoders" / encoder
    options = ("--encoder", str(folder.resolve()))
    further = Further(PROGRAM, {"seed": learning.seed}, learning.threads, options)

    def compared(folder: Path, some: Sequence[DialogueLesson], tell: Callable[[int, int], None]) -> Compared:
        live, candidate = parts.models.dialogue_generator, parts.models.dialogue_generator_in(folder)
        found = compare(
            [wanted_reply(lesson) for lesson in some if lesson.is_held_out],
            lambda inputs: live.replies(inputs, most=1)[0].words,
            lambda inputs: candidate.replies(inputs, most=1)[0].words,
            tell=tell,
            **how_compared(learning),
        )
        return of_round(found, learning)

    return Trainable(
        DIALOGUE,
        lambda after: [lesson for lesson in lessons.all(after=after) if is_sound_lesson(lesson)],
        further.settings,
        partial(trained_further, further=further),
        compared,
        require=lambda some: partial(lessons.require_kept, lessons=some),
        encoder_version=encoder,
    )


def trained_further(
    folder: Path, shown: Sequence[DialogueLesson], *, further: Further, tries: object, **how: Any
) -> Path:
    """A candidate that learned these replies."""
    del tries
    return further.on(folder, rows_of(shown), **how)


def rows_of(shown: Sequence[DialogueLesson]) -> Iterator[Mapping[str, Any]]:
    """As the program reads them."""
    return (lesson.row() for lesson in shown)


def lessons_of(parts: Parts) -> DialogueLessons:
    """Replies of the database that teach."""
    return DialogueLessons(
        parts.stores.database,
        history_turns=parts.given.settings.answer.history_turns,
        curators=parts.given.settings.memory.curators.split(),
    )


DIALOGUE = Recipe(
    trained.DIALOGUE,
    about="Replies over knowledge bases",
    gains="reply better over knowledge bases",
    what_is_a_lesson="Every reply over a knowledge base that was rated good or corrected is a lesson, among "
    "several users only a curator's over a shared one.",
    promoted_if="BLEU and Entity-F1 together gain{more}, hardly by chance, on {fewest}+ replies, "
    "and neither, the share of sound replies or a knowledge base drops more than {margin}",
    lessons=lessons_of,
    over=over,
)
