"""Months of use through the gate: python -m experiments.evo.month --work DIR --right .9 .7 0

    questions of many kinds -> a label each -> rounds -> judged by the newest lessons -> later questions

DIR is that of `training.relevance`, which keeps each question's candidates there. A month is 1,500 questions
in a drawn order, half of them of what people told, a third of documents, a sixth of talks between two; with
--set they are all of that set (at most 1,500), and months differ in their order and in the users' slips. The
order that answers shows five candidates; the first that is evidence is confirmed with a probability of
`--right`, else another one by mistake; 0 is one of the shown at random, so that there is nothing to learn.
Rounds and gate are those of the product.
"""

from __future__ import annotations

import argparse
import random
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from agents.retrieval.relevance import Relevance
from assistant.learning.held_out.bootstrap import Gain, Scores
from assistant.learning.held_out.orders import known_questions, mrr_of_known
from assistant.learning.held_out.retrieval import WITH_ANSWERS, Comparison, Scored, Side, decided
from assistant.learning.newest_block import begins_behind
from assistant.learning.recipes.relevance.from_use import Question, RelevanceTraining, learned
from experiments.evo.stream import MEASURED, SHOWN, confirmed, gains, question, shown
from stores.learning.lessons import DOCUMENTS, TOLD
from training.relevance import MIX, SETS, Ranking, rankings

PARTS = {
    "everyday train": 450,
    "everyday test": 300,
    "documents train": 250,
    "documents test": 250,
    "locomo": 250,
}
A_ROUND = 100  # new lessons


def month(work: Path, seed: int, parts: Mapping[str, int] = PARTS) -> list[Ranking]:
    """Its questions, in the order in which they are asked. parts: at most so many of each set."""
    draw = random.Random(seed)
    kept = {name: rankings(name, Path(), work) for name in parts}
    asked = [
        each for name, most in parts.items() for each in draw.sample(kept[name], min(most, len(kept[name])))
    ]
    draw.shuffle(asked)
    return asked


def labelled(
    ranking: Ranking, relevance: Relevance, *, right: float, draw: random.Random
) -> list[bool | None]:
    """See `confirmed`; right: 0 is any of the shown."""
    if right:
        return confirmed(ranking, relevance, right=right, draw=draw)
    places = [int(place) for place in ranking.order(relevance)[:SHOWN]]
    chosen = draw.choice(places)
    helps: list[bool | None] = [None] * len(ranking.told)
    for place in places:
        helps[place] = place == chosen
    return helps


def compared(block: Sequence[Question], live: Relevance, candidate: Relevance, *, seed: int) -> Comparison:
    """As the recipe compares them, by what users said."""

    def side(asked: Question, relevance: Relevance) -> Side:
        r5, r10 = (asked.recall(relevance, depth) for depth in (5, 10))
        return Side(r5, r10, asked.ndcg(relevance))

    scored = [
        Scored("", TOLD if each.is_of(told=True) else DOCUMENTS, side(each, live), side(each, candidate))
        for each in block
    ]
    lost = mrr_of_known(candidate) - mrr_of_known(live)
    known = {WITH_ANSWERS: Gain(lost, lost, lost, len(known_questions()))}
    return decided(scored, seed=seed, known=known)


@dataclass(frozen=True)
class Ended:
    """A round, after so many questions."""

    number: int
    came: Comparison
    live: Relevance  # after it
    candidate: Relevance


def rounds(stream: Sequence[Ranking], *, right: float, seed: int) -> Iterator[Ended]:
    """Those of a month, one after another."""
    draw, relevance, settings = random.Random(seed), MIX, RelevanceTraining(seed=seed)
    lessons: list[tuple[int, Question]] = []
    judged_until, ends = 0, list[int]()
    for number, ranking in enumerate(stream, start=1):
        helps = labelled(ranking, relevance, right=right, draw=draw)
        if True in helps:
            is_measured = draw.random() < 1 / MEASURED
            lessons.append((number, question(ranking, helps, step=0, is_measured=is_measured)))
        if sum(turn > judged_until for turn, _ in lessons) < A_ROUND or number == len(stream):
            continue
        behind = begins_behind([turn for turn, _ in lessons], judged_until=judged_until)
        taught = [replace(each, step=bisect_left(ends, turn)) for turn, each in lessons if turn <= behind]
        candidate = learned(MIX, taught, settings).relevance
        came = compared([each for turn, each in lessons if turn > behind], relevance, candidate, seed=seed)
        judged_until = number
        if came.promotion.is_promoted:
            relevance = candidate
            ends.append(behind)
        yield Ended(number, came, relevance, candidate)


def played(
    stream: Sequence[Ranking], *, right: float, seed: int
) -> Iterator[tuple[str, str, dict[str, Scores]]]:
    """Of each round: a row, whether it went live, and what the live weights gain on all later questions.

    Beside that, what its candidate would gain there, live or not.
    """
    for ended in rounds(stream, right=right, seed=seed):
        later, number = stream[ended.number :], ended.number
        state = "live" if ended.came.promotion.is_promoted else "refused"
        found, offered = gains(ended.live, later), gains(ended.candidate, later)
        found |= {f"{name}, offered": values for name, values in offered.items()}
        cells = " | ".join(shown(values) for values in found.values())
        gained = ended.came.figures["nDCG@10"]["gain"]
        yield f"| {right} | {seed} | {number} | {gained:+.4f} | {state} | {cells} |", state, found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--right", type=float, nargs="+", default=(0.9, 0.7, 0.0))
    parser.add_argument("--months", type=int, default=5)
    parser.add_argument("--set", choices=SETS, help="in place of the mixture")
    parser.add_argument("--first", type=int, default=0, help="the first month's seed")
    parser.add_argument("--brief", action="store_true", help="print no row a round")
    told = parser.parse_args()
    torch.set_num_threads(1)
    parts = {told.set: sum(PARTS.values())} if told.set else PARTS
    measures = "later R@5 | later nDCG@10 | R@5 by the candidate | nDCG@10"
    print(f"| right | month | questions | the block says | round | {measures} |")
    print("| ---: | ---: | ---: | ---: | --- | --- | --- | --- | --- |")
    for right in told.right:
        promoted, rounds = 0, 0
        last: dict[str, list[Scores]] = {}
        for seed in range(told.first, told.first + told.months):
            states = []
            for row, state, found in played(month(told.work, seed, parts), right=right, seed=seed):
                states.append(state)
                if not told.brief:
                    print(row, flush=True)
                for name, values in found.items():
                    last.setdefault(name, []).append(values)
            live = states.count("live")
            promoted, rounds = promoted + (live > 0), rounds + live
            print(f"| {right} | {seed} | all | | {live} of {len(states)} rounds live | | |", flush=True)
        cells = " | ".join(shown(np.concatenate(values)) for values in last.values())
        print(
            f"| {right} | all | | | {promoted} months of {told.months}, {rounds} rounds | {cells} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
