"""95 % intervals over questions where there are several seeds: how the figures would vary on other questions.

    rows of all seeds -> by question: sum and count -> questions drawn again (bootstrap) -> mean of their rows

The interval over seeds tells what chance did in the runs; where all seeds agree it is a point, however few
questions there were. A question is drawn with its rows of all seeds, since those are no questions of
their own; of a gain these rows are differences from frozen, hence paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from assistant.replay.metrics.figures import Played, Row, differences, slices

_RESAMPLES = 2_000
_SEED = 1
_DRAWN_AT_ONCE = 250_000

Ends = tuple[float, float]
Numbers = npt.NDArray[np.float64]


def over_questions(runs: Sequence[Played], measures: Sequence[str]) -> dict[str, dict[str, Ends]]:
    """By part of the stream, then by measure: the ends of the interval. runs: one a seed."""
    return _intervals(runs, measures, [played.rows for played in runs])


def gains_over_questions(
    runs: Sequence[Played], frozen: Sequence[Played], measures: Sequence[str]
) -> dict[str, dict[str, Ends]]:
    """As `over_questions`, of the differences from the frozen runs of the same seeds."""
    return _intervals(runs, measures, differences(runs, frozen))


def _intervals(
    runs: Sequence[Played], measures: Sequence[str], rows: Sequence[Sequence[Row]]
) -> dict[str, dict[str, Ends]]:
    parts = [slices(played) for played in runs]
    found: dict[str, dict[str, Ends]] = {}
    for name in parts[0]:
        for measure in measures:
            values: dict[str, list[float]] = {}
            for played, part, of_run in zip(runs, parts, rows, strict=True):
                for place in part.get(name, ()):
                    if measure in of_run[place]:
                        values.setdefault(played.ids[place], []).append(of_run[place][measure])
            if values:
                found.setdefault(name, {})[measure] = pooled_interval(values)
    return found


def pooled_interval(by_question: Mapping[str, Sequence[float]]) -> Ends:
    """The 95 % interval of the mean of all values, by bootstrap over questions; at least one has values."""
    known = [by_question[name] for name in sorted(by_question)]  # seeds may order questions differently
    sums: Numbers = np.array([sum(values) for values in known], dtype=np.float64)
    counts: Numbers = np.array([len(values) for values in known], dtype=np.float64)
    random = np.random.default_rng(_SEED)
    size = max(1, _DRAWN_AT_ONCE // len(known))
    means = []
    for done in range(0, _RESAMPLES, size):
        drawn = random.integers(0, len(known), (min(size, _RESAMPLES - done), len(known)))
        means.append(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
    return float(low), float(high)
