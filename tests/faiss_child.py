"""A process that is killed: it changes an index in files for ever and says each change before and after.

    python faiss_child.py FOLDER FIRST_NUMBER

A change is a line of JSON, `[number, "put" or "remove", versions]`, then a line `done`. What change a number
stands for, and what vectors it puts, follows from the number alone.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from index_fixtures import TruthFile

from stores.vectors.exact import Vectors
from stores.vectors.faiss_index import FaissVectors

DIMENSION = 16
VERSIONS = 150
SETTINGS = {"exact_up_to": 60, "rebuild_after": 12}  # both forms, and a build every other change


def change_of(number: int) -> tuple[str, list[int]]:
    chance = random.Random(number)
    versions = chance.sample(range(1, VERSIONS + 1), chance.randint(1, 12))
    return chance.choice(["put", "put", "remove"]), versions


def vectors_of(number: int, versions: Sequence[int]) -> Vectors:
    rows = np.array([np.random.default_rng([number, version]).normal(size=DIMENSION) for version in versions])
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def apply(number: int, truth: TruthFile, index: FaissVectors) -> None:
    """In the order in which the program does it: first the database, then the index."""
    sort, versions = change_of(number)
    if sort == "put":
        truth.put(versions, vectors_of(number, versions))
        index.upsert(versions, vectors_of(number, versions))
    else:
        truth.drop(versions)
        index.remove(versions)


def open_index(folder: Path, truth: TruthFile) -> FaissVectors:
    return FaissVectors(folder, "fake", DIMENSION, writes=True, all_vectors=truth.all, **SETTINGS)


def main() -> None:
    folder, first = Path(sys.argv[1]), int(sys.argv[2])
    truth = TruthFile(folder / "truth.db")
    index = open_index(folder, truth)
    for number in itertools.count(first):
        print(json.dumps([number, *change_of(number)]), flush=True)
        apply(number, truth, index)
        print("done", flush=True)


if __name__ == "__main__":
    main()
