"""Recall of dense, lexical and fused search over ingested passages, by questions with known passages.

    python -m benchmarks.retrieval DATA_DIR QUESTIONS.jsonl.gz [--questions 2000] [--seed 1] [--sweep]

Recall at K: a passage that holds the answer, by its id in the collection, is among the first K. Differences
are paired over the questions, with 95 % intervals by bootstrap. --sweep tries other fusion settings.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.questions import interval, read_questions
from benchmarks.recall import fusion_of

Hits = npt.NDArray[np.bool_]

DEPTHS = (1, 5, 20)


class Recall:
    """Counts hits of one way of searching."""

    def __init__(self) -> None:
        self._ranks: list[int] = []  # of the first right passage, from 1; large if there is none

    def add(self, found: Sequence[str], right: set[str]) -> None:
        """found: collection ids, best first."""
        self._ranks.append(next((rank for rank, name in enumerate(found, start=1) if name in right), 10**9))

    def at(self, depth: int) -> npt.NDArray[np.float64]:
        """1 for each question with a right passage among the first `depth`, else 0."""
        return (np.array(self._ranks) <= depth).astype(np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--questions", dest="count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sweep", action="store_true")
    arguments = parser.parse_args()

    assistant = Assistant(Settings(), find_locations(os.environ, data=str(arguments.data)))
    space = assistant.spaces.of(assistant.journal.user_id("benchmark"))
    deepest = max(DEPTHS)
    weights = (0.3, 0.4, 0.5, 0.6, 0.7) if arguments.sweep else ()
    lifts = (0.0, 0.05, 0.1, 0.2) if arguments.sweep else ()
    names = ["dense", "lexical", "fused"] + [f"w {w} lift {share}" for w in weights for share in lifts]
    recalls = {name: Recall() for name in names}
    retriever = assistant.retriever_keeping(assistant.encoder, deepest)
    used = fusion_of(assistant.settings)
    mixes = {"fused": used} | {
        f"w {weight} lift {share}": replace(used, dense_weight=weight, document_lift=share)
        for weight in weights
        for share in lifts
    }
    asked = read_questions(arguments.questions, count=arguments.count, seed=arguments.seed)
    for number, entry in enumerate(asked):
        question, right = entry["question"], set(entry["passage_ids"])
        vector = assistant.encoder.encode_queries([question])[0]
        near = [version_id for version_id, _ in space.nearest(vector, deepest)]
        matching = space.matching(question, deepest)
        signals = retriever.signals(question, vector, space)
        names_of = {i: passage.external_id for i, passage in signals.passages.items()}
        recalls["dense"].add([names_of[i] for i in near], right)
        recalls["lexical"].add([names_of[i] for i in matching], right)
        for name, fusion in mixes.items():
            ranked = signals.ranked(fusion, keep=deepest)
            recalls[name].add([c.passage.external_id for c in ranked], right)
        if number % 100 == 0:
            print(f"{number} of {len(asked)} questions", file=sys.stderr)

    _, shared = assistant.catalogue.counts(assistant.journal.user_id("benchmark"))
    print(f"{len(asked)} questions, {shared} shared passages, encoder {assistant.encoder.version}, {used}")
    for name, recall in recalls.items():
        print(f"{name:<16}", "  ".join(f"R@{depth} {recall.at(depth).mean():.4f}" for depth in DEPTHS))
    for other in ("dense", "lexical"):
        for depth in DEPTHS:
            gain = recalls["fused"].at(depth) - recalls[other].at(depth)
            low, high = interval(gain, seed=arguments.seed)
            print(f"fused - {other:<8} R@{depth:<3} {gain.mean():+.4f}  95 % [{low:+.4f}, {high:+.4f}]")
    assistant.close()


if __name__ == "__main__":
    main()
