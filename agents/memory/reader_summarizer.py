"""Finds what a user stated with the built-in reader alone.

message -> the user's own part -> sentences, but for takeovers, orders and what is not so
        -> the reader sorts them -> claims, as said
"""

from __future__ import annotations

import asyncio
from typing import Literal

from agents.base.claim_interfaces import Claim, Said
from agents.base.interfaces import Reader, Sorting
from agents.languages.message_sorting import sentences_of
from agents.languages.signs import Languages, Signs
from agents.languages.standing import always_holds
from agents.memory.takeovers import is_takeover

# Of what the reader says of a sentence; see docs/experiments.md.
WORLD_FROM = 0.6  # p(world) from which a statement is of the world; unsure is personal
STATED_FROM = 0.5  # p(world) + p(personal) from which a sentence states something
ASKS_FROM = 0.5  # p(asks) from which it asks
# Of what the heads say of a sentence, which then stays a message alone. On the dev part of data/messages 78 %
# of what is not so (nearly, if, wished, refused); of the statements of data/everyday 2 %.
NOT_SO_FROM = 0.4  # p(irreal), where nothing is likelier
# To the heads "I live in Vienna." is as probably not so; the reader is sure that it is stated.
SURELY_NOT_SO_FROM = 0.6  # the same where the reader is that sure
SURELY_STATED_FROM = 0.95  # p(personal)


class ReaderSummarizer:
    """A summarizer by the reader's sorting."""

    def __init__(self, reader: Reader, languages: Languages | None = None) -> None:
        """languages: the heads, by which sentences are cut; see `ReaderByLanguage` for the reader."""
        self._reader, self._languages = reader, languages

    @property
    def name(self) -> str:
        return self._reader.name

    async def summarize(self, said: Said) -> list[Claim]:
        """See `Summarizer`. Needs no chat model, so it raises no `ModelError`."""
        return await asyncio.to_thread(self._summarize, said)

    def _summarize(self, said: Said) -> list[Claim]:
        found = [text for text in sentences_of(said.message, self._languages) if not is_takeover(text)]
        if not found:
            return []
        each = zip(found, self._reader.sort(found), self._signs(found), strict=True)
        return [claim for one in each if (claim := _claim(*one)) is not None]

    def _signs(self, texts: list[str]) -> list[Signs] | list[None]:
        return [None] * len(texts) if self._languages is None else self._languages.signs(texts)


def _claim(text: str, sorting: Sorting, signs: Signs | None) -> Claim | None:
    """What a sentence states; a standing wish states something, whatever its form."""
    is_standing = signs is not None and always_holds(text, signs) and sorting.asks < ASKS_FROM
    is_stated = sorting.world + sorting.personal >= STATED_FROM
    if not (is_stated or is_standing) or _is_no_statement(sorting, signs):
        return None
    about: Literal["world", "user"] = "world" if sorting.world >= WORLD_FROM and not is_standing else "user"
    return Claim(text, text, "preference" if is_standing else "fact", about)


def _is_no_statement(sorting: Sorting, signs: Signs | None) -> bool:
    """Whether it is an order, or what is not so of its user; what is of the world can be checked."""
    if signs is None:
        return False
    not_so_from = SURELY_NOT_SO_FROM if sorting.personal >= SURELY_STATED_FROM else NOT_SO_FROM
    is_not_so = signs.label == "irreal" and signs.labels["irreal"] >= not_so_from
    return signs.order in ("forget", "undo") or (is_not_so and sorting.world < WORLD_FROM)
