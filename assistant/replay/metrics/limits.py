"""Limits of a replay's figures, as a person writes them: whether this replay could keep to them.

"reranked R@5" = 0.8, "last third/F1" = 0.4, "gain/all/F1" = 0.01
"""

from __future__ import annotations

import math
from collections.abc import Collection

from assistant.replay.metrics.figure_names import FigureName
from assistant.replay.metrics.measures import FEWER_IS_BETTER
from stores.base.errors import WrongUsage

_LEAST_PERCENT = 10  # a limit above 1 is meant as percent from here on


def check_limit(
    path: str, limit: float, *, parts: Collection[str], measures: Collection[str], has_gains: bool
) -> None:
    """Raises `WrongUsage` for a figure that a replay will not have, and for a limit that no figure can be.

    parts: see `parts_of`. measures: see `measures_of`. has_gains: a method is played beside the frozen one.
    """
    name = FigureName.read(path, parts, measures)
    if name.is_gain and not has_gains:
        raise WrongUsage(f"{path!r} is a difference from frozen", hint="Name another --method beside it.")
    check_share(path, limit, is_share=name.measure not in FEWER_IS_BETTER)


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
