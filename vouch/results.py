"""What the methods of `Vouch` give back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Receipt:
    """Of one write, by which it can be undone."""

    id: int
    passage: int | None  # what was written; None where it is proposed for the shared memory
    text: str
    scope: str = "yours"


@dataclass(frozen=True)
class Found:
    """A passage that a search found."""

    passage: int
    text: str
    kind: str  # fact, preference, note, correction, message or document
    scope: str  # yours or shared
    title: str
    source: str  # where it came from, as a person would say it
    score: float  # higher is better
    created_at: datetime


@dataclass(frozen=True)
class Source:
    """A passage that an answer was made from."""

    number: int  # as the answer names it: [1]
    passage: int
    text: str
    scope: str
    title: str
    is_cited: bool


@dataclass(frozen=True)
class Answer:
    """An answer, with what it rests on and what its question taught."""

    turn: int
    session: int
    text: str
    sure: bool  # not merely the nearest that was found
    sources: tuple[Source, ...]
    receipts: tuple[Receipt, ...]  # of what the message stated, where it was remembered
    model: str = ""  # that answered
    tokens: tuple[int, int] | None = None  # sent and written, as the model's server counted; None: it did not
    is_cut: bool = False  # it reached its longest length before the model was done
    unreachable: str = ""  # why no chat model answered, and what was found is quoted instead


@dataclass(frozen=True)
class WhyRow:
    """A passage that was found for an answer."""

    passage: int
    name: str
    used: str  # [1]: cited; seen: put before the model; -: neither
    scope: str
    score: float
    judged: float | None  # 0 to 1: how far it helps to answer; None where nobody looked


@dataclass(frozen=True)
class Why:
    """What one answer was made from."""

    turn: int
    message: str
    query: str  # what was searched in place of the message; empty where it was searched as typed
    model: str
    found: tuple[WhyRow, ...]
    milliseconds: tuple[tuple[str, float], ...]  # of each step


@dataclass(frozen=True)
class Version:
    """One text that a passage has had."""

    number: int
    text: str  # empty where it was forgotten
    author: str
    created_at: datetime


@dataclass(frozen=True)
class Forgotten:
    """What is gone for good."""

    passages: tuple[int, ...]
    with_them: tuple[int, ...]  # what was learned from them
    told: tuple[str, ...]  # what still holds it, and where


@dataclass(frozen=True)
class Ingested:
    """What became of a document."""

    source: str
    change: str  # new, changed, moved or known; unread where it could not be read
    passages: int
    problem: str = ""  # why it could not be read
