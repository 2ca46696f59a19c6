"""What a question asks for of what somebody has one of, and how a sentence of a user gives it.

Plainly, as their own word; at times, as what holds on some days or for a while; or by hearsay, as somebody
else's: "My brother says that I live in Oslo."
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from agents.hearsay import hearsay, only_supposed
from agents.relations.comparison import exchange_of
from agents.relations.limits import as_answers, without_limits
from agents.relations.possessions import is_of_possession
from agents.relations.questions import Asked, asked, gives
from agents.sentences import sentences

Giving: TypeAlias = Literal["plainly", "at times", "by hearsay"]
GIVINGS: tuple[Giving, ...] = ("plainly", "at times", "by hearsay")  # what answers best, first


MOST_OF_A_GROUP = 8  # statements that are quoted where all of a group is asked for


def asks_for_a_group(asking: Sequence[Asked]) -> bool:
    """Whether all that somebody has of a group is asked for: their pets, the languages that they speak."""
    return any(one.group for one in asking)


def asked_for(question: str) -> list[Asked]:
    """The things of somebody that a question asks for; none where it is not understood."""
    return [one for sentence in sentences(question) if (one := asked(sentence.text)) is not None]


def how_it_gives(sentence: str, asking: Sequence[Asked]) -> Giving | None:
    """How a sentence gives something that is asked for; None where it does not.

    "My daughter Giulia says that it rains." names the daughter plainly.
    """
    heard = hearsay(sentence)
    how: Giving | None = None
    own = sentence if heard is None else heard.lead
    if _gives_any([own, *as_answers(own)], asking):
        how = "plainly"
    elif heard is None and _gives_any([without_limits(own)], asking):
        how = "at times"
    elif heard is not None and any(gives(heard.said, one) for one in asking):
        how = "by hearsay"
    return how if how is None or only_supposed(sentence) is None else None  # last: it costs most


def _gives_any(said: Sequence[str], asking: Sequence[Asked]) -> bool:
    return any(gives(each, one) for each in said if each for one in asking)


def may_be_meant(sentence: str, asking: Sequence[Asked]) -> bool:
    """Whether a sentence tells of an exchange that may be of the kind that is asked for, and does not say so.

    "What car do I have?", "I swapped my Skoda for a Fiat."
    """
    if not any(is_of_possession(name) for one in asking for name in one.names):
        return False
    exchange = exchange_of(sentence)
    return exchange is not None and not exchange.kind and bool(exchange.come)
