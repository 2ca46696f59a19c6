"""How often the gate lets through what gains nothing, and what gains, over simulated months.

    python -m benchmarks.gate_power --work DIR [--months 100]

DIR holds the rankings that `python -m training.relevance DATA --work DIR --test locomo` keeps. Two orders of
the same candidates, the mix and the shipped weights, differ on each question by so much in R@5 and nDCG@10.
Without a gain the sides change places at random; with one, questions are drawn so that R@5 gains 3 points
and nDCG@10 2.5, as learning from confirmed citations does. Of 1,500 questions a month 900 are lessons. A
round has a block of new ones each time; beside it the rule of before: each fifth lesson, all of them again at
each round, and the 95 % interval above 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.retrieval.relevance import SHIPPED, Relevance
from assistant.learning.held_out.bootstrap import interval
from assistant.learning.held_out.ranking import ndcg_at, success_at
from assistant.learning.held_out.retrieval import Scored, Side, decided
from training.relevance import MIX, Ranking, rankings

Sides = npt.NDArray[np.float64]  # (N, 2, 2): of each question the mix and the weights, R@5 and nDCG@10

LESSONS, BLOCKS, FIFTH = 900, (30, 50, 100, 150, 300), 5
SETS = "everyday train", "locomo"
GAINS = {"nothing": (0.0, 0.0), "R@5 +3.0, nDCG@10 +2.5": (0.03, 0.025)}


def sides(found: Sequence[Ranking], orders: Sequence[Relevance]) -> Sides:
    """Of the questions with an answer among their candidates."""

    def side(ranking: Ranking, order: Relevance) -> tuple[float, float]:
        names = [str(place) for place in ranking.order(order)]
        right = {str(place) for place in np.flatnonzero(ranking.evidence >= 0)}
        return success_at(names, right, 5), ndcg_at(names, dict.fromkeys(right, 1.0), 10)

    known = [ranking for ranking in found if (ranking.evidence >= 0).any()]
    return np.array([[side(ranking, order) for order in orders] for ranking in known])


def chances(pool: Sides, gains: Sequence[float]) -> npt.NDArray[np.float64]:
    """How probably each question is drawn, so that the mean gains are these; the nearest to all alike."""
    differences = pool[:, 1] - pool[:, 0]

    tilt = np.zeros(2)
    for _ in range(100):  # Newton's steps
        exponents = differences @ tilt
        drawn: npt.NDArray[np.float64] = np.exp(exponents - exponents.max())
        drawn /= drawn.sum()
        missing = np.array(gains) - drawn @ differences
        tilt += np.linalg.solve(np.cov(differences.T, aweights=drawn, bias=True), missing)
    if abs(missing).max() > 1e-6:
        raise ValueError(f"no tilt has the gains {gains}")
    return drawn


def month(
    pool: Sides, drawn: npt.NDArray[np.float64], block: int, random: np.random.Generator
) -> Iterator[tuple[bool, bool]]:
    """Of each round: whether the gate promotes, and whether the rule of before did."""
    before = np.zeros(0)
    for number in range(LESSONS // block):
        asked = pool[random.choice(len(pool), block, p=drawn)]
        each = [
            Scored("", "", Side(live[0], live[0], live[1]), Side(new[0], new[0], new[1]))
            for live, new in asked
        ]
        before = np.concatenate([before, (asked[:, 1, 1] - asked[:, 0, 1])[: block // FIFTH]])
        was = len(before) >= 30 and interval(before, seed=number, resamples=2_000)[0] > 0
        yield decided(each, seed=number).promotion.is_promoted, was


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--months", type=int, default=100)
    told = parser.parse_args()
    print(f"| set | gain | block | months of {told.months} with a promotion | by the rule of before |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name in SETS:
        one_way = sides(rankings(name, Path(), told.work), (MIX, Relevance.read(SHIPPED)))
        pool = np.concatenate([one_way, one_way[:, ::-1]])
        for gain, wanted in GAINS.items():
            drawn = chances(pool, wanted)
            for block in BLOCKS:
                random = np.random.default_rng(block)
                rounds = [list(month(pool, drawn, block, random)) for _ in range(told.months)]
                now, before = (sum(any(r[rule] for r in each) for each in rounds) for rule in (0, 1))
                print(f"| {name} | {gain} | {block} | {now} | {before} |", flush=True)


if __name__ == "__main__":
    main()
