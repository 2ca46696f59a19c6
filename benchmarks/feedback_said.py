"""The feedback protocol end to end: what becomes of feedback as users put it.

    python -m benchmarks.feedback_said DATA --work DIR [--only squad nq covidqa] [--questions 300] [--seed 1]

benchmarks.feedback_protocol weighs what is said by itself; here the message goes through the summarizer
first, and each claim that it finds is searched for and weighed, with the thresholds of the product. A piece
of feedback counts as correct where a claim of it is, else as incorrect where one is, else as unknown where
one was weighed; as "own" where its claims are only of the user or hearsay, which no evidence is asked for;
as "nothing" where no claim was found.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from agents.base.claim_interfaces import Claim, Said, Weighed
from agents.memory.reader_discriminator import ReaderDiscriminator
from agents.memory.reader_summarizer import ReaderSummarizer
from benchmarks.questions import read_questions
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import COLLECTIONS, Collection, ingest_collection
from experiments.feedback import (
    Feedback,
    FeedbackKind,
    answerable,
    simulated,
)

Became = Literal["correct", "incorrect", "unknown", "own", "nothing"]


def became(claims: Sequence[Claim], weighed: Sequence[Weighed]) -> Became:
    """What became of a piece of feedback. weighed: those of its claims that are of the world."""
    if not claims:
        return "nothing"
    statuses = {each.status for each in weighed}
    for status in ("correct", "incorrect", "unknown"):
        if status in statuses:
            return status
    return "own"


def measure(
    data: Path, work: Path, collection: Collection, *, count: int, seed: int
) -> list[tuple[Feedback, Became]]:
    """A sample of a collection's questions, each with feedback that is summarized and weighed."""
    assistant = BenchmarkAssistant(work / collection.store, work / "vectors")
    try:
        ingest_collection(assistant, data, collection)
        space = assistant.search.spaces.of(assistant.stores.journal.user_id("benchmark"))
        everything = answerable(
            read_questions(data / collection.questions, count=None, seed=seed, answered=True)
        )
        asked = random.Random(seed).sample(everything, min(count, len(everything)))
        summarizer, discriminator = (
            ReaderSummarizer(assistant.models.reader),
            ReaderDiscriminator(assistant.models.reader),
        )
        retriever = assistant.search.searching.retriever
        found: list[tuple[Feedback, Became]] = []
        for number, one in enumerate(simulated(asked, everything, seed=seed)):
            claims = asyncio.run(summarizer.summarize(Said(one.message)))
            weighed = [
                asyncio.run(discriminator.weigh(claim, retriever.retrieve(claim.text, space).candidates))
                for claim in claims
                if claim.about == "world" and not claim.is_hearsay
            ]
            found.append((one, became(claims, weighed)))
            if number % 50 == 0:
                print(f"{collection.name}: {number} of {len(asked)}", file=sys.stderr)
        return found
    finally:
        assistant.close()


def counted(found: Sequence[tuple[Feedback, Became]]) -> Mapping[FeedbackKind, Counter[Became]]:
    """How much of each kind became what."""
    kinds: tuple[FeedbackKind, ...] = get_args(FeedbackKind)
    return {kind: Counter(end for one, end in found if one.kind == kind) for kind in kinds}


def report(name: str, found: Sequence[tuple[Feedback, Became]]) -> None:
    """One collection's figures."""
    table = counted(found)
    ends = get_args(Became)
    print(f"\n{name}: {len(found)} pieces of feedback as they were said")
    print("    " + " " * 10 + "".join(f"{end:>11}" for end in ends))
    for kind, row in table.items():
        print(f"    {kind:<10}" + "".join(f"{row[end]:>11}" for end in ends))
    for kind, word in (("right", "true recognised"), ("wrong", "false judged correct")):
        row = table[kind]
        every = sum(row.values())
        claimed = every - row["nothing"] - row["own"]
        shares = (100 * row["correct"] / max(1, every), 100 * row["correct"] / max(1, claimed))
        print(
            f"  {word}: {shares[0]:.1f} % of {every}, {shares[1]:.1f} % of the {claimed} claims of the world"
        )


def main() -> None:
    known = {collection.name: collection for collection in COLLECTIONS}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=("squad", "nq", "covidqa"), choices=list(known))
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in options.only:
        report(
            name,
            measure(
                options.data,
                options.work,
                known[name],
                count=options.questions,
                seed=options.seed,
            ),
        )


if __name__ == "__main__":
    main()
