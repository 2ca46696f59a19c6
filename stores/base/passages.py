"""The plain `Passage` that everything above the stores handles, its spaces, and what a search found.

Nothing here knows the database: agents and their models are read and tested without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from stores.base.statement_links import GONE_FROM, ReplacedBy

STATEMENTS = ("note", "fact", "preference", "correction")  # kinds of what a user stated or wrote by hand
STANDING = "preference"  # the kind of those that always hold of their user, and go with each question
LONGEST_STANDING = 400  # characters of one of them
_MOST_STANDING = 1_200  # characters of all that go along, about 300 tokens
SHARED = "shared"  # the space that every user may search
HEADING_OF = " › "  # in a title, between a document's and those of its parts


def own_space(user_id: int) -> str:
    """The space that only this user may search."""
    return f"user:{user_id}"


def knowledge_space(knowledge_base_id: int) -> str:
    """The space that holds the entities of one knowledge base, and nothing else."""
    return f"kb:{knowledge_base_id}"


def searchable_text(title: str, text: str) -> str:
    """What is encoded, searched by words and read a second time: a passage under its title."""
    return f"{title}\n{text}" if title else text


@dataclass(frozen=True)
class Passage:
    """One live version of a passage, as agents and people see it."""

    version_id: int  # what vectors, full-text rows and judgements refer to
    passage_id: int  # what a person names; the same over all versions
    space: str
    kind: str  # document, message, note, correction, or entity of a knowledge base
    title: str
    text: str
    document_id: int | None  # the document or conversation it stands in
    position: int  # its place there, from 0
    source: str  # where it came from, as a person would say it
    external_id: str  # the id that a record has in its file; empty otherwise
    created_at: datetime  # when it was told, or came to be known
    said_in: str = ""  # of a memory: the message that says it in these words, while all of that holds
    replaced_by: tuple[ReplacedBy, ...] = ()  # of a statement: what its user told since, the surest first

    @property
    def gone(self) -> float:
        """How probably something that was told since took its place, or ended it."""
        return max((newer.probability for newer in self.replaced_by), default=0.0)

    @property
    def holds(self) -> bool:
        """Whether nothing that was told since surely took its place."""
        return self.gone < GONE_FROM

    @property
    def is_shared(self) -> bool:
        """Whether every user may see it."""
        return self.space == SHARED

    @property
    def scope(self) -> Literal["shared", "yours", "kb"]:
        """Whose it is, as a person is told: shared, the user's own, or of a knowledge base that they see."""
        if self.kind == "entity":
            return "kb"
        return "shared" if self.is_shared else "yours"


# Which of these shared passages are worth reading, given cosines and BM25 of all that was found.
Worth: TypeAlias = Callable[[Collection[int], Mapping[int, float], Mapping[int, float]], Collection[int]]


@dataclass(frozen=True)
class Found:
    """What a search of one space came upon, and what either signal says of each; all by version id."""

    passages: Mapping[
        int, Passage
    ]  # those that were read: all, unless the search was told which are worth it
    dense: Mapping[int, float]  # cosine; 0 where there is no vector yet
    lexical: Mapping[int, float]  # BM25; 0 without a shared word
    neighbours: Mapping[int, tuple[int | None, int | None]]  # before and after; only where that was asked


QUOTING = "extractive (quotes only)"  # the built-in model; others may be called alike


def quotes_only(model: str) -> bool:
    """Whether a model, by its name, answers in the words of passages alone."""
    return model == QUOTING


def with_room(statements: Sequence[str]) -> list[str]:
    """Of what always holds what there is room for: one that is too long leaves it to the others."""
    kept, left = [], _MOST_STANDING
    for statement in statements:
        if len(statement) <= min(left, LONGEST_STANDING):
            kept.append(statement)
            left -= len(statement)
    return kept
