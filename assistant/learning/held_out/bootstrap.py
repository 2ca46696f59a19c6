"""Whether one system is better than another on the same questions, and whether it may take its place.

    scores of both, question by question -> differences -> mean, interval, chance -> promoted, or refused

The interval comes from drawing questions again, with replacement (Efron 1979; for retrieval, Sakai 2006):
both systems keep their pairs, so what makes a question hard for both does not widen it.

What decides is how often chance alone would give such a gain (Fisher 1935; for retrieval, Smucker et al.
2007), since an interval is too narrow where few questions differ. Every round has questions of its own to be
judged by, and may spend as much of the errors of a month as these are of its questions: so at most one in
twenty months sees a candidate go live that gains nothing, however many rounds it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]

RESAMPLES = 10_000
DRAWS = 20_000  # of signs
WRONG_A_MONTH = 0.05  # chance that something goes live in a month though nothing gains
A_MONTH = 1_500  # questions: fifty a day
_DRAWN_AT_ONCE = 250_000  # places of questions; more is slower, since they leave the cache
_NAMED = 3  # measures or slices, in a sentence that tells of all


@dataclass(frozen=True)
class Gain:
    """How far a candidate is above the live system, with its 95 % interval."""

    mean: float
    low: float
    high: float
    questions: int  # that it is the mean of
    chance: float = 1.0  # how often as much is gained by chance alone, 0 to 1


@dataclass(frozen=True)
class Promotion:
    """Whether a candidate goes live, and why in a person's words."""

    is_promoted: bool
    reason: str


class Share(NamedTuple):
    """So many of so many, with its 95 % interval; each 0 to 1."""

    value: float
    low: float
    high: float


