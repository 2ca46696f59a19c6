"""What a question asks for of what somebody has one of, and how a sentence of a user gives it.

Plainly, as their own word, or by hearsay, as somebody else's: "My brother says that I live in Oslo."
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from agents.hearsay import hearsay
from agents.relations.questions import Asked, asked, gives
from agents.sentences import sentences

Giving: TypeAlias = Literal["plainly", "by hearsay"]


def asked_for(question: str) -> list[Asked]:
    """The things of somebody that a question asks for; none where it is not understood."""
    return [one for sentence in sentences(question) if (one := asked(sentence.text)) is not None]


def how_it_gives(sentence: str, asking: Sequence[Asked]) -> Giving | None:
    """How a sentence gives something that is asked for; None where it does not.

    "My daughter Giulia says that it rains." names the daughter plainly.
    """
    heard = hearsay(sentence)
    if any(gives(sentence if heard is None else heard.lead, one) for one in asking):
        return "plainly"
    is_passed_on = heard is not None and any(gives(heard.said, one) for one in asking)
    return "by hearsay" if is_passed_on else None
