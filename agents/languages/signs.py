"""What a small head says of a message at once, in any of sixteen languages: a first opinion, not a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agents.base.interfaces import Sorting

LABELS = tuple(
    "self world plan irreal reported ask_own ask_other ask_tool "
    "forget correct remember undo wish talk text".split()
)  # data/messages/README.md says what each is
ASKING = ("ask_own", "ask_other", "ask_tool")
ORDERS = ("forget", "correct", "remember", "undo")  # to the memory
SEVERAL = ("all", "count", "latest")  # of what its user told; data/lists/README.md says what each is
# From here on the likeliest is taken for one: of the dev part of data/messages 38 of 46 that want something
# done, and one other message of 238; of what is said and asked in dev conversations two messages of 1,254.
ORDER_FROM = 0.12
# From here on a question asks for several statements, where no single one surely answers: of the dev part of
# data/lists 88 % do, of the questions in the dev parts of data/everyday and data/lookalikes 8 %.
SEVERAL_FROM = 0.2
OF_THE_USER = ("self", "plan", "reported", "remember", "correct", "wish")


@dataclass(frozen=True)
class Signs:
    """Probabilities of what one message or sentence is."""

    labels: Mapping[str, float]  # each of LABELS; they add up to 1
    orders: Mapping[str, float]  # each of ORDERS, by a head of its own; the rest is that it is none
    profile: float  # belongs to what always goes with a question: identity, constraint, standing wish
    secret: float  # holds a password, code, key, or number of a card or account
    several: Mapping[str, float] = field(default_factory=dict)  # each of SEVERAL; the rest: it asks for one
    open: float = 0.0  # asks for what is not done, over or ended

    @property
    def label(self) -> str:
        """The likeliest."""
        return max(self.labels, key=lambda label: self.labels[label])

    def of(self, labels: Sequence[str]) -> float:
        """Probability that it is one of these."""
        return sum(self.labels[label] for label in labels)

    @property
    def asks_for_several(self) -> float:
        """Probability that it asks for several statements."""
        return sum(self.several.values())

    @property
    def order(self) -> str | None:
        """What it tells the memory to do: one of ORDERS, or None."""
        likeliest = max(self.orders, key=lambda order: self.orders[order])
        return likeliest if self.orders[likeliest] >= ORDER_FROM else None

    @property
    def sorting(self) -> Sorting:
        """What it states, as the reader's head for English says it."""
        world, personal, asks = self.labels["world"], self.of(OF_THE_USER), self.of(ASKING)
        return Sorting(world, personal, asks, 1 - world - personal - asks)


class Languages(Protocol):
    """Tells languages apart, and what messages are in any of them."""

    def is_english(self, text: str) -> bool:
        """Also of what is not surely another language, such as a number or a name."""

    def language(self, text: str) -> str:
        """ISO 639-1, of a text that is no English."""

    def signs(self, texts: Sequence[str]) -> list[Signs]:
        """What each text is."""


def is_english(languages: Languages | None, text: str) -> bool:
    """Whether the built-in readers, which know English alone, can read a text. Without heads: always."""
    return languages is None or languages.is_english(text)
