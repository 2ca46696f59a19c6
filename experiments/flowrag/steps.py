"""How often few lessons are to be gone through: python -m experiments.flowrag.steps DATA --work DIR

As many pairs as rounds of a user begin with, LoRA as the product trains it, by epochs. Measured on dev
questions of each collection, among its own passages; a stopped run goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean

import numpy as np

from assistant.learning.held_out.bootstrap import interval
from experiments.flowrag.bench import KNOWN
from experiments.flowrag.domains import TRAINED, read_domain, smaller
from experiments.flowrag.gate import RANK, Gate
from experiments.flowrag.learning import BATCH, train
from experiments.flowrag.store import DENSE, FUSED, NDCG

PAIRS, EPOCHS, SEEDS = (48,), (2, 4, 7, 13), (0,)
_RATE, _PASSAGES = 5e-4, 1200


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    read.add_argument("data", type=Path)
    read.add_argument("--work", type=Path, required=True)
    given = read.parse_args()
    gate = Gate([smaller(read_domain(given.data, name), _PASSAGES) for name in TRAINED], given.work)
    for name in TRAINED:
        measure(gate, name, 0, 0, 0)
    for seed in SEEDS:
        for pairs in PAIRS:
            for epochs in EPOCHS:
                for name in TRAINED:
                    measure(gate, name, pairs, epochs, seed)
    print(table(gate))


def measure(gate: Gate, name: str, pairs: int, epochs: int, seed: int) -> None:
    """Trains and scores; epochs = 0: the frozen encoder."""
    facts = {"steps of": name, "pairs": pairs, "epochs": epochs, "seed": seed}
    if gate.results.first(**facts) is not None:
        return
    bench = gate.bench
    part = bench.plain
    if epochs:
        adapter = bench.bert.low_rank(RANK, seed=seed)
        parameters = [each.requires_grad_() for each in adapter.values()]
        first = seed * pairs
        some, encoders = gate.pairs[name][first : first + pairs], bench.encoders(adapter)
        for _ in train(parameters, some, *encoders, rate=_RATE, seed=seed, epochs=epochs):
            pass
        made = {n: each.detach() for n, each in adapter.items()}
        part = bench.part(f"steps {name} {pairs} {epochs} {seed}", made, bench.store.rows[name])
    parts = bench.among_others(name, part) if epochs else [part]
    gate.results.add({**facts, "scores": bench.scored(name, "dev", parts, KNOWN)})


def table(gate: Gate) -> str:
    """Points over frozen, the mean of collections and seeds, with the interval over questions."""
    rows = ["| pairs | epochs | steps | dense R@5 | fused R@5 | fused nDCG@10 |", "| ---: " * 6 + "|"]
    for pairs in PAIRS:
        for epochs in EPOCHS:
            cells = [str(pairs), str(epochs), str(epochs * -(-pairs // BATCH))]
            for what in (DENSE, FUSED, NDCG):
                gains = np.concatenate([_gain(gate, name, pairs, epochs, what) for name in TRAINED])
                low, high = interval(gains, seed=1)
                cells.append(f"{100 * gains.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]")
            rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _gain(gate: Gate, name: str, pairs: int, epochs: int, what: str) -> np.ndarray:
    def scores(pairs: int, epochs: int, seed: int) -> list[float]:
        found = gate.results.first(**{"steps of": name, "pairs": pairs, "epochs": epochs, "seed": seed})
        assert found is not None
        return list(found["scores"][what])

    frozen = np.array(scores(0, 0, 0))
    every = [np.array(scores(pairs, epochs, seed)) - frozen for seed in SEEDS]
    return np.array([fmean(each) for each in zip(*every, strict=True)])


if __name__ == "__main__":
    main()
