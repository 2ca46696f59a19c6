"""Limits of a replay's figures, as a person writes them: whether any replay could keep to them.

"reranked R@5" = 0.8, "last third/F1" = 0.4, "gain/all/F1" = 0.01
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from assistant.replay.datasets import ReplayQuestion
from assistant.replay.figures import ALL, THIRDS
from assistant.replay.measures import FEWER_IS_BETTER, MEASURES
from stores.errors import WrongUsage

GAIN = "gain"
_LEAST_PERCENT = 10  # a limit above 1 is meant as percent from here on


def parts_of(questions: Iterable[ReplayQuestion]) -> list[str]:
    """The parts of a stream that have figures of their own."""
    domains = dict.fromkeys(question.domain for question in questions)
    return [ALL, *THIRDS, *(domains if len(domains) > 1 else ())]


def check_limit(path: str, limit: float, *, parts: Sequence[str], has_gains: bool) -> None:
    """Raises `WrongUsage` for a figure that no replay has, and for a limit that no figure can be.

    parts: see `parts_of`. has_gains: a method is played beside the frozen one.
    """
    first, *others = [word.strip().casefold() for word in path.split("/")]
    words = others if first == GAIN else [first, *others]
    part, name = ([ALL, *words] if len(words) == 1 else [*words, "", ""])[:2]
    measure = next((known for known in MEASURES if known.casefold() == name), "")
    if not measure or len(words) > 2 or part not in [known.casefold() for known in parts]:
        raise WrongUsage(
            f"there is no figure {path!r}",
            hint=f"Measures are {', '.join(MEASURES)}; parts {', '.join(parts)}. As in F1, last third/F1, "
            "gain/all/F1.",
        )
    if first == GAIN and not has_gains:
        raise WrongUsage(f"{path!r} is a difference from frozen", hint="Name another --method beside it.")
    check_share(path, limit, is_share=measure not in FEWER_IS_BETTER)


def check_share(path: str, limit: float, *, is_share: bool = True) -> None:
    """Raises `WrongUsage` for a limit that is no number, and for one above 1 where the figure is a share."""
    if not math.isfinite(limit):
        raise WrongUsage(f"{path}={limit:g}: that is no limit")
    if is_share and limit > 1:
        percent = limit if _LEAST_PERCENT <= limit <= 100 else 80
        raise WrongUsage(
            f"{path}={limit:g}: that figure is a share from 0 to 1",
            hint=f"{percent:g} % is {percent / 100:g}.",
        )
