"""The recipe of the order: questions and what of their candidates helped, by nDCG@10."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.learning.outcome import Compared
from assistant.learning.recipe import Parts, Recipe, Trainable, how_compared, of_round
from assistant.learning.training_process import Further
from assistant.wiring.parts import trained
from stores.database.tables import Round
from stores.learning.relevance_lessons import RelevanceLesson, RelevanceLessons

if TYPE_CHECKING:
    from agents.retrieval.relevance import Relevance

PROGRAM = "assistant.learning.recipes.relevance.from_use"
LOOKED_BACK = 1_000  # rounds of all recipes


def over(parts: Parts) -> Trainable[RelevanceLesson]:
    """On the questions of the database of whose candidates something helped."""
    lessons, learning, start = lessons_of(parts), parts.given.settings.learning, parts.models.first_relevance
    further = Further(PROGRAM, {"seed": learning.seed}, learning.threads)

    def train_it(folder: Path, shown: Sequence[RelevanceLesson], *, tries: object, **how: Any) -> Path:
        del tries
        live = parts.stores.live_models.live(RELEVANCE.role)
        ends = steps_behind(parts.stores.rounds.latest(LOOKED_BACK), live)
        return further.on(folder, rows_of(start, shown, ends), **how)

    def compared(folder: Path, some: Sequence[RelevanceLesson], tell: Callable[[int, int], None]) -> Compared:
        from agents.retrieval.relevance import FILE, Relevance
        from assistant.learning.held_out.orders import compare

        held_out = [lesson for lesson in some if lesson.is_held_out]
        both = parts.models.relevance, Relevance.read(folder / FILE)
        return of_round(compare(held_out, *both, tell=tell, **how_compared(learning)), learning)

    return Trainable(
        RELEVANCE,
        lambda after: lessons.all(after=after),
        {**further.settings, "start": start.as_record()},
        train_it,
        compared,
        require=lambda some: partial(lessons.require_kept, lessons=some),
    )


def lessons_of(parts: Parts) -> RelevanceLessons:
    """Those of the database that teach."""
    from agents.backends.extractive import is_sure

    curators = parts.given.settings.memory.curators.split()
    return RelevanceLessons(parts.stores.database, is_sure=is_sure, curators=curators)


def steps_behind(rounds: Sequence[Round], live: str | None) -> list[int]:
    """The last turn that each round was taught by which the live weights come from, oldest first.

    Where something of them was taken back, there is none: all is learned in one step then.
    """
    made = {row.figures.get("version"): row for row in rounds if row.state == "promoted"}
    found: list[int] = []
    while (row := made.pop(live, None)) is not None and (last := int(row.settings.get("last_turn", 0))):
        found.append(int(row.settings.get("judged_behind", last)))
        live = row.settings["live"]
    return found[::-1]


def rows_of(
    start: Relevance, lessons: Sequence[RelevanceLesson], ends: Sequence[int]
) -> Iterator[Mapping[str, Any]]:
    """The weights of before any round, then a lesson each. ends: the last turns of earlier steps."""
    from agents.retrieval.relevance import features, is_told
    from assistant.learning.held_out.orders import candidates_of

    yield start.as_record()
    for lesson in lessons:
        found, verdicts = candidates_of(lesson)
        yield {
            "step": bisect_left(ends, lesson.turn_id),
            "measured": lesson.tells_when_to_end,
            "rows": features(lesson.question, found, verdicts),
            "told": [is_told(each) for each in found],
            "asks": [each.judged is not None and each.judged <= 0 for each in lesson.found],
            "helps": [each.helps for each in lesson.found],
        }


def lacks(parts: Parts) -> tuple[str, str] | None:
    """Why nothing is ordered by learned weights here, and what to do; None where it is."""
    if parts.models.orders_by_weights:
        return None
    wanted = 'reranking.judge to "reader" and reranking.order to "mixed" or "learned"'
    return "nothing is ordered by learned weights", f"Set {wanted}."


RELEVANCE = Recipe(
    trained.RELEVANCE,
    about="The order of what was found",
    gains="put first what helps you",
    what_is_a_lesson="Every question is a lesson for which a passage or the answer was rated good, or from "
    "whose sure answer its user went on without a word against it; among several users only a curator's.",
    promoted_if="nDCG@10 gains{more}, hardly by chance, on {fewest}+ questions, "
    "and R@5, each month, documents and what users told drop at most {margin}",
    lessons=lessons_of,
    over=over,
    lacks=lacks,
)
