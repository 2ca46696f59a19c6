"""What a chat model is asked, as plain records, and the protocol that all backends keep.

Texts that came from outside travel in fields of their own, never inside instructions.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, Self, TypeAlias

from agents.base.interfaces import Exchange
from agents.base.interfaces import Source as Source
from stores.base.wishes import Wish


@dataclass(frozen=True)
class ChatMessage:
    """One message to a chat model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Image:
    """An image that goes with a message."""

    path: str  # of its file
    media_type: str  # such as image/png
    data: bytes = field(repr=False)


def closed_object(**properties: object) -> dict[str, object]:
    """The JSON schema of an object with just these properties, as a strict server wants it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class LeftOut:
    """A passage or an earlier turn that did not fit into what the model can read."""

    kind: Literal["passage", "turn"]
    id: int  # of the passage's version, or of the turn
    tokens: int  # what it would have taken


@dataclass(frozen=True)
class DialogueState:
    """What the user wants, as far as their words name values of the knowledge base.

    source: Dual-Feedback, section 2: the constraints are those of the context so far.
    """

    base: str  # the knowledge base's name
    entities: int  # in it
    constraints: Mapping[str, str] = field(default_factory=dict)  # column to value; the user's latest of each
    meeting: int = 0  # entities that meet all of them
    focus: tuple[int, ...] = ()  # versions of the entities that are talked about, the latest first
    asks_for_more: bool = True  # the message names a value, or nothing is talked about yet
    limits: tuple[Wish, ...] = ()  # what is wanted besides: not a value, one of several, at most a number
    asked: tuple[str, ...] | None = None  # columns that the message asks for; None: nothing read it
    best: tuple[str, str] | None = None  # the column, and highest or lowest, by which the focus was chosen
    act: str = ""  # what the message does: find, count, ask or other
    unsure: tuple[str, ...] = ()  # words of the message that were not understood
    read: Mapping[str, Any] | None = None  # what a chat model read in the message, to be kept with its turn
    alone: str = ""  # where it counts: what it wants without what was wanted before, and how many meet that

    @property
    def wishes(self) -> list[Wish]:
        """All that is wanted."""
        return [Wish(column, "is", (value,)) for column, value in self.constraints.items()] + [*self.limits]

    @property
    def told(self) -> str:
        """The wishes, on one line."""
        return ", ".join(wish.told for wish in self.wishes)


@dataclass(frozen=True)
class Tabulated:
    """What was counted over the rows of a table, in a line, and the rows that it was made of.

    Without rows it says why nothing can be counted.
    """

    text: str
    rows: tuple[tuple[int, str], ...] = ()  # version of the passage, and the row as it stands there
    found_in: int = 0  # the version by which the table was found


@dataclass(frozen=True)
class Tools:
    """What a program offers the model, in the form of OpenAI's protocol; nothing of it is run here."""

    offered: tuple[Mapping[str, Any], ...]
    choice: object = None  # whether one is to be called, and which
    rounds: tuple[Mapping[str, Any], ...] = ()  # calls and results behind the message, the oldest first

    @property
    def parameters(self) -> dict[str, object]:
        """What is sent with a request besides its messages."""
        return {"tools": list(self.offered)} | ({} if self.choice is None else {"tool_choice": self.choice})


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
    before: str = ""  # the user's message before this one, from which a follow-up is understood
    history: tuple[Exchange, ...] = ()  # earlier exchanges that the messages hold, oldest first
    at: datetime | None = None  # when the message was accepted; None: now
    system: str = ""  # what always holds, as the instructions tell it
    state: DialogueState | None = None  # of a conversation over a knowledge base
    asks: bool = False  # it names the document that it asks of, so it asks, whatever its form
    outlines: bool = False  # it asks what stands there; the sources are its parts, in their order
    asked_of: int = 0  # sources, the first, that the message asks of: what was handed over or named
    all_of: int = 0  # parts that these are of
    gone_to: int = 0  # the last turn that is not sent; 0: all are
    seen: tuple[int, ...] = ()  # versions whose words the model sees under no number
    images: tuple[Image, ...] = ()  # that go with the message
    tools: Tools | None = None  # that the message's program offers
    is_written: bool = False  # by a model that writes and reads the conversation with its sources
    tabulated: Tabulated | None = None  # what was counted over the table that is found first

    @property
    def sent_of(self) -> tuple[int, int] | None:
        """Of what the message asks of, so many parts of so many; None where all of it is sent."""
        sent = min(self.asked_of, len(self.sources))
        return (sent, self.all_of) if sent < self.all_of else None

    @property
    def earlier(self) -> tuple[Source, ...]:
        """The sources of earlier messages, which keep their numbers."""
        return tuple(source for exchange in self.history for source in exchange.sources)


@dataclass(frozen=True)
class CutAtLimit:
    """The last item of a stream whose reply reached its longest length before the model was done."""

    tokens: int | None  # that length; None where only the server knows it
    repeats: bool = False  # it was stopped because it said the same again and again


@dataclass(frozen=True)
class Tokens:
    """What a server counted of requests and replies."""

    sent: int = 0
    written: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.sent + other.sent, self.written + other.written)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.sent - other.sent, self.written - other.written)

    def __bool__(self) -> bool:
        return bool(self.sent or self.written)


@dataclass(frozen=True)
class Thought:
    """What a model thinks before it answers: no part of its answer."""

    text: str
    is_all: bool = False  # what was taken for the answer so far was thinking as well


class CitingText(str):
    """A piece of a reply whose writer says what it cites: no number that stands in it is another citation."""

    __slots__ = ("cites", "command", "counts", "is_generated")
    cites: tuple[int, ...]  # numbers of sources, in the order of their citations
    counts: bool  # it ends with the number that it cites, shown by the order of first citations
    is_generated: bool  # by the dialogue generator, in words of its own
    command: str  # of the chat, that it offers; empty for none

    def __new__(
        cls,
        text: str,
        cites: Iterable[int] = (),
        *,
        counts: bool = False,
        is_generated: bool = False,
        command: str = "",
    ) -> Self:
        made = super().__new__(cls, text)
        made.cites, made.counts, made.is_generated = tuple(cites), counts, is_generated
        made.command = command
        return made


@dataclass(frozen=True)
class ContinuationScore:
    """How probable a model finds a given reply, token by token."""

    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]  # natural logarithms, of each token after all before it; 0 or less

    @property
    def total(self) -> float:
        """Log-probability that the reply begins with these tokens; its end is not part of it."""
        return math.fsum(self.log_probabilities)


Piece: TypeAlias = str | Thought | CutAtLimit  # of a reply; CutAtLimit is the last


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

    def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        """The reply piece by piece, and what is thought before it, where the backend parts the two.

        Ends normally only when the model said that it was done, or with a `CutAtLimit` where it reached its
        longest length; raises a `ModelError` otherwise. Cancelling the task that reads it ends the work at
        the backend. A model that quotes yields `CitingText`."""

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
