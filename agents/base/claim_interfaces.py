"""What a user stated, on its way to becoming knowledge: its records, and who finds, weighs and places it.

    Said -> [Summarizer] -> Claim -> [Discriminator] -> Weighed -> [Curator] -> Curation, links

In brackets who does it: each is a protocol with a reader's and a chat model's implementation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from agents.base.interfaces import Candidate, Exchange
from stores.base.passages import Passage
from stores.base.statement_links import NewLink

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


@dataclass(frozen=True)
class Claim:
    """One thing a user stated, as they said it."""

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
    """What is to be done about a claim in the memory it goes to."""

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


@runtime_checkable
class JoiningSummarizer(Summarizer, Protocol):
    """A summarizer that takes several messages at once."""

    async def summarize_together(self, said: Sequence[Said]) -> list[list[Claim]]:
        """The claims of each message; as `summarize`."""


class Discriminator(Protocol):
    """Weighs a claim against evidence."""

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        """candidates: what was found for the claim among shared passages, best first.

        Raises a `ModelError` where a chat model cannot be asked or gives no usable reply.
        """


class Curator(Protocol):
    """Decides what a claim does to what is known."""

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """What it changes in the shared memory. nearest: the shared passages that are nearest to it.

        Raises a `ModelError` where a chat model cannot be asked or gives no usable reply.
        """

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        """What it does to its user's own statements, and they to it. Nothing is known already, or gone.

        nearest: the statements. later: versions of those that were told after the claim. Raises as `curate`.
        """
