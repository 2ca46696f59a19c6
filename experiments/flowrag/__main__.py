"""Runs the variants, or goes on with them, and prints the tables of what is there.

    python -m experiments.flowrag --data DATA --work DIR [--seeds 3] [--tables | --check]

--tables only prints. --check compares the frozen store with the product's own search.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from experiments.flowrag.check import check
from experiments.flowrag.domains import read_domains
from experiments.flowrag.gate import Gate
from experiments.flowrag.results import Results
from experiments.flowrag.tables import tables


def main() -> None:
    read = argparse.ArgumentParser(prog="python -m experiments.flowrag")
    read.add_argument("--data", type=Path, required=True)
    read.add_argument("--work", type=Path, required=True)
    read.add_argument("--seeds", type=int, default=3)
    read.add_argument("--tables", action="store_true")
    read.add_argument("--check", action="store_true")
    given = read.parse_args()
    torch.set_num_threads(1)
    if given.check:
        print(check(given.data, given.work))
        return
    if not given.tables:
        Gate(read_domains(given.data), given.work).run(given.seeds)
    print(tables(Results(given.work / "results.jsonl").every))


if __name__ == "__main__":
    main()
