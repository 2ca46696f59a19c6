"""What a turn tells those who watch it, in the order in which it happens.

Accepted, Searched, Chosen, Thinks ..., Wrote ..., Finished

The host adds what it alone knows: `NoWord` between `Accepted` and the first `Wrote`; behind a `Finished` that
is not the last, `Busy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from agents.base.chat_interfaces import CutAtLimit, LeftOut, Source
from agents.base.interfaces import AugmentedQuery, Candidate
from stores.base.errors import VouchError


@dataclass(frozen=True)
class Accepted:
    """The message is durable."""

    turn_id: int
    session_id: int


@dataclass(frozen=True)
class Searched:
    """Passages were found."""

    query: AugmentedQuery
    candidates: tuple[Candidate, ...]  # best first


@dataclass(frozen=True)
class Chosen:
    """These passages are put before the model; a reply that only quotes numbers them anew."""

    sources: tuple[Source, ...]
    model: str
    left_out: tuple[LeftOut, ...] = ()  # passages and earlier turns that did not fit into its context
    unreachable: VouchError | None = None  # why no chat model answers; what was found is quoted instead


@dataclass(frozen=True)
class Wrote:
    """A piece of the reply, fit for a screen."""

    text: str


@dataclass(frozen=True)
class Thinks:
    """A piece of what the model thinks before it answers. is_all: what it wrote so far belongs to it."""

    text: str
    is_all: bool = False


@dataclass(frozen=True)
class Finished:
    """The turn is durable as it ended."""

    turn_id: int
    state: str  # done, stopped or failed
    answer: str
    cited: tuple[Source, ...]  # in the order of their first citation
    invented: tuple[int, ...]  # citation numbers that stand for no source
    seconds: float
    error: VouchError | None = None  # why it failed
    cut: CutAtLimit | None = None  # the answer reached its longest length before the model was done
    unreachable: VouchError | None = None  # why no chat model answered; what was found is quoted instead
    sources: tuple[Source, ...] = ()  # all that were put before the model, as the answer numbers them
    command: str = ""  # of the chat, that the answer offers to an order; its own models alone offer any
    sent_of: tuple[int, int] | None = None  # of what was asked of, so many parts of so many; None: all of it


@dataclass(frozen=True)
class NoWord:
    """Nothing of a reply has come for so long; told once a second."""

    seconds: float  # since the message is durable
    asked_seconds: float  # since the model was asked; 0.0 before


@dataclass(frozen=True)
class Busy:
    """The model refused for now, and is asked again; told once a second, and at last with nothing left."""

    left: int  # seconds until then
    whole: int  # seconds of this wait


Event: TypeAlias = Accepted | Searched | Chosen | Wrote | Thinks | Finished | NoWord | Busy
