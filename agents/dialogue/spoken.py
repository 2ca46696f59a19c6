"""What the dialogue generator may speak of: tables like those it was trained on, in words that hold.

a table's columns -> the domains of the training that they are like, by the vectors of their names
a reply's words   -> all of them plain, or of such a domain, or what an entity that it names holds
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import Encoder
from agents.models.dialogue_generator import SHIPPED
from agents.models.dialogue_inputs import as_value
from stores.base.entities import Entity
from stores.base.wishes import words

DOMAINS = SHIPPED / "domains.json"  # by training/dialogue/spoken_domains.py
_LIKE_FROM = 0.65  # cosine of two columns' names; as of a column and what asks for it
_LEAST_BEGINNING = 4  # letters of a word that a column's name begins with: "price" of "pricerange"
_LEAST_COLUMNS = 3  # of a domain, that the table has
_LEAST_SHARE = 0.5  # of the domain's columns


@dataclass(frozen=True)
class Learned:
    """What corrections taught a generator besides: columns, and words of its replies."""

    columns: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Speech:
    """Over one table: the columns that may be told, and the words beside what entities hold."""

    columns: frozenset[str]
    words: frozenset[str]

    def holds(self, told: Iterable[str], entities: Iterable[Entity], base: str) -> bool:
        """Whether each word may be told of these entities. told: words that are no value of theirs."""
        held = {word for name in base.split() for word in (name.lower(), name.lower().removesuffix("s"))}
        columns = set[str]()
        for entity in entities:
            columns.update(column.lower() for column in entity.values)
            for text in (entity.name, *entity.values, *entity.values.values()):
                held.update((as_value(text), *words(text)))
        return all(
            word in self.words
            or word in held
            or not _is_word(word)
            or (len(word) >= _LEAST_BEGINNING and any(column.startswith(word) for column in columns))
            for word in told
        )


class Spoken:
    """What a generator may speak of."""

    def __init__(
        self, encoder: Callable[[], Encoder], learned: Learned | None = None, file: Path = DOMAINS
    ) -> None:
        self._encoder, self._learned = encoder, learned or Learned()
        held = json.loads(file.read_text("utf-8"))
        self._plain: frozenset[str] = frozenset(held["plain"])
        self._domains: Mapping[str, Mapping[str, Sequence[str]]] = held["domains"]
        self._over = cache(self._of_columns)

    def over(self, columns: Collection[str]) -> Speech | None:
        """None where the table is like none that the generator was trained on."""
        return self._over(tuple(columns))

    def _of_columns(self, columns: tuple[str, ...]) -> Speech | None:
        known = sorted({c for domain in self._domains.values() for c in domain["columns"]})
        texts = [" ".join(words(text)) for text in (*columns, *known)]
        vectors = self._encoder().encode_queries(texts)
        like: npt.NDArray[np.bool_] = np.asarray(
            vectors[: len(columns)] @ vectors[len(columns) :].T >= _LIKE_FROM
        )
        spoken: set[str] = set(self._learned.columns.intersection(columns))
        told = self._plain | (self._learned.words if spoken else frozenset())
        shares: dict[str, tuple[float, int]] = {}
        for name, domain in self._domains.items():
            matched = like[:, [known.index(column) for column in domain["columns"]]].any(0)
            if matched.sum() >= _LEAST_COLUMNS and matched.mean() >= _LEAST_SHARE:
                shares[name] = float(matched.mean()), int(matched.sum())
        if shares:
            domain = self._domains[max(shares, key=shares.__getitem__)]
            of_domain = [known.index(column) for column in domain["columns"]]
            spoken.update(column for at, column in enumerate(columns) if like[at, of_domain].any())
            told |= set(domain["words"])
        return Speech(frozenset(spoken), frozenset(told)) if spoken else None


def _is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)
