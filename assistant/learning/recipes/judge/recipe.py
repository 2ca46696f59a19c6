"""The judge's recipe: questions and which of their candidates helped, by nDCG@10 of the order by it."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.base.sentences import asks_only
from assistant.learning.outcome import Compared
from assistant.learning.recipe import Parts, Recipe, Trainable, how_compared, of_round
from assistant.learning.recipes.relevance.recipe import LOOKED_BACK, steps_behind
from assistant.learning.recipes.retriever.recipe import judge_probes
from assistant.learning.training_process import SETTINGS, Further
from assistant.wiring.parts import trained
from stores.base.errors import VouchError
from stores.learning.relevance_lessons import RelevanceLesson, RelevanceLessons

if TYPE_CHECKING:
    from agents.base.interfaces import Judge
    from assistant.learning.recipes.judge.votes import Votes

PROGRAM = "assistant.learning.recipes.judge.from_use"


def over(parts: Parts) -> Trainable[RelevanceLesson]:
    """On the questions of the database of whose candidates something helped."""
    from agents.models.networks.judge_model import base_version

    lessons, learning, models = lessons_of(parts), parts.given.settings.learning, parts.models
    further = Further(
        PROGRAM, {"seed": learning.seed}, learning.threads, ("--base", str(models.judge_folder))
    )

    def train_it(folder: Path, shown: Sequence[RelevanceLesson], *, tries: object, **how: Any) -> Path:
        del tries
        adapters, ends = begins_with(parts, lessons)
        if adapters is not None and not all(lesson.is_labelled for lesson in shown):
            shown = _voted(parts, adapters, shown)
        options = (*further.options, "--adapters", str(adapters)) if adapters else further.options
        return replace(further, options=options).on(folder, rows_of(shown, ends), **how)

    def compared(folder: Path, some: Sequence[RelevanceLesson], tell: Callable[[int, int], None]) -> Compared:
        from agents.retrieval.cross_encoder_judge import CrossEncoderJudge
        from assistant.learning.held_out.orders import compare_sides, side_by
        from assistant.learning.held_out.retrieval import Side

        held_out = [lesson for lesson in some if lesson.is_held_out]

        def sides(adapters: Path | None, done: int) -> list[Side]:
            reranker = models.reranker_by(CrossEncoderJudge(models.judge_model_with(adapters)))
            found: list[Side] = []
            for lesson in held_out:
                found.append(side_by(lesson, reranker))
                tell(done + len(found), 2 * len(held_out))
            return found

        # one after the other: both at once take twice the memory
        both = sides(models.judge_adapters, 0), sides(folder, len(held_out))
        return of_round(compare_sides(held_out, *both, **how_compared(learning)), learning)

    def unlabelled() -> list[RelevanceLesson]:
        return lessons.unlabelled() if begins_with(parts, lessons)[0] is not None else []

    is_voted, voter = learning.judge_votes, Path(learning.vote_model).name
    return Trainable(
        JUDGE,
        lambda after: lessons.all(after=after),
        {**further.settings, "base": base_version(models.judge_folder), "votes": is_voted, "voter": voter},
        train_it,
        compared,
        require=lambda some: partial(lessons.require_kept, lessons=some),
        prepare=lambda: heard_of(parts) if is_voted else None,
        unlabelled=unlabelled if is_voted else tuple,
    )


def heard_of(parts: Parts) -> list[Judge]:
    """Those that vote beside the live model, of whose words only those are heard that count.

    A judge is probed where it was not yet: of a chat model 2,000 short questions are asked.
    Raises `UnknownModel` where the model of `learning.vote_model` cannot be loaded.
    """
    probes, models = judge_probes(parts), parts.models
    judges: list[Judge] = [models.reader_judge]
    if models.model_in_use.backend == "openai":  # a model in this process would be loaded twice
        judges.append(models.chat_judge)
    if parts.given.settings.learning.vote_model:
        judges.append(models.voting_model())
    return [probes.trusted(judge) for judge in judges]


def votes_by(parts: Parts, adapters: Path) -> Votes:
    """What is learned without a user's word, where these adapters are live."""
    from assistant.learning.recipes.judge.votes import Votes

    threshold = json.loads((adapters / SETTINGS).read_text(encoding="utf-8"))["threshold"]
    return Votes(parts.models.judge_model_with(adapters), heard_of(parts), threshold=threshold)


