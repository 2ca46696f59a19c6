"""LUF with other losses, other memory, or both sides trained."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from agents.base.interfaces import SearchableSpace
from assistant.learning.promotion import SERVED
from assistant.learning.recipes.retriever.apart import train_apart
from assistant.replay.methods.luf import Luf, VectorsOf
from assistant.replay.methods.method import Asked, Found, Frozen, JudgedQuestion, Search
from stores.base.errors import WrongUsage
from stores.search.encoder_versions import TRAINED

Remembers = Literal["all", "last"]
LOSSES = {"strict": 1.0, "flaccid": 0.5, "hard": 1.0}  # with their usual weights


def losses_of(how: str) -> tuple[str, ...]:
    """From strict+hard; empty: all. Raises `WrongUsage` for one that is none."""
    chosen = tuple(how.split("+")) if how else tuple(LOSSES)
    if unknown := set(chosen) - set(LOSSES):
        hint = f"There are {', '.join(LOSSES)}. As in luf:strict+hard."
        raise WrongUsage(f"there is no loss {sorted(unknown)[0]!r}", hint=hint)
    return chosen


def weights_of(losses: Collection[str]) -> dict[str, float]:
    """The training's weights where only these losses are on."""
    return {f"{name}_weight": weight * (name in losses) for name, weight in LOSSES.items()}


class LufVariant(Luf):
    """Trains on all lessons, or goes on from its last weights on those since; the query side, or both."""

    def __init__(
        self,
        vectors_of: VectorsOf,
        folder: Path,
        *,
        remembers: Remembers = "all",
        search_by: Callable[[Path, SearchableSpace], Search],
        settings: Mapping[str, Any],
        train: Callable[..., Path] = train_apart,
        **how: Any,
    ) -> None:
        """settings: of the training, `update_side` among them. how: see `Luf`.

        search_by: the same space by the encoder of a folder; what it has not encoded yet is encoded first.
        """
        self._search_by = search_by if settings.get("update_side") == "both" else None
        train = partial(train, name=TRAINED) if self._search_by else train
        super().__init__(vectors_of, folder, settings=settings, train=train, **how)
        self._remembers = remembers

    def retrieve(self, question: Asked, search: Search) -> Found:
        """See `Method`: of both sides, its questions meet what it encoded anew."""
        if self._search_by is None or self.made is None:
            return super().retrieve(question, search)
        search = self._search_by(self.made / SERVED, search.space)
        found = Frozen().retrieve(question, search)
        return Found(found.candidates, found.dense, found.vector, encoder_version=search.encoder.version)

    def learn(self, judged: Sequence[JudgedQuestion]) -> Mapping[str, Any]:
        """See `Luf`."""
        if self._remembers == "last":
            self.lessons.clear()
            self.start = self.made or self.start
        return super().learn(judged)
