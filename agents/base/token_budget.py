"""What of a request fits into what a model can read, decided by counting.

    message, instructions and reply are set aside -> earlier turns up to a share -> passages in rank order

Nothing is cut: a text goes in whole or stays out. The passages end at the first that does not fit, even
if a later, shorter one would: so what the model sees are always the best, and a larger budget never
takes one away. No conversation has a hole in it: what leaves it are its oldest turns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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


def fitting(costs: Sequence[int], budget: int) -> int:
    """How many from the start fit."""
    taken = 0
    for number, cost in enumerate(costs):
        if taken + cost > budget:
            return number
        taken += cost
    return len(costs)


def kept_from(costs: Sequence[int], room: int) -> int:
    """From which turn on a conversation is sent: the first, and once that is too long, in steps.

    costs: tokens of each turn, oldest first. room: tokens that earlier turns may take.
    A step takes half of the room away. Until that is filled anew the beginning stays the same, so that a
    server that keeps what it has read reads only what is new.
    """
    over = sum(costs) - max(0, room)
    if over <= 0:
        return 0
    step = max(1, room // 2)
    to_leave, left = -(-over // step) * step, 0
    for number, cost in enumerate(costs):
        if left >= to_leave:
            return number
        left += cost
    return len(costs)
