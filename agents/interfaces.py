"""What an agent may be given, as protocols over plain records.

Agents know these and nothing below them: no index, no database, no model library. Texts that came
from outside (passages, material, messages) travel in fields of their own, never inside instructions.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stores.records import Found, Passage

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
    ) -> Found:
        """What is nearest in meaning and in words, k of either, scored by both signals.

        query, vector: the same question as words and as a vector of this space's encoder version.
        without: versions not looked for. beside: of which passages the one before and after come along.
        """


class OwnSpace(Protocol):
    """What one user may search, looked up passage by passage, and what that user stated."""

    def statements(self, most: int) -> list[tuple[int, str]]:
        """The user's own live statements, newest first: version id and text. most: of the newest so many."""

    def replaced_statements(self, most: int) -> list[Passage]:
        """Earlier versions of the user's own live statements, those just before the live ones first."""

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
    personal: float  # a preference, or something about themselves
    nothing: float  # nothing to keep: a question, chatter, an instruction


class Reader(Protocol):
    """A small model that judges, answers, verifies and sorts. Every call computes; none of them waits."""

    @property
    def name(self) -> str:
        """Names the reader and its version."""

    def read(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[Reading]:
        """`judge` and `answer` at the price of one, in the order of the passages."""

    def judge(self, question: str, passages: Sequence[str]) -> list[Verdict]:
        """How useful each passage is for the question, in their order."""

    def answer(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[ReadAnswer]:
        """The `best` likeliest answers that each passage holds, in the order of the passages."""

    def answer_log_probability(self, question: str, passage: str, answer: str) -> float:
        """Natural logarithm of p(answer | passage, question), over all places where it stands.

        Never less than a floor that the reader documents: that is also what an answer gets that
        stands nowhere in the passage.
        """

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        """What the evidence says of the claim, for each pair of claim and evidence."""

    def sort(self, sentences: Sequence[str]) -> list[Sorting]:
        """What each sentence of a user states."""


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
class LeftOut:
    """A passage or an earlier turn that did not fit into what the model can read."""

    kind: Literal["passage", "turn"]
    id: int  # of the passage's version, or of the turn
    tokens: int  # what it would have taken


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
    left_out: tuple[LeftOut, ...] = ()  # what did not fit


@dataclass(frozen=True)
class CutAtLimit:
    """The last item of a stream whose reply reached its longest length before the model was done."""

    tokens: int | None  # that length; None where only the server knows it


@dataclass(frozen=True)
class ContinuationScore:
    """How probable a model finds a given reply, token by token."""

    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]  # natural logarithms, of each token after all before it; 0 or less

    @property
    def total(self) -> float:
        """Log-probability that the reply begins with these tokens; its end is not part of it."""
        return math.fsum(self.log_probabilities)


class ChatModel(Protocol):
    """Writes replies, and says how probable it finds a given one where its backend can.

    What is in a message is text: where the model runs in this process, no part of it can become a
    control token. A server decides that for itself.
    """

    @property
    def name(self) -> str:
        """As shown on screen and kept with each turn."""

    @property
    def can_score(self) -> bool:
        """Whether `log_probability` is to be had; a server is believed able until it has refused."""

    @property
    def context_tokens(self) -> int | None:
        """The most tokens that messages and reply may have together; None where there is no such limit.

        Asks no server. May load a model that runs in this process: not for the event loop.
        """

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, by the model's own tokenizer or else by a high estimate.

        Asks no server. May load a model that runs in this process: not for the event loop.
        """

    def stream(self, request: ReplyRequest) -> AsyncIterator[str | CutAtLimit]:
        """The reply piece by piece. Ends normally only when the model said that it was done, or with a
        `CutAtLimit` where it reached its longest length; raises a `ModelError` otherwise. Cancelling the
        task that reads it ends the work at the backend."""

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that fits a JSON schema of type object, after at most one repair.

        Raises `MalformedReply` when it still does not fit.
        """

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """The one of these replies that the model gives. choices: at least one, none twice, none empty.

        Raises `MalformedReply` where the model gave none of them, also after one repair.
        """

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """How probable the model finds it that its reply to these messages begins with `continuation`.

        Raises `NoLogProbabilities` where the backend has none.
        """

    async def aclose(self) -> None:
        """Gives back connections, threads and memory. The next request takes them anew."""


@dataclass(frozen=True)
class Exchange:
    """An earlier message of the conversation and its answer."""

    message: str
    standalone: str  # the message as it was searched with
    answer: str
    turn_id: int = 0


@dataclass(frozen=True)
class AugmentedQuery:
    """A query to search with, and how it came about."""

    text: str
    strategy: str  # original, or standalone: completed from earlier turns
    reasons: tuple[str, ...] = field(default=())


Status: TypeAlias = Literal["correct", "incorrect", "unknown"]
Action: TypeAlias = Literal["add", "modify", "delete", "nothing"]


@dataclass(frozen=True)
class Said:
    """What a user said in one turn, with what stood around it.

    Only `message` is the user's; all else is context, from which nothing is ever claimed.
    """

    message: str
    earlier: tuple[Exchange, ...] = ()  # oldest first
    recalled: tuple[str, ...] = ()  # texts of passages that the user had been shown before
    answer: str = ""  # the assistant's, to this message
    undone: tuple[str, ...] = ()  # what was learned from the earlier messages and taken back since
    known: tuple[str, ...] = ()  # the user's newest statements that hold, which a correction may mean


@dataclass(frozen=True)
class Claim:
    """One thing a user stated, understood without its conversation."""

    text: str
    quote: str  # the words of the message it rests on, as they stand there
    kind: Literal["fact", "preference"]
    about: Literal["world", "user"]
    is_hearsay: bool = False  # what the user says that somebody else says


@dataclass(frozen=True)
class Evidence:
    """A passage beside a claim, and what it says of it."""

    passage: Passage
    similarity: float  # cosine of claim and passage
    supports: float  # probabilities; the rest is that it says nothing of the claim
    refutes: float


@dataclass(frozen=True)
class Weighed:
    """A claim's verdict, with all that it rests on."""

    status: Status
    confidence: float  # of the status, 0 to 1
    evidence: tuple[Evidence, ...] = ()  # the most telling first
    prior: str = ""  # what the chat model wrote on the topic, without retrieval; a reader has none
    is_decided_by_prior: bool = False
    by: str = ""  # names the model and its version
    mode: Literal["knowledge", "direct"] = "knowledge"

    @property
    def decisive(self) -> Evidence | None:
        """The passage that decided; None where none did."""
        decides = self.status != "unknown" and not self.is_decided_by_prior
        return self.evidence[0] if decides and self.evidence else None


@dataclass(frozen=True)
class Curation:
    """What is to be done about a claim in the space it goes to."""

    action: Action
    passage: Passage | None = None  # what is modified or deleted; with nothing: what says it already
    text: str = ""  # of the new version; empty for delete and nothing
    reason: str = ""  # in a person's words


class Summarizer(Protocol):
    """Finds what a user stated."""

    @property
    def name(self) -> str:
        """Names the model and its version."""

    async def summarize(self, said: Said) -> list[Claim]:
        """The claims of the message, in its order; mostly none.

        Raises a `ModelError` where a chat model cannot be asked or gives no usable reply.
        """


class Discriminator(Protocol):
    """Weighs a claim against evidence."""

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        """candidates: what was found for the claim among shared passages, best first.

        Raises a `ModelError` where a chat model cannot be asked or gives no usable reply.
        """


class Curator(Protocol):
    """Decides what a claim changes in the space it goes to."""

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """nearest: the passages of the target space that are nearest to the claim, with their cosines.

        Raises a `ModelError` where a chat model cannot be asked or gives no usable reply.
        """