def interval(differences: npt.ArrayLike, *, seed: int, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The 95 % interval of a mean, by bootstrap over questions.

    differences: (N,), at least one. Raises ValueError where there is none.
    """
    values: Scores = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"differences have shape {values.shape}, but must be (N,) with N of at least 1")
    random = np.random.default_rng(seed)
    rows = max(1, _DRAWN_AT_ONCE // len(values))  # drawn row by row, so their number changes no figure
    means = np.concatenate(
        [
            values[random.integers(0, len(values), (min(rows, resamples - done), len(values)))].mean(axis=1)
            for done in range(0, resamples, rows)
        ]
    )
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def share(some: npt.ArrayLike, every: npt.ArrayLike, *, seed: int, resamples: int = 2_000) -> Share | None:
    """Σ some / Σ every, with its interval by bootstrap over questions; None where there are none of any.

    some, every: (N,), counted for each question, some at most every. What is counted within a question hangs
    together, so questions are drawn.
    """
    counted: Scores = np.asarray([some, every], dtype=np.float64)
    if not counted[1].sum():
        return None
    drawn = np.random.default_rng(seed).integers(0, counted.shape[1], (resamples, counted.shape[1]))
    parts, wholes = counted[:, drawn].sum(axis=2)
    low, high = np.quantile(parts[wholes > 0] / wholes[wholes > 0], (0.025, 0.975))
    return Share(float(counted[0].sum() / counted[1].sum()), float(low), float(high))


def chance_of(differences: npt.ArrayLike, *, seed: int, draws: int = DRAWS) -> float:
    """How often differences of these sizes have such a mean, or a higher one, if each sign is drawn; 0 to 1.

    differences: (N,). A paired randomisation test, one-sided: it holds for any N, however they are spread.
    """
    values: Scores = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    random = np.random.default_rng(seed)
    rows = max(1, _DRAWN_AT_ONCE // max(1, len(values)))
    least = values.sum() - 1e-9  # sums in another order
    reached = 0
    for done in range(0, draws, rows):
        signs = random.integers(0, 2, (min(rows, draws - done), len(values)), dtype=np.int8) * 2 - 1
        reached += int((signs @ values >= least).sum())
    return (1 + reached) / (1 + draws)


def allowed_chance(questions: int) -> float:
    """The chance at which a round with so many questions of its own may be wrong."""
    return min(WRONG_A_MONTH, WRONG_A_MONTH * questions / A_MONTH)


def paired_gain(
    candidate: Sequence[float],
    live: Sequence[float],
    *,
    seed: int,
    threshold: float = 0.0,
    resamples: int = RESAMPLES,
) -> Gain:
    """The mean difference of two systems, higher is better for the candidate.

    candidate, live: a score a question, in the same order. threshold: its `chance` is of gaining more than
    this. Raises ValueError where their numbers differ, there is none, or one is not finite.
    """
    if len(candidate) != len(live):
        raise ValueError(f"{len(candidate)} scores of the candidate, but {len(live)} of the live system")
    differences: Scores = np.asarray(candidate, dtype=np.float64) - np.asarray(live, dtype=np.float64)
    if not np.isfinite(differences).all():
        raise ValueError("a score is not a finite number")
    low, high = interval(differences, seed=seed, resamples=resamples)
    chance = chance_of(differences - threshold, seed=seed)
    return Gain(float(differences.mean()), low, high, len(differences), chance)


def promotion(
    gains: Mapping[str, Gain],
    earlier: Mapping[str, Gain],
    *,
    threshold: float = 0.0,
    margin: float = 0.01,
    fewest_questions: int = 30,
) -> Promotion:
    """Promoted where every gain is hardly chance and no slice surely drops too much.

    gains: by measure ("R@5", "nDCG@10"), over all held-out questions: above `threshold`, and its `chance`,
    which is to be of the same threshold, at most `allowed_chance`. earlier: by slice (a domain, a month; of
    several measures one entry each): its mean must not lie more than `margin` below 0, unless its interval
    reaches 0. With fewer than `fewest_questions` little is known: refused. Both limits are shares, 0 to 1.
    Raises ValueError where a limit is below 0 or there is no measure.
    """
    if min(threshold, margin) < 0:
        raise ValueError(f"threshold {threshold} and margin {margin} must be 0 or more")
    if not gains:
        raise ValueError("there is no measure to decide by")
    against = [
        *_too_few(gains, fewest_questions),
        *_unproven(gains, threshold),
        *_lost(earlier, margin),
    ]
    if against:
        return Promotion(False, f"Refused: {'; '.join(against)}.")
    gained = ", ".join(f"{name} {_shown(gain)}" for name, gain in gains.items())
    kept = f", and {_named(list(earlier))} lost no more than {_points(margin)}" if earlier else ""
    return Promotion(True, f"Promoted: {gained}{kept}.")


def _named(names: Sequence[str]) -> str:
    """The first three by name, and how many there are besides."""
    shown, others = list(names[:_NAMED]), len(names) - _NAMED
    last = f"{others} more" if others > 0 else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last


def _too_few(gains: Mapping[str, Gain], fewest: int) -> list[str]:
    return [
        f"{name} was measured on {gain.questions} questions, fewer than {fewest}"
        for name, gain in gains.items()
        if gain.questions < fewest
    ]


def _unproven(gains: Mapping[str, Gain], threshold: float) -> list[str]:
    """Those that chance may give, and how near they are; one that is not a number is not proven."""
    return [
        f"{name} {_shown(gain)} is not surely above {_points(threshold)} ({_near(gain)})"
        for name, gain in gains.items()
        if not (gain.mean > threshold and gain.chance <= allowed_chance(gain.questions))
    ]


def _near(gain: Gain) -> str:
    if not gain.mean > 0:
        return "nothing is gained"
    once, allowed = (max(1, int(1 / share)) for share in (gain.chance, allowed_chance(gain.questions)))
    return f"chance gives as much once in {once} rounds; at most once in {allowed} is let through"


def _lost(earlier: Mapping[str, Gain], margin: float) -> list[str]:
    return [
        f"it lost {_points(-gain.mean)} on {name} ({gain.questions} questions), more than {_points(margin)}"
        for name, gain in earlier.items()
        if not (gain.mean >= -margin or gain.high >= 0 or math.isclose(gain.mean, -margin))
    ]


def _shown(gain: Gain) -> str:
    low, high = f"{100 * gain.low:+.2f}", f"{100 * gain.high:+.2f}"
    return f"{100 * gain.mean:+.2f} points [{low}, {high}]"


def _points(share: float) -> str:
    return f"{100 * share:.2f} points"
