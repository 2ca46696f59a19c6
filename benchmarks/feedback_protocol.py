"""How well what users say is weighed: simulated feedback after questions of a collection.

    python -m benchmarks.feedback_protocol DATA --work DIR [--only squad nq covidqa] [--questions 300]
        [--seed 1] [--near]

DATA and DIR are those of benchmarks.recall. Each question gets simulated feedback
(experiments/feedback.py): 40 % right, 40 % wrong, 20 % unrelated. What is said is searched
for with the product's own search among the passages of the collection, and weighed by the reader beside the
first five; then alone (direct); then twice so that nobody could know: with every passage taken away that
holds the answer ("bare": what is left may still say it in other words), and with its whole article
("unknowable"). --near: wrong answers of the same article.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from agents.base.claim_interfaces import Claim, Status, Weighed
from agents.base.interfaces import Candidate
from agents.memory.reader_discriminator import CORRECT_FROM, INCORRECT_FROM, PASSAGES, ReaderDiscriminator
from assistant.learning.recipes.examples.records import read_records
from benchmarks.questions import holds_answer, read_questions
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import COLLECTIONS, TRAINING, Collection, ingest_collection
from experiments.feedback import Feedback, FeedbackKind, answerable, simulated

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
PAPER = {"nq": (98.73, 92.02), "squad": (97.71, 87.79)}  # GPT-4o: with knowledge, direct
KINDS: tuple[FeedbackKind, ...] = get_args(FeedbackKind)
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class Outcome:
    """One piece of feedback as it was weighed with thresholds of 0: any other can be read off."""

    feedback: Feedback
    is_found: bool  # a passage with the answer is among those it was weighed beside
    known: Weighed
    bare: Weighed  # beside what is left without every passage that holds the answer
    unknowable: Weighed  # beside what is left without their articles too
    direct: Weighed
    milliseconds: float  # CPU of weighing it once with passages


def status_at(weighed: Weighed, correct_from: float, incorrect_from: float) -> Status:
    """The status at other thresholds than it was weighed with."""
    least = {"correct": correct_from, "incorrect": incorrect_from, "unknown": 0.0}[weighed.status]
    return weighed.status if weighed.confidence >= least else "unknown"


def measure(
    data: Path, work: Path, collection: Collection, *, count: int, seed: int, is_near: bool = False
) -> list[Outcome]:
    """A sample of a collection's questions, each with feedback that is weighed three times."""
    assistant = BenchmarkAssistant(work / collection.store, work / "vectors")
    try:
        same_as = ingest_collection(assistant, data, collection)
        space = assistant.search.spaces.of(assistant.stores.journal.user_id("benchmark"))
        path = data / collection.questions
        everything = answerable(read_questions(path, count=None, seed=seed, answered=True))
        asked = random.Random(seed).sample(everything, min(count, len(everything)))
        retriever = assistant.search.searching.retriever
        weigh = _Weighing(assistant, _titles(data, collection))
        found: list[Outcome] = []
        for number, one in enumerate(simulated(asked, everything, seed=seed, is_near=is_near)):
            candidates = retriever.retrieve(one.claim, space).candidates
            found.append(weigh.outcome(one, candidates, {same_as.get(i, i) for i in one.passage_ids}))
            if number % 50 == 0:
                print(f"{collection.name}: {number} of {len(asked)}", file=sys.stderr)
        return found
    finally:
        assistant.close()


def _titles(data: Path, collection: Collection) -> dict[str, str]:
    """The article of each passage, by its name."""
    return {
        str(record["id"]): str(record["title"])
        for path in collection.passages
        for record in read_records(data / path)
    }


class _Weighing:
    """Weighs feedback in all ways."""

    def __init__(self, assistant: BenchmarkAssistant, titles: Mapping[str, str]) -> None:
        reader = assistant.models.reader
        self._titles = titles
        self._knowing = ReaderDiscriminator(reader, correct_from=0, incorrect_from=0)
        self._direct = ReaderDiscriminator(reader, mode="direct", correct_from=0, incorrect_from=0)

    def outcome(self, one: Feedback, candidates: Sequence[Candidate], gold: set[str]) -> Outcome:
        claim = Claim(one.claim, one.claim, "fact", "world")
        bare = [
            c
            for c in candidates
            if c.passage.external_id not in gold and not holds_answer(c.passage.text, list(one.answers))
        ]
        articles = {self._titles[name] for name in gold | set(one.passage_ids)}
        elsewhere = [c for c in bare if c.passage.title not in articles]
        began = time.process_time()
        known = asyncio.run(self._knowing.weigh(claim, candidates))
        milliseconds = (time.process_time() - began) * 1000
        return Outcome(
            one,
            any(c.passage.external_id in gold for c in candidates[:PASSAGES]),
            known,
            asyncio.run(self._knowing.weigh(claim, bare)),
            asyncio.run(self._knowing.weigh(claim, elsewhere)),
            asyncio.run(self._direct.weigh(claim, ())),
            milliseconds,
        )


