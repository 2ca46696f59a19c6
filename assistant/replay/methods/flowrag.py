"""FlowRAG: each set is a collection, which learns an adapter when its questions have been asked.

    judged questions of a set -> lessons -> a child trains the collection's adapter -> what is found in it is
      compared with the question under the adapter

The training and the search are the product's, of the recipe `collections`. An adapter that is there stays as
it is, so that nothing is forgotten where it was learned. What it makes is searched with from the next
question on, better or not. Source: FlowRAG (WWW 2026), with LoRA for prompts and judged passages for the
likelihood of answers.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assistant.learning.promotion import SERVED
from assistant.learning.recipes.collections.recipe import FEWEST, rows_of
from assistant.learning.training_process import Further, Tell
from assistant.replay.methods.luf import lesson_of
from assistant.replay.methods.method import Asked, Found, Frozen, JudgedQuestion, Search
from assistant.search.adapted import Adapted
from stores.search.adapted_vectors import AdaptedVectors

_MADE = "candidate"  # within the folder of a training


class Flowrag(Frozen):
    """Searches as frozen until a set has ended; then with the adapters of all sets that have."""

    def __init__(
        self,
        folder: Path,
        *,
        ends: Sequence[int],
        training: Further,
        vectors: AdaptedVectors,
        start: Path | None,
        read: Callable[[Path], Adapted],
        tell: Tell = lambda told: None,
    ) -> None:
        """folder: of its own. ends: after how many questions each set ends. vectors: of the store.
        start: the encoder's weights; None: the packaged ones. read: the adapters of a folder, over the store.
        tell: is given what a training tells of itself.
        """
        self._folder, self._ends, self._training = folder, ends, training
        self._vectors, self._start, self._read, self._tell = vectors, start, read, tell
        self._shown = 0  # questions
        self._adapted: Adapted | None = None

    def retrieve(self, question: Asked, search: Search) -> Found:
        """As frozen, with the adapters."""
        if self._adapted is None:
            return super().retrieve(question, search)
        (vector,) = search.encoder.encode_queries([question.text])
        retriever = search.retriever.with_adapted(self._adapted)
        signals = retriever.signals(question.text, vector, search.space, without=question.without)
        ranked = search.both_orders(signals)
        return Found(ranked.fused, ranked.dense, vector)

    def learn(self, judged: Sequence[JudgedQuestion]) -> Mapping[str, Any]:
        """Trains the adapter of a set, where enough of it was answered. Raises `TrainingFailed`."""
        place = self._place(judged)
        lessons = [lesson_of(each, number) for number, each in enumerate(judged)]
        encoder, *rows = rows_of(self._start, lessons, self._vectors)
        if max(Counter(row["collection"] for row in rows).values(), default=0) < FEWEST:
            return {}
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        self._tell({"kind": "phase", "phase": "starting"})
        self._use(self._training.on(place, [encoder, *rows], tell=self._tell))
        return {"lessons": len(rows)}

    def take_up(self, judged: Sequence[JudgedQuestion]) -> None:
        """See `Method`. Trains again only what is gone."""
        for end in [end for end in self._ends if self._shown < end <= len(judged)]:
            made = self._folder / f"after-{end}" / _MADE
            if (made / SERVED).is_dir():
                self._shown = end
                self._use(made)
            else:
                self.learn(judged[self._shown : end])

    def _place(self, judged: Sequence[JudgedQuestion]) -> Path:
        self._shown += len(judged)
        return self._folder / f"after-{self._shown}"

    def _use(self, made: Path) -> None:
        """From here on, beside those that are there."""
        new = self._read(made / SERVED)
        known = self._adapted.adapters if self._adapted else {}
        self._adapted = replace(new, adapters={**new.adapters, **known})
        self._adapted.encode_missing()
