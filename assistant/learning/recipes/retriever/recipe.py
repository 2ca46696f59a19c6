"""The retriever's recipe: questions whose passages were judged teach the encoder, by nDCG@10."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.learning.lineage import learnable
from assistant.learning.outcome import Compared
from assistant.learning.recipe import Compare, Parts, Recipe, Trainable, how_compared, of_round
from assistant.learning.training_process import TrainingFailed
from assistant.wiring.parts import trained
from stores.learning.kept_lessons import require_kept
from stores.learning.lessons import Lesson, Lessons, tells_when_to_end
from stores.search.encoder_versions import ENCODER_ROLE

if TYPE_CHECKING:
    from assistant.learning.dual_encoder_swap import BothSides
    from assistant.learning.held_out.bootstrap import Gain
    from assistant.learning.held_out.judge_probes import JudgeProbes
    from assistant.search.searching import Searching
    from stores.search.spaces import Spaces

ROLE = trained.RETRIEVER.role
UNTRAINED = "untrained"  # in place of a version: questions are encoded as passages are


def over(parts: Parts, *, train: Callable[..., Path] | None = None) -> Trainable[Lesson]:
    """On what was judged, for the encoder that is live by now. train: in place of `train_apart`."""
    from assistant.learning.held_out.retrieval import WITH_ANSWERS

    probes = judge_probes(parts)
    version, learning, side = (
        parts.stores.encoder_versions.live(),
        parts.given.settings.learning,
        update_side(parts),
    )

    def dimension() -> int:
        from agents.models.encoders.two_halves import first_half

        return first_half(parts.search.searching_by(version).encoder).dimension

    def compared(folder: Path, lessons: Sequence[Lesson], tell: Callable[[int, int], None]) -> Compared:
        from assistant.learning.held_out.known_questions import gain_on_known

        base = parts.search.searching_by(version)
        if side == "both":  # for whose vectors no adapter was trained
            candidate = parts.search.searching_in(folder)
        else:
            candidate = parts.search.with_live_adapters(parts.search.with_queries_by(base, folder))
        known = gain_on_known(
            candidate.encoder,
            parts.search.searching.encoder,  # and the first, or round after round could lose a little
            parts.search.wanted_encoder,
            dense_weight=parts.search.fusion.dense_weight,
        )
        return compared_with_live(
            parts, lessons, tell, live_spaces=base.spaces, candidate=candidate, known={WITH_ANSWERS: known}
        )

    encoder_version = parts.search.wanted_encoder.version if version is None else version.version
    return trainable(
        lessons_of(parts),
        encoder_version=encoder_version,
        dimension=dimension,
        compare=compared,
        settings={
            "update_side": side,
            "epochs": learning.epochs,
            "learning_rate": learning.learning_rate,
            "seed": learning.seed,
            **asdict(parts.given.settings.training),
        },
        threads=learning.threads,
        encoder=lambda: parts.search.weights_of(version),
        both=_both_sides(parts, encoder_version) if side == "both" else None,
        train=train,
        prepare=lambda: probes.of(parts.models.judge_of_candidates),
    )


def compared_with_live(
    parts: Parts,
    lessons: Sequence[Lesson],
    tell: Callable[[int, int], None],
    *,
    candidate: Searching,
    known: Mapping[str, Gain],
    live_spaces: Spaces | None = None,
) -> Compared:
    """What searches now against a candidate, in the chat's order. known: see `decided`.

    live_spaces: what searches now searches; else what the candidate does.
    """
    from assistant.learning.held_out.retrieval import compare
    from assistant.learning.recipes.relevance.recipe import lessons_of as relevance_lessons
    from stores.learning.lesson_domains import lesson_domains

    held_out = [lesson for lesson in lessons if lesson.is_held_out]
    reranker, learning = parts.models.reranker, parts.given.settings.learning
    by_model = parts.given.settings.reranking.judge == "model"  # which would be asked for each candidate
    found = compare(
        lessons,
        domains=lesson_domains(parts.stores.database, held_out),
        live=parts.search.searching.retriever,
        candidate=candidate.retriever,
        spaces=live_spaces or candidate.spaces,
        candidate_spaces=candidate.spaces,
        judge=judge_probes(parts).trusted(parts.models.judge_of_candidates),
        known=known,
        said=relevance_lessons(parts).helping({lesson.turn_id for lesson in held_out}),
        in_order=lambda question, some: some if by_model else reranker.rerank(question, some).order,
        tell=tell,
        **how_compared(learning),
    )
    return of_round(found, learning)


def trainable(
    lessons: Lessons,
    *,
    encoder_version: str,
    dimension: Callable[[], int],
    compare: Compare[Lesson],
    settings: Mapping[str, Any],
    threads: int,
    encoder: Callable[[], Path | None] = lambda: None,
    both: BothSides | None = None,
    train: Callable[..., Path] | None = None,
    prepare: Callable[[], object] = lambda: None,
    checkpoint_seconds: float = 60.0,
) -> Trainable[Lesson]:
    """encoder_version: of the vectors that questions are to meet. dimension: of their first half.

    settings: of the training. encoder: the folder that it starts from, of the first half's version; else the
    packaged one. both: for settings whose `update_side` is "both". train: in place of `train_apart`. prepare:
    see `Trainable`.
    """
    is_both = both is not None and settings.get("update_side") == "both"
    was_alone = lessons.is_of_one_user

    def train_it(folder: Path, shown: Sequence[Lesson], *, tries: object, **how: Any) -> Path:
        from agents.models.encoders.two_halves import first_halves
        from assistant.learning.recipes.retriever.apart import started_from, train_apart
        from stores.search.encoder_versions import TRAINED

        del tries
        versions = sorted({document.version_id for lesson in shown for document in lesson.documents})
        made = (train or train_apart)(
            folder,
            shown,
            first_halves(lessons.vectors(versions, encoder_version), dimension()),
            dimension=dimension(),
            settings=settings,
            threads=threads,
            encoder=encoder(),
            name=TRAINED if is_both else "",
            measured_on=lambda lesson: tells_when_to_end(lesson.question),
            checkpoint_seconds=checkpoint_seconds,
            **how,
        )
        start = started_from(made)
        if _content(start) != _content(encoder_version):
            raise TrainingFailed(f"it was trained from {start}, but searched is with {encoder_version}")
        return made

    return Trainable(
        RETRIEVER,
        lambda after: learnable(lessons, encoder_version, after=after)[0],
        settings,
        train_it,
        compare,
        require=lambda some: partial(require_kept, lessons=some, was_alone=was_alone),
        encoder_version=encoder_version,
        before_the_first=UNTRAINED,
        details={"encoder_version": encoder_version},
        prepare=lambda: (dimension(), encoder(), prepare()),
        beside=(ENCODER_ROLE,),
        both=both if is_both else None,
    )


def lessons_of(parts: Parts) -> Lessons:
    """Judged questions of the database."""
    return Lessons(
        parts.stores.database,
        curators=parts.given.settings.memory.curators.split(),
        trusted=judge_probes(parts).all_trusted,
    )


def judge_probes(parts: Parts) -> JudgeProbes:
    """What the word of judges is worth."""
    from assistant.learning.held_out.judge_probes import JudgeProbes

    return JudgeProbes(parts.given.locations.data / "judges.json")


RETRIEVER = Recipe(
    trained.RETRIEVER,
    about="Questions",
    gains="find better",
    what_is_a_lesson="Every question whose passages were judged is a lesson.",
    promoted_if="nDCG@10 gains{more}, hardly by chance, on {fewest}+ questions, "
    "and R@5, month and domain drop at most {margin}",
    lessons=lessons_of,
    over=over,
)


def update_side(parts: Parts) -> str:
    """query or both."""
    learning = parts.given.settings.learning
    if learning.update_side != "auto":
        return learning.update_side
    is_small = parts.stores.encoder_versions.live_passages() <= learning.both_up_to
    return "both" if is_small else "query"


def _both_sides(parts: Parts, live: str) -> BothSides:
    from assistant.learning.dual_encoder_swap import BothSides

    known = parts.stores.encoder_versions.live()
    return BothSides(
        parts.stores.encoder_versions,
        searching=parts.search.searching_in,
        trained_from=known.trained_from if known is not None and known.trained_from else live,
        discard_index=parts.search.discard_index,
    )


def _content(version: str) -> str:
    """The letters of an encoder version that stand for its content, whatever it is called."""
    from agents.models.encoders.two_halves import first_version

    return first_version(version).rpartition("-")[2]
