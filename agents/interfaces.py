"""What an agent may be given, as protocols over plain records.

Agents know these and nothing below them: no index, no database, no model library. Texts that came
from outside (passages, material, messages) travel in fields of their own, never inside instructions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stores.records import Passage

Vector: TypeAlias = npt.NDArray[np.float32]  # (D,), unit length
Vectors: TypeAlias = npt.NDArray[np.float32]  # (N, D), rows of unit length
Label: TypeAlias = Literal["answer", "relevant", "irrelevant"]


class Encoder(Protocol):
    """Text as vectors whose inner product is similarity."""

    @property
    def version(self) -> str:
        """Names weights, tokenizer and pooling: vectors of different versions are never compared."""

    @property
    def dimension(self) -> int:
        """D, the length of a vector."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is asked."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: what is searched."""


class SearchableSpace(Protocol):
    """All that one user may search, and nothing else. Made by the stores, one a turn."""

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """The k live passage versions most similar to a query vector: (version id, cosine), best first."""

    def matching(self, query: str, k: int) -> list[int]:
        """The k live passage versions that share the query's rarer words, best first."""

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of each version, by the word statistics of this space; 0 without a shared word."""

    def similarities(self, vector: Vector, version_ids: Sequence[int]) -> dict[int, float]:
        """Cosine of each version that has a vector."""

    def passages(self, version_ids: Sequence[int]) -> dict[int, Passage]:
        """The live versions among these, by id."""

    def neighbours(self, version_ids: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """For each version, the live versions before and after it in its document or conversation."""


@dataclass(frozen=True)
class Candidate:
    """A passage that was found, with each signal's score."""

    passage: Passage
    dense: float  # cosine of query and passage
    lexical: float  # BM25
    lift: float  # what its better neighbour added
    score: float  # all of these as one; higher is better
    found_rank: int  # from 1


@dataclass(frozen=True)
class Verdict:
    """What a judge says of one passage for one question."""

    label: Label
    score: float  # how useful, 0 to 1


@dataclass(frozen=True)
class Judged:
    """The verdicts of one call, in the order of its candidates; None where the judge said nothing usable."""

    verdicts: tuple[Verdict | None, ...]
    tokens_in: int
    tokens_out: int


class Judge(Protocol):
    """Says whether passages answer a question."""

    @property
    def name(self) -> str:
        """Names the judge and its version."""

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """One call over all of these candidates."""


@dataclass(frozen=True)
class Source:
    """A passage as it is put before the model, under the number it is cited by."""

    number: int  # from 1
    passage: Passage


@dataclass(frozen=True)
class ChatMessage:
    """One message to a chat model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ReplyRequest:
    """What is to be answered, in two forms that say the same.

    `messages` is what a generative model reads; the other fields are for a backend that answers by
    quoting.
    """

    messages: tuple[ChatMessage, ...]
    message: str = ""  # as the user wrote it
    question: str = ""  # the message made standalone
    sources: tuple[Source, ...] = ()
    is_kept: bool = False  # the message is remembered as the user's own words


class ChatModel(Protocol):
    """Writes replies."""

    @property
    def name(self) -> str:
        """As shown on screen and kept with each turn."""

    def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The reply piece by piece. Ends normally only when the model said that it was done; raises a
        `ModelError` otherwise. Cancelling the task that reads it ends the work at the backend."""

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that fits a JSON schema of type object, after at most one repair.

        Raises `MalformedReply` when it still does not fit.
        """

    async def aclose(self) -> None:
        """Gives back connections."""


@dataclass(frozen=True)
class Exchange:
    """An earlier message of the conversation and its answer."""

    message: str
    standalone: str  # the message as it was searched with
    answer: str


@dataclass(frozen=True)
class AugmentedQuery:
    """A query to search with, and how it came about."""

    text: str
    strategy: str  # original, or standalone: completed from earlier turns
    reasons: tuple[str, ...] = field(default=())
