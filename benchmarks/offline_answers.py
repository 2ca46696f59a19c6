"""What Vouch answers without any model server: found, judged, and answered or refused.

    python -m benchmarks.offline_answers DATA --work DIR [--only squad nq] [--questions 500] [--seed 1]

DATA and DIR are those of benchmarks.recall. Each question goes through search, reranking and quoting as in a
turn, with the reader and without it. right: the named answer, or else the first quote, against the expected
ones (exact match, F1 of words, as SQuAD does); contained: an expected answer stands in what is shown. Then
the same questions once more with every passage that holds the answer taken away: whatever is answered then is
wrong. The curve gives, for each threshold, the answers that stay and those still given without the passage.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.answering.quoting import Quote, Quoter
from agents.base.chat_interfaces import Source
from agents.base.interfaces import Candidate, Judge
from agents.retrieval.reranker import Reranker
from agents.retrieval.score_judge import ScoreJudge
from assistant.settings.config import AnswerSettings, Settings
from benchmarks.questions import holds_answer, normalised_answer, read_questions, token_f1
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import COLLECTIONS, TRAINING, Collection, ingest_collection

KEPT_SHARE = 0.9  # of the right answers, at the threshold that is reported
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def f1(said: str, answers: Sequence[str]) -> float:
    """The best F1 of words over the expected answers."""
    return max((token_f1(said, answer) for answer in answers), default=0.0)


@dataclass
class Answers:
    """What one way of answering did on one collection; a number a question."""

    f1: list[float] = field(default_factory=list)
    exact: list[float] = field(default_factory=list)
    contained: list[float] = field(default_factory=list)
    sure: list[float] = field(default_factory=list)  # probability of the best quote; 0 without one
    sure_without: list[float] = field(default_factory=list)  # the same when no passage holds the answer
    milliseconds: list[float] = field(default_factory=list)  # CPU of judging and quoting

    def note(self, quotes: Sequence[Quote], answers: Sequence[str]) -> None:
        """Adds one question's quotes, best first, with threshold 0."""
        best = quotes[0] if quotes else None
        said = "" if best is None else best.answer or best.text
        shown = " ".join(f"{quote.answer} {quote.text}" for quote in quotes)
        self.f1.append(f1(said, answers))
        self.exact.append(float(normalised_answer(said) in {normalised_answer(a) for a in answers}))
        self.contained.append(float(holds_answer(shown, list(answers))))
        self.sure.append(best.probability if best else 0.0)


def default_reranker(judge: Judge) -> Reranker:
    """As the settings have it that nobody changed."""
    reranking = Settings().reranking
    return Reranker(
        judge,
        schedule=reranking.schedule,
        budget=reranking.budget,
        min_judged=reranking.min_judged,
        order=reranking.order,
        judge_share=reranking.judge_share,
    )


class Way:
    """One way of answering: a judge and a quoter."""

    def __init__(self, judge: Judge, quoter: Quoter) -> None:
        self._reranker = default_reranker(judge)
        self._quoter = quoter

    def quotes(self, question: str, candidates: Sequence[Candidate]) -> list[Quote]:
        """What is shown, best first."""
        order = self._reranker.rerank(question, candidates).order[: Settings().answer.passages]
        sources = [Source(number, candidate.passage) for number, candidate in enumerate(order, start=1)]
        return self._quoter.best_quotes(question, sources)


def ways(assistant: BenchmarkAssistant, settings: AnswerSettings | None = None) -> dict[str, Way]:
    """With the reader and without it. settings: when something is quoted at all; always without."""
    from agents.retrieval.reader_judge import ReaderJudge

    def quoter(**reading: Any) -> Quoter:
        return Quoter(
            assistant.search.encoder,
            threshold=settings.threshold if settings else 0.0,
            quotes=Settings().answer.sentences,
            **reading,
        )

    readings = assistant.models.readings
    return {
        "without the reader": Way(ScoreJudge(), quoter()),
        "with the reader": Way(ReaderJudge(readings), quoter(readings=readings)),
    }


def measure(data: Path, work: Path, collection: Collection, *, count: int, seed: int) -> dict[str, Answers]:
    """Every way on a sample of a collection's questions."""
    assistant = BenchmarkAssistant(work / collection.store, work / "vectors")
    try:
        same_as = ingest_collection(assistant, data, collection)
        space = assistant.search.spaces.of(assistant.stores.journal.user_id("benchmark"))
        retriever = assistant.search.searching.retriever
        by_name = ways(assistant)
        found = {name: Answers() for name in by_name}
        questions = read_questions(data / collection.questions, count=count, seed=seed, answered=True)
        for number, entry in enumerate(questions):
            question, answers = entry["question"], entry["answers"]
            gold = {same_as.get(name, name) for name in entry["passage_ids"]}
            candidates = retriever.retrieve(question, space).candidates
            without = [
                c
                for c in candidates
                if c.passage.external_id not in gold and not holds_answer(c.passage.text, answers)
            ]
            for name, way in by_name.items():
                began = time.process_time()
                quotes = way.quotes(question, candidates)
                found[name].milliseconds.append((time.process_time() - began) * 1000)
                found[name].note(quotes, answers)
                bare = way.quotes(question, without)
                found[name].sure_without.append(bare[0].probability if bare else 0.0)
            if number % 50 == 0:
                print(f"{collection.name}: {number} of {len(questions)} questions", file=sys.stderr)
        return found
    finally:
        assistant.close()


def report(name: str, found: Answers) -> None:
    """One way's lines."""
    sure, without = np.array(found.sure), np.array(found.sure_without)
    right = np.array(found.contained) > 0
    milliseconds = np.array(found.milliseconds)
    print(
        f"  {name}: EM {100 * np.mean(found.exact):.1f}, F1 {100 * np.mean(found.f1):.1f}, "
        f"contained {100 * np.mean(right):.1f} %, CPU p50 {np.median(milliseconds):.0f} ms, "
        f"p95 {np.quantile(milliseconds, 0.95):.0f} ms"
    )
    kept_from = float(np.quantile(sure[right], 1 - KEPT_SHARE)) if right.any() else 0.0
    print(
        f"    threshold {kept_from:.3f} keeps {100 * np.mean(sure[right] >= kept_from):.0f} % of the right "
        f"answers; without the passage {100 * np.mean(without >= kept_from):.1f} % are still answered"
    )
    print("    threshold: answered, right of the answered | answered without the passage")
    for least in THRESHOLDS:
        said = sure >= least
        of_answered = 100 * right[said].mean() if said.any() else 0.0
        still = 100 * (without >= least).mean()
        print(f"    {least:.2f}: {100 * said.mean():.1f} %, {of_answered:.1f} % | {still:.1f} %")


def main() -> None:
    known = {collection.name: collection for collection in (*COLLECTIONS, *TRAINING)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=("squad", "nq"), choices=list(known))
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name in arguments.only:
        found = measure(
            arguments.data, arguments.work, known[name], count=arguments.questions, seed=arguments.seed
        )
        print(f"\n{name}: {len(next(iter(found.values())).f1)} questions, seed {arguments.seed}")
        for way, answers in found.items():
            report(way, answers)


if __name__ == "__main__":
    main()
