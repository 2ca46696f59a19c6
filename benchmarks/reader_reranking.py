"""What reading the candidates does to their order, and what each schedule of judging costs.

    python -m benchmarks.reader_reranking DATA --work DIR [--only squad locomo] [--questions 300] [--seed 1]

DATA and DIR are those of benchmarks.recall. For each question the product's search finds 40 candidates and
the reader judges all of them, once. From these verdicts: recall at 5 of the order found, of the order of
the reader's scores, of both mixed (the share is chosen by --share), and of the product's `Reranker` in either
order under each schedule; for each schedule also passages judged, tokens and milliseconds of judging, a
question. Paired differences from the order found come with 95 % intervals by bootstrap.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from agents.base.interfaces import Candidate, Judged, Verdict
from agents.retrieval.reranker import Order, Reranker, Schedule
from benchmarks.questions import interval
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import (
    COLLECTIONS,
    CONVERSATIONS,
    LONGMEMEVAL,
    Collection,
    Question,
    document_questions,
    ingest_collection,
    ingest_conversations,
    read_conversations,
    read_longmemeval,
)

SCHEDULES: tuple[Schedule, ...] = ("multi", "single", "every_5", "every_20")
ORDERS: tuple[Order, ...] = ("mixed", "classes")
LEAST_JUDGED = (1, 5, 9)
CANDIDATES = 40
DEPTH = 5
DEFAULT = ("squad", "nq", "covidqa", "friendsqa")


@dataclass(frozen=True)
class Read:
    """One question's candidates with the verdicts on them, in the order found."""

    question: Question
    names: tuple[str, ...]  # of the candidates, as the question's evidence names them
    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]
    tokens: tuple[int, ...]
    milliseconds: tuple[float, ...]  # of judging each alone

    def recall(self, order: Sequence[int]) -> float:
        """At `DEPTH`, of the candidates in this order."""
        return self.question.recall([self.names[i] for i in order], DEPTH)