def confusion(
    outcomes: Sequence[Outcome],
    weighed: Callable[[Outcome], Weighed],
    *,
    correct_from: float,
    incorrect_from: float,
) -> Mapping[FeedbackKind, Mapping[Status, int]]:
    """How many of each kind got each status."""
    table: dict[FeedbackKind, dict[Status, int]] = {kind: dict.fromkeys(STATUSES, 0) for kind in KINDS}
    for outcome in outcomes:
        table[outcome.feedback.kind][status_at(weighed(outcome), correct_from, incorrect_from)] += 1
    return table


def accuracy(table: Mapping[FeedbackKind, Mapping[Status, int]]) -> tuple[float, float, int]:
    """Of right and wrong claims: the share judged rightly, the same of the decided, how many are decided."""
    right = table["right"]["correct"] + table["wrong"]["incorrect"]
    decided = right + table["right"]["incorrect"] + table["wrong"]["correct"]
    everything = sum(table["right"].values()) + sum(table["wrong"].values())
    return right / max(1, everything), right / max(1, decided), decided


def report(name: str, outcomes: Sequence[Outcome]) -> None:
    """One collection's figures."""
    claims = [o for o in outcomes if o.feedback.kind != "unrelated"]
    found = _percent(sum(o.is_found for o in claims), len(claims))
    print(f"\n{name}: {len(outcomes)} pieces of feedback, {len(claims)} claims,", end=" ")
    print(f"{sum(o.feedback.is_statement for o in claims)} of them statements;", end=" ")
    print(f"the answer's passage among the first {PASSAGES} for {found}")
    ways: dict[str, Callable[[Outcome], Weighed]] = {
        "knowledge": lambda o: o.known,
        "direct": lambda o: o.direct,
    }
    for way, weighed in ways.items():
        for label, least in (("default", (CORRECT_FROM, INCORRECT_FROM)), ("always decided", (0.0, 0.0))):
            table = confusion(outcomes, weighed, correct_from=least[0], incorrect_from=least[1])
            share, of_decided, decided = accuracy(table)
            print(f"  {way}, {label}: accuracy {100 * share:.1f} %,", end=" ")
            print(f"of the {decided} decided {100 * of_decided:.1f} %")
            if way == "knowledge" and label == "default":
                _print_table(table)
    if name in PAPER:
        print("  published for GPT-4o: {:.2f} % with knowledge, {:.2f} % direct".format(*PAPER[name]))
    _print_curve(outcomes)
    times = np.array([o.milliseconds for o in outcomes])
    print(f"  CPU of weighing a claim: p50 {np.median(times):.0f} ms, p95 {np.quantile(times, 0.95):.0f} ms")


def _print_table(table: Mapping[FeedbackKind, Mapping[Status, int]]) -> None:
    print("    " + " " * 10 + "".join(f"{status:>11}" for status in STATUSES))
    for kind, row in table.items():
        print(f"    {kind:<10}" + "".join(f"{row[status]:>11}" for status in STATUSES))


def _print_curve(outcomes: Sequence[Outcome]) -> None:
    print("  threshold: correct of true | false | bare | unknowable | unrelated || incorrect of false | true")
    for least in sorted({*THRESHOLDS, CORRECT_FROM}):
        known = confusion(outcomes, lambda o: o.known, correct_from=least, incorrect_from=least)
        taken = [
            confusion(outcomes, weighed, correct_from=least, incorrect_from=least)
            for weighed in (lambda o: o.bare, lambda o: o.unknowable)
        ]
        cells = (
            _percent(known["right"]["correct"], sum(known["right"].values())),
            _percent(known["wrong"]["correct"], sum(known["wrong"].values())),
            *(
                _percent(
                    table["right"]["correct"] + table["wrong"]["correct"],
                    sum(table["right"].values()) + sum(table["wrong"].values()),
                )
                for table in taken
            ),
            _percent(known["unrelated"]["correct"], sum(known["unrelated"].values())),
        )
        refuted = (
            _percent(known["wrong"]["incorrect"], sum(known["wrong"].values())),
            _percent(known["right"]["incorrect"], sum(known["right"].values())),
        )
        mark = " (default)" if least == CORRECT_FROM else ""
        print(f"    {least:.2f}: " + " | ".join(cells) + " || " + " | ".join(refuted) + mark)


def _percent(count: int, of: int) -> str:
    return f"{100 * count / max(1, of):.1f} % ({count} of {of})"


def main() -> None:
    known = {collection.name: collection for collection in (*COLLECTIONS, *TRAINING)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=("squad", "nq", "covidqa"), choices=list(known))
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--near", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.only:
        report(
            name,
            measure(
                arguments.data,
                arguments.work,
                known[name],
                count=arguments.questions,
                seed=arguments.seed,
                is_near=arguments.near,
            ),
        )


if __name__ == "__main__":
    main()
