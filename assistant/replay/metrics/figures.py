"""What many questions come to: means with 95 % intervals, by part of the stream, and differences from frozen.

    figures of each question -> mean of each seed -> mean and interval over seeds (Student's t)
                                                     with one seed: over its questions (bootstrap)

Differences are paired: of each question, what a method gave less what the frozen one gave.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from assistant.learning.held_out.bootstrap import interval

ALL = "all"
THIRDS = ("first third", "second third", "last third")
_RESAMPLES = 2_000
_BOOTSTRAP_SEED = 1
# 97.5 % points of Student's t, of 1 to 30 degrees of freedom; beyond them the normal's will do
_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL = 1.960

Row = Mapping[str, float]  # measures of one question


@dataclass(frozen=True)
class Estimate:
    """A mean, with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Played:
    """The questions of one run, in the order of the stream."""

    ids: Sequence[str]
    domains: Sequence[str]
    rows: Sequence[Row]


def slices(played: Played) -> dict[str, list[int]]:
    """The places of the stream by part: all of it, its thirds, and its domains where there are several."""
    count = len(played.rows)
    cuts = [0, count // 3, 2 * count // 3, count]
    parts = {ALL: list(range(count))}
    parts |= {name: list(range(cuts[i], cuts[i + 1])) for i, name in enumerate(THIRDS)}
    by_domain: dict[str, list[int]] = defaultdict(list)
    for place, domain in enumerate(played.domains):
        by_domain[domain].append(place)
    if len(by_domain) > 1:
        parts |= dict(by_domain)
    return {name: places for name, places in parts.items() if places}


def estimate(by_seed: Sequence[Sequence[float]]) -> Estimate | None:
    """The mean of several seeds, or of one seed's questions; None where a seed has no value."""
    if not by_seed or not all(by_seed):
        return None
    means = [fmean(values) for values in by_seed]
    mean = fmean(means)
    if len(means) > 1:
        freedom = len(means) - 1
        wide = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _NORMAL
        half = wide * stdev(means) / math.sqrt(len(means))
        return Estimate(mean, mean - half, mean + half)
    low, high = interval(by_seed[0], seed=_BOOTSTRAP_SEED, resamples=_RESAMPLES)
    return Estimate(mean, low, high)


def means(runs: Sequence[Played], measures: Sequence[str]) -> dict[str, dict[str, Estimate]]:
    """By part of the stream, then by measure, over the seeds of one method."""
    return _estimated(runs, measures, [played.rows for played in runs])


def gains(
    runs: Sequence[Played], frozen: Sequence[Played], measures: Sequence[str]
) -> dict[str, dict[str, Estimate]]:
    """As `means`, of the differences from the frozen runs of the same seeds.

    Raises ValueError where a pair of runs did not ask the same.
    """
    return _estimated(runs, measures, _differences(runs, frozen))


def _differences(runs: Sequence[Played], frozen: Sequence[Played]) -> list[list[dict[str, float]]]:
    found = []
    for played, base in zip(runs, frozen, strict=True):
        if played.ids != base.ids:
            raise ValueError("two runs of one seed asked different questions")
        pairs = zip(played.rows, base.rows, strict=True)
        found.append([{m: row[m] - old[m] for m in row.keys() & old.keys()} for row, old in pairs])
    return found


def _estimated(
    runs: Sequence[Played], measures: Sequence[str], rows: Sequence[Sequence[Row]]
) -> dict[str, dict[str, Estimate]]:
    parts = [slices(played) for played in runs]
    found: dict[str, dict[str, Estimate]] = {}
    for name in parts[0]:
        for measure in measures:
            values = [
                [of_run[place][measure] for place in part.get(name, ()) if measure in of_run[place]]
                for part, of_run in zip(parts, rows, strict=True)
            ]
            if (known := estimate(values)) is not None:
                found.setdefault(name, {})[measure] = known
    return found