class Known:
    """A judge that says again what was said of these candidates."""

    name = "known"

    def __init__(self, read: Read) -> None:
        self._verdicts = {id(c): v for c, v in zip(read.candidates, read.verdicts, strict=True)}
        self._tokens = {id(c): t for c, t in zip(read.candidates, read.tokens, strict=True)}
        self._times = {id(c): t for c, t in zip(read.candidates, read.milliseconds, strict=True)}
        self.judged = self.tokens = 0
        self.milliseconds = 0.0

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`; notes what it cost when each was read alone."""
        self.judged += len(candidates)
        self.tokens += sum(self._tokens[id(c)] for c in candidates)
        self.milliseconds += sum(self._times[id(c)] for c in candidates)
        return Judged(tuple(self._verdicts[id(c)] for c in candidates), 0, 0)


def read_all(data: Path, work: Path, collection: Collection, *, count: int, seed: int) -> list[Read]:
    """Every candidate of a sample of questions, read."""
    assistant = BenchmarkAssistant(work / collection.store, work / "vectors")
    try:
        same_as = ingest_collection(assistant, data, collection)
        questions = document_questions(data / collection.questions, same_as, count=count, seed=seed)
        space = assistant.search.spaces.of(assistant.stores.journal.user_id("benchmark"))
        retriever = assistant.search.retriever_keeping(assistant.search.encoder, CANDIDATES)
        found = []
        for number, question in enumerate(questions):
            candidates = retriever.retrieve(question.text, space).candidates
            names = tuple(candidate.passage.external_id for candidate in candidates)
            found.append(_read(assistant, question, names, candidates))
            if number % 50 == 0:
                print(f"{collection.name}: {number} of {len(questions)} questions", file=sys.stderr)
        return found
    finally:
        assistant.close()


def read_conversations_all(data: Path, work: Path, name: str) -> list[Read]:
    """Every candidate of every question about conversations, read. name: of their set."""
    assistant = BenchmarkAssistant(work / name, work / "vectors")
    try:
        conversations = (read_longmemeval if name == LONGMEMEVAL else read_conversations)(data)
        turn_of = ingest_conversations(assistant, conversations)
        retriever = assistant.search.retriever_keeping(assistant.search.encoder, CANDIDATES)
        found = []
        for conversation in conversations:
            space = assistant.search.spaces.of(assistant.stores.journal.user_id(conversation.name))
            for question in conversation.questions:
                candidates = retriever.retrieve(question.text, space).candidates
                names = tuple(turn_of[conversation.name][c.passage.version_id] for c in candidates)
                found.append(_read(assistant, question, names, candidates))
            print(f"{conversation.name}: {len(found)} questions", file=sys.stderr)
        return found
    finally:
        assistant.close()


def _read(
    assistant: BenchmarkAssistant,
    question: Question,
    names: tuple[str, ...],
    candidates: tuple[Candidate, ...],
) -> Read:
    verdicts, tokens, times = [], [], []
    for candidate in candidates:
        began = time.process_time()
        (reading,) = assistant.models.readings.of(question.text, [candidate.passage.text])
        times.append((time.process_time() - began) * 1000)
        verdicts.append(reading.verdict)
        tokens.append(reading.tokens)
    return Read(question, names, candidates, tuple(verdicts), tuple(tokens), tuple(times))


def by_score(read: Read, *, share: float = 1.0) -> list[int]:
    """The candidates by the reader's score, or by a mix: `share` of it, the rest of the score found."""
    scores = np.array([verdict.score for verdict in read.verdicts])
    found = np.array([candidate.score for candidate in read.candidates])
    spread = max(float(np.ptp(found)), 1e-9) if len(found) else 1.0
    mixed = share * scores + (1 - share) * (found - found.min(initial=0)) / spread
    return [int(i) for i in np.argsort(-mixed, kind="stable")]


def by_reranker(read: Read, known: Known, schedule: Schedule, *, min_judged: int, order: Order) -> list[int]:
    """As the product orders them."""
    reranker = Reranker(known, schedule=schedule, budget=CANDIDATES, min_judged=min_judged, order=order)
    place = {id(candidate): i for i, candidate in enumerate(read.candidates)}
    return [place[id(candidate)] for candidate in reranker.rerank(read.question.text, read.candidates).order]


def report(name: str, reads: Sequence[Read], *, share: float, seed: int) -> None:
    """One collection's lines."""
    before = np.array([read.recall(range(len(read.candidates))) for read in reads])
    judged = len([v for read in reads for v in read.verdicts])
    print(f"\n{name}: {len(reads)} questions, {judged} candidates judged")
    print(f"  {'as found':<32} R@{DEPTH} {before.mean():.4f}")

    def line(way: str, order: Callable[[Read], list[int]], cost: str = "") -> None:
        after = np.array([read.recall(order(read)) for read in reads])
        low, high = interval(after - before, seed=seed)
        gain = (after - before).mean()
        print(f"  {way:<32} R@{DEPTH} {after.mean():.4f}  {gain:+.4f} [{low:+.4f}, {high:+.4f}]  {cost}")

    line("by the reader's score", by_score)
    line(f"mixed, {share:g} of the reader", lambda read: by_score(read, share=share))
    for order, schedule, min_judged in product(ORDERS, SCHEDULES, LEAST_JUDGED):
        judges = {id(read): Known(read) for read in reads}
        orders = {
            id(read): by_reranker(read, judges[id(read)], schedule, min_judged=min_judged, order=order)
            for read in reads
        }
        asked = judges.values()
        cost = (
            f"judged {np.mean([k.judged for k in asked]):.1f}, "
            f"tokens {np.mean([k.tokens for k in asked]):.0f}, "
            f"{np.median([k.milliseconds for k in asked]):.0f} ms CPU p50"
        )

        def ordered(read: Read, orders: Mapping[int, list[int]] = orders) -> list[int]:
            return orders[id(read)]

        line(f"{order}, {schedule}, at least {min_judged}", ordered, cost)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    sets = (CONVERSATIONS, LONGMEMEVAL, *(collection.name for collection in COLLECTIONS))
    parser.add_argument("--only", nargs="+", default=DEFAULT, choices=sets)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, {CANDIDATES} candidates")
    for name in (CONVERSATIONS, LONGMEMEVAL):
        if name in arguments.only:
            reads = read_conversations_all(arguments.data, arguments.work, name)
            report(name, reads, share=arguments.share, seed=arguments.seed)
    for collection in COLLECTIONS:
        if collection.name in arguments.only:
            reads = read_all(
                arguments.data, arguments.work, collection, count=arguments.questions, seed=arguments.seed
            )
            report(collection.name, reads, share=arguments.share, seed=arguments.seed)


if __name__ == "__main__":
    main()
