"""What of a request fits into what a model can read, decided by counting.

    message, instructions and reply are set aside -> passages in rank order -> earlier turns, newest first

Nothing is cut: a text goes in whole or stays out. The passages end at the first that does not fit, even
if a later, shorter one would: so what the model sees are always the best, and a larger budget never
takes one away. The earlier turns have what the passages left, and end in the same way, so that no
conversation has a hole in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MESSAGE_TOKENS = 8  # what a chat template puts around one message, at most
TEMPLATE_TOKENS = 32  # what it puts around all of them: a date, the opening of the reply

_LETTERS_A_TOKEN = 3  # of ASCII; in running English a token has four to five
_BYTES_A_TOKEN = 2  # of UTF-8 beyond ASCII; emoji and other rare signs have a token a byte
_PARTS = re.compile(r"[A-Za-z]+|[\x80-\uffff]+|[^\x00-\uffff]+| +|.", re.DOTALL)


def estimated_tokens(text: str) -> int:
    """How many tokens a text has at most, or nearly so, where the model's own tokenizer is not at hand.

    A word costs a token for every three letters begun, a digit or sign one, a letter beyond ASCII one for
    every two bytes, an emoji four; a single space is free and a run of them costs one. It is an estimate,
    mostly above the true count.
    """
    return sum(_cost(part) for part in _PARTS.findall(text))


def _cost(part: str) -> int:
    first = part[0]
    if first == " ":
        return int(len(part) > 1)
    if not first.isascii():
        size = len(part.encode("utf-8", "surrogatepass"))
        return size if first > "\uffff" else -(-size // _BYTES_A_TOKEN)
    return -(-len(part) // _LETTERS_A_TOKEN)


@dataclass(frozen=True)
class Fitted:
    """How much goes before the model."""

    passages: int  # so many of the best
    turns: int  # so many of the newest
    tokens: int  # of these together


def fit(*, budget: int, passages: Sequence[int], turns: Sequence[int]) -> Fitted:
    """The best passages, and then the newest turns, that take `budget` tokens at most.

    passages: the tokens of each, best first. turns: the tokens of each earlier turn, newest first.
    """
    kept_passages, taken = _prefix(passages, budget)
    kept_turns, taken_by_turns = _prefix(turns, budget - taken)
    return Fitted(kept_passages, kept_turns, taken + taken_by_turns)


def _prefix(costs: Sequence[int], budget: int) -> tuple[int, int]:
    """How many from the start fit, and what they take."""
    taken = 0
    for number, cost in enumerate(costs):
        if taken + cost > budget:
            return number, taken
        taken += cost
    return len(costs), taken
