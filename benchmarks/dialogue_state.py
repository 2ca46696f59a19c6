"""What the measures of dialogue state say of an extractor whose accuracy is known.

    python -m benchmarks.dialogue_state DATA [--only sgd multiwoz21_dst] [--split test] [--seeds 1]

DATA is the data folder; figures are means over the seeds 1, 2 ... Each active slot is extracted
rightly with probability p; fresh errors are drawn anew at each turn, lasting ones stay until the value
changes. With nₜ active slots at turn t of T, and independent draws:

    expected JGA = 1/T Σₜ p^nₜ        expected AGA = p

whether errors are fresh or lasting; what lasts makes turns depend on each other and so widens the spread.
z is (measured - expected) / standard error, with the exact standard error: about 19 of 20 lie in -2..2 where
the measures are right. The same draws serve every p, so the z of one column move together; more seeds
would show a smaller fault.
"""

from __future__ import annotations

import argparse
import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from assistant.replay.simulation.dialogue_state import (
    Dialogue,
    DialogueSet,
    goal_accuracy,
    read_multiwoz,
    read_sgd,
    turn_scores,
)
from assistant.replay.simulation.simulated_extractor import (
    Errors,
    SimulatedExtractor,
    SlotKey,
    drawn_place,
    held_slots,
)

READERS: dict[str, Callable[..., DialogueSet]] = {"sgd": read_sgd, "multiwoz21_dst": read_multiwoz}
ACCURACIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
ALL_ERRORS: tuple[Errors, ...] = ("fresh", "lasting")

DrawKey: TypeAlias = tuple[int, SlotKey]  # place and slot of a draw, within a dialogue


@dataclass(frozen=True)
class Expected:
    """A mean and the standard deviation of what is measured around it."""

    mean: float
    error: float

    def z(self, measured: float, runs: int) -> str:
        """How far off the mean of some runs is, in standard errors; exact where there is no chance."""
        if self.error == 0:
            return "exact" if math.isclose(measured, self.mean, abs_tol=1e-12) else "WRONG"
        return f"{(measured - self.mean) / self.error * math.sqrt(runs):+.2f}"


class Draws:
    """Which draws decide about which turns and frames, counted once for every accuracy."""

    def __init__(self, dialogues: Sequence[Dialogue], errors: Errors) -> None:
        self.turns = self.frames = 0
        self.slots = Counter[int]()  # turns by their number of active slots
        self._shared = Counter[tuple[int, int]]()  # pairs of turns by their draws, and those they share
        self._squared_weights = 0.0
        for dialogue in dialogues:
            self._count(dialogue, errors)

    def _count(self, dialogue: Dialogue, errors: Errors) -> None:
        turns: list[frozenset[DrawKey]] = []
        weights = defaultdict[DrawKey, float](
            float
        )  # of a draw in the sum over frames: 1/n for each frame of n slots
        for place, held in held_slots(dialogue):
            keys = {slot: (drawn_place(now, place, errors), slot) for slot, now in held.items()}
            sizes = Counter(service for service, _ in held)
            for (service, _), key in keys.items():
                weights[key] += 1 / sizes[service]
            turns.append(frozenset(keys.values()))
            self.slots[len(keys)] += 1
            self.frames += len(sizes)
        self.turns += len(turns)
        self._squared_weights += sum(weight**2 for weight in weights.values())
        for one in turns:
            for other in turns:
                if shared := len(one & other):
                    self._shared[len(one) + len(other), shared] += 1

    def joint(self, accuracy: float) -> Expected:
        """JGA. Var = 1/T² Σ over pairs of turns of p^|A ∪ B| - p^(|A| + |B|), A and B their draws."""
        mean = sum(turns * accuracy**slots for slots, turns in self.slots.items()) / self.turns
        variance = sum(
            pairs * (accuracy ** (both - shared) - accuracy**both)
            for (both, shared), pairs in self._shared.items()
        )
        return Expected(mean, math.sqrt(variance) / self.turns)

    def average(self, accuracy: float) -> Expected:
        """AGA. Var = p (1 - p) / F² Σ over draws of w², w the draw's weight in the sum over F frames."""
        variance = accuracy * (1 - accuracy) * self._squared_weights
        return Expected(accuracy, math.sqrt(variance) / self.frames)


def described(data: DialogueSet, draws: Draws) -> str:
    """What was measured on."""
    unknown = sum(not dialogue.references for dialogue in data.dialogues)
    active = sum(slots * turns for slots, turns in draws.slots.items())
    return (
        f"{len(data.dialogues) - unknown} dialogues ({unknown} more without states left out), "
        f"{draws.turns} turns ({draws.slots[0]} without an active slot), "
        f"{draws.frames} frames with active slots, {active} active slots"
    )


def measured(data: DialogueSet, errors: Errors, accuracy: float, seeds: int) -> tuple[float, float]:
    """JGA and AGA, as means over seeds."""
    joint = average = 0.0
    for seed in range(1, seeds + 1):
        extractor = SimulatedExtractor(data.dialogues, accuracy=accuracy, seed=seed, errors=errors)
        found = goal_accuracy(asyncio.run(turn_scores(extractor, data)))
        joint += found.joint / seeds
        average += (found.average or 0.0) / seeds
    return joint, average


def rows(data: DialogueSet, errors: Errors, draws: Draws, seeds: int) -> Iterator[str]:
    """One line for each accuracy."""
    for accuracy in ACCURACIES:
        joint, average = measured(data, errors, accuracy, seeds)
        of_joint, of_average = draws.joint(accuracy), draws.average(accuracy)
        yield (
            f"{errors:8} {accuracy:5.2f}  {joint:7.2%} {of_joint.mean:8.2%} {of_joint.z(joint, seeds):>6}"
            f"  {average:7.2%} {of_average.mean:8.2%} {of_average.z(average, seeds):>6}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(READERS), default=list(READERS))
    parser.add_argument("--split", choices=["dev", "test"], default="test")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    for name in arguments.only:
        data = READERS[name](arguments.data / name, arguments.split)
        for errors in ALL_ERRORS:
            draws = Draws(data.dialogues, errors)
            if errors == ALL_ERRORS[0]:
                print(f"\n{name} {arguments.split}, {arguments.seeds} seeds: {described(data, draws)}")
                print("errors       p      JGA expected      z      AGA expected      z")
            for line in rows(data, errors, draws, arguments.seeds):
                print(line, flush=True)


if __name__ == "__main__":
    main()