def _voted(parts: Parts, adapters: Path, shown: Sequence[RelevanceLesson]) -> list[RelevanceLesson]:
    """The same with what is learned where no user said anything; the model is let go of again."""
    votes = votes_by(parts, adapters)
    return [each if each.is_labelled else votes.labelled(each) for each in shown]


def lessons_of(parts: Parts) -> RelevanceLessons:
    """Those of the database that teach: none where there are several users, as the model could tell words."""
    from agents.backends.extractive import is_sure

    return RelevanceLessons(parts.stores.database, is_sure=is_sure)


def begins_with(parts: Parts, lessons: RelevanceLessons) -> tuple[Path | None, list[int]]:
    """The live adapters, and the last turn of each round behind them; without them all is learned anew.

    They are not gone on with where they saw a turn that teaches no more, for it would stay in them, nor where
    they are of another model.
    """
    from agents.models.networks.judge_model import JudgeDescription, UnknownAdapters, base_version

    live, rounds = parts.models.answering(trained.JUDGE), parts.stores.rounds.latest(LOOKED_BACK)
    made = {row.figures.get("version"): row for row in rounds if row.state == "promoted"}.get(live)
    ends, adapters = steps_behind(rounds, live), parts.models.judge_adapters
    if made is None or adapters is None or not ends:
        return None, []
    said, silent = ({each.turn_id for each in some} for some in (lessons.all(), lessons.unlabelled()))
    voted = set(made.settings.get("unlabelled", ()))
    if not (said >= set(made.settings["turns"]) - voted and said | silent >= voted):
        return None, []
    try:
        is_of_it = JudgeDescription.read(adapters).base == base_version(parts.models.judge_folder)
    except UnknownAdapters:
        return None, []
    return (adapters, ends) if is_of_it else (None, [])


def rows_of(lessons: Sequence[RelevanceLesson], ends: Sequence[int]) -> Iterator[Mapping[str, Any]]:
    """A lesson each. ends: the last turns of earlier steps."""
    for lesson in lessons:
        read = [each for each in lesson.found if not (each.kind == "message" and asks_only(each.text))]
        yield {
            "step": bisect_left(ends, lesson.turn_id),
            "measured": lesson.tells_when_to_end,
            "question": lesson.question,
            "helped": [each.text for each in read if each.helps],
            "useless": [each.text for each in read if each.helps is False],
        }


def lacks(parts: Parts) -> tuple[str, str] | None:
    """Why no judge is trained here, and what to do; None where one is."""
    if not parts.models.judges_by_trained:
        wanted = 'reranking.judge to "trained" and reranking.judge_model to the folder of a model'
        return "what judges is not a model of yours", f"Set {wanted}."
    try:
        parts.models.require_judge_model()
    except VouchError as error:
        return error.message[0].lower() + error.message[1:], error.hint
    return None


JUDGE = Recipe(
    trained.JUDGE,
    about="The judge of what was found",
    gains="judge better what helps you",
    what_is_a_lesson="Every question is a lesson for which a passage or the answer was rated good, or from "
    "whose sure answer its user went on without a word against it, as long as the database has one user.",
    promoted_if="nDCG@10 gains{more}, hardly by chance, on {fewest}+ questions, "
    "and R@5, each month, documents and what users told drop at most {margin}",
    lessons=lessons_of,
    over=over,
    chance_of="the right order",
    lacks=lacks,
)
