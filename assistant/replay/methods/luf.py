"""LUF: the retriever learns from what was judged, again and again while the stream goes on.

    judged questions -> lessons -> a child trains the query side -> its questions meet the same vectors

The training is the product's (assistant/learning/training_process.py). What it makes is searched with from
the next question on, better or not: here the stream decides, and nothing is promoted or refused. Source: LUF,
Eq. 1 to 4.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.base.interfaces import Encoder
from agents.models.encoders.encoder import OnnxEncoder
from assistant.learning.promotion import SERVED
from assistant.learning.recipes.retriever.apart import train_apart
from assistant.learning.training_process import Tell
from assistant.replay.methods.method import Asked, Found, JudgedQuestion, Method, Search
from stores.learning.lessons import Lesson, LessonDocument, tells_when_to_end

# The stored vectors of versions, by id: (D,) each, as their database keeps them
VectorsOf = Callable[[Sequence[int]], Mapping[int, bytes]]
_MADE = "candidate"  # within the folder of a training


class Luf(Method):
    """Trains the query side on every lesson so far, each time from the weights that it began with."""

    def __init__(
        self,
        vectors_of: VectorsOf,
        folder: Path,
        *,
        dimension: int,
        settings: Mapping[str, Any] | None = None,
        threads: int = 1,
        start: Path | None = None,
        train: Callable[..., Path] = train_apart,
        load: Callable[[Path], Encoder] = OnnxEncoder,
        tell: Tell = lambda told: None,
    ) -> None:
        """folder: of its own. dimension: D, of the vectors. start: what a training begins with; None: the
        packaged encoder. tell: is given what a training tells of itself.

        settings: of the training (`RetrieverTraining`), such as epochs and seed.
        """
        self._vectors_of, self._folder, self._dimension = vectors_of, folder, dimension
        self._settings = {"update_side": "query", **(settings or {})}
        self._threads, self._train, self._load, self._tell = threads, train, load, tell
        self.start = start
        self.made: Path | None = None  # by the last training
        self.lessons: list[Lesson] = []
        self._shown = 0  # questions
        self._queries: Encoder | None = None

    def retrieve(self, question: Asked, search: Search) -> Found:
        """As frozen, with what was trained last."""
        encoder = self._queries or search.encoder
        (vector,) = encoder.encode_queries([question.text])
        ranked = search.ranked(question.text, vector, without=question.without)
        return Found(ranked.fused, ranked.dense, vector, encoder_version=search.encoder.version)

    def learn(self, judged: Sequence[JudgedQuestion]) -> Mapping[str, Any]:
        """Trains once, where anything helped. Raises `TrainingFailed`; what was trained before then stays."""
        place = self._take(judged)
        lessons, vectors = self._learnable()
        trained_on = [each for each in lessons if not each.is_held_out]
        if not any(document.label != "irrelevant" for each in trained_on for document in each.documents):
            return {}
        best_epoch: int | None = None  # None without a held-out share

        def tell(told: Mapping[str, Any] | None) -> None:
            nonlocal best_epoch
            if told is not None and told["kind"] == "done":
                best_epoch = told["best_epoch"]
            self._tell(told)

        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        self._tell({"kind": "phase", "phase": "starting"})
        made = self._train(
            place,
            lessons,
            vectors,
            dimension=self._dimension,
            settings=self._settings,
            threads=self._threads,
            encoder=self.start,
            tell=tell,
        )
        self._use(made)
        return {"lessons": len(lessons), "best_epoch": best_epoch}

    def take_up(self, judged: Sequence[JudgedQuestion]) -> None:
        """See `Method`. Trains again only where what was made is gone."""
        made = self._folder / f"after-{self._shown + len(judged)}" / _MADE
        if (made / SERVED).is_dir():
            self._take(judged)
            self._use(made)
        else:
            self.learn(judged)

    def _take(self, judged: Sequence[JudgedQuestion]) -> Path:
        """Keeps the lessons; the folder for a training of them."""
        self._shown += len(judged)
        self.lessons += [lesson_of(each, n) for n, each in enumerate(judged, start=len(self.lessons))]
        return self._folder / f"after-{self._shown}"

    def _use(self, made: Path) -> None:
        self._queries = self._load(made / SERVED)
        if self.made is not None:
            shutil.rmtree(self.made.parent, ignore_errors=True)
        self.made = made

    def _learnable(self) -> tuple[list[Lesson], Mapping[int, bytes]]:
        """The lessons to train on, with those of their documents that have a vector, and these vectors."""
        versions = sorted({document.version_id for each in self.lessons for document in each.documents})
        vectors = self._vectors_of(versions)
        known = [
            replace(each, documents=tuple(d for d in each.documents if d.version_id in vectors))
            for each in self.lessons
        ]
        return [each for each in known if each.documents], vectors


def lesson_of(judged: JudgedQuestion, number: int) -> Lesson:
    """A judged question as the training reads it. number: tells it from the other lessons."""
    documents = [
        LessonDocument(
            judgement.candidate.passage.version_id,
            judgement.candidate.passage.title,
            judgement.candidate.passage.text,
            judgement.verdict.label,
            judgement.verdict.score,
            judgement.candidate.found_rank,
        )
        for judgement in judged.judgements
    ]
    return Lesson(
        turn_id=number,
        user_id=0,
        question=judged.asked.text,
        documents=tuple(sorted(documents, key=lambda document: document.rank)),
        judge=judged.judgements[0].judge if judged.judgements else "",
        encoder_version="",
        month="",
        is_held_out=tells_when_to_end(judged.asked.text),
    )
