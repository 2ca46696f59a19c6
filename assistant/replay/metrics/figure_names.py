"""Figures of a replay, as a person names them: "reranked R@5", "last third/F1", "gain/all/F1"."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from assistant.replay.metrics.figures import ALL, THIRDS
from assistant.replay.metrics.measures import FEWER_IS_BETTER
from assistant.replay.streams.datasets import ReplayQuestion
from stores.base.errors import WrongUsage

GAIN = "gain"


@dataclass(frozen=True)
class FigureName:
    """Which figure is meant."""

    part: str
    measure: str
    is_gain: bool = False  # over the frozen one

    @staticmethod
    def read(path: str, parts: Collection[str], measures: Collection[str]) -> FigureName:
        """MEASURE, PART/MEASURE, gain/MEASURE or gain/PART/MEASURE; upper and lower case count as one.

        Raises `WrongUsage` for a part and for a measure that are not of these.
        """
        *before, word = [each.strip().casefold() for each in path.split("/")]
        is_gain = before[:1] == [GAIN]
        place = "/".join(before[is_gain:]) if before[is_gain:] else ALL
        measure = next((known for known in measures if known.casefold() == word), None)
        part = next((known for known in parts if known.casefold() == place), None)
        if measure is None or part is None:
            there_are = f"Measures are {', '.join(measures)}; parts {', '.join(parts)}."
            raise WrongUsage(
                f"there is no figure {path!r}", hint=f"{there_are} As in F1, last third/F1, gain/all/F1."
            )
        return FigureName(part, measure, is_gain)


def parts_of(questions: Iterable[ReplayQuestion]) -> list[str]:
    """The parts of a stream that have figures of their own."""
    domains = dict.fromkeys(question.domain for question in questions)
    return [ALL, *THIRDS, *(domains if len(domains) > 1 else ())]


_LEAST_PERCENT = 10  # a limit above 1 is meant as percent from here on


def check_limit(
    path: str, limit: float, *, parts: Collection[str], measures: Collection[str], has_gains: bool
) -> None:
    """Raises `WrongUsage` for a figure that a replay will not have, and for a limit that no figure can be.

    parts: see `parts_of`. measures: that may be told. has_gains: a method is played beside the frozen one.
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
