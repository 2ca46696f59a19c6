"""What an agent may be given, as protocols over plain records.

Agents know these and nothing below them: no index, no database, no model library. Texts that came
from outside (passages, material, messages) travel in fields of their own, never inside instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stores.base.passages import Found, Passage, Worth

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

    def found(
        self,
        query: str,
        vector: Vector,
        k: int,
        *,
        without: Collection[int] = (),
        beside: Callable[[Passage], bool] = ...,
        worth: Worth | None = None,
    ) -> Found:
        """What is nearest in meaning and in words, k of either, scored by both signals.

        query, vector: the same question as words and as a vector of this space's encoder version.
        without: versions not looked for. beside: of which passages the one before and after come along.
        worth: which of the shared passages are read; None for all. What is the user's own always is.
        """


class OwnSpace(Protocol):
    """What one user may search, looked up passage by passage, and what that user stated."""

    def statements(self, most: int) -> list[tuple[int, str]]:
        """The user's own live statements, newest first: version id and text. most: of the newest so many."""

    def linked(self, passages: Iterable[Passage]) -> dict[int, Passage]:
        """What these statements surely replaced or ended, and what did so to them; by version id."""

    def passages(self, version_ids: Sequence[int]) -> dict[int, Passage]:
        """The live versions among these, by id."""

    def similarities(self, vector: Vector, version_ids: Sequence[int]) -> dict[int, float]:
        """Cosine of each version that has a vector."""

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of each version; 0 without a shared word."""


@dataclass(frozen=True)
class Candidate:
    """A passage that was found, with each signal's score."""

    passage: Passage
    dense: float  # cosine of query and passage
    lexical: float  # BM25
    lift: float  # what its better neighbour added, and who says it and whether it tells a time
    score: float  # all of these as one; higher is better
    found_rank: int  # from 1
    given: float = 0.0  # what is added where a statement of the user's own gives what is asked for


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
class AnswerSpan:
    """A piece of a passage that may answer a question."""

    start: int  # characters of the passage
    end: int
    text: str
    probability: float


@dataclass(frozen=True)
class ReadAnswer:
    """What one passage answers to one question."""

    spans: tuple[AnswerSpan, ...]  # best first; none of them overlaps another
    no_answer: float  # probability that the passage does not answer it


@dataclass(frozen=True)
class Reading:
    """One passage read for one question: judged, and searched for the answer."""

    verdict: Verdict
    answer: ReadAnswer
    tokens: int = 0  # read for it, the question's included


class Verification(NamedTuple):
    """Probabilities of what a piece of evidence says of a claim."""

    supports: float
    refutes: float
    not_enough: float


class Sorting(NamedTuple):
    """Probabilities of what a sentence of a user states."""

    world: float  # a fact of the world
    personal: float  # about themselves, their people and plans; also hearsay and opinions
    asks: float  # a question, or a request for an answer
    nothing: float  # chatter, thanks, a supposition, an instruction


class Relation(NamedTuple):
    """Probabilities of what a statement does to an earlier one of the same user."""

    same: float  # says it again
    replaces: float  # gives another value: the earlier one no longer holds
    ends: float  # the earlier one no longer holds, and nothing takes its place
    adds: float  # says more of the same thing
    unrelated: float


class Reader(Protocol):
    """A small model that judges, answers, verifies, sorts and relates. Calls compute; none of them waits."""

    @property
    def name(self) -> str:
        """Names the reader and its version."""

    def read(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[Reading]:
        """`judge` and `answer` at the price of one, in the order of the passages."""

    def judge(self, question: str, passages: Sequence[str]) -> list[Verdict]:
        """How useful each passage is for the question, in their order."""

    def answer(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[ReadAnswer]:
        """The `best` likeliest answers that each passage holds, in the order of the passages."""

    def answer_in(self, question: str, passage: str, places: Sequence[tuple[int, int]]) -> list[AnswerSpan]:
        """For each place of a passage the likeliest answer in it, with the probability that one is there."""

    def answer_log_probability(self, question: str, passage: str, answer: str) -> float:
        """Natural logarithm of p(answer | passage, question), over all places where it stands.

        Never less than a floor that the reader documents: that is also what an answer gets that
        stands nowhere in the passage.
        """

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        """What the evidence says of the claim, for each pair of claim and evidence."""

    def sort(self, sentences: Sequence[str]) -> list[Sorting]:
        """What each sentence of a user states."""

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        """What a statement does to an earlier one, for each pair of them."""


@dataclass(frozen=True)
class Source:
    """A passage as it is put before the model, under the number it is cited by."""

    number: int  # from 1
    passage: Passage


@dataclass(frozen=True)
class Exchange:
    """An earlier message of the conversation and its answer."""

    message: str
    standalone: str  # the message as it was searched with
    answer: str
    turn_id: int = 0
    at: datetime | None = None  # when the message was accepted
    sources: tuple[Source, ...] = ()  # that stood above the message, those that may still be seen


@dataclass(frozen=True)
class AugmentedQuery:
    """A query to search with, and how it came about."""

    text: str
    strategy: str  # original, or how it came about
    rewritten: Callable[[], str] = (
        str  # waits for the message as it stands alone; empty: not in time, or the same
    )
    standalone: str = ""  # that, where it was searched too


class QueryRewriter(Protocol):
    """Makes a follow-up question stand alone."""

    def begin(self, question: str, earlier: Sequence[tuple[str, str]]) -> Future[str]:
        """Empty where the question stands alone already, or after a failure.

        earlier: questions with their answers, oldest first.
        """

    def read_ahead(self, earlier: Sequence[tuple[str, str]]) -> object:
        """Reads what a next question will come after, so that less is left to read then."""
