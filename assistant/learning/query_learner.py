"""What the query model is trained on: follow-ups, and what each of several ways to write them found.

follow-up -> ways to make it stand alone, drawn by the shipped model -> each searched with -> 1 / rank
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from assistant.learning.shipped_learner import Rows, Tell
from stores.learning.follow_ups import FollowUp

WAYS = 6  # of a question that are tried, at most

Earlier: TypeAlias = Sequence[tuple[str, str]]  # questions and answers, oldest first


def rows_of(
    follow_ups: Sequence[FollowUp],
    tell: Tell,
    *,
    earlier: Callable[[FollowUp], Earlier],
    ways: Callable[[FollowUp], Sequence[str]],
    found: Callable[[FollowUp, str], float],
) -> Rows:
    """A follow-up each. ways: to make it stand alone, none twice. found: 1 / rank; of "" as it was typed."""
    for done, each in enumerate(follow_ups):
        tell(done, len(follow_ups))
        yield {
            "measured": each.tells_when_to_end,
            "question": each.question,
            "earlier": earlier(each),
            "own": found(each, ""),
            "ways": [(way, found(each, way)) for way in ways(each)],
        }
