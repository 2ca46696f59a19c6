"""The query model's recipe: follow-ups that found their answer, by MRR.

follow-up -> ways to make it stand alone, drawn by the shipped model -> each searched with -> 1 / rank
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assistant.learning.outcome import Compared
from assistant.learning.recipe import Parts, Recipe, Trainable, how_compared, of_round
from assistant.learning.training_process import Further
from assistant.wiring.parts import trained
from stores.learning.follow_ups import FollowUp, FollowUps

if TYPE_CHECKING:
    from agents.backends.query_model import QueryModel

PROGRAM = "assistant.learning.recipes.query.from_use"
WAYS = 6  # of a question that are tried, at most
_TRAINS_BY = ("xllamacpp", "peft", "gguf")  # what its training needs

Earlier: TypeAlias = Sequence[tuple[str, str]]  # questions and answers, oldest first


def over(parts: Parts) -> Trainable[FollowUp]:
    """On the follow-ups of the database."""
    from agents.backends.query_model import SHIPPED
    from assistant.learning.held_out.follow_ups import FollowUpSearch, compare, earlier_of

    learning = parts.given.settings.learning
    lessons, further = lessons_of(parts), further_of(parts)

    @contextmanager
    def started(adapters: Path) -> Iterator[QueryModel]:
        with closing(parts.models.query_model_of(adapters, threads=learning.threads)) as model:
            yield model.require_started()

    def search() -> FollowUpSearch:
        return FollowUpSearch(parts.search.searching.retriever, parts.search.searching.spaces)

    def train_it(folder: Path, shown: Sequence[FollowUp], *, tries: Any, **how: Any) -> Path:
        def rows() -> Iterator[Mapping[str, Any]]:
            with started(SHIPPED) as model:
                yield from rows_of(
                    shown,
                    tries,
                    earlier=earlier_of,
                    ways=lambda each: model.ways(
                        each.question, earlier_of(each), most=WAYS, seed=learning.seed
                    ).result(),
                    found=search().found,
                )

        return further.on(folder, rows(), **how)

    def compared(folder: Path, some: Sequence[FollowUp], tell: Callable[[int, int], None]) -> Compared:
        def rewrites(model: QueryModel) -> Callable[[FollowUp], str]:
            return lambda each: model.begin(each.question, earlier_of(each)).result()

        with started(parts.models.query_adapters) as live, started(folder / SHIPPED.name) as candidate:
            found = compare(
                [each for each in some if each.is_held_out],
                rewrites(live),
                rewrites(candidate),
                search().found,
                tell=tell,
                **how_compared(learning),
            )
        return of_round(found, learning)

    return Trainable(
        QUERY,
        lambda after: lessons.all(after=after),
        further.settings,
        train_it,
        compared,
        require=lambda some: partial(lessons.require_kept, follow_ups=some),
    )


def lessons_of(parts: Parts) -> FollowUps:
    """Follow-ups of the database that teach."""
    return FollowUps(parts.stores.database, history_turns=parts.given.settings.answer.history_turns)


def further_of(parts: Parts) -> Further:
    """How its adapters are trained today."""
    from agents.backends.query_model import SHIPPED

    base, learning = parts.models.query_base, parts.given.settings.learning
    options = ("--base", str(base), "--adapters", str(SHIPPED)) if base is not None else ()
    return Further(PROGRAM, {"seed": learning.seed}, learning.threads, options)


def rows_of(
    follow_ups: Sequence[FollowUp],
    tell: Callable[[int, int], None],
    *,
    earlier: Callable[[FollowUp], Earlier],
    ways: Callable[[FollowUp], Sequence[str]],
    found: Callable[[FollowUp, str], float],
) -> Iterator[Mapping[str, Any]]:
    """A follow-up each. ways: to make it stand alone, none twice. found: 1 / rank; of "" as it was typed."""
    for done, each in enumerate(follow_ups):
        tell(done, len(follow_ups))
        yield {
            "measured": each.tells_when_to_end,
            "question": each.question,
            "earlier": earlier(each),
            "own": found(each, ""),
            "ways": [(way, found(each, way)) for way in ways(each)],
        }


def lacks(parts: Parts) -> tuple[str, str] | None:
    """What its training lacks here, and what to do; None where it can be trained."""
    if parts.models.query_base is None:
        return "the model smollm2 is not there", "`vouch models add smollm2` adds it."
    missing = [name for name in _TRAINS_BY if find_spec(name) is None]
    if missing:
        return f"{missing[0]} is not installed", "Install it with pip install 'vouch[local,training]'."
    return None


QUERY = Recipe(
    trained.QUERY,
    about="Follow-up questions",
    gains="understand follow-up questions better",
    what_is_a_lesson="Every question behind others for which an answering passage was found is a lesson, as "
    "long as the database has one user.",
    promoted_if="MRR gains{more}, hardly by chance, on {fewest}+ follow-ups, and R@5 drops at most {margin}",
    lessons=lessons_of,
    over=over,
    chance_of="choice and word",
    lacks=lacks,
)
