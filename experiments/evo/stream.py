"""A stream of questions whose answers are cited and confirmed: python -m experiments.evo.stream --work DIR

    LoCoMo, conversation after conversation -> five shown a question -> a label -> rounds -> later questions

DIR is that of `training.relevance`, whose `--test locomo` keeps each question's candidates there. The order
that answers shows five of them, and the first that is evidence is confirmed with a probability of `--right`;
else another one is, by mistake. The rounds are those of the recipe of relevance, one for each hundred
questions that taught something; each is measured, without a gate, on all questions behind it, against the
fixed mix.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from agents.retrieval.relevance import Relevance
from assistant.learning.held_out.bootstrap import Scores, interval
from assistant.learning.held_out.ranking import ndcg_at
from assistant.learning.recipes.relevance.from_use import (
    DPO,
    RANKNET,
    Question,
    RelevanceTraining,
    learned,
    learned_by,
)
from training.relevance import MIX, Ranking, rankings

SHOWN = 5
MEASURED = 6  # one lesson in so many tells when to end
RECIPE = "recipe"


def confirmed(
    ranking: Ranking, relevance: Relevance, *, right: float, draw: random.Random
) -> list[bool | None]:
    """What a user says of the candidates: one that was shown helps, the others shown do not."""
    shown = [int(place) for place in ranking.order(relevance)[:SHOWN]]
    evidence = [place for place in shown if ranking.evidence[place] >= 0]
    others = [place for place in shown if ranking.evidence[place] < 0]
    chosen = evidence[:1] if draw.random() < right else draw.sample(others, min(1, len(others)))
    helps: list[bool | None] = [None] * len(ranking.told)
    for place in shown if chosen else ():
        helps[place] = place == chosen[0]
    return helps


def question(ranking: Ranking, helps: Sequence[bool | None], *, step: int, is_measured: bool) -> Question:
    """As the recipe's program reads it."""
    rows = tuple(map(tuple, ranking.rows.tolist()))
    told, asks = tuple(ranking.told.tolist()), tuple(ranking.asks.tolist())
    return Question(step, is_measured, rows, told, asks, tuple(helps))


def gains(relevance: Relevance, later: Sequence[Ranking]) -> dict[str, Scores]:
    """By measure, what each question gains over the fixed mix."""

    def ndcg(ranking: Ranking, by: Relevance) -> float:
        wanted = {str(i): 1.0 for i, number in enumerate(ranking.evidence) if number >= 0}
        return ndcg_at([*map(str, ranking.order(by))], wanted, 10) if wanted else 0.0

    return {
        "R@5": np.array([each.recall(relevance, 5) - each.recall(MIX, 5) for each in later]),
        "nDCG@10": np.array([ndcg(each, relevance) - ndcg(each, MIX) for each in later]),
    }


def played(
    stream: Sequence[Ranking], way: str, *, right: float, a_round: int, settings: RelevanceTraining
) -> Iterator[tuple[str, Mapping[str, Scores]]]:
    """A row and the gains of each round. way: the whole recipe, or one of its two losses alone."""
    draw, relevance = random.Random(settings.seed), MIX
    steps: list[list[Question]] = [[]]
    for number, ranking in enumerate(stream, start=1):
        helps = confirmed(ranking, relevance, right=right, draw=draw)
        if True not in helps:
            continue
        is_measured = draw.random() < 1 / MEASURED
        steps[-1].append(question(ranking, helps, step=len(steps) - 1, is_measured=is_measured))
        if len(steps[-1]) < a_round or number == len(stream):
            continue
        began, chosen = time.process_time(), way
        if way == RECIPE:
            found = learned(MIX, [each for some in steps for each in some], settings)
            relevance, chosen = found.relevance, f"{RECIPE}: {found.way}"
        else:
            relevance = learned_by(way, relevance, steps, settings, told=True)
        seconds, later = time.process_time() - began, stream[number:]
        steps.append([])
        found_gains = gains(relevance, later)
        cells = " | ".join(map(shown, found_gains.values()))
        yield f"| {chosen} | {right} | {number} | {len(later)} | {cells} | {seconds:.2f} |", found_gains


def shown(values: Scores) -> str:
    """The mean with its 95 % interval."""
    low, high = interval(values, seed=1, resamples=2000)
    return f"{values.mean():+.4f} [{low:+.3f}, {high:+.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(), help="of `training.relevance`, if DIR lacks it")
    parser.add_argument("--right", type=float, nargs="+", default=(0.9, 0.7))
    parser.add_argument("--round", type=int, default=100, help="questions that taught something")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--ways", nargs="+", default=(DPO, RANKNET, RECIPE))
    told = parser.parse_args()
    torch.set_num_threads(1)
    stream = rankings("locomo", told.data, told.work)
    print("| way | right | questions | later | R@5 | nDCG@10 | seconds |")
    print("| --- | ---: | ---: | ---: | --- | --- | ---: |")
    for right in told.right:
        for way in told.ways:
            every: dict[str, list[Scores]] = {}
            for seed in range(told.seeds):
                settings = RelevanceTraining(seed=seed)
                for line, found in played(stream, way, right=right, a_round=told.round, settings=settings):
                    print(line, flush=True)
                    for name, values in found.items():
                        every.setdefault(name, []).append(values)
            cells = " | ".join(shown(np.concatenate(values)) for values in every.values())
            print(f"| {way}, all rounds | {right} | | | {cells} | |", flush=True)


if __name__ == "__main__":
    main()
