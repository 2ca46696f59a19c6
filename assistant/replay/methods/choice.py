"""Which method a replay plays, from the word that a person writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stores.base.errors import WrongUsage

FROZEN = "frozen"  # what all others are compared with
OF_DIALOGUES = "dual-feedback"  # the one that replies over a knowledge base, and searches nothing
EVO, CAUTIOUS = "evo", "evo-cautious"  # those that train the judge, which is the frozen one's too
FLOWRAG = "flowrag"  # the one that takes each set for a collection; all beside it learn when a set ends
OF_FOLLOW_UPS = "unirag"  # the one that makes follow-ups stand alone, in conversations
ALONE = {OF_DIALOGUES: "dialogues", OF_FOLLOW_UPS: "conversations"}  # what these play, and nothing beside it
METHODS = (FROZEN, "luf", EVO, CAUTIOUS, FLOWRAG, *ALONE)
# Methods of experiments/, by kind: each raises `WrongUsage` for words behind a colon that it cannot take
OTHERS: dict[str, Callable[[str], object]] = {}


@dataclass(frozen=True)
class MethodChoice:
    """One method, as it is to be played."""

    kind: str  # of METHODS or OTHERS
    how: str = ""  # what stands behind a colon, as in luf:strict; of OTHERS alone

    @staticmethod
    def read(text: str) -> MethodChoice:
        """Raises `WrongUsage` for what is no method."""
        kind, _, how = text.partition(":")
        if kind in OTHERS:
            OTHERS[kind](how)
            return MethodChoice(kind, how)
        if text not in METHODS:
            hint = f"There are {', '.join(dict.fromkeys((*METHODS, *OTHERS)))}."
            raise WrongUsage(f"there is no method {text!r}", hint=hint)
        return MethodChoice(kind)

    @property
    def label(self) -> str:
        """Names it in a report."""
        return f"{self.kind}:{self.how}" if self.how else self.kind
