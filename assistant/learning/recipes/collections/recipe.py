"""The recipe of collections: questions that documents of a collection answer teach its adapter, by nDCG@10.

All adapters are one candidate, with one pointer: those of collections that nothing new is known of are made
again the same. What is compared is the whole search, so a collection cannot gain at the cost of another.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.learning.lineage import learnable
from assistant.learning.outcome import Compared
from assistant.learning.recipe import Parts, Recipe, Trainable
from assistant.learning.recipes.retriever.recipe import compared_with_live, judge_probes, lessons_of
from assistant.learning.training_process import Further
from assistant.wiring.parts import trained
from stores.base.errors import EncoderUnavailable
from stores.learning.kept_lessons import require_kept
from stores.learning.lessons import Lesson, tells_when_to_end
from stores.search.encoder_versions import ENCODER_ROLE

if TYPE_CHECKING:
    from stores.search.adapted_vectors import AdaptedVectors

PROGRAM = "assistant.learning.recipes.collections.from_use"
FEWEST = 30  # lessons that teach a collection; as many more judge, at first
_MOST_WRONG = 10  # passages of a lesson, those found first


def over(parts: Parts) -> Trainable[Lesson]:
    """On the questions of the database that documents of a collection answer."""
    version, learning = parts.stores.encoder_versions.live(), parts.given.settings.learning
    lessons, probes = lessons_of(parts), judge_probes(parts)
    vectors = parts.search.adapted_vectors
    encoder_version = parts.search.wanted_encoder.version if version is None else version.version
    further = Further(PROGRAM, {"seed": learning.seed}, learning.threads)
    was_alone = lessons.is_of_one_user

    def read(after: int) -> Sequence[Lesson]:
        found = learnable(lessons, encoder_version, after=after)[0]
        within = collections_of(found, vectors)
        is_enough = any(count >= 2 * FEWEST for count in Counter(within.values()).values())
        return found if is_enough else []  # others judge too: adapters must not cost what they do not answer

    def train_it(folder: Path, shown: Sequence[Lesson], *, tries: object, **how: Any) -> Path:
        del tries
        return further.on(folder, rows_of(parts.search.weights_of(version), shown, vectors), **how)

    def compared(folder: Path, some: Sequence[Lesson], tell: Callable[[int, int], None]) -> Compared:
        candidate = parts.search.adapted_in(folder, encoder_version)
        vectors.discard(keep={*candidate.versions.values(), *parts.search.adapters_in_use()})
        asked = sum(lesson.is_held_out for lesson in some)
        candidate.encode_missing(lambda: tell(0, asked))
        searching = parts.search.searching_with_adapters(parts.search.searching, candidate)
        compared = compared_with_live(parts, some, tell, candidate=searching, known={})
        if not compared.decision.is_promoted:
            vectors.discard(keep=parts.search.adapters_in_use())
        return compared

    return Trainable(
        COLLECTIONS,
        read,
        further.settings,
        train_it,
        compared,
        require=lambda some: partial(require_kept, lessons=some, was_alone=was_alone),
        encoder_version=encoder_version,
        details={"encoder_version": encoder_version},
        prepare=lambda: probes.of(parts.models.judge_of_candidates),
        beside=(ENCODER_ROLE, trained.RETRIEVER.role),
    )


def collections_of(lessons: Sequence[Lesson], vectors: AdaptedVectors) -> dict[int, str]:
    """By turn, the collection in which the first document stands that answers; of those that have one."""
    first = {
        lesson.turn_id: answer.version_id
        for lesson in lessons
        if (answer := next((each for each in lesson.documents if each.label == "answer"), None))
    }
    keys = vectors.keys(first.values())
    return {turn: keys[version] for turn, version in first.items() if version in keys}


def rows_of(
    encoder: Path | None, lessons: Sequence[Lesson], vectors: AdaptedVectors
) -> Iterator[Mapping[str, Any]]:
    """What the training reads: where the encoder's weights lie, then a lesson each."""
    from stores.base.passages import searchable_text

    yield {"encoder": None if encoder is None else str(encoder.resolve())}
    within = collections_of(lessons, vectors)
    for lesson in lessons:
        if lesson.turn_id in within:
            texts = {
                label: [
                    searchable_text(each.title, each.text) for each in lesson.documents if each.label == label
                ]
                for label in ("answer", "irrelevant")
            }
            yield {
                "collection": within[lesson.turn_id],
                "question": lesson.question,
                "answers": texts["answer"],
                "wrong": texts["irrelevant"][:_MOST_WRONG],
                "measured": tells_when_to_end(lesson.question),
            }


def lacks(parts: Parts) -> tuple[str, str] | None:
    """Why no collection learns here, and what to do; None where they do."""
    if not parts.given.settings.learning.collections:
        return "collections do not learn", "Set learning.collections to true."
    with suppress(EncoderUnavailable):  # a round tells that better
        folder = parts.search.weights_of(parts.stores.encoder_versions.live())
        if folder is not None and (kind := _kind_of(folder)) != "bert":
            hint = "Name an encoder like BERT in encoder.source, such as a MiniLM, Contriever or BGE."
            return f"the encoder is of the kind {kind!r}, and only BERT's take adapters", hint
    return None


def _kind_of(folder: Path) -> str:
    """Of the network of an encoder's folder, as its configuration says; empty where it does not."""
    try:
        modules = folder / "modules.json"
        first = json.loads(modules.read_text(encoding="utf-8"))[0]["path"] if modules.exists() else ""
        config = json.loads((folder / first / "config.json").read_text(encoding="utf-8"))
        return str(config.get("model_type", ""))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""


COLLECTIONS = Recipe(
    trained.COLLECTIONS,
    about="Collections",
    gains="find better in your collections",
    what_is_a_lesson="Every question is a lesson that a document of a collection answered, as judged or by "
    f"your word, once a collection has {2 * FEWEST} of them.",
    promoted_if="nDCG@10 gains{more}, hardly by chance, on {fewest}+ questions, "
    "and R@5, month and collection drop at most {margin}",
    lessons=lessons_of,
    over=over,
    lacks=lacks,
)
