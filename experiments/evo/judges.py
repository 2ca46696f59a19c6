"""Who labels what was not labelled and the policy is not sure of: simulated judges."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from statistics import NormalDist

from experiments.evo.sets import Item


class SimulatedJudges:
    """Judges of stated accuracies, who err together where an item is hard; they know the truth, apart.

    Judge k is right where √ρ z + √(1 - ρ) e_k < Φ⁻¹(p_k); z is the item's, e_k the judge's, both normal. A
    wrong one names any other label. What a judge says of an item never changes.
    """

    def __init__(
        self, accuracies: Sequence[float], truth: Mapping[str, int], labels: int, *, rho: float, seed: int = 0
    ) -> None:
        self._accuracies, self._truth, self._labels = accuracies, truth, labels
        self._rho, self._seed = rho, seed
        self.asked = 0  # candidates

    def votes(self, item: Item) -> list[int]:
        self.asked += 1
        shared = random.Random(f"{self._seed} {item.id}").gauss()
        return [self._said(number, item, shared) for number in range(len(self._accuracies))]

    def _said(self, judge: int, item: Item, shared: float) -> int:
        rng = random.Random(f"{self._seed} {item.id} {judge}")
        noise = self._rho**0.5 * shared + (1 - self._rho) ** 0.5 * rng.gauss()
        right = self._truth[item.id]
        if noise < NormalDist().inv_cdf(self._accuracies[judge]):
            return right
        return rng.choice([label for label in range(self._labels) if label != right])
