"""LUF: the retriever learns from what was judged, again and again while the stream goes on.

    judged questions -> lessons -> a child trains the query side -> its questions meet the same vectors
                                -> or both sides -> its questions meet what it encodes anew

The training is the product's (assistant/learning/training_process.py). What it makes is searched with from
the next question on, better or not: here the stream decides, and nothing is promoted or refused. Source: LUF,
Eq. 1 to 4.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agents.base.interfaces import Encoder
from agents.models.encoders.encoder import OnnxEncoder
from assistant.learning.promotion import SERVED
from assistant.learning.recipes.retriever.apart import train_apart
from assistant.replay.methods.method import Asked, Found, JudgedQuestion, Search
from stores.learning.lessons import Lesson, LessonDocument, is_held_out
from stores.search.encoder_versions import TRAINED

Loss = Literal["strict", "flaccid", "hard"]
LOSSES: Mapping[Loss, float] = {"strict": 1.0, "flaccid": 0.5, "hard": 1.0}  # with their usual weights
Remembers = Literal["all", "last"]
# The stored vectors of versions, by id: (D,) each, as their database keeps them
VectorsOf = Callable[[Sequence[int]], Mapping[int, bytes]]


def weights_of(losses: Collection[Loss]) -> dict[str, float]:
    """The training's weights where only these losses are on. Raises ValueError for an unknown one."""
    if unknown := set(losses) - set(LOSSES):
        raise ValueError(f"there are no losses {sorted(unknown)}; there are {list(LOSSES)}")
    return {f"{name}_weight": weight * (name in losses) for name, weight in LOSSES.items()}


@dataclass(frozen=True)
class LufRound:
    """One training of the stream."""

    lessons: int
    seconds: float
    best_epoch: int | None  # None without a held-out share
    losses: tuple[float, ...]  # of each step


class Luf:
    """Trains the query side, or both, on what was judged."""

    def __init__(
        self,
        vectors_of: VectorsOf,
        folder: Path,
        *,
        dimension: int,
        losses: Collection[Loss] = tuple(LOSSES),
        settings: Mapping[str, Any] | None = None,
        remembers: Remembers = "all",
        hears_users: bool = False,
        threads: int = 1,
        train: Callable[..., Path] = train_apart,
        load: Callable[[Path], Encoder] = OnnxEncoder,
    ) -> None:
        """folder: an empty one of its own. dimension: D, of the vectors.

        settings: of the training (`RetrieverTraining`), such as strict_denominator, flaccid_support,
        rank_weights, epochs, update_side and seed; the weights of the losses too, where they are not the
        usual ones.
        remembers: "all" trains on every lesson so far, from the weights that all began with; "last" on those
        since the last training, from the weights that it left. Raises ValueError for unknown losses.
        """
        self._settings = {"update_side": "query", **weights_of(losses), **(settings or {})}
        self._is_both = self._settings["update_side"] == "both"
        self._vectors_of, self._folder, self._dimension = vectors_of, folder, dimension
        self._losses = [name for name in LOSSES if self._settings[f"{name}_weight"]]
        self._remembers, self._threads = remembers, threads
        self.hears_users = hears_users
        self._train, self._load = train, load
        self._lessons: list[Lesson] = []
        self._queries: Encoder | None = None
        self._made: Path | None = None
        self.rounds: list[LufRound] = []

    @property
    def name(self) -> str:
        others = [
            f"{name} {value}"
            for name, value in sorted(self._settings.items())
            if not name.endswith("_weight") and (name, value) != ("update_side", "query")
        ]
        users = ["user feedback"] if self.hears_users else []
        return ", ".join([f"luf {'+'.join(self._losses)}", f"remembers {self._remembers}", *others, *users])

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._settings

    def retrieve(self, question: Asked, search: Search) -> Found:
        """See `Method`: as frozen, with what was trained last. What it encodes anew first is not timed."""
        if self._is_both and self._made is not None:
            search = search.by(self._made / SERVED)
        began = time.perf_counter()
        encode = search.encode if self._queries is None else self._queries.encode_queries
        (vector,) = encode([question.text])
        ranked = search.ranked(question.text, vector, without=question.without)
        seconds = time.perf_counter() - began
        return Found(ranked.fused, ranked.dense, vector, seconds, encoder_version=search.encoder_version)

    def learn(self, judged: Sequence[JudgedQuestion]) -> None:
        """Trains once, where anything helped. Raises `TrainingFailed`; what was trained before then stays."""
        began = time.perf_counter()
        lessons, vectors = self._learnable(judged)
        trained_on = [each for each in lessons if not each.is_held_out]
        if not any(document.label != "irrelevant" for each in trained_on for document in each.documents):
            return
        told = _Told()
        folder = self._folder / f"round-{len(self.rounds) + 1}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        made = self._train(
            folder,
            lessons,
            vectors,
            dimension=self._dimension,
            settings=self._settings,
            threads=self._threads,
            encoder=self._made if self._remembers == "last" else None,
            tell=told,
            **({"name": TRAINED} if self._is_both else {}),
        )
        if not self._is_both:
            self._queries = self._load(made / SERVED)
        if self._made is not None:
            shutil.rmtree(self._made.parent, ignore_errors=True)
        self._made = made
        seconds = time.perf_counter() - began
        self.rounds.append(LufRound(len(lessons), seconds, told.best_epoch, tuple(told.losses)))

    def _learnable(self, judged: Sequence[JudgedQuestion]) -> tuple[list[Lesson], Mapping[int, bytes]]:
        """The lessons to train on, with those of their documents that have a vector, and these vectors."""
        kept = self._lessons if self._remembers == "all" else []
        new = [lesson_of(each, number) for number, each in enumerate(judged, start=len(kept))]
        self._lessons = [*kept, *new]
        versions = sorted({document.version_id for each in self._lessons for document in each.documents})
        vectors = self._vectors_of(versions)
        known = [
            replace(each, documents=tuple(d for d in each.documents if d.version_id in vectors))
            for each in self._lessons
        ]
        return [each for each in known if each.documents], vectors


class _Told:
    """What the child told of its training."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.best_epoch: int | None = None

    def __call__(self, told: Mapping[str, Any] | None) -> None:
        if told is not None and told["kind"] == "step":
            self.losses.append(told["loss"])
        elif told is not None and told["kind"] == "done":
            self.best_epoch = told["best_epoch"]


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
        is_held_out=is_held_out(judged.asked.text),
    )
